"""Logits that a bank keeps: what they are, that a file holds them, and that rollouts do not depend on how they ran."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
import yaml

from cvoting import recipes, rollouts
from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks, read_ends, write_banks
from cvoting.bank_from_answers import AnswersError, bank_from_answers, compact
from cvoting.data.generated_maze import build as build_mazes
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.core import ParameterError, build
from cvoting.params.datasets import GeneratedMaze, GeneratedSudoku, Splits
from cvoting.params.rollouts import BankParams, RolloutPlan
from cvoting.params.study import Study
from cvoting.rollouts import roll_out
from cvoting.seeding import generator
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

BOARDS, MAZES = Sudoku(name="sudoku", box=(2, 2)), Maze(name="maze", grid=(5, 5), positions="free")
HEADER = BankHeader("run", "a model", "puzzles", "test", "generated", "a generator", 4, 0, 5)
PLAN = RolloutPlan(T_eval=4, candidates=8, chunk=16, logit_candidates=5, temperatures=(0.5, 2.0))
CASES = [
    ("akorn", BOARDS),
    ("itrsa", BOARDS),
    ("hrm", BOARDS),
    ("transformer", BOARDS),
    ("akorn", MAZES),
    ("hrm", MAZES),
]

MakeBank = Callable[..., Bank]
BankOf = Callable[..., Bank]
each_case = pytest.mark.parametrize(("architecture", "task"), CASES, ids=lambda c: c if isinstance(c, str) else c.name)


def assert_equal(a: Bank, b: Bank) -> None:
    """Every field, exactly."""
    np.testing.assert_equal(asdict(a), asdict(b))


def softmax(logits: np.ndarray) -> np.ndarray:
    """In float64."""
    p = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


# Files.


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_logits_of_every_part_survive_a_file(predicted_bank: MakeBank, tmp_path: Path, kept: int) -> None:
    parts = [predicted_bank(puzzles=n, first=first, kept=kept) for n, first in ((3, 0), (1, 3), (5, 4))]
    write_banks(tmp_path / "bank", parts)
    read = list(read_banks(tmp_path / "bank"))
    for part, written in zip(read, parts, strict=True):
        assert_equal(part, written)
    whole = predicted_bank(puzzles=9, kept=kept)
    assert_equal(concatenate(read), whole)
    assert len({logits.shape[1] for logits in whole.logits}) > 3, "boards of different numbers of blanks"
    assert {logits.shape[0] for logits in whole.logits} == {kept}
    assert {logits.dtype for logits in whole.logits} == {np.dtype(np.float16)}


def test_the_end_of_a_rollout_is_read_with_or_without_its_logits(predicted_bank: MakeBank, tmp_path: Path) -> None:
    bank = predicted_bank()
    write_banks(tmp_path / "bank", [bank])
    assert_equal(concatenate(read_ends(tmp_path / "bank", logits=True)), bank)
    assert_equal(concatenate(read_ends(tmp_path / "bank")), replace(bank, logits=[], ranks=[]))


def test_a_bank_without_logits_has_no_column_of_them(predicted_bank: MakeBank, tmp_path: Path) -> None:
    for name, kept in (("with", 2), ("without", 0)):
        write_banks(tmp_path / name, [predicted_bank(kept=kept)])
        assert {"logits", "ranks"}.isdisjoint(pq.read_schema(tmp_path / name).names) == (kept == 0)
    assert concatenate(read_ends(tmp_path / "without", logits=True)).logits == []


def test_parts_with_and_without_logits_are_no_one_bank(predicted_bank: MakeBank, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="parts of different banks"):
        write_banks(tmp_path / "bank", [predicted_bank(), predicted_bank(kept=0)])
    assert not list(tmp_path.iterdir())


def test_logits_of_a_bank_are_the_same_bytes_each_time(predicted_bank: MakeBank, tmp_path: Path) -> None:
    write_banks(tmp_path / "first", [predicted_bank(puzzles=5), predicted_bank(puzzles=4, first=5)])
    write_banks(tmp_path / "second", read_banks(tmp_path / "first"))
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


# In 16 bits.


def kept(*logits: float, label: int = 0) -> tuple[list[float], int]:
    """The logits of one cell of one candidate as they are kept, and the place of the label's."""
    found, ranks = compact(np.array([[[logits]]], np.float64), np.array([[True]]), np.array([[label]], np.uint8))
    assert (found[0].dtype, ranks[0].shape) == (np.float16, (1, 1))
    return found[0][0, 0].tolist(), int(ranks[0][0, 0])


