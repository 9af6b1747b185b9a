"""The command line: every verb's help, and one clear message for a problem with the input."""

import json
import signal
import subprocess
import sys

import pytest

from cvoting.__main__ import parser
from cvoting.models.released_registry import FORMATS


def cvoting(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "cvoting", *arguments], capture_output=True, text=True)


def test_help_names_every_verb():
    text = parser().format_help()
    for verb in ("fetch", "data", "audit", "train", "rollouts", "voting", "figure", "schema", "recipe"):
        assert verb in text


def test_help_names_every_format_of_released_weights(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["import-checkpoint", "--help"])
    assert " or ".join(FORMATS) in " ".join(capsys.readouterr().out.split())


def test_an_unknown_name_lists_the_choices():
    run = cvoting("fetch", "sudoku", "--out", "x")
    assert run.returncode == 1
    assert "cvoting fetch: unknown source file 'sudoku': expected one of sudoku_extreme_1k_train" in run.stderr
    assert "Traceback" not in run.stderr


def test_sigterm_ends_a_job_whose_shell_ignores_it(repository):
    program = (
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); from cvoting.__main__ import main; "
        "sys.argv = ['cvoting', 'schema', '--check']; main(); signal.raise_signal(signal.SIGTERM)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=repository).returncode == -signal.SIGTERM


def test_a_recipe_that_is_neither_json_nor_a_file_is_refused():
    run = cvoting("voting", "{broken", "--out", "x", "--paired", "y", "z")
    assert run.returncode == 2
    assert "expected JSON or the name of a JSON file" in run.stderr


def test_the_recipe_of_a_job_holds_its_own_blocks_only(repository):
    run = cvoting("recipe", "train", "akorn-sudoku", "0", "--configfile", str(repository / "params.yaml"))
    assert run.returncode == 0, run.stderr
    recipe = json.loads(run.stdout)
    assert set(recipe) == {"run", "model", "dataset", "task", "network", "training", "training_seed"}


@pytest.mark.parametrize("verb", ["voting", "figure"])
def test_what_follows_rollouts_needs_no_torch(verb, tmp_path):
    recipe = {"voting": {"voting": {}, "study": "s"}, "figure": {"figure": "fig2_akorn_voting"}}[verb]
    options = {"voting": ["--out=a", "--paired=b"], "figure": ["--published=a", "--out-dir=b"]}[verb]
    code = (
        "import sys; sys.argv = ['cvoting', *sys.argv[1:]]\n"
        "from cvoting.__main__ import main\n"
        "try: main()\n"
        "except Exception: pass\n"
        "assert 'torch' not in sys.modules\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, verb, json.dumps(recipe), *options, str(tmp_path / "absent")],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def recipe_with_level(level: float) -> str:
    voting = {"K": [1], "votes": ["confidence"], "subsets": 1, "resamples": 100, "level": level, "seed": 0}
    return json.dumps({"study": "s", "task": {"name": "sudoku", "box": [2, 2]}, "voting": voting})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "{}", "--raw=r", "--out=o"], "the recipe has no 'dataset', only nothing: see `cvoting recipe`"),
        (
            ["data", '{"dataset": "d", "task": {"box": [2, 2]}}', "--raw=r", "--out=o"],
            "datasets.d.task.name = None: expected",
        ),
        (
            ["figure", '{"figure": "fig9"}', "--published=p", "--out-dir=o", "t"],
            "unknown figure 'fig9': expected one of",
        ),
        (
            ["recipe", "fit", "x"],
            "unknown stage 'fit': expected one of "
            "data, audit, strata, train, import_run, rollouts, voting, by_difficulty, steps, adaptive, scaling, "
            "calibration, discrimination, trajectories, solved_board, figure, table, summary, claims\n",
        ),
        (["recipe", "train", "x", "0"], "unknown train 'x': expected one of akorn-sudoku, akorn-sudoku_extreme"),
        (["recipe", "rollouts", "akorn-sudoku_hard"], "rollouts []: expected inference seed, shard after the name"),
        (["recipe", "data", "sudoku", "--configfile=nope"], "No such file or directory: 'nope'"),
        (["schema", "--check", "--file=nope"], "No such file or directory: 'nope'"),
        (
            ["voting", recipe_with_level(2), "--out=o", "--paired=p", "b"],
            "voting.level = 2.0: expected more than 0 and",
        ),
        (["voting", recipe_with_level(0.9), "--out=o", "--paired=p", "absent"], "absent: not a readable bank"),
    ],
)
def test_a_mistake_is_one_message_without_a_traceback(repository, tmp_path, arguments, message):
    if arguments[0] == "recipe" and not any(a.startswith("--configfile") for a in arguments):
        arguments = [*arguments, f"--configfile={repository / 'params.yaml'}"]
    run = subprocess.run([sys.executable, "-m", "cvoting", *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())
