"""Solving one puzzle: the vote over candidates, what is said of it, and models that start at a fixed state."""

import json
import math
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from cvoting.__main__ import main
from cvoting.bank import BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.bank_from_answers import no_answer
from cvoting.checkpoint import Checkpoint
from cvoting.data.puzzles import Puzzles
from cvoting.models.akorn import AKOrN
from cvoting.models.base import RecurrentModel, State
from cvoting.models.hrm import HRM
from cvoting.models.transformer import Transformer
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.hrm import HrmParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import FixedStartError, prepare_start, roll_out
from cvoting.solve import Solution, SolveError, confidence_column, default_steps, describe, draw, solve
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
MAZE = Maze(name="maze", grid=(3, 3))
TEXT, RIGHT, WRONG = "12..34......4...", "1243342121344312", "1243342121344321"
QUESTION = TASK.parse(TEXT)
CPU = torch.device("cpu")


class Scripted(RecurrentModel):
    """Candidate k answers as written, with the same logit in all cells; the start of a rollout changes nothing."""

    def __init__(self, answers: list[str], logits: list[float], task: Task = TASK):
        super().__init__()
        self.noise_shape, self.params = (task.cells, 1), SimpleNamespace(step_problems=lambda *_: [])
        tokens = torch.stack([torch.from_numpy(task.parse(a).astype(np.int64)) for a in answers])
        classes = torch.nn.functional.one_hot(tokens - task.first_answer_token, task.classes)
        self.logits = classes[None] * torch.tensor(logits)[None, :, None, None]

    def initialise(self, rng: torch.Generator) -> None:
        """Nothing to draw."""

    def embed(self, questions: Tensor) -> Tensor:
        return questions

    def initial_state(self, condition: Tensor, noise: Tensor) -> State:
        return State(noise)

    def trajectory(self, condition: Tensor, state: State, steps: int) -> Any:
        yield from (state for _ in range(steps))

    def readout(self, state: State) -> Tensor:
        return self.logits


class Fixed(Scripted):
    """Says that it starts at a fixed state."""

    initial_state_kind = "fixed"


class Startable(Fixed):
    """Can start at random."""

    random = False

    def start_at_random(self) -> None:
        self.random = True


@pytest.fixture
def akorn(tiny_akorn) -> AKOrN:
    model = AKOrN.for_task(tiny_akorn, TASK)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def test_the_most_confident_candidate_is_selected_and_the_split_is_counted():
    found = solve(Scripted([RIGHT, WRONG, WRONG], [2.0, 1.0, 1.5]), TASK, QUESTION, 3, 2, 0, CPU)
    assert TASK.format(found.answer) == RIGHT
    assert [TASK.format(answer) for answer in found.answers] == [RIGHT, WRONG]
    assert found.counts.tolist() == [1, 2]
    # One of four classes has the logit: its probability is e^x / (e^x + 3).
    assert found.confidence == pytest.approx([math.exp(2) / (math.exp(2) + 3), math.exp(1.5) / (math.exp(1.5) + 3)])
    assert found.satisfied.tolist() == [True, False]


def test_of_equally_confident_candidates_the_first_is_selected():
    found = solve(Scripted([WRONG, RIGHT, RIGHT], [1.0, 2.0, 2.0]), TASK, QUESTION, 3, 1, 0, CPU)
    assert TASK.format(found.answer) == RIGHT
    found = solve(Scripted([WRONG, RIGHT, WRONG], [1.0, 2.0, 2.0]), TASK, QUESTION, 3, 1, 0, CPU)
    assert TASK.format(found.answer) == RIGHT
    found = solve(Scripted([WRONG, RIGHT], [2.0, 2.0]), TASK, QUESTION, 2, 1, 0, CPU)
    assert TASK.format(found.answer) == WRONG


def test_givens_stay_as_they_are_given():
    changed = "3" + RIGHT[1:]
    found = solve(Scripted([changed, RIGHT], [2.0, 1.0]), TASK, QUESTION, 2, 1, 0, CPU)
    assert [TASK.format(answer) for answer in found.answers] == [RIGHT]
    assert found.counts.tolist() == [2]


