"""Where the tests find the repository, and what every test starts with."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# One thread for torch and numpy, in tests and in the processes they start: results are the same bit for bit, and test
# processes side by side do not wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"
# No test reaches the network, whatever a change of the code may do; local servers are not asked through the proxy.
os.environ.update(https_proxy="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9", no_proxy="127.0.0.1,localhost")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT
