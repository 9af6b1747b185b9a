"""A folder in which a user works with the workflow: a copy of this checkout, never the checkout itself."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
#: What a user gets with a clone, as far as the workflow uses it.
PARTS = (
    "Makefile", "Snakefile", "dvc.yaml", "environment.yml", "params", "params.yaml", "profiles", "pyproject.toml",
    "reference", "src", "workflow", ".dvc/.gitignore", ".dvc/config", ".dvc/plots", ".dvcignore", ".gitignore",
    "figures/.gitkeep", "results/.gitkeep",
)  # fmt: skip
INHERITED = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "DVC_", "SNAKEMAKE_", "PYTHON"))}
IDENTITY = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
#: Keeps anchors, comments, and words such as `off`, as an editor does.
ROUND_TRIP = YAML()
ROUND_TRIP.width = 1000
ENVIRONMENT = INHERITED | IDENTITY | {"PATH": PATH, "OMP_NUM_THREADS": "1"}


class Project:
    """A folder, and what a user does there.

    Args:
        folder: the working directory.
        options: of every Snakemake command.

    Attributes:
        environment: of every command.
    """

    def __init__(self, folder: Path, *options: str):
        self.folder, self.environment = folder, ENVIRONMENT
        self.snakemake_command = (sys.executable, "-m", "snakemake", "--cores", "2", *options)

    def clone(self, folder: Path, *pulled: str, link: str = "copy") -> "Project":
        """A git clone, with some outputs pulled (without names: all); `link` is DVC's cache type."""
        self.git("clone", "--quiet", str(self.folder), str(folder))
        clone = Project(folder)
        clone.dvc("config", "--local", "cache.type", link)
        clone.dvc("pull", "--quiet", *pulled)
        return clone

    def unpack(self, folder: Path) -> "Project":
        """What is in git, in a folder without git."""
        archive = folder.with_suffix(".tar")
        self.git("archive", "--output", str(archive), "HEAD")
        folder.mkdir()
        unpacked = Project(folder)
        unpacked.command("tar", "--extract", "--file", str(archive))
        return unpacked

    def command(self, *words: str, check: bool = True) -> str:
        """Run a command in the folder; gives all that it prints."""
        done = subprocess.run(words, cwd=self.folder, env=self.environment, text=True, capture_output=True)
        if check and done.returncode:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command as the leader of a process group of its own."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        return subprocess.Popen(words, cwd=self.folder, env=self.environment, **options)

    def snakemake(self, *words: str, check: bool = True) -> str:
        """Run Snakemake."""
        return self.command(*self.snakemake_command, *words, check=check)

    def dvc(self, *words: str, check: bool = True) -> str:
        """Run DVC."""
        return self.command(sys.executable, "-m", "dvc", *words, check=check)

    def cvoting(self, *words: str, check: bool = True) -> str:
        """Run a verb of this project."""
        return self.command(sys.executable, "-m", "cvoting", *words, check=check)

    def git(self, *words: str) -> str:
        """Run git."""
        return self.command("git", *words)

    def plan(self, *words: str) -> list[str]:
        """What Snakemake would do, one message per job, sorted."""
        return self.jobs(self.snakemake("--dry-run", *words))

    @staticmethod
    def jobs(printed: str) -> list[str]:
        """The messages of the jobs that Snakemake printed, sorted."""
        return sorted(re.findall(r"^Job \d+: (.*)$", printed, flags=re.MULTILINE))

    def edit_params(self, value: object, *keys: str) -> None:
        """Set a parameter; what repeats its block by an anchor gets it too."""
        path = self.folder / "params.yaml"
        study = block = ROUND_TRIP.load(path)
        for key in keys[:-1]:
            block = block[key]
        block[keys[-1]] = value
        ROUND_TRIP.dump(study, path)

    def outputs(self) -> dict[str, str]:
        """The SHA-256 of everything the workflow made, but for the records of when and where."""
        return {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in self._made()}

    def times(self) -> dict[str, int]:
        """When files in folders that DVC tracks were written; single files DVC itself writes anew as it stores them."""
        names = (name for name in self._made() if name.count("/") > 2)
        return {name: (self.folder / name).stat().st_mtime_ns for name in names}

    def _made(self) -> list[str]:
        files = [f for place in ("data", "results", "figures") for f in (self.folder / place).rglob("*") if f.is_file()]
        kept = [f for f in files if not f.name.endswith((".run.json", ".gitkeep")) and ".partial" not in f.parts]
        return [str(file.relative_to(self.folder)) for file in kept]


def copy_checkout(folder: Path) -> Project:
    """Copy this checkout, without anything it made, into a folder; params.yaml becomes that of the toy study."""
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            # numba's compiled functions come along: compiling them again takes longer than the whole study.
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc", "*.egg-info"))
        else:
            shutil.copyfile(source, target)
    shutil.copyfile(ROOT / "params/toy.yaml", folder / "params.yaml")
    return Project(folder)
