"""Figure 3: board accuracy of ItrSA++ under C-voting against the candidates K, beside other models (Section 6.3)."""

from functools import partial

from cvoting.figures import voting_curves
from cvoting.figures.base import write_figure
from cvoting.params.figures import PanelsFigure

NAME = "fig3_itrsa_voting"
prepare = voting_curves.prepare
draw = voting_curves.draw
write = partial(write_figure, NAME, PanelsFigure, prepare, draw)
