"""The code a rule tracks is the code its job runs."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cvoting import recipes
from cvoting.codehash import import_closure
from cvoting.params.core import build
from cvoting.params.study import Study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
#: Modules that pass things on, and name what is not used: see docs/provenance.md.
PASSING_ON = ("cvoting.__main__", "cvoting.command_inputs", "cvoting.run_record", "cvoting.recipes")
#: What names the parts that a verb chooses from.
REGISTRIES = {
    "data": ["cvoting.data.registry"],
    "audit": ["cvoting.data.audit_registry", "cvoting.tasks.registry"],
    "train": ["cvoting.models.registry", "cvoting.tasks.registry"],
    "rollouts": ["cvoting.models.registry", "cvoting.tasks.registry"],
    "voting": ["cvoting.tasks.registry"],
    "figure": ["cvoting.figures.registry"],
}
PRINT_MODULES = """
import atexit, runpy, sys
atexit.register(lambda: print(*[name for name in sys.modules if name.split(".")[0] == "cvoting"]))
runpy.run_module("cvoting", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def study() -> Study:
    return build(Study, yaml.safe_load((ROOT / "params/toy.yaml").read_text()))


def job(built, study: Study, verb: str, out: Path) -> tuple[list[str], tuple[str, ...]]:
    """The arguments of a job of the toy study, and the modules whose closure its rule tracks."""
    run, bank, results, data = (
        "akorn-sudoku",
        "akorn-sudoku_hard",
        built.folder / "results/toy",
        built.folder / "data/toy",
    )
    resumable = [f"--partial={out}", "--code=x", "--threads=1"]
    checkpoint = results / f"checkpoints/{run}/seed0.safetensors"
    puzzles = [f"--train={data}/sudoku/train.npz", f"--validation={data}/sudoku/validation.npz"]
    published, tables = ROOT / "reference/published.csv", [str(results / f"voting/{b}.csv") for b in study.banks]
    figure = "fig2_akorn_voting"
    inputs = [f"--checkpoint={checkpoint}", f"--puzzles={data}/sudoku_hard/test.npz"]
    shards = [str(path) for path in sorted((results / f"rollouts/{bank}").rglob("*.parquet"))]
    return {
        "data": (
            [recipes.data(study, "sudoku_hard"), "--raw=raw", f"--out={out}"],
            recipes.data_modules(study, "sudoku_hard"),
        ),
        "audit": (
            [f"{data}/sudoku/train.npz", f"--task={recipes.audit(study, 'sudoku')}", f"--json={out}/a"],
            recipes.audit_modules(study, "sudoku"),
        ),
        "train": (
            [recipes.train(study, run, 0), *puzzles, f"--out={out}/c", f"--log={out}/l", *resumable],
            recipes.train_modules(study, run),
        ),
        "rollouts": (
            [recipes.rollouts(study, bank, 0, 0), *inputs, f"--out={out}/r", *resumable],
            recipes.rollouts_modules(study, bank),
        ),
        "voting": (
            [recipes.voting(study, bank), f"--out={out}/v", f"--paired={out}/p", *shards],
            recipes.voting_modules(study, bank),
        ),
        "figure": (
            [recipes.figure(study, figure), f"--published={published}", f"--out-dir={out}", *tables],
            recipes.figure_modules(figure),
        ),
    }[verb]


@pytest.mark.parametrize("verb", ["data", "audit", "train", "rollouts", "voting", "figure"])
def test_every_module_a_job_runs_is_in_the_closure_its_rule_tracks(built, study, tmp_path, verb):
    arguments, modules = job(built, study, verb, tmp_path)
    command = [sys.executable, "-c", PRINT_MODULES, verb, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines()[-1].split()) - {*PASSING_ON}
    closure = import_closure(ROOT / "src", modules)
    # A registry names everything of its kind; what was not asked for ran nothing.
    unused = import_closure(ROOT / "src", REGISTRIES[verb]) - closure
    assert loaded - unused <= closure
    assert closure <= loaded
