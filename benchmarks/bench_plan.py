"""Time of `snakemake -n` when everything of a study is there: `python benchmarks/bench_plan.py`.

The study is "made" in a copy of the project whose jobs write empty files instead of what they are to
make: plans depend on names, records and contents, not on what the contents are.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_models import processor
from cvoting.data.sources import FILES

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "environment.yml", "params", "params.yaml", "profiles", "reference", "src", "workflow")
REPETITIONS = 5
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
    snakemake(folder)


def snakemake(folder: Path, *words: str) -> str:
    """Run Snakemake in a project."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count()), *words]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def measure(study: Path) -> dict[str, object]:
    """The median time of a plan of a finished study."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finished(study, folder)
        times = []
        for _ in range(REPETITIONS):
            start = time.perf_counter()
            said = snakemake(folder, "-n")
            times.append(time.perf_counter() - start)
            assert "Nothing to be done" in said, said
        outputs = json.loads(next(folder.glob("provenance/*.lock.json")).read_text())["outputs"]
    return {"study": study.name, "outputs": len(outputs), "seconds": statistics.median(times)}


def main() -> None:
    """Measure, print a table, and write JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=Path, nargs="*", default=[ROOT / "params.yaml", ROOT / "params/paper.yaml"])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    results = [measure(study) for study in args.studies]
    for result in results:
        print("{study:12} {outputs:6} outputs {seconds:6.1f} s".format(**result))
    if args.json:
        about = {"machine": f"{processor()}, {os.cpu_count()} cores"}
        args.json.write_text(json.dumps(about | {"results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