def test_the_largest_logit_is_kept_as_zero_and_the_others_below_it_in_order() -> None:
    assert kept(1.5, 3.0, -1.0, 2.0) == ([0.0, -1.0, -1.5, -4.0], 2)
    assert kept(1.5, 3.0, -1.0, 2.0, label=2) == ([0.0, -1.0, -1.5, -4.0], 3)
    assert kept(-7.0) == ([0.0], 0)


def test_of_equal_logits_the_token_that_appears_first_is_first() -> None:
    assert [kept(1.0, 2.0, 2.0, 1.0, label=label)[1] for label in range(4)] == [2, 0, 1, 3]
    assert kept(1.0, 1.0 + 1e-9, label=1) == ([0.0, 0.0], 1), "equal in 16 bits"


def test_what_is_impossible_is_kept_as_the_least_number_and_so_is_what_16_bits_cannot_hold() -> None:
    assert kept(1.0, -np.inf, -1e6) == ([0.0, -65504.0, -65504.0], 0)


def test_only_positions_to_predict_are_kept() -> None:
    logits = np.arange(2 * 3 * 4 * 2, dtype=float).reshape(2, 3, 4, 2)
    logits[..., 1] -= 10 + np.arange(4)  # cell c is 9 + c below
    labels = np.array([[0, 0, 1, 0], [1, 1, 1, 0]], dtype=np.uint8)
    found, ranks = compact(logits, np.array([[True, False, True, False], [False, False, False, True]]), labels)
    assert [of_puzzle.shape for of_puzzle in found] == [(3, 2, 2), (3, 1, 2)]
    assert found[0][1].tolist() == [[0, -9], [0, -11]]
    assert found[1][2].tolist() == [[0, -12]]
    assert [of_puzzle.tolist() for of_puzzle in ranks] == [[[0, 1]] * 3, [[0]] * 3]


@pytest.mark.parametrize("scale", [0.01, 1, 10, 100])
def test_a_kept_logit_is_off_by_a_2048th_at_most_and_log_p_by_that_of_itself_and_of_the_entropy(scale: float) -> None:
    exact = scale * generator("made-up logits").normal(size=(1, 1, 2000, 9))
    whole, labels = np.ones((1, 2000), dtype=bool), np.zeros((1, 2000), dtype=np.uint8)
    found = compact(exact, whole, labels)[0][0].astype(np.float64)
    exact = -np.sort(-exact)
    below = exact[0] - exact[0].max(-1, keepdims=True)
    assert (np.abs(found - below) <= 2**-11 * np.abs(below) + 2**-25).all()
    p = softmax(exact[0])
    log_p = below - np.log(np.exp(below).sum(-1, keepdims=True))
    entropy = -(p * log_p).sum(-1, keepdims=True)
    assert (np.abs(softmax(found) - p) <= 1.01 * 2**-11 * p * (np.abs(log_p) + entropy) + 2**-24).all()


@pytest.mark.parametrize(
    ("bad", "found"), [((np.nan, 1.0), "nan"), ((1.0, np.nan), "nan"), ((np.inf, 0.0), "inf"), ((-np.inf,) * 2, "-inf")]
)
def test_logits_that_are_no_numbers_are_refused(bad: tuple[float, float], found: str) -> None:
    logits = np.zeros((2, 3, 4, 2))
    logits[1, 2, 3] = bad
    message = rf"logits of cell 4 of candidate 3 of puzzle 2: the largest is {found}, expected a number"
    with pytest.raises(AnswersError, match=message):
        compact(logits, np.ones((2, 4), dtype=bool), np.zeros((2, 4), dtype=np.uint8))


