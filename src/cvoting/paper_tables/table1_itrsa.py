"""Table 1: hyper-parameters of ItrSA++."""

from functools import partial

from cvoting.paper_tables import hyperparameters

NAME = "table1_itrsa"
write = partial(hyperparameters.write, NAME)
