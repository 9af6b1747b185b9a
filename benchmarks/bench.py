"""Speed and memory, beside those of the machine: `python benchmarks/bench.py [SECTION ...]`, or `make bench`.

Writes one file, docs/benchmarks/<date>-<commit>.json, in the form that `harness` tells, prints its numbers, and writes
the page of all files.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

import bench_generator
import bench_load
import bench_memory
import bench_numerics
import bench_parsers
import bench_plan
import bench_rollouts
import bench_roofline
import bench_sweep
import bench_training
import bench_voting
import page
from harness import Row, Settings, about

#: What each section measures with.
SECTIONS = {
    "training": bench_training.measure,
    "rollouts": bench_rollouts.measure,
    "roofline": bench_roofline.measure,
    "voting": bench_voting.measure,
    "generator": bench_generator.measure,
    "parsers": bench_parsers.measure,
    "plan": bench_plan.measure,
    "load": bench_load.measure,
    "memory": bench_memory.measure,
    "numerics": bench_numerics.measure,
    "sweep": bench_sweep.measure,
}
#: Those that are measured when none is named; the others take long.
USUAL = tuple(name for name in SECTIONS if name not in ("load", "memory", "numerics", "sweep"))


def run(names: list[str], settings: Settings) -> Row:
    """The content of a result file.

    Args:
        names: of sections.
        settings: how much is measured.
    """
    # What is edited while it runs is not what ran.
    found, sections = about(settings), {}
    for name in names:
        start = time.perf_counter()
        folder = settings.folder / name
        folder.mkdir()
        sections[name] = SECTIONS[name](replace(settings, folder=folder))
        print(f"{name} ({time.perf_counter() - start:.0f} s)\n{page.printed(sections[name])}\n", flush=True)
    return found | {"sections": sections}


def main(words: list[str]) -> None:
    """Measure, print, and write.

    Args:
        words: of the command line.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; default: {', '.join(USUAL)}")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="CPU threads (default: torch's)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, once: to see that it runs")
    parser.add_argument("--json", type=Path, help="the file to write in place of docs/benchmarks/<date>-<commit>.json")
    args = parser.parse_args(words)
    if unknown := sorted(set(args.sections) - set(SECTIONS)):
        parser.error(f"no section {', '.join(unknown)}: choose from {', '.join(SECTIONS)}")
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        found = run(args.sections or list(USUAL), Settings(args.threads, args.quick, Path(folder)))
    # A part does not take the place of a whole run of the same commit.
    suffix = "".join(f"-{name}" for name in args.sections)
    path = args.json or page.FOLDER / f"{str(found['date'])[:10]}-{found['commit']}{suffix}.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(f"written: {path}")
    if path.parent == page.FOLDER:
        page.write(check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
