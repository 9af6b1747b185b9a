"""Where the tests find the repository, and what every test starts with."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# One thread for torch and numpy, in tests and in the processes they start: results are the same bit for bit, and test
# processes side by side do not wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT
