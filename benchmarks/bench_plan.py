"""Time of `snakemake -n` when everything of a study is there.

The study is "made" in a copy of the project whose jobs write empty files instead of what they are to
make: plans depend on names, records and contents, not on what the contents are.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from cvoting.data.sources import FILES
from harness import ROOT, Row, Settings, Work, compare
from yardsticks import looping

PARTS = ("Snakefile", "environment.yml", "params", "params.yaml", "profiles", "reference", "src", "workflow")
STUDIES, QUICK = ("params.yaml", "params/paper.yaml"), ("params/toy.yaml",)
#: Takes the place of the command line: every verb writes the files that its rule expects, without a byte in them.
WRITES_EMPTY_FILES = """
import json
import sys
from pathlib import Path

verb, recipe, *words = sys.argv[1:]
recipe = json.loads(recipe) if recipe.startswith("{") else {}
options = dict(zip(words, words[1:]))
folder = Path(options.get("--out-dir") or options.get("--out", "."))
if verb == "data":
    splits = recipe["source"].get("splits", {"test": 1})
    files = [folder / f"{split}.npz" for split, size in splits.items() if size]
elif verb in ("summary", "claims"):
    curves = ("plots/training.csv", "plots/voting.csv", "plots/calibration.csv")
    names = {"summary": ("metrics.json", *curves), "claims": ("claims.csv", "claims.md")}
    files = [folder / name for name in names[verb]]
elif verb in ("figure", "table"):
    formats = {"figure": ("csv", "pdf", "png"), "table": ("csv", "md", "tex")}[verb]
    files = [folder / f"{recipe[verb]}.{format}" for format in formats]
else:
    names = ("--out", "--curves", "--csv", "--json", "--paired", "--reliability", "--risk")
    files = [Path(options[name]) for name in names if name in options]
for file in files:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
"""


def finished(study: Path, folder: Path) -> None:
    """Make a project in which everything of a study is there."""
    project(study, folder)
    snakemake(folder)


def project(study: Path, folder: Path) -> None:
    """Make a project whose jobs write empty files.

    Args:
        study: the file of its parameters.
        folder: an empty folder.
    """
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, folder / part)
    shutil.copyfile(study, folder / "params.yaml")
    (folder / "src/cvoting/__main__.py").write_text(WRITES_EMPTY_FILES)
    for source in FILES.values():
        path = folder / "data/raw" / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("not fetched\n")
    (folder / "figures").mkdir()


def snakemake(folder: Path, *words: str) -> str:
    """Run Snakemake in a project."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count()), *words]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def measure(settings: Settings) -> list[Row]:
    """Plans per second; `outputs` are the files that a plan is about."""
    rows = []
    for study in QUICK if settings.quick else STUDIES:
        folder = settings.folder / study.replace("/", "-")
        folder.mkdir()
        finished(ROOT / study, folder)
        (row,) = compare([Work(f"plan of {study}", partial(plan, folder), 1, "plans")], [looping(settings)], settings)
        outputs = json.loads(next(folder.glob("provenance/*.lock.json")).read_text())["outputs"]
        rows.append(row | {"outputs": len(outputs)})
    return rows


def plan(folder: Path) -> None:
    """Plan a study of which everything is there.

    Args:
        folder: the project.
    """
    said = snakemake(folder, "-n")
    assert "Nothing to be done" in said, said
