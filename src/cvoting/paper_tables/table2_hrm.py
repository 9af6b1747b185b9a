"""Table 2: hyper-parameters of HRM, which the paper starts from random states."""

from functools import partial

from cvoting.paper_tables import hyperparameters

NAME = "table2_hrm"
write = partial(hyperparameters.write, NAME)