@pytest.mark.parametrize(
    "shape", [(1, 3, 16, 5), (2, 4, 16, 5), (2, 0, 16, 5), (2, 3, 15, 5), (2, 3, 16, 4)], ids=lambda shape: f"{shape}"
)
def test_logits_of_another_shape_than_the_answers_are_refused(shape: tuple[int, ...]) -> None:
    label = np.ones((2, 16), np.uint8)
    puzzles = Puzzles(np.where(np.arange(16) < 3, 0, label).astype(np.uint8), label, "generated", "made up")
    answers, scores = np.ones((2, 3, 16), dtype=int), {"confidence": np.ones((2, 3))}
    bank_from_answers(HEADER, BOARDS, puzzles, answers, scores, logits=np.zeros((2, 3, 16, 5)))
    with pytest.raises(AnswersError, match="logits of shape"):
        bank_from_answers(HEADER, BOARDS, puzzles, answers, scores, logits=np.zeros(shape))


# Rollouts.


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory: pytest.TempPathFactory) -> dict[Task, Puzzles]:
    splits, raw = Splits(train=0, validation=0, test=7), tmp_path_factory.mktemp("raw")
    boards = GeneratedSudoku(kind="generated_sudoku", givens=(5, 10), seed=0, splits=splits)
    mazes = GeneratedMaze(kind="generated_maze", wall_fraction=(0.2, 0.4), path_cells=(5, 25), seed=0, splits=splits)
    return {
        BOARDS: SOURCES["generated_sudoku"]("boards", BOARDS, boards, raw)["test"],
        MAZES: build_mazes("mazes", MAZES, mazes, raw)["test"],
    }


@pytest.fixture(scope="module")
def models(tiny_networks) -> dict[tuple[str, Task], RecurrentModel]:
    """Networks whose logits differ enough between candidates."""
    models = {case: MODELS[case[0]].for_task(tiny_networks[case[0]], case[1]) for case in CASES}
    for model in models.values():
        model.initialise(torch.Generator().manual_seed(0))
        torch.nn.init.normal_(model.classifier.weight, std=2, generator=torch.Generator().manual_seed(1))
    return models


@pytest.fixture
def bank_of(models, puzzles, tmp_path) -> BankOf:
    """Rolls out a model and reads the bank back; its file is `<name>.parquet`."""

    def make(architecture: str, task: Task, plan: RolloutPlan = PLAN, name: str = "bank") -> Bank:
        plan = replace(plan, T_eval=1) if architecture == "transformer" else plan
        header, path = replace(HEADER, T_eval=plan.T_eval), tmp_path / f"{name}.parquet"
        model, partial, device = models[architecture, task], tmp_path / "partial", torch.device("cpu")
        roll_out(model, task, puzzles[task], plan, header, path, partial, device)
        return concatenate(read_banks(path))

    return make


@each_case
def test_confidences_are_those_of_the_kept_logits(bank_of: BankOf, architecture: str, task: Task) -> None:
    bank = bank_of(architecture, task)
    assert len(bank.logits) == len(bank)
    for name, temperature in (("confidence", 1.0), ("confidence_at_0.5", 0.5), ("confidence_at_2", 2.0)):
        means = np.stack([softmax(z.astype(np.float64) / temperature).max(-1).mean(-1) for z in bank.logits])
        np.testing.assert_allclose(means, bank.scores[name][:, :5], atol=1e-3, err_msg=name)
        assert np.ptp(means) > 0.005, "confidences that differ by more than the tolerance"


@each_case
def test_the_labels_logit_is_the_first_where_the_answer_is_right(
    bank_of: BankOf, architecture: str, task: Task
) -> None:
    bank = bank_of(architecture, task)
    for p, ranks in enumerate(bank.ranks):
        asked = task.positions_to_predict(bank.questions[p])
        answers = bank.answers[p][bank.answer_ids[p, :5]][:, asked]
        np.testing.assert_array_equal(ranks == 0, answers == bank.labels[p][asked])
        assert (np.diff(bank.logits[p].astype(np.float64)) <= 0).all()
    assert any(ranks.any() for ranks in bank.ranks)


