"""Figure 9: board accuracy of the Transformer with a random initial state under C-voting against K (appendix)."""

from functools import partial

from cvoting.figures import voting_curves
from cvoting.figures.base import write_figure
from cvoting.params.figures import BanksFigure

NAME = "fig9_transformer_voting"
prepare = voting_curves.prepare
draw = voting_curves.draw
write = partial(write_figure, NAME, BanksFigure, prepare, draw)
