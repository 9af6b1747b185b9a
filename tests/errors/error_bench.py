"""A folder in which a user makes a mistake, and what is shown and kept then."""

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import yaml

sys.path.append(str(Path(__file__).parents[1]))

from unprivileged import launcher

ROOT = Path(__file__).parents[2]
NOTHING_LOST = "everything: no file is changed, none is added."
TRACEBACK = "Traceback (most recent call last)"
#: Plain messages, whatever the terminal and the machine; no network, as nothing listens at the port of the proxy.
ENVIRONMENT = {
    "COLUMNS": "100",
    "CVOTING_DEVICE": "cpu",
    "CVOTING_MIRROR": "",
    "OMP_NUM_THREADS": "1",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "no_proxy": "",
}
CHILD = {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Case:
    """One error.

    Attributes:
        title: names it; a heading of the page.
        provoke: makes the mistake on a bench; its docstring says what happened.
        do: what helps, where the message does not say it.
        kept: what is not lost; the bench proves that nothing but `leaves` is changed or added.
        leaves: patterns of the files that the command may add or change.
        slow: whether it takes seconds.
    """

    title: str
    provoke: Callable[["Bench"], None]
    do: str
    kept: str
    leaves: tuple[str, ...]
    slow: bool


def collector(cases: list[Case]) -> Callable[..., Callable]:
    """A decorator that adds functions to `cases`."""

    def case(title: str, do: str = "", kept: str = NOTHING_LOST, leaves: Iterable[str] = (), slow: bool = False):
        def add(provoke: Callable[["Bench"], None]) -> Callable[["Bench"], None]:
            cases.append(Case(title, provoke, do, kept, tuple(leaves), slow))
            return provoke

        return add

    return case


@dataclass
class Bench:
    """A folder with a small study, from parameters to tables; commands run in it.

    The last command is the mistake: what it showed is `command` and `text`, and every file must be as it was before,
    but for those that match `leaves`.
    """

    folder: Path
    leaves: tuple[str, ...] = ()
    command: str = ""
    text: str = ""
    status: int = 0
    printed: str = ""
    _before: dict[Path, str] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """A file of the folder."""
        return self.folder / name

    def write(self, name: str, content: str | bytes) -> None:
        """Put a file there."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def cut(self, name: str, size: int = -100) -> None:
        """Keep the first `size` bytes of a file."""
        self.write(name, self.path(name).read_bytes()[:size])

    def change(self, name: str, value: object, *keys: str) -> None:
        """Set a value in a JSON or YAML file."""
        # Each in its own way: YAML reads the 1e-06 that JSON writes as text.
        is_yaml, text = name.endswith(".yaml"), self.path(name).read_text()
        content = block = yaml.safe_load(text) if is_yaml else json.loads(text)
        for key in keys[:-1]:
            block = block[key]
        block[keys[-1]] = value
        self.write(name, yaml.safe_dump(content, sort_keys=False) if is_yaml else json.dumps(content))

    def cvoting(self, words: str, report: bool = False) -> None:
        """`python -m cvoting` with some words, in this process; `report`: what it prints is part of the message."""
        from cvoting.__main__ import main

        self._start(f"python -m cvoting {words}")
        shown = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stderr(shown),
            contextlib.redirect_stdout(io.StringIO()) as printed,
            mock.patch.dict(os.environ, ENVIRONMENT),
            mock.patch.object(sys, "argv", ["cvoting", *shlex.split(words)]),
        ):
            try:
                status = main()
            except SystemExit as stop:  # argparse's way
                status = int(stop.code or 0)
        self.printed = printed.getvalue()
        self._end(shown.getvalue(), status)
        if report:
            self.text = f"{self.printed.strip()}\n{self.text}"

    def child(
        self,
        words: str,
        prelude: str = "pass",
        stop: Callable[[], bool] | None = None,
        by: signal.Signals = signal.SIGINT,
        launcher: Sequence[str] = (),
    ) -> None:
        """The same in another process, after some Python statements.

        Args:
            words: the arguments of cvoting.
            prelude: statements that change the process.
            stop: where given, the process gets a signal as soon as this is true.
            by: which; Ctrl-C's.
            launcher: a command that starts the process.
        """
        # What runs in the background of a shell ignores Ctrl-C, and so do its children: these listen again.
        listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        code = f"{listen}; import runpy; {prelude}; runpy.run_module('cvoting', run_name='__main__', alter_sys=True)"
        self._start(f"python -m cvoting {words}")
        with self._popen([*launcher, sys.executable, "-c", code, *shlex.split(words)]) as process:
            while stop and not stop() and process.poll() is None:
                time.sleep(0.01)
            if stop:
                process.send_signal(by)
            text = process.communicate()[0]
        self._end(text, process.returncode)

    def snakemake(self, words: str) -> None:
        """`snakemake` with some words."""
        self._start(f"snakemake {words}")
        options = ["--cores", "1", "--snakefile", str(ROOT / "Snakefile")]
        with self._popen([sys.executable, "-m", "snakemake", *options, *shlex.split(words)]) as process:
            text = process.communicate()[0]
        self._end(text, process.returncode)

    @contextlib.contextmanager
    def read_only(self, name: str) -> Iterator[Sequence[str]]:
        """A folder in which nothing can be written; gives the launcher of a child for which that holds, root or not."""
        self.path(name).chmod(0o555)
        try:
            yield launcher()
        finally:
            self.path(name).chmod(0o755)

    def _popen(self, command: list[str]) -> subprocess.Popen[str]:
        environment = {**os.environ, **ENVIRONMENT, **CHILD}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=self.folder, env=environment, **streams)

    def _start(self, command: str) -> None:
        self.command, self._before = command, self.files()

    def _end(self, text: str, status: int) -> None:
        self.text, self.status = shown(text, self.folder), status

    def files(self) -> dict[Path, str]:
        """The SHA-256 of every file, Snakemake's own left out."""
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        names = {path: path.relative_to(self.folder) for path in found}
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path, name in names.items()
            if name.parts[0] != ".snakemake"
        }

    def check(self) -> None:
        """The last command failed, with a message and without a traceback, and nothing was lost.

        Raises:
            AssertionError: when that is not so.
        """
        assert self.status != 0, f"{self.command}: no error"
        assert self.text, f"{self.command}: no message"
        assert TRACEBACK not in self.text, self.text
        after = self.files()
        changed = {name for name in {*after, *self._before} if after.get(name) != self._before.get(name)}
        changed = {name for name in changed if not any(name.match(pattern) for pattern in self.leaves)}
        assert not changed, f"{self.command}: changed or added {sorted(map(str, changed))}"


