"""Figure 2: board accuracy of AKOrN under C-voting and E-voting against the number of candidates K (Section 6.2)."""

from functools import partial

from cvoting.figures import voting_curves
from cvoting.figures.base import write_figure
from cvoting.params.figures import BanksFigure

NAME = "fig2_akorn_voting"
prepare = voting_curves.prepare
draw = voting_curves.draw
write = partial(write_figure, NAME, BanksFigure, prepare, draw)
