"""Projects to run the workflow in: copies of this checkout, never the checkout itself."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).parents[2]
#: What a user gets with a clone, as far as the workflow uses it.
PARTS = (
    "Snakefile", "dvc.yaml", "environment.yml", "params", "params.yaml", "profiles", "pyproject.toml", "reference",
    "src", "workflow", ".dvc/.gitignore", ".dvc/config", ".dvcignore", ".gitignore", "figures/.gitkeep",
    "results/.gitkeep",
)  # fmt: skip
INHERITED = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "DVC_", "SNAKEMAKE_", "PYTHON"))}
IDENTITY = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
ENVIRONMENT = INHERITED | IDENTITY | {"PATH": PATH, "OMP_NUM_THREADS": "1"}


class Project:
    """A folder, and what a user does there.

    Args:
        folder: the working directory.
        options: of every Snakemake command.
    """

    def __init__(self, folder: Path, *options: str):
        self.folder = folder
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
        done = subprocess.run(words, cwd=self.folder, env=ENVIRONMENT, text=True, capture_output=True)
        if check and done.returncode:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command as the leader of a process group of its own."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        return subprocess.Popen(words, cwd=self.folder, env=ENVIRONMENT, **options)

    def snakemake(self, *words: str, check: bool = True) -> str:
        """Run Snakemake."""
        return self.command(*self.snakemake_command, *words, check=check)

    def dvc(self, *words: str, check: bool = True) -> str:
        """Run DVC."""
        return self.command(sys.executable, "-m", "dvc", *words, check=check)

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
        """Set a parameter."""
        study = yaml.safe_load((self.folder / "params.yaml").read_text())
        block = study
        for key in keys[:-1]:
            block = block[key]
        block[keys[-1]] = value
        (self.folder / "params.yaml").write_text(yaml.safe_dump(study, sort_keys=False))

    def outputs(self) -> dict[str, str]:
        """The SHA-256 of everything the workflow made, but for the records of when and where."""
        files = [f for place in ("data", "results", "figures") for f in (self.folder / place).rglob("*") if f.is_file()]
        kept = [f for f in files if not f.name.endswith((".run.json", ".gitkeep")) and ".partial" not in f.parts]
        return {str(f.relative_to(self.folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in kept}


@pytest.fixture(scope="session")
def copy_project() -> Callable[[Path], Project]:
    """Copies this checkout, without anything it made, into a folder; params.yaml becomes that of the toy study."""

    def copy(folder: Path) -> Project:
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

    return copy


@pytest.fixture
def elsewhere(tmp_path: Path) -> Project:
    """A folder with the laptop study's parameters, in which this checkout's workflow is run."""
    shutil.copyfile(ROOT / "params.yaml", tmp_path / "params.yaml")
    shutil.copytree(ROOT / "reference", tmp_path / "reference")
    return Project(tmp_path, "--snakefile", str(ROOT / "Snakefile"))


@pytest.fixture(scope="session")
def built(copy_project: Callable[[Path], Project], tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The toy study, run, stored with DVC and committed as v1; its remote lies beside it.  For reading and cloning."""
    folder = tmp_path_factory.mktemp("built") / "project"
    project = copy_project(folder)
    project.snakemake()
    project.git("init", "--quiet")
    project.dvc("remote", "modify", "store", "url", str(folder.parent / "remote"))
    (folder / "first-repro.txt").write_text(project.dvc("repro"))
    project.dvc("push", "--quiet")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "v1")
    project.git("tag", "v1")
    return project


@pytest.fixture
def clone(built: Project, tmp_path: Path) -> Project:
    """A clone of the built project, with everything pulled."""
    return built.clone(tmp_path / "clone")


@pytest.fixture(scope="module")
def unchanged(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The clone behind `edited`."""
    return built.clone(tmp_path_factory.mktemp("unchanged") / "clone")


@pytest.fixture
def edited(unchanged: Project) -> Iterator[Project]:
    """A clone for edits and dry-runs; afterwards git puts the files back."""
    yield unchanged
    unchanged.git("checkout", "--quiet", ".")