def shown(text: str, folder: Path) -> str:
    """The message in what a command printed: without progress, usage, and where this checkout and the folder lie."""
    text = text.replace(f"{folder}/", "").replace(f"{ROOT}/", "")
    if TRACEBACK in text:
        return text
    # Snakemake says where a rule is in its own words, below the message.
    lines = [line for line in text.splitlines() if not line.startswith(('  File "', "Traceback:"))]
    first = re.compile(r"cvoting [\w-]+: |python -m cvoting [\w-]+: error: |\w+(Error|Exception)( in |:)")
    at = next((i for i, line in enumerate(lines) if first.match(line)), len(lines))
    message = "\n".join(lines[at:]).strip()
    return re.sub(r'(in file "[\w/.]+"), line \d+:', r"\1:", message)


IMPORT = "import-checkpoint --format akorn released.pth new.safetensors"
IMPORT_HRM = "import-checkpoint --format hrm hrm/released.pth new.safetensors"
SOLVE = "solve --checkpoint model.safetensors --threads 1 --k 4 --file puzzles.txt"
RESUMABLE = "--partial partial --code 0 --threads 1"
DATA = "--train data/sudoku/train.npz --validation data/sudoku/validation.npz"
TRAIN = f"train train.json {DATA} --out model.safetensors --curves model.csv {RESUMABLE}"
ROLLOUTS = (
    "rollouts rollouts.json --checkpoint model.safetensors --puzzles data/sudoku_hard/test.npz "
    f"--out shard0.parquet {RESUMABLE}"
)
VOTING = "voting voting.json shard0.parquet shard1.parquet --out table.csv --paired paired.csv"
STEPS = "steps steps.json shard0.parquet shard1.parquet --out steps.csv"
TABLE = "table table.json --published reference/hyperparameters.csv --out-dir tables"
FIGURE = "figure figure.json table.csv table.csv --published reference/published.csv --out-dir figures"
SUMMARY = "summary summary.json --voting table.csv --training model.csv --out-dir summary"
