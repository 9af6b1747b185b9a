"""Figure 4: board accuracy of HRM from random initial states under C-voting against the candidates K (Section 6.4)."""

from functools import partial

from cvoting.figures import voting_curves
from cvoting.figures.base import write_figure
from cvoting.params.figures import PanelsFigure

NAME = "fig4_hrm_voting"
prepare = voting_curves.prepare
draw = voting_curves.draw
write = partial(write_figure, NAME, PanelsFigure, prepare, draw)