@each_case
def test_votes_by_kept_logits_are_those_by_scores_unless_confidences_are_close(
    bank_of: BankOf, architecture: str, task: Task
) -> None:
    bank = bank_of(architecture, task)
    scores, rows = bank.scores["confidence"][:, :5], np.arange(len(bank))
    picks = np.array([softmax(logits).max(-1).mean(-1).argmax() for logits in bank.logits])
    assert (scores.max(axis=1) - scores[rows, picks] < 1e-3).all()
    assert (picks == scores.argmax(axis=1)).sum() > len(bank) / 2


@pytest.mark.parametrize("architecture", ["akorn", "hrm"])
@pytest.mark.parametrize("chunk", [1, 3, 5, 8, 1000])
def test_the_first_candidates_keep_their_logits_wherever_chunks_cut(
    bank_of: BankOf, architecture: str, chunk: int
) -> None:
    one, two = bank_of(architecture, BOARDS), bank_of(architecture, BOARDS, replace(PLAN, chunk=chunk))
    for a, b in zip(one.logits, two.logits, strict=True):
        assert a.shape == b.shape == (5, *a.shape[1:])
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-3)


def test_shards_together_keep_the_same_logits_bit_for_bit(bank_of: BankOf) -> None:
    parts = [bank_of("akorn", BOARDS, replace(PLAN, shards=3, shard=shard)) for shard in range(3)]
    np.testing.assert_equal(concatenate(parts).logits, bank_of("akorn", BOARDS).logits)
    np.testing.assert_equal(concatenate(parts).ranks, bank_of("akorn", BOARDS).ranks)


def test_keeping_logits_changes_nothing_else_of_a_bank(bank_of: BankOf) -> None:
    assert_equal(
        replace(bank_of("akorn", BOARDS), logits=[], ranks=[]),
        bank_of("akorn", BOARDS, replace(PLAN, logit_candidates=0)),
    )


def test_an_interrupted_job_keeps_the_same_bytes(
    bank_of: BankOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cvoting.params.rollouts.PART_PUZZLES", 2)
    bank_of("akorn", BOARDS, name="whole")
    original, calls = rollouts._roll_out_group, []

    def stop_at_third(*args: object) -> Bank:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    with monkeypatch.context() as patched:
        patched.setattr(rollouts, "_roll_out_group", stop_at_third)
        with pytest.raises(KeyboardInterrupt):
            bank_of("akorn", BOARDS, name="stopped")
    assert len(list((tmp_path / "partial").iterdir())) == 2
    bank_of("akorn", BOARDS, name="stopped")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "stopped.parquet").read_bytes()


# Parameters.


def test_only_the_first_inference_seed_keeps_logits() -> None:
    bank = BankParams(
        run="r", dataset="d", T_eval=1, candidates=8, inference_seeds=(7, 3), chunk=8, shards=1, logit_candidates=4
    )
    plans = {seed: bank.plan(0, seed) for seed in (None, 7, 3)}
    assert {seed: plan.logit_candidates for seed, plan in plans.items()} == {None: 4, 7: 4, 3: 0}
    assert replace(plans[3], logit_candidates=4) == plans[7]


def test_the_recipe_of_rollouts_says_who_keeps_logits(repository: Path) -> None:
    study = build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))
    name = "itrsa-sudoku_hard"
    assert study.banks[name].logit_candidates == 4
    found = {seed: json.loads(recipes.rollouts(study, name, seed, 0)) for seed in study.banks[name].inference_seeds}
    assert [recipe["plan"]["logit_candidates"] for recipe in found.values()] == [4, 0]


def test_more_kept_candidates_than_there_are_is_an_error() -> None:
    with pytest.raises(ParameterError, match=r"logit_candidates = 9: expected at most candidates = 8"):
        replace(PLAN, logit_candidates=9)