def test_candidates_are_those_of_a_bank(akorn, tmp_path):
    puzzles = Puzzles(QUESTION[None], TASK.parse(RIGHT)[None], "own", "a test")
    header = BankHeader("run", "akorn", "boards", "test", "own", "a test", 4, 0, 5)
    plan = RolloutPlan(T_eval=4, candidates=80, chunk=80)
    roll_out(akorn, TASK, puzzles, plan, header, tmp_path / "bank", tmp_path / "partial", CPU)
    bank = concatenate(read_banks(tmp_path / "bank"))
    found = solve(akorn, TASK, QUESTION, 80, 4, 5, CPU)
    best = bank.scores["confidence"][0].argmax()
    kept = np.where(QUESTION == 0, bank.answers[0][bank.answer_ids[0, best]], QUESTION)
    assert np.array_equal(found.answer, kept)
    assert found.confidence[0] == pytest.approx(bank.scores["confidence"][0, best], rel=1e-5)
    assert found.counts.sum() == 80


def test_a_board_is_described_with_its_split():
    found = solve(Scripted([RIGHT, WRONG, WRONG], [2.0, 1.0, 1.5]), TASK, QUESTION, 3, 2, 0, CPU)
    assert describe(TASK, found) == (
        "1 2 | 4 3\n3 4 | 2 1\n----+----\n2 1 | 3 4\n4 3 | 1 2\n\n"
        "confidence 0.7112; it satisfies the constraints\n"
        "candidates: 3, distinct answers: 2\n"
        "  candidates  confidence  constraints\n"
        "           1      0.7112  satisfied\n"
        "           2      0.5990  violated"
    )


def test_a_violated_constraint_is_named():
    text = describe(TASK, solve(Scripted([WRONG], [2.0]), TASK, QUESTION, 1, 1, 0, CPU))
    assert "it violates the constraints: 2 times the digit 2 in column 3 (row 2, column 3 and row 4, column 3)" in text


def test_only_the_first_answers_are_listed():
    answers = [f"{RIGHT[:-1]}{d}" for d in "1234"] + [f"{RIGHT[:-2]}{d}2" for d in "234"]
    text = describe(TASK, solve(Scripted(answers, [1.0] * 7), TASK, QUESTION, 7, 1, 0, CPU))
    assert len(re.findall(r"^ +1 .* (?:violated|satisfied)", text, flags=re.MULTILINE)) == 5
    assert text.endswith("\n           2              other answers: 2, satisfied: 0")


def test_boxes_of_any_size_are_drawn():
    task = Sudoku(name="sudoku", box=(2, 3))
    lines = draw(task, np.tile(np.arange(1, 7, dtype=np.uint8), 6)).splitlines()
    assert lines[:3] == ["1 2 3 | 4 5 6", "1 2 3 | 4 5 6", "------+------"]
    assert len(lines) == 8


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("So #o  oG", "it satisfies the constraints; its path is a shortest path"),
        ("S  #o  oG", "it violates the constraints: not one simple path of free cells from S to G"),
        ("S  o  ooG", "it violates the constraints: row 2, column 1 is '#' in the question and 'o' in the answer"),
        (
            "So  o  oG",
            "it violates the constraints: row 2, column 1 is '#' in the question and ' ' in the answer (the metrics "
            "'valid' and 'optimal' look at the path alone); its path is a shortest path",
        ),
    ],
    ids=["right", "no path", "through a wall", "a wall beside the path"],
)
def test_a_maze_is_solved_and_what_is_wrong_is_named(answer, verdict):
    found = solve(Scripted([answer], [3.0], MAZE), MAZE, MAZE.parse("S  #    G"), 1, 1, 0, CPU)
    *picture, _, first = describe(MAZE, found).splitlines()[:5]
    assert picture == [answer[at : at + 3] for at in (0, 3, 6)]
    assert first.split("; ", 1)[1] == verdict


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        ("SG       ", "its path is a shortest path"),
        ("SG ooo   ", None),
        ("SG oo    ", None),
        ("S Gooo   ", "its path is 2 cells longer than a shortest path"),
    ],
)
def test_it_is_said_how_much_longer_a_path_is_than_a_shortest_one(answer, remark):
    tokens = MAZE.parse(answer)
    assert MAZE.remark(np.where(tokens == MAZE.parse("o" * 9), np.uint8(MAZE.blank), tokens), tokens) == remark


