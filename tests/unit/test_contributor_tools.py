"""What runs on a contributor's commit and on the hosted machines is what `make` runs, in the versions of the lock."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOOKS = [h for r in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"] for h in r["hooks"]]
WORKFLOW_FILE = ROOT / ".github/workflows/ci.yml"
# BaseLoader: YAML 1.1 reads the key `on` as true, and the version 3.10 as 3.1.
WORKFLOW = yaml.load(WORKFLOW_FILE.read_text(), Loader=yaml.BaseLoader)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
MAKEFILE = (ROOT / "Makefile").read_text()


def pythons_of_ci() -> list[str]:
    """The interpreters that the tests run on."""
    return JOBS["test"]["strategy"]["matrix"]["python-version"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_installs_its_tool_in_the_version_of_the_lock(hook: dict[str, Any]) -> None:
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    assert hook["additional_dependencies"]
    assert [pin for pin in hook["additional_dependencies"] if pin not in lock] == []


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_a_tool_that_make_check_runs(hook: dict[str, Any]) -> None:
    checks = MAKEFILE.split("\ncheck:")[1].split("\n\n")[0]
    # ruff's two hooks mend what `make check` reports; the other options are the same.
    tool = [word for word in hook["entry"].split() if word not in ("--force-exclude", "--fix")]
    found = [line.split() for line in checks.splitlines() if line.split()[:1] == tool[:1]]
    assert any(set(tool) <= set(line) for line in found), f"{hook['entry']}: not in `make check`:{checks}"


def test_every_command_of_ci_is_a_target_of_the_makefile() -> None:
    commands = [step["run"] for step in STEPS if "run" in step]
    assert set(commands) == {"make check", "make test", "make reproduce"}
    assert all(f"\n{command.removeprefix('make ')}: " in MAKEFILE for command in commands)


def test_ci_tests_the_oldest_supported_python_first() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'requires-python = ">={pythons_of_ci()[0]}"' in project


def test_ci_may_only_read_the_repository() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in JOBS.values())


def test_every_action_has_a_version_and_every_job_a_time_limit() -> None:
    assert all(re.search(r"@(v\d+|[0-9a-f]{40})$", step["uses"]) for step in STEPS if "uses" in step)
    assert all("timeout-minutes" in job for job in JOBS.values())


def test_the_weekly_run_keeps_the_figures_of_the_study() -> None:
    study = yaml.safe_load((ROOT / "params.yaml").read_text())["study"]
    (upload,) = [step for step in JOBS["reproduce"]["steps"] if "upload-artifact" in step.get("uses", "")]
    kept = upload["with"]["path"].split()
    assert {"figures/", f"results/{study}/figures/", f"results/{study}/voting/"} <= set(kept)


def test_neither_file_names_a_package_host() -> None:
    for path in (ROOT / ".pre-commit-config.yaml", WORKFLOW_FILE):
        assert not re.search(r"https?://|--(extra-)?index-url|--find-links", path.read_text()), path
