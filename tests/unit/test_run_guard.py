"""Locks of killed runs go, locks of live ones stay."""

import signal
import subprocess
import sys

import pytest

from cvoting import run_guard

RUN = """
import sys, time
from pathlib import Path
from cvoting.run_guard import clear_stale_lock
print(clear_stale_lock(Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setattr(run_guard, "_held", held := [])
    yield tmp_path / ".snakemake"
    for file in held:
        file.close()


@pytest.fixture
def start(state, monkeypatch, repository):
    """Start a run in another process; gives the process, and what it said of earlier ones."""
    monkeypatch.setenv("PYTHONPATH", str(repository / "src"))
    started = []

    def run():
        process = subprocess.Popen([sys.executable, "-c", RUN, str(state)], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def lock(state):
    (state / "locks").mkdir()
    (state / "locks/0.output.lock").write_text("results/x\n")
    return state / "locks/0.output.lock"


def test_the_lock_of_a_killed_run_is_removed(state, start):
    process, _ = start()
    path = lock(state)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run_guard.clear_stale_lock(state)
    assert not path.exists()


def test_the_lock_of_a_live_run_stays(state, start):
    start()
    path = lock(state)
    assert not run_guard.clear_stale_lock(state)
    assert path.exists()


def test_the_lock_stays_as_long_as_any_of_several_runs_lives(state, start):
    first, _ = start()
    start()
    path = lock(state)
    first.kill()
    first.wait()
    assert not run_guard.clear_stale_lock(state)
    assert path.exists()


def test_the_lock_of_another_host_stays(state, start, monkeypatch):
    process, _ = start()
    path = lock(state)
    process.kill()
    process.wait()
    monkeypatch.setattr("platform.node", lambda: "another")
    assert not run_guard.clear_stale_lock(state)
    assert path.exists()


def test_nothing_was_killed_where_no_lock_is_left(state, start):
    process, said = start()
    process.kill()
    process.wait()
    assert said == "False"
    assert not run_guard.clear_stale_lock(state)
