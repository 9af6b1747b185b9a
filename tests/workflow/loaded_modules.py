"""Which of our modules a command of `python -m cvoting` loads."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Modules that pass things on, and name what is not used: see docs/provenance.md.
PASSING_ON = (
    "cvoting.__main__",
    "cvoting.assumed_gpu",
    "cvoting.command_cost",
    "cvoting.command_inputs",
    "cvoting.command_models",
    "cvoting.command_pages",
    "cvoting.command_tables",
    "cvoting.params.imported",
    "cvoting.run_record",
    "cvoting.recipes",
    "cvoting.gathered",
)
#: Runs commands, each line of the input one, in a child that has loaded nothing of ours yet; says what it then loaded.
#: What is not ours is loaded once: that takes most of a job's time.
RUN_EACH_IN_A_CHILD = """
import json, os, runpy, sys
import matplotlib.figure, pandas, pyarrow.parquet, scipy.stats, torch

for line in sys.stdin:
    read, write = os.pipe()
    if os.fork() == 0:
        os.dup2(2, 1)
        sys.argv[1:] = json.loads(line)
        status = 0
        try:
            runpy.run_module("cvoting", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            status = end.code
        found = [name for name in sys.modules if name.split(".")[0] == "cvoting"]
        os.write(write, json.dumps([status, found]).encode())
        os._exit(0)
    os.close(write)
    os.wait()
    with open(read) as answer:
        print(answer.read() or "[1, []]", flush=True)
"""


@contextmanager
def children() -> Iterator[Callable[[list[str]], set[str]]]:
    """A function that runs a command, which must end well, and gives the names of the modules that it loaded."""
    words = [sys.executable, "-c", RUN_EACH_IN_A_CHILD]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdin
        assert runner.stdout

        def run(command: list[str]) -> set[str]:
            print(json.dumps(command), file=runner.stdin, flush=True)
            status, found = json.loads(runner.stdout.readline())
            assert status == 0, command
            return set(found)

        yield run
        runner.stdin.close()
