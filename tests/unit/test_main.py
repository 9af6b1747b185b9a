"""The command line: every verb's help, and one clear message for a problem with the input."""

import json
import subprocess
import sys

import pytest

from cvoting.__main__ import parser


def cvoting(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "cvoting", *arguments], capture_output=True, text=True)


def test_help_names_every_verb():
    text = parser().format_help()
    for verb in ("fetch", "data", "train", "rollouts", "voting", "figure", "schema", "recipe"):
        assert verb in text


def test_an_unknown_name_lists_the_choices():
    run = cvoting("fetch", "sudoku", "--out", "x")
    assert run.returncode == 1
    assert "cvoting fetch: unknown source file 'sudoku': expected one of sudoku_extreme_1k_train" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_recipe_that_is_neither_json_nor_a_file_is_refused():
    run = cvoting("voting", "{broken", "--out", "x", "--paired", "y", "z")
    assert run.returncode == 2
    assert "expected JSON or the name of a JSON file" in run.stderr


def test_the_recipe_of_a_job_holds_its_own_blocks_only(repository):
    run = cvoting("recipe", "train", "akorn-sudoku", "0", "--params", str(repository / "params.yaml"))
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
