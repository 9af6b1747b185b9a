"""The adaptive table against plain loops over all orders of the candidates, and against the voting table."""

import runpy
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cvoting import adaptive_bank
from cvoting.adaptive_bank import AdaptiveError, interpolated
from cvoting.adaptive_table import write_adaptive
from cvoting.bank import Bank
from cvoting.bank_file import BankFileError, write_banks
from cvoting.params.adaptive import AdaptiveParams, AdaptivePlan
from cvoting.params.core import ParameterError, build, canonical, plain
from cvoting.params.voting import VotingParams
from cvoting.shards import ShardsError
from cvoting.table_files import ADAPTIVE_COLUMNS, read_csv, read_tables
from cvoting.tables import voting_tables
from cvoting.tally import tally
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

BOARDS, MAZES = Sudoku(name="sudoku", box=(2, 2)), Maze(name="maze", grid=(3, 4), positions="free")
PLAN = AdaptivePlan(
    study="a-study",
    candidates=4,
    K_max=3,
    targets=(1.3, 2.0, 3.0),
    agreements=(1, 2, 3),
    K=(1, 2, 3),
    subsets=50,
    resamples=100,
    level=0.9,
    seed=0,
)
SLOW = Path(__file__).parents[1] / "reference/adaptive_orders.py"
orders = SimpleNamespace(**runpy.run_path(str(SLOW)))

MakeBank = Callable[..., Bank]
#: Banks -> the adaptive table.
Table = Callable[..., pd.DataFrame]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes banks in files, and their table."""

    def make(*banks: Bank, task: Task = BOARDS, plan: AdaptivePlan = PLAN) -> pd.DataFrame:
        write_adaptive(files(tmp_path, banks), plan, task, tmp_path / "table.csv")
        return read_csv(tmp_path / "table.csv")

    return make


def files(folder: Path, banks: Sequence[Bank]) -> list[Path]:
    """A file for each bank."""
    paths = [folder / f"bank{number}.parquet" for number in range(len(banks))]
    for path, bank in zip(paths, banks, strict=True):
        write_banks(path, [bank])
    return paths


def select(table: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows with these values."""
    for name, value in where.items():
        table = table[table[name] == value]
    assert len(table), where
    return table


def slow(bank: Bank, metric: str, plan: AdaptivePlan) -> dict[tuple[str, float], list[float]]:
    """Number drawn, chance to stop, accuracy, and accuracy where it stops, of each rule."""
    by_hash = np.argsort(bank.puzzles)
    scores = bank.scores["confidence"][by_hash, : plan.candidates].tolist()
    right = bank.correct[metric][by_hash, : plan.candidates].astype(float).tolist()
    ids = bank.answer_ids[by_hash, : plan.candidates].tolist()
    rules = {}
    for target in plan.targets:
        halves = [orders.threshold_of(scores[half::2], target, plan.K_max) for half in (0, 1)]
        halves = [inf, inf] if target >= plan.K_max else halves
        rules["threshold", target] = [orders.confident(s, halves[1 - p % 2]) for p, s in enumerate(scores)]
    for m in plan.agreements:
        rules["agreement", m] = [orders.agreed(of_puzzle, m) for of_puzzle in ids]
    found = {}
    for key, of_puzzles in rules.items():
        numbers = [
            orders.mean_over_orders(rule, s, o, plan.K_max)
            for rule, s, o in zip(of_puzzles, scores, right, strict=True)
        ]
        drawn, stopped, worth, answered = np.mean(numbers, axis=0)
        found[key] = [drawn, stopped, worth, answered / stopped if stopped else nan]
    return found


@pytest.mark.parametrize("task", [BOARDS, MAZES], ids=lambda task: task.name)
def test_every_number_is_that_of_all_orders(predicted_bank: MakeBank, table: Table, task: Task) -> None:
    bank = predicted_bank(task, puzzles=11)
    found = table(bank, task=task)
    metrics = [metric for metric in ("board", "optimal") if metric in task.metrics]
    assert set(found["metric"]) == set(metrics)
    for metric in metrics:
        for (rule, parameter), numbers in slow(bank, metric, PLAN).items():
            (row,) = select(found, metric=metric, rule=rule, parameter=parameter).to_dict("records")
            mine = [row[name] for name in ("drawn", "coverage", "value", "accuracy_answered")]
            assert mine == pytest.approx(numbers, abs=1e-11, nan_ok=True), (rule, parameter)
    tied = [len(set(scores)) < len(scores) for scores in bank.scores["confidence"][:, :4].tolist()]
    assert any(tied), "candidates of equal confidence are drawn too"


