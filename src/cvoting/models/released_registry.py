"""The formats of released weights by name.  Only `__main__` and tests read this."""

from cvoting.models import akorn_released, hrm_released
from cvoting.models.released import ReleasedFormat

FORMATS: dict[str, ReleasedFormat] = {"akorn": akorn_released.released, "hrm": hrm_released.released}