def test_confidences_close_to_1_are_told_apart_and_ties_are_marked():
    answers = np.stack([TASK.parse(RIGHT), TASK.parse(WRONG), TASK.parse(WRONG[::-1])])
    confidence = np.array([1 - 1e-9, 1 - 1.001e-9, 1 - 1.001e-9])
    found = Solution(QUESTION, answers, np.array([1, 5, 2]), confidence, np.array([True, False, False]))
    assert describe(TASK, found).splitlines()[6:] == [
        "confidence 1 - 1.000e-09; it satisfies the constraints",
        "candidates: 8, distinct answers: 3",
        "  candidates  1 - confidence  constraints",
        "           1       1.000e-09  satisfied",
        "           5       1.001e-09  violated",
        "           2       1.001e-09  violated (as confident as the row above)",
    ]
    assert confidence_column([0.5, 0.50001, 1.0]) == ["1 - confidence", "5.0000e-01", "4.9999e-01", "0.0000e+00"]
    assert confidence_column([0.9, 0.25]) == ["confidence", "0.9000", "0.2500"]


def test_the_default_steps_are_those_of_an_evaluation(akorn):
    assert default_steps(akorn, {"training": {"T_train": 16}}) == (32, "twice as many as in training")
    once = Scripted([RIGHT], [1.0])
    for factor in (HRM.evaluation_factor, Transformer.evaluation_factor):
        once.evaluation_factor = factor
        assert default_steps(once, {"training": {"T_train": 16}}) == (16, "as many as in training")
    with pytest.raises(SolveError, match="does not say with how many steps it was trained: give them with --steps"):
        default_steps(akorn, {})


def test_steps_that_the_model_cannot_make_are_refused():
    model = Scripted([RIGHT], [1.0])
    model.params.step_problems = lambda steps: [f"{steps} steps: expected 1"]
    with pytest.raises(ParameterError, match="steps: 2 steps: expected 1"):
        solve(model, TASK, QUESTION, 1, 2, 0, CPU)


def test_weights_that_are_not_numbers_are_refused():
    with pytest.raises(SolveError, match="a confidence is not a number"):
        solve(Scripted([RIGHT], [math.nan]), TASK, QUESTION, 1, 1, 0, CPU)


def test_several_candidates_of_a_fixed_start_are_refused(capsys):
    with pytest.raises(
        FixedStartError, match=r"2 candidates of a model .* all would be equal.*`--random-start-anyway`"
    ):
        prepare_start(Fixed([RIGHT], [1.0]), "fixed", 2, False)
    prepare_start(Fixed([RIGHT], [1.0]), "fixed", 1, False)
    prepare_start(Scripted([RIGHT], [1.0]), "random", 2, False)
    assert capsys.readouterr().err == ""


def test_a_flag_that_changes_nothing_is_said_to(capsys):
    prepare_start(Scripted([RIGHT], [1.0]), "random", 2, True)
    assert capsys.readouterr().err == "note: the model starts at random states anyway: nothing changes\n"


def test_the_flag_lets_a_fixed_start_be_random_and_warns(capsys):
    model = Startable([RIGHT], [1.0])
    prepare_start(model, "fixed", 2, True)
    assert model.random
    assert "warning: the model was trained from one fixed initial state" in capsys.readouterr().err
    with pytest.raises(ParameterError, match="Fixed always starts at its fixed state: expected candidates = 1"):
        prepare_start(Fixed([RIGHT], [1.0]), "fixed", 2, True)


