"""pyproject.toml, requirements.lock and environment.yml say the same thing."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = [Requirement(text) for text in [*PROJECT["dependencies"], *EXTRAS["workflow"], *EXTRAS["dev"]]]
LOCK_LINES = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
LOCKED = dict(line.split("==") for line in LOCK_LINES)
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]


def test_the_lock_pins_every_package_exactly_once_in_order():
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in LOCK_LINES)
    assert sorted(LOCKED) == [line.split("==")[0] for line in LOCK_LINES]


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda requirement: requirement.name)
def test_the_pin_of_a_declared_package_satisfies_pyproject(requirement):
    pin = LOCKED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin, prereleases=True), f"{requirement} is locked to {pin}"


def test_environment_yml_has_the_declared_packages_with_the_pins_of_the_lock():
    pip = [Requirement(text) for entry in CONDA if isinstance(entry, dict) for text in entry["pip"]]
    pins = {canonicalize_name(requirement.name): str(requirement.specifier) for requirement in pip}
    assert pins == {name: f"=={LOCKED[name]}" for name in (canonicalize_name(r.name) for r in DECLARED)}


def test_environment_yml_asks_for_the_oldest_supported_python():
    python = next(entry for entry in CONDA if isinstance(entry, str) and entry.startswith("python="))
    assert PROJECT["requires-python"] == f">={python.removeprefix('python=')}"


def test_neither_file_names_a_package_host_or_a_folder():
    for name in ("requirements.lock", "environment.yml", "Makefile", ".ci/run"):
        text = (ROOT / name).read_text()
        assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", text), name
