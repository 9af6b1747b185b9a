"""Table 3: hyper-parameters of AKOrN."""

from functools import partial

from cvoting.paper_tables import hyperparameters

NAME = "table3_akorn"
write = partial(hyperparameters.write, NAME)
