"""Figure 10: top-1 probability, negative entropy and log probability as the score of the vote (ablation appendix)."""

from functools import partial

from cvoting.figures import voting_curves
from cvoting.figures.base import write_figure
from cvoting.params.figures import BanksFigure

NAME = "fig10_voting_metrics"
prepare = voting_curves.prepare
draw = voting_curves.draw
write = partial(write_figure, NAME, BanksFigure, prepare, draw)
