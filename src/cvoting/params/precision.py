"""What numbers a network computes with."""

from typing import Literal

Precision = Literal["float32", "bfloat16"]
