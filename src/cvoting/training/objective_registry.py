"""The training objectives by name.  Only `__main__` and tests read this; library functions receive an objective."""

from cvoting.training.objective import Objective
from cvoting.training.segments import Segments
from cvoting.training.unrolled import Unrolled

OBJECTIVES: dict[str, type[Objective]] = {"segments": Segments, "unrolled": Unrolled}
