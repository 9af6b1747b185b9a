"""The processes whose memory is measured: `python benchmarks/memory_jobs.py JOB FOLDER OPTIONS`, by `bench_memory`.

The last line of stdout is JSON: `value`, the peak in MiB, `imports`, the peak before the work, and `seconds`.
"""

import json
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import Row, seconds
from made_up_bank import vote, write_made_up


def rollouts(folder: Path, options: Mapping[str, Any]) -> Callable[[], Row]:
    """Roll out a bank of random boards."""
    # Not at the top: votes need no torch, and its memory would hide theirs.
    from bench_rollouts import write_bank
    from cases import Case
    from cvoting.params.rollouts import RolloutPlan

    case = Case(**options["case"])
    plan = RolloutPlan(T_eval=case.training.T_train, candidates=options["candidates"], chunk=options["chunk"])
    return lambda: write_bank(case, plan, options["puzzles"], folder / "bank.parquet") or {}


def votes(folder: Path, options: Mapping[str, Any]) -> Callable[[], Row]:
    """The voting table of the banks in the folder."""
    shards = sorted(folder.glob("*.parquet"))
    return lambda: vote(shards, options["candidates"], options["box"], folder) or {}


def made(folder: Path, options: Mapping[str, Any]) -> Callable[[], Row]:
    """Write a made-up bank."""
    return lambda: write_made_up(folder, **options) and {}


def train(folder: Path, options: Mapping[str, Any]) -> Callable[[], Row]:
    """A training step; `kept`: what its forward pass keeps for the backward pass, in MiB."""
    from bench_training import kept_mib, training_step
    from cases import Case

    step, forward = training_step(Case(**options["case"]))

    def work() -> Row:
        step()
        return {"kept": kept_mib(forward)}

    return work


JOBS = {"rollouts": rollouts, "vote": votes, "make": made, "train": train}


def peak_mib() -> float:
    """The largest resident memory of this process so far.

    Where Linux tells it per program: `ru_maxrss` begins with the size of the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10
    # Kilobytes, but on macOS bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main(job: str, folder: str, options: str) -> None:
    """Do a job and print what it took."""
    work = JOBS[job](Path(folder), json.loads(options))
    imports, found = peak_mib(), {}
    took = seconds(lambda: found.update(work()))
    print(json.dumps({"value": peak_mib(), "imports": imports, "seconds": took} | found))


if __name__ == "__main__":
    main(*sys.argv[1:])
