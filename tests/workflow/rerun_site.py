"""Where the promises of docs/reruns.md are tried: the toy study, built once, and what users make of it."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from subprocess import Popen

import psutil
from project import Project, copy_checkout

#: A file of the toy study whose training is long at `Site.interruptible`.
CHECKPOINT = "results/toy/checkpoints/akorn-sudoku/seed0.safetensors"
PARTIAL = "results/toy/.partial"
WAIT_SECONDS = 60


class Site:
    """Folders with the toy study.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path):
        self.folder, self._count = folder, 0
        self.first_repro = ""

    @cached_property
    def built(self) -> Project:
        """The study, run, stored with DVC and committed as v1; its remote lies beside it.  For reading and cloning."""
        project = copy_checkout(self.folder / "built")
        project.snakemake()
        project.git("init", "--quiet")
        project.dvc("remote", "modify", "store", "url", str(self.folder / "remote"))
        before = project.times()
        self.first_repro = project.dvc("repro")
        assert project.times() == before, "DVC made something again that Snakemake had just made"
        project.dvc("push", "--quiet")
        project.git("add", "--all")
        project.git("commit", "--quiet", "--message", "v1")
        project.git("tag", "v1")
        return project

    def clone(self, *pulled: str, link: str = "copy") -> Project:
        """A clone of the built study, with some outputs pulled (without names: all)."""
        return self.built.clone(self.new_folder(), *pulled, link=link)

    @contextmanager
    def edited(self) -> Iterator[Project]:
        """A clone with everything pulled, for edits and dry-runs; afterwards git puts its files back."""
        try:
            yield self._for_edits
        finally:
            self._for_edits.git("checkout", "--quiet", ".")
            self._for_edits.git("clean", "--quiet", "--force", "src")

    @cached_property
    def _for_edits(self) -> Project:
        return self.clone()

    def interruptible(self) -> Project:
        """A copy of the checkout in which one training takes seconds."""
        project = copy_checkout(self.new_folder())
        for key, value in (("updates", 400), ("checkpoint_every", 20), ("validate_every", 150)):
            project.edit_params(value, "models", "akorn", "training", key)
        return project

    @cached_property
    def uninterrupted(self) -> Project:
        """Such a copy, after the training."""
        project = self.interruptible()
        project.snakemake(CHECKPOINT)
        return project

    def new_folder(self) -> Path:
        """The name of a folder that is not there."""
        self._count += 1
        return self.folder / f"{self._count}"


def start_training(project: Project) -> Popen[str]:
    """Start a run, and wait until its training has saved a state."""
    run = project.start(*project.snakemake_command, CHECKPOINT)
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and run.poll() is None:
        if list((project.folder / PARTIAL).glob("*.safetensors")):
            return run
        time.sleep(0.01)
    raise AssertionError(f"no training state appeared:\n{run.communicate()[0]}")


def kill_training(run: Popen[str]) -> None:
    """kill -9 for the training that a run has started."""
    training = next(process for process in psutil.Process(run.pid).children(recursive=True) if _is_training(process))
    training.send_signal(signal.SIGKILL)


def training_log(project: Project) -> str:
    """What trainings printed."""
    return "".join(path.read_text() for path in (project.folder / "logs/toy/train").rglob("*.log"))


def _is_training(process: psutil.Process) -> bool:
    try:
        return {"cvoting", "train"} <= set(process.cmdline())
    except psutil.Error:
        return False
