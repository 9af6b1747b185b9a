"""What the machine does to a command: no room, no permission, no memory, an interrupt, numbers that overflow."""

import re
import signal
from unittest import mock

import torch
from error_bench import DATA, ENVIRONMENT, RESUMABLE, ROLLOUTS, TRAIN, VOTING, Bench, Case, collector

from cvoting.checkpoint import load_tensors

CASES: list[Case] = []
case = collector(CASES)

FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
OLD_FILE = "everything: the earlier file is as it was, and nothing is left beside it."
NEW_TRAIN = f"train train.json {DATA} --out new.safetensors --curves new.csv {RESUMABLE}"


@case("A full disk while puzzles are written", kept=OLD_FILE, slow=True)
def full_disk_puzzles(bench: Bench) -> None:
    """There is no room (here: a limit of 1,000 bytes per file, "File too large"; else "No space left on device")."""
    bench.child("data sudoku_hard.json --raw raw --out data/sudoku_hard", FULL)


@case("A full disk while a training is saved", slow=True)
def full_disk_training(bench: Bench) -> None:
    """There is no room for the state from which an interrupted training goes on."""
    bench.child(NEW_TRAIN, FULL)
    bench.text = hide_key(bench.text)


@case("A full disk while rollouts are written", kept="parts that were finished; the same command goes on.", slow=True)
def full_disk_rollouts(bench: Bench) -> None:
    """There is no room for a part of a bank."""
    bench.child(ROLLOUTS.replace("shard0", "new"), FULL)
    bench.text = hide_key(bench.text)


@case("A full disk while a table is written", kept=OLD_FILE, slow=True)
def full_disk_table(bench: Bench) -> None:
    """There is no room for a voting table."""
    bench.child(VOTING, FULL)


@case("A read-only results folder", slow=True)
def read_only(bench: Bench) -> None:
    """The user may not write in the folder of the output."""
    bench.path("results").mkdir()
    with bench.read_only("results") as launcher:
        bench.child(VOTING.replace("--out ", "--out results/"), launcher=launcher)


@case("A folder where a file is to be written")
def folder_in_the_way(bench: Bench) -> None:
    """The output's name is that of a folder."""
    bench.path("results").mkdir()
    bench.cvoting(VOTING.replace("--out table.csv", "--out results"))


@case("A file where a folder is needed")
def file_in_the_way(bench: Bench) -> None:
    """A part of the output's path is a file."""
    bench.cvoting("data sudoku_hard.json --raw raw --out params.yaml/data")


@case("A device that is not here", do="leave `CVOTING_DEVICE` out: each job takes what is there.")
def no_device(bench: Bench) -> None:
    """`CVOTING_DEVICE` names what the machine does not have (here: "cuda", without a GPU)."""
    gone = [mock.patch(f"torch.{where}.is_available", return_value=False) for where in ("cuda", "backends.mps")]
    with mock.patch.dict(ENVIRONMENT, CVOTING_DEVICE="cuda"), gone[0], gone[1]:
        bench.cvoting(ROLLOUTS.replace("shard0", "new"))


@case("Not enough memory")
def memory(bench: Bench) -> None:
    """More rollouts are to be computed at once than fit into memory."""
    bench.change("rollouts.json", 10**15, "plan", "candidates")
    bench.change("rollouts.json", 10**15, "plan", "chunk")
    bench.cvoting(ROLLOUTS.replace("shard0", "new"))


def stop_training(bench: Bench, by: signal.Signals) -> None:
    """Send a signal to a training that has saved a state: the state is a good one afterwards."""
    bench.change("train.json", 10**6, "training", "updates")
    bench.child(NEW_TRAIN, stop=lambda: bool(list(bench.path("partial").glob("*.safetensors"))), by=by)
    assert_good_state(bench)


@case(
    "Ctrl-C",
    kept="the state after the last checkpoint, in the folder `--partial`; the same command goes on from there.",
    leaves=["partial/*.safetensors"],
    slow=True,
)
def interrupt(bench: Bench) -> None:
    """The user stops a training."""
    stop_training(bench, signal.SIGINT)
    assert bench.status == 130


@case(
    "A machine that is taken away (SIGTERM)",
    kept="the state after the last update, in the folder `--partial`; the same command goes on from there.",
    leaves=["partial/*.safetensors"],
    slow=True,
)
def terminate(bench: Bench) -> None:
    """A scheduler ends a training before its time."""
    stop_training(bench, signal.SIGTERM)
    assert bench.status == 143
    # When the signal comes is chance, and the file is named after all that the training depends on.
    bench.text = re.sub(
        r"after update \d+ is kept in partial/\w+", "after update 20 is kept in partial/<key>", bench.text
    )


@case(
    "A loss that is not a number",
    kept="the state after the last checkpoint whose weights were finite.",
    leaves=["partial/*.safetensors"],
)
def not_a_number(bench: Bench) -> None:
    """The training diverged, here by an absurd learning rate."""
    bench.change("train.json", 1e30, "training", "optimizer", "lr")
    bench.cvoting(NEW_TRAIN)
    assert_good_state(bench)
    bench.text = hide_key(bench.text)


@case("Symmetries that the task does not have")
def unknown_augmentation(bench: Bench) -> None:
    """A recipe written by hand asks for symmetries that the task does not have."""
    bench.change("train.json", "spin", "training", "augmentation")
    bench.cvoting(TRAIN.replace("model.", "new."))


def hide_key(text: str) -> str:
    """The message without the name that stands for parameters, code and data."""
    return re.sub(r"partial/[0-9a-f]{16}", "partial/<key of the job>", text)


def assert_good_state(bench: Bench) -> None:
    """The state that was left can be read, and its weights are finite."""
    [state] = bench.path("partial").glob("*.safetensors")
    tensors, about = load_tensors(state)
    assert about["update"] >= 1
    assert all(torch.isfinite(t).all() for name, t in tensors.items() if name.startswith(("model/", "average/")))
