"""Projects to run the workflow in: copies of this checkout, never the checkout itself."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from project import ROOT, Project, copy_checkout
from rerun_site import Site


@pytest.fixture(scope="session")
def copy_project() -> Callable[[Path], Project]:
    """Copies this checkout into a folder, with the parameters of the toy study."""
    return copy_checkout


@pytest.fixture
def elsewhere(tmp_path: Path) -> Project:
    """A folder with the laptop study's parameters, in which this checkout's workflow is run."""
    shutil.copyfile(ROOT / "params.yaml", tmp_path / "params.yaml")
    shutil.copytree(ROOT / "reference", tmp_path / "reference")
    return Project(tmp_path, "--snakefile", str(ROOT / "Snakefile"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Where the toy study is built, cloned and edited."""
    return Site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def built(site: Site) -> Project:
    """The toy study, run, stored with DVC and committed as v1.  For reading and cloning."""
    return site.built
