"""The catalogue of errors is a program of several files, which tests import like any module."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small study that every mistake starts from."""
    from error_stock import make_stock

    folder = tmp_path_factory.mktemp("stock")
    make_stock(folder)
    return folder