@pytest.fixture
def verb(monkeypatch, tmp_path, akorn, tiny_akorn, capsys):
    """Runs a verb in a folder with the checkpoint `random` and its twin `fixed`; gives status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")
    about = {"run": "r", "model": "m", "task": plain(TASK), "network": plain(tiny_akorn), "training_seed": 0}
    for kind in ("random", "fixed"):
        described = about | {"training": {"T_train": 2}, "initial_state": kind}
        Checkpoint(described, akorn.state_dict(), {}).save(kind)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["cvoting", *arguments])
        status = main()
        return status, *capsys.readouterr()

    return run


def test_the_verb_solves_a_puzzle_and_a_file_of_puzzles(verb, tmp_path):
    status, shown, _ = verb("solve", "--checkpoint=random", f"--puzzle={TEXT}", "--k=4", "--threads=1")
    assert status == 0
    steps, _, one = shown.partition("\n\n")
    assert steps == "steps: 4, twice as many as in training; --steps changes them"
    assert re.search(r"^candidates: 4, distinct answers: \d$", one, flags=re.MULTILINE)
    (tmp_path / "puzzles").write_text(f"{TEXT}\n{TEXT[::-1]}\n")
    status, many, _ = verb("solve", "--checkpoint=random", "--file=puzzles", "--k=4", "--threads=1")
    assert status == 0
    assert many.startswith(f"{steps}\n\npuzzle 1 of 2\n\n{one}\npuzzle 2 of 2\n\n")
    _, fewer, _ = verb("solve", "--checkpoint=random", f"--puzzle={TEXT}", "--k=1", "--steps=3", "--threads=1")
    assert fewer.startswith("steps: 3, as --steps says\n\n")


def test_a_checkpoint_that_does_not_say_how_it_starts_starts_as_its_network_does(verb):
    sizes = {"channels": 16, "heads": 2, "expansion": 1, "positions": "rope", "prefix": True, "initial_state": "fixed"}
    network = {"architecture": "hrm", "H_cycles": 1, "L_cycles": 1, "H_layers": 1, "L_layers": 1} | sizes
    model = HRM.for_task(build(HrmParams, network), TASK)
    model.initialise(torch.Generator().manual_seed(0))
    about = {"run": "r", "model": "m", "task": plain(TASK), "network": network, "training_seed": 0}
    Checkpoint(about | {"training": {"T_train": 1}}, model.state_dict(), {}).save("hrm")
    question = ["solve", "--checkpoint=hrm", f"--puzzle={TEXT}", "--threads=1"]
    assert "candidates: 1," in verb(*question)[1]
    assert "all would be equal" in verb(*question, "--k=2")[2]
    Puzzles(QUESTION[None], TASK.parse(RIGHT)[None], "own", "a test").save("p.npz")
    recipe = {"dataset": "d", "split": "test", "inference_seed": 0, "plan": {"T_eval": 1, "candidates": 2, "chunk": 2}}
    files = ["--checkpoint=hrm", "--puzzles=p.npz", "--out=bank", "--partial=p", "--code=0", "--threads=1"]
    assert "all would be equal" in verb("rollouts", json.dumps(recipe), *files)[2]


def test_the_verbs_refuse_a_fixed_start_unless_told_otherwise(verb, tmp_path):
    question = ["--checkpoint=fixed", f"--puzzle={TEXT}", "--threads=1"]
    Puzzles(QUESTION[None], TASK.parse(RIGHT)[None], "own", "a test").save("p.npz")
    plan = {"T_eval": 2, "candidates": 2, "chunk": 2}
    recipe = {"dataset": "d", "split": "test", "inference_seed": 0}
    files = ["--checkpoint=fixed", "--puzzles=p.npz", "--out=bank", "--partial=p", "--code=0", "--threads=1"]

    def roll_out(**anyway):
        return ["rollouts", json.dumps(recipe | {"plan": plan | anyway}), *files]

    several = ["solve", *question, "--k=2"]
    for refused, allowed in (
        (several, [*several, "--random-start-anyway"]),
        (roll_out(), roll_out(random_start_anyway=True)),
    ):
        status, _, shown = verb(*refused)
        assert status == 1
        assert "all would be equal" in shown
        status, _, shown = verb(*allowed)
        assert status == 0
        assert "warning: the model was trained from one fixed initial state" in shown
    assert "candidates: 1," in verb("solve", *question)[1]
    assert "candidates: 64," in verb("solve", *question, "--random-start-anyway")[1]


@pytest.mark.parametrize(("task", "text"), [(TASK, TEXT), (MAZE, "S  #    G")], ids=["sudoku", "maze"])
def test_what_is_no_answer_is_drawn_and_said(task, text):
    network = {"channels": 16, "heads": 2, "expansion": 1, "positions": "rope", "prefix": True}
    network |= {"H_cycles": 1, "L_cycles": 1, "H_layers": 1, "L_layers": 1, "initial_state": "per_token"}
    model = HRM.for_task(build(HrmParams, {"architecture": "hrm"} | network), task)
    model.initialise(torch.Generator().manual_seed(0))
    padding = len(model.embedding) - 1
    model.readout = lambda state: torch.nn.functional.one_hot(
        torch.full(state.latent.shape[:3], padding), padding + 1
    ).float()
    question = task.parse(text)
    shown = describe(task, solve(model, task, question, 2, 1, 0, CPU))
    asked = int(task.positions_to_predict(question).sum())
    assert shown.count("?") == asked + 1
    assert f"it is incomplete: what the model predicts in {asked} cells (?) is not an answer" in shown
    assert shown.endswith("incomplete")


def test_one_unanswered_cell_is_counted(akorn):
    answer = np.where(np.arange(16) == 15, no_answer(TASK), TASK.parse(RIGHT)).astype(np.uint8)
    row = [np.array([value]) for value in (1, 0.5, False)]
    text = describe(TASK, Solution(QUESTION, answer[None], *row))
    assert "4 3 | 1 ?" in text
    assert "in 1 cell (?) is not an answer" in text
