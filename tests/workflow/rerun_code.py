"""Edits of the code, and other packages: the jobs that `snakemake -n` plans."""

import json
from collections.abc import Iterable

from rerun_rows import IDLE, TOY, Row, assert_jobs, collector
from rerun_site import Site
from study_jobs import SUMMARY

ROWS: list[Row] = []
row = collector(ROWS)
HRM_RUNS = [*TOY.runs_of("hrm"), *TOY.runs_of("hrm_fixed")]
HRM_BANKS = TOY.banks_of(HRM_RUNS)
STATEMENT = "\n\nANOTHER_STATEMENT = True\n"
COMMANDS = "edit\nsnakemake -n"


@row("a comment or docstring in any module", "edit src/cvoting/**.py\nsnakemake -n", "no job")
def comments(site: Site) -> str:
    """In every module at once, and nothing besides."""
    with site.edited() as clone:
        for path in (clone.folder / "src/cvoting").rglob("[a-z]*.py"):
            opening, docstring, rest = path.read_text().split('"""', 2)
            path.write_text(f'{opening}"""Another docstring, not:{docstring}"""\n\n# A comment.\n{rest}')
        return assert_jobs(clone.plan(), [])


def statement(file: str, expected: str, jobs: Iterable[str]) -> None:
    """A row: another statement in a module."""

    @row(f"a statement in `{file}`", COMMANDS, expected)
    def edit(site: Site) -> str:
        with site.edited() as clone:
            path = clone.folder / "src/cvoting" / file
            path.write_text(path.read_text() + STATEMENT)
            return assert_jobs(clone.plan(), jobs)


def trained(runs: list[str] | None) -> list[str]:
    """The trainings of some runs and what follows from them."""
    banks = None if runs is None else TOY.banks_of(runs)
    return [*TOY.training(runs), *TOY.rollouts(banks), *TOY.from_banks(banks)]


statement("__main__.py", "no job: it only passes on", [])
statement("figures/fig2_akorn_voting.py", "that figure", [job for job in TOY.figures() if "fig2_akorn" in job])
statement("tables.py", "voting tables and what is made of them", TOY.from_votes())
statement(
    "calibration.py",
    "what imports it: calibration tables, their figures, and the summary that follows",
    [*(job for job in TOY.from_banks() if "calibration" in job), *SUMMARY],
)
statement("rollouts.py", "rollouts and what follows; no training", [*TOY.rollouts(), *TOY.from_banks()])
statement("models/hrm.py", "HRM's trainings and what follows; no job of another model", trained(HRM_RUNS))
statement("training/act.py", "HRM's trainings and what follows", trained(HRM_RUNS))
statement("training/loop.py", "all trainings and what follows; no dataset", trained(None))


@row(
    "a new model",
    "add src/cvoting/{models,params}/other.py\nedit src/cvoting/{models/registry,params/study}.py\nsnakemake -n",
    "no job of the models that are there",
)
def new_model(site: Site) -> str:
    """Its files, and its lines in the registry and in the union of blocks."""
    with site.edited() as clone:
        package = clone.folder / "src/cvoting"
        for name in ("models/other.py", "params/other.py"):
            (package / name).write_text(f'"""Another model."""\n{STATEMENT}')
        for name in ("models/registry.py", "params/study.py"):
            (package / name).write_text((package / name).read_text() + STATEMENT)
        return assert_jobs(clone.plan(), [])


@row(
    "another version of torch",
    "pip install torch==<another>\nsnakemake -n",
    "no job; the run says which files were made with which version",
)
def torch_version(site: Site) -> str:
    """Here the lock file says that another version made the files, which comes to the same."""
    with site.edited() as clone:
        lock = clone.folder / "provenance/toy.lock.json"
        content = json.loads(lock.read_text())
        for versions in content["environments"].values():
            versions["torch"] = "2.0.0"
        lock.write_text(json.dumps(content))
        said = clone.snakemake("--dry-run")
        assert clone.jobs(said) == []
        assert f"made with torch 2.0.0 ({len(content['outputs'])}); here is torch " in said
        shown = clone.cvoting("provenance", "results/toy/checkpoints/akorn-sudoku/seed0.safetensors")
        assert "torch 2.0.0" in shown
    return f'{IDLE}; "Other versions: made with torch … (n files); here is torch …"'