def test_the_table_says_what_it_is_of(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    found = table(predicted_bank(training_seed=3, inference_seed=8))
    assert tuple(found.columns) == ADAPTIVE_COLUMNS
    assert read_tables("adaptive table", ["a-bank"], [tmp_path / "table.csv"])["a-bank"].equals(found)
    about = {"study": "a-study", "run": "akorn-sudoku", "T_eval": 32, "puzzles": 12, "candidates": 4, "level": 0.9}
    about |= {"training_seed": "3", "inference_seed": "8", "interval": "puzzles only", "metric": "board"}
    assert all((found[name] == value).all() for name, value in about.items())
    rules = [("threshold", t, "confidence", 3) for t in PLAN.targets]
    rules += [("agreement", m, "confidence", 3) for m in PLAN.agreements]
    rules += [("fixed", K, vote, K) for vote in ("confidence", "majority_answer") for K in PLAN.K]
    assert list(zip(*(found[name] for name in ("rule", "parameter", "vote", "K_max")), strict=True)) == rules
    for name in ("drawn_", "", "coverage_", "difference_"):
        assert (found[f"{name}low"] <= found[f"{name}high"]).all()


def test_fixed_numbers_are_those_of_the_voting_table(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    banks = [predicted_bank(candidates=4, training_seed=seed) for seed in (0, 1)]
    found = table(*banks, plan=replace(PLAN, subsets=2))
    params = VotingParams(
        K=(1, 2, 3), votes=("confidence", "majority_answer"), subsets=2, resamples=100, level=0.9, seed=0
    )
    voting, _ = voting_tables(tally(files(tmp_path, banks), params, BOARDS), params, "a-study")
    voting = voting[(voting["estimator"] == "expected") & (voting["metric"] == "board")]
    voting = voting.set_index(["vote", "K", "training_seed"])
    mine = select(found, rule="fixed")
    assert len(mine) == len(voting) == 2 * 3 * 3
    for row in mine.itertuples():
        theirs = voting.loc[(row.vote, row.parameter, row.training_seed)]
        assert row.value == pytest.approx(theirs["value"], abs=1e-11)
        if row.training_seed == "all":
            assert (row.low, row.high) == pytest.approx((theirs["low"], theirs["high"]), abs=1e-11)
        assert pd.isna(row.subsets) == pd.isna(theirs["subsets"])
        assert (row.drawn, row.coverage, row.accuracy_answered) == (row.parameter, 1, row.value)


def test_the_difference_is_to_c_voting_with_as_many_candidates(predicted_bank: MakeBank, table: Table) -> None:
    found = table(predicted_bank(puzzles=40))
    curve = select(found, rule="fixed", vote="confidence")
    alike = np.interp(found["drawn"], curve["drawn"], curve["value"])
    np.testing.assert_allclose(found["difference"], found["value"] - alike, atol=1e-11)
    assert (curve[["difference", "difference_low", "difference_high"]] == 0).all(axis=None)
    ends = found[(found["rule"] == "threshold") & (found["parameter"] == 3)].iloc[0]
    assert (ends["threshold"], ends["coverage"], ends["drawn"], ends["difference"]) == (inf, 0, 3, 0)
    assert isnan(ends["accuracy_answered"])
    assert isnan(ends["accuracy_answered_high"])


def test_between_two_points_a_curve_is_straight() -> None:
    K, curve = np.array([1, 2, 4]), np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    at = np.array([[1.0, 1.5, 2.0, 3.0, 4.0], [0.999999, 2.0, 2.5, 3.5, 4.000001]])
    found = interpolated(K, curve, at)
    np.testing.assert_allclose(found, [[0, 0.5, 1, 1.5, 2], [1, 1, 0.75, 0.25, 0]], atol=1e-5)


def test_labels_change_no_threshold_and_neither_does_the_half_that_is_judged(
    predicted_bank: MakeBank, table: Table
) -> None:
    bank = predicted_bank(puzzles=20)
    whole = select(table(bank), rule="threshold")
    flipped = replace(bank, correct={name: ~right for name, right in bank.correct.items()})
    other = select(table(flipped), rule="threshold")
    names = ["threshold", "drawn", "coverage"]
    assert other[names].equals(whole[names])
    np.testing.assert_allclose(other["value"], 1 - whole["value"], atol=1e-11)
    # Changed labels of one half change what that half gets, and nothing of the other half.
    odd = np.argsort(np.argsort(bank.puzzles)) % 2 == 1
    half = replace(bank, correct={name: right ^ odd[:, None] for name, right in bank.correct.items()})
    assert select(table(half), rule="threshold")[names].equals(whole[names])


def test_a_threshold_is_the_mean_of_those_that_either_half_chooses(predicted_bank: MakeBank, table: Table) -> None:
    bank = predicted_bank(puzzles=9)
    found = select(table(bank), rule="threshold", parameter=2.0)
    scores = bank.scores["confidence"][np.argsort(bank.puzzles), :4].tolist()
    halves = [orders.threshold_of(scores[half::2], 2.0, 3) for half in (0, 1)]
    assert found["threshold"].item() == pytest.approx(sum(halves) / 2, abs=1e-12)


def test_shards_parts_and_their_order_do_not_matter(
    predicted_bank: MakeBank, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [{"puzzles": 5, "shard": 0, "shards": 2}, {"puzzles": 7, "first": 5, "shard": 1, "shards": 2}]
    shards = [predicted_bank(**piece, training_seed=seed) for seed in (1, 0) for piece in pieces]
    written = []
    for banks in (shards, shards[::-1], [predicted_bank(training_seed=seed) for seed in (0, 1)]):
        table(*banks)
        written.append((tmp_path / "table.csv").read_bytes())
    monkeypatch.setattr(adaptive_bank, "CANDIDATES_AT_ONCE", 9)
    table(*shards)
    written.append((tmp_path / "table.csv").read_bytes())
    assert len(set(written)) == 1


def test_rows_over_all_training_seeds_are_means(predicted_bank: MakeBank, table: Table) -> None:
    found = table(*(predicted_bank(training_seed=seed) for seed in (0, 1)))
    one, two, both = (select(found, training_seed=seed) for seed in ("0", "1", "all"))
    for name in ("threshold", "value", "drawn", "coverage", "difference"):
        np.testing.assert_allclose(both[name], (one[name].to_numpy() + two[name].to_numpy()) / 2, atol=1e-11)
    assert set(both["interval"]) == {"training seeds and puzzles"}


def test_without_known_answers_there_is_neither_agreement_nor_majority(predicted_bank: MakeBank, table: Table) -> None:
    bank = predicted_bank()
    unknown = replace(bank, answers=[table[:0] for table in bank.answers], answer_ids=np.zeros_like(bank.answer_ids))
    found = table(unknown)
    assert set(found["rule"]) == {"threshold", "fixed"}
    assert set(found["vote"]) == {"confidence"}
    known = table(bank)
    kept = known[known["rule"].isin(["threshold"]) | (known["rule"].eq("fixed") & known["vote"].eq("confidence"))]
    pd.testing.assert_frame_equal(found, kept.reset_index(drop=True))


def test_one_puzzle_has_no_other_half(predicted_bank: MakeBank, table: Table) -> None:
    assert set(table(predicted_bank(puzzles=1))["rule"]) == {"agreement", "fixed"}


def test_a_bank_that_is_not_whole_or_too_small_is_refused(
    predicted_bank: MakeBank, table: Table, tmp_path: Path
) -> None:
    with pytest.raises(AdaptiveError, match="candidates = 7: expected at most 6, those of the bank"):
        table(predicted_bank(), plan=replace(PLAN, candidates=7))
    with pytest.raises(ShardsError, match=r"shards \[0\] of 3 missing"):
        table(*(predicted_bank(shards=3, shard=shard, first=12 * shard) for shard in (1, 2)))
    with pytest.raises(ShardsError, match=r"seeds 0, 1: expected 1"):
        table(predicted_bank(), predicted_bank(inference_seed=1))
    with pytest.raises(BankFileError, match="no such file"):
        write_adaptive([tmp_path / "nowhere"], PLAN, BOARDS, tmp_path / "table.csv")


def test_a_plan_leaves_out_what_a_bank_has_not() -> None:
    params = AdaptiveParams(
        candidates=64, K_max=32, targets=(1.5, 8.0, 32.0), agreements=(2, 9), resamples=100, level=0.9, seed=5
    )
    plan = params.plan("a-study", candidates=8, K=(1, 4, 16), subsets=3)
    assert (plan.candidates, plan.K_max, plan.targets, plan.agreements, plan.K) == (8, 8, (1.5, 8.0), (2,), (1, 4))
    assert (plan.study, plan.subsets, plan.resamples, plan.level, plan.seed) == ("a-study", 3, 100, 0.9, 5)
    assert params.plan("a-study", candidates=4096, K=(64,), subsets=3).K_max == 32
    assert build(AdaptivePlan, plain(plan), "plan") == plan
    assert canonical(build(AdaptiveParams, plain(params), "adaptive")) == canonical(params)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K_max": 5}, "K_max = 5: expected at most candidates = 4"),
        ({"targets": (2.0, 3.5)}, "targets = 3.5: expected at most K_max = 3"),
        ({"agreements": (4, 2)}, "agreements = 4: expected at most K_max = 3"),
        ({"K": (4,)}, "K = 4: expected at most K_max = 3"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_numbers_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(PLAN, **change)
    with pytest.raises(ParameterError, match="K_max = 9: expected at most candidates = 8"):
        AdaptiveParams(candidates=8, K_max=9, targets=(), agreements=(), resamples=100, level=0.9, seed=0)
