"""From bank files to the calibration, reliability and risk tables: against plain loops over what they say they are."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from cvoting.bank import Bank, concatenate
from cvoting.bank_file import BankFileError, read_banks, write_banks
from cvoting.calibration_tables import write_calibration
from cvoting.params.calibration import CalibrationPlan
from cvoting.params.voting import VotingParams
from cvoting.predictions import PredictionsError, read_predictions
from cvoting.seeding import generator
from cvoting.shards import ShardsError
from cvoting.statistics import bootstrap_means, percentile_interval, puzzle_shares, wilson
from cvoting.table_files import CALIBRATION_COLUMNS, RELIABILITY_COLUMNS, RISK_COLUMNS, read_csv
from cvoting.tables import voting_tables
from cvoting.tally import tally
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

BOARDS, MAZES = Sudoku(name="sudoku", box=(2, 2)), Maze(name="maze", grid=(3, 4), positions="free")
PLAN = CalibrationPlan(study="a-study", temperatures=(2.0, 1.0, 0.5), bins=4, resamples=100, level=0.9, seed=0)
TEMPERATURES = (0.5, 1.0, 2.0)
KEPT = 4
LIMITS = {"low": 0.05, "high": 20.0}
both_tasks = pytest.mark.parametrize("task", [BOARDS, MAZES], ids=lambda task: task.name)
both_whose = pytest.mark.parametrize("whose", ["candidates", "voted"])

MakeBank = Callable[..., Bank]


class Tables(NamedTuple):
    """The three tables of a bank."""

    calibration: pd.DataFrame
    reliability: pd.DataFrame
    risk: pd.DataFrame


class Write(NamedTuple):
    """Writes banks into files, and their tables into others."""

    folder: Path

    def banks(self, *banks: Bank, parts: int = 5) -> list[Path]:
        """A file for each, in row groups of some puzzles."""
        paths = [self.folder / f"bank{number}.parquet" for number in range(len(banks))]
        for path, bank in zip(paths, banks, strict=True):
            write_banks(
                path, [cut(bank, range(start, min(start + parts, len(bank)))) for start in range(0, len(bank), parts)]
            )
        return paths

    def tables(self, shards: list[Path], task: Task = BOARDS, plan: CalibrationPlan = PLAN, name: str = "a") -> Tables:
        """The tables, read back."""
        out = [self.folder / f"{name}.{kind}.csv" for kind in Tables._fields]
        write_calibration(shards, plan, task, *out)
        return Tables(*map(read_csv, out))

    def bytes_of(self, name: str) -> list[bytes]:
        """The contents of the three files."""
        return [(self.folder / f"{name}.{kind}.csv").read_bytes() for kind in Tables._fields]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return Write(tmp_path)


def cut(bank: Bank, rows: range | list[int]) -> Bank:
    """Some puzzles of a bank."""
    return replace(
        bank,
        puzzles=[bank.puzzles[row] for row in rows],
        questions=bank.questions[rows],
        labels=bank.labels[rows],
        answers=[bank.answers[row] for row in rows],
        answer_ids=bank.answer_ids[rows],
        scores={name: values[rows] for name, values in bank.scores.items()},
        correct={name: values[rows] for name, values in bank.correct.items()},
        cell_accuracy=bank.cell_accuracy[rows],
        logits=[bank.logits[row] for row in rows if bank.logits],
        ranks=[bank.ranks[row] for row in rows if bank.ranks],
    )


def by_hash(bank: Bank) -> Bank:
    """Its puzzles in ascending order of their hashes."""
    return cut(bank, sorted(range(len(bank)), key=bank.puzzles.__getitem__))


# The slow implementation: lists and loops.


class Cell(NamedTuple):
    """A prediction: the largest probability, whether its token is right, Brier score and loss."""

    top: float
    right: bool
    brier: float
    loss: float


class Candidate(NamedTuple):
    """A kept candidate of a puzzle."""

    cells: list[Cell]
    mean: float
    joint: float
    correct: dict[str, float]


def predicted(logits: np.ndarray, rank: int, temperature: float) -> Cell:
    """One cell, whose label's logit is at the place `rank`."""
    weights = [math.exp(float(z) / temperature) for z in logits]
    p = [w / sum(weights) for w in weights]
    brier = sum((q - (place == rank)) ** 2 for place, q in enumerate(p))
    # The weights overflow nowhere: the largest logit is 0.
    return Cell(max(p), p.index(max(p)) == rank, brier, math.log(sum(weights)) - float(logits[rank]) / temperature)


def candidates_of(bank: Bank, temperatures: list[float], own: bool) -> list[list[Candidate]]:
    """Per puzzle its kept candidates, at a temperature for each puzzle; `own`: with the bank's own confidence."""
    found = []
    for p, T in enumerate(temperatures):
        of_puzzle = []
        for k in range(len(bank.logits[p])):
            cells = [predicted(z, int(rank), T) for z, rank in zip(bank.logits[p][k], bank.ranks[p][k], strict=True)]
            mean = bank.scores["confidence"][p, k] if own else sum(c.top for c in cells) / len(cells)
            correct = {name: float(values[p, k]) for name, values in bank.correct.items()}
            correct |= {"cell_accuracy": sum(c.right for c in cells) / len(cells)}
            of_puzzle.append(Candidate(cells, mean, math.prod(c.top for c in cells), correct))
        found.append(of_puzzle)
    return found


def chosen(puzzles: list[list[Candidate]], whose: str) -> list[list[Candidate]]:
    """All candidates, or the first of the largest confidence."""
    return puzzles if whose == "candidates" else [[max(candidates, key=lambda c: c.mean)] for candidates in puzzles]


def units(puzzles: list[list[Candidate]], unit: str) -> list[tuple[float, bool]]:
    """Confidence and correctness of every prediction of a unit."""
    candidates = [candidate for of_puzzle in puzzles for candidate in of_puzzle]
    if unit == "cell":
        return [(cell.top, cell.right) for candidate in candidates for cell in candidate.cells]
    return [(c.mean if unit == "board_mean" else c.joint, bool(c.correct["board"])) for c in candidates]


def edges_of(items: list[tuple[float, bool]], binning: str, bins: int) -> list[float]:
    """Of equal width, or after every n/bins-th confidence of `items`."""
    if binning == "width":
        return [b / bins for b in range(bins + 1)]
    ordered = sorted(confidence for confidence, _ in items)
    inner = [ordered[math.ceil(b * len(ordered) / bins) - 1] for b in range(1, bins)]
    return [0.0, *sorted({edge for edge in inner if edge < ordered[-1]} - {0.0, 1.0}), 1.0]


def in_bins(items: list[tuple[float, bool]], edges: list[float]) -> list[list[tuple[float, bool]]]:
    """The predictions of each bin."""
    return [
        [item for item in items if lower < item[0] <= upper or (b == 0 and item[0] <= 0) or (upper == 1 < item[0])]
        for b, (lower, upper) in enumerate(pairwise(edges))
    ]


def calibration_error(bins: list[list[tuple[float, bool]]]) -> float:
    """Gap between mean confidence and accuracy of each bin, weighted by its share."""
    n = sum(map(len, bins))
    gaps = [len(b) / n * abs(sum(c for c, _ in b) / len(b) - sum(r for _, r in b) / len(b)) for b in bins if b]
    return sum(gaps)


def numbers_of(puzzles: list[list[Candidate]], errors: dict[tuple[str, str], float]) -> dict[str, float]:
    """Every metric of the calibration table but the area and changes."""
    cells = [cell for of_puzzle in puzzles for candidate in of_puzzle for cell in candidate.cells]
    names = puzzles[0][0].correct
    found = {
        name: np.mean([np.mean([c.correct[name] for c in candidates]) for candidates in puzzles]) for name in names
    }
    found |= {"cell_confidence": np.mean([cell.top for cell in cells])}
    found |= {"cell_brier": np.mean([cell.brier for cell in cells]), "cell_nll": np.mean([cell.loss for cell in cells])}
    return found | {f"{unit}_ece_{binning}": error for (unit, binning), error in errors.items()}


def best_temperature(bank: Bank, places: list[int]) -> float:
    """By bisection of the slope of the mean loss of some puzzles in 1 / T."""
    cells = [
        ([float(v) for v in z], int(rank))
        for p in places
        for candidate, ranks in zip(bank.logits[p], bank.ranks[p], strict=True)
        for z, rank in zip(candidate, ranks, strict=True)
    ]

    def slope(b: float) -> float:
        total = 0.0
        for z, rank in cells:
            weights = [math.exp(b * v) for v in z]
            total += sum(w * v for w, v in zip(weights, z, strict=True)) / sum(weights) - z[rank]
        return total

    low, high = 1 / LIMITS["high"], 1 / LIMITS["low"]
    for _ in range(45):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 1 / low


def with_changes(metrics: dict[str, float], of_one: dict[str, float], names: Iterable[str]) -> dict[str, float]:
    """The metrics, and how far the accuracies of these names are from those at temperature 1."""
    return metrics | {f"{name}_change": metrics[name] - of_one[name] for name in names}


def slow(
    banks: list[Bank], task: Task, bins: int = PLAN.bins
) -> Iterator[tuple[dict, list[float], list[dict], list[list[dict]]]]:
    """Per temperature and whose: about; per bank its temperature, its metrics, its rows of the reliability table."""
    banks = [by_hash(bank) for bank in banks]
    own = list(range(len(banks[0])))
    settings = [([[T] * len(own)] * len(banks), [T] * len(banks), False) for T in (1.0, *TEMPERATURES)]
    halves = [[best_temperature(bank, own[half::2]) for half in (0, 1)] for bank in banks]
    other = [[fitted[(place + 1) % 2] for place in own] for fitted in halves]
    first, of_one = True, None  # temperature 1 comes first, for the changes
    for temperatures, T, fitted in [*settings, (other, [np.mean(fitted) for fitted in halves], True)]:
        everyone = [
            candidates_of(bank, of_puzzles, own=T[0] == 1 and not fitted)
            for bank, of_puzzles in zip(banks, temperatures, strict=True)
        ]
        for whose in ("candidates", "voted"):
            seeds = [chosen(puzzles, whose) for puzzles in everyone]
            rows: list[list[dict]] = [[] for _ in seeds]
            errors: list[dict] = [{} for _ in seeds]
            for unit in ("cell", "board_mean", "board_joint"):
                items = [units(puzzles, unit) for puzzles in seeds]
                for binning in ("width", "mass"):
                    edges = edges_of([item for some in items for item in some], binning, bins)
                    for s, some in enumerate(items):
                        binned = in_bins(some, edges)
                        errors[s][unit, binning] = calibration_error(binned)
                        for b, held in enumerate(binned):
                            about = {"unit": unit, "binning": binning, "bin": b + 1}
                            about |= {"lower": edges[b], "upper": edges[b + 1], "count": len(held)}
                            about["confidence"] = np.mean([c for c, _ in held]) if held else np.nan
                            about["accuracy"] = np.mean([r for _, r in held]) if held else np.nan
                            rows[s].append(about)
            metrics = [numbers_of(puzzles, e) for puzzles, e in zip(seeds, errors, strict=True)]
            if whose == "voted":
                of_one = of_one or metrics
                names = seeds[0][0][0].correct
                metrics = [with_changes(m, one, names) for m, one in zip(metrics, of_one, strict=True)]
            if not first:
                yield {"of": whose, "fitted": fitted}, T, metrics, rows
        first = False


def select(table: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows with these values; temperatures need not be exact."""
    for name, value in where.items():
        found = np.isclose(table[name], value, rtol=1e-5) if name == "temperature" else table[name] == value
        table = table[found]
    return table.reset_index(drop=True)


def assert_rows(found: pd.DataFrame, expected: list[dict]) -> None:
    """Every number of the expected rows, in their order."""
    wanted = pd.DataFrame(expected)
    assert len(found) == len(wanted)
    for name in wanted:
        if wanted[name].dtype == float:
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6, atol=1e-9, err_msg=name)
        else:
            assert found[name].tolist() == wanted[name].tolist(), name


@both_tasks
@pytest.mark.parametrize("seeds", [(0,), (3, 1)], ids=["one training seed", "two"])
def test_every_number_is_that_of_a_loop(
    predicted_bank: MakeBank, write: Write, task: Task, seeds: tuple[int, ...]
) -> None:
    banks = [predicted_bank(task, training_seed=seed) for seed in seeds]
    found = write.tables(write.banks(*banks), task)
    counted = 0
    for about, temperatures, metrics, bins in slow(banks, task):
        rows = select(found.calibration, **about)
        rows = rows[~rows["metric"].str.startswith("aurc")]
        for s, seed in enumerate(seeds):
            own = select(rows, training_seed=str(seed), temperature=temperatures[s])
            np.testing.assert_allclose(own["value"], [metrics[s][name] for name in own["metric"]], rtol=1e-6, atol=1e-9)
            assert set(own["metric"]) == set(metrics[s])
            assert_rows(
                select(found.reliability, **about, training_seed=str(seed), temperature=temperatures[s]), bins[s]
            )
            counted += len(own)
        if len(seeds) > 1:
            mean = select(rows, training_seed="all", temperature=np.mean(temperatures))
            np.testing.assert_allclose(
                mean["value"], [np.mean([m[name] for m in metrics]) for name in mean["metric"]], rtol=1e-6, atol=1e-9
            )
            counted += len(mean)
    areas = found.calibration["metric"].str.startswith("aurc").sum()
    assert counted + areas == len(found.calibration)


def risk_curve(items: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Coverage and errors so far, after each group of equal confidence."""
    W, E = [0.0], [0.0]
    for confidence in sorted({c for c, _ in items}, reverse=True):
        group = [wrong for c, wrong in items if c == confidence]
        W.append(W[-1] + len(group) / len(items))
        E.append(E[-1] + sum(group) / len(items))
    return W, E


@both_tasks
@both_whose
def test_risks_and_areas_are_those_of_a_loop(predicted_bank: MakeBank, write: Write, task: Task, whose: str) -> None:
    bank = by_hash(predicted_bank(task, puzzles=9))
    found = write.tables(write.banks(bank), task)
    metrics = [metric for metric in ("board", "optimal") if metric in task.metrics]
    assert set(found.risk["metric"]) == set(metrics)
    puzzles = chosen(candidates_of(bank, [1.0] * len(bank), own=True), whose)
    for metric in metrics:
        items = [(c.mean, 1 - c.correct[metric]) for candidates in puzzles for c in candidates]
        assert whose == "voted" or len({c for c, _ in items}) < len(items), "some confidences are equal"
        W, E = risk_curve(items)
        rows = select(found.risk, of=whose, metric=metric)
        np.testing.assert_allclose(rows["coverage"], [c / 100 for c in range(1, 101)])
        np.testing.assert_allclose(rows["risk"], [np.interp(c, W, E) / c for c in rows["coverage"]], atol=1e-9)
        area = sum(quad(lambda c, W=W, E=E: np.interp(c, W, E) / c, a, b)[0] for a, b in pairwise(W))
        value = select(found.calibration, of=whose, metric=f"aurc_{metric}")["value"]
        np.testing.assert_allclose(value, [area], atol=1e-8)
        assert rows["risk"].iloc[-1] == pytest.approx(np.mean([wrong for _, wrong in items]))


def test_tables_have_their_columns_and_say_what_they_are_of(predicted_bank: MakeBank, write: Write) -> None:
    found = write.tables(write.banks(predicted_bank()))
    about = {"study": "a-study", "run": "akorn-sudoku", "model": "akorn", "dataset": "sudoku_hard", "split": "test"}
    about |= {"origin": "generated", "T_eval": 32, "training_seed": "0", "inference_seed": "0", "puzzles": 12}
    about |= {"candidates": KEPT, "level": 0.9, "interval": "puzzles only"}
    for table, columns in zip(found, (CALIBRATION_COLUMNS, RELIABILITY_COLUMNS, RISK_COLUMNS), strict=True):
        assert tuple(table.columns) == columns
        of_boards = table["interval"] == "Wilson, puzzles only"
        assert all((table[name] == value).all() for name, value in about.items() if name != "interval")
        assert (table["interval"][~of_boards] == about["interval"]).all()
        if table is found.reliability:
            boards = (table["of"] == "voted") & (table["unit"] != "cell") & (table["count"] > 0)
            assert of_boards.equals(boards)
            row = table[boards].iloc[0]
            count = int(row["count"])
            assert (row["low"], row["high"]) == pytest.approx(wilson(round(row["accuracy"] * count), count, 0.9))
        else:
            assert not of_boards.any()
    keys = ["of", "temperature", "fitted", "metric"]
    assert not found.calibration.duplicated(keys).any()
    assert found.calibration.groupby("fitted")["temperature"].unique()[False].tolist() == list(TEMPERATURES)


# What other tables know too.


@both_tasks
def test_the_vote_at_temperature_one_is_that_of_the_voting_table(
    predicted_bank: MakeBank, write: Write, task: Task
) -> None:
    shards = write.banks(predicted_bank(task, candidates=KEPT), predicted_bank(task, candidates=KEPT, training_seed=1))
    found = write.tables(shards, task).calibration
    params = VotingParams(K=(KEPT,), votes=("confidence", "random"), subsets=1, resamples=100, level=0.9, seed=0)
    voting, _ = voting_tables(tally(shards, params, task), params, "a-study")
    compared = 0
    for whose, vote in (("voted", "confidence"), ("candidates", "random")):
        for metric in (*task.metrics, "cell_accuracy"):
            for seed in ("0", "1", "all"):
                mine = select(found, of=whose, temperature=1.0, fitted=False, metric=metric, training_seed=seed)
                theirs = select(voting, vote=vote, estimator="prefix", metric=metric, training_seed=seed)
                np.testing.assert_allclose(mine["value"], theirs["value"], atol=1e-12)
                # The bootstrap of one seed is another where there are several: drawing seeds comes first.
                if seed == "all":
                    for end in ("low", "high"):
                        np.testing.assert_allclose(mine[end], theirs[end], atol=1e-12)
                compared += 1
    assert compared == 2 * 3 * (len(task.metrics) + 1)


def test_no_temperature_changes_whose_cells_are_right_and_ones_vote_may_differ(
    predicted_bank: MakeBank, write: Write
) -> None:
    found = write.tables(write.banks(predicted_bank(puzzles=20))).calibration
    every = select(found, of="candidates")
    assert every[every["metric"].isin(["board", "cell_accuracy"])].groupby("metric")["value"].nunique().eq(1).all()
    assert every[every["metric"] == "cell_confidence"]["value"].nunique() == 4


# Fitted temperatures.


def fitted(write: Write, bank: Bank) -> np.ndarray:
    """The confidence of every prediction at the fitted temperatures, by puzzle."""
    predictions = read_predictions(write.banks(bank), BOARDS)[0]
    tempered, _ = predictions.at_fitted()
    return np.stack([predictions.puzzle, tempered.top])


@pytest.mark.parametrize("half", [0, 1])
def test_the_temperature_of_a_puzzle_does_not_depend_on_the_labels_of_its_half(
    predicted_bank: MakeBank, write: Write, half: int
) -> None:
    bank = by_hash(predicted_bank())
    others = [(ranks + 1) % 4 if p % 2 == half else ranks for p, ranks in enumerate(bank.ranks)]
    (puzzle, one), (_, two) = fitted(write, bank), fitted(write, replace(bank, ranks=others))
    own = puzzle % 2 == half
    np.testing.assert_array_equal(one[own], two[own])
    assert (one[~own] != two[~own]).mean() > 0.5


def test_the_fitted_temperature_has_a_smaller_loss_than_one_where_the_halves_are_alike(
    predicted_bank: MakeBank, write: Write
) -> None:
    bank = predicted_bank(puzzles=40)
    bank = replace(bank, logits=[np.maximum(4 * z.astype(np.float32), -60000).astype(np.float16) for z in bank.logits])
    found = select(write.tables(write.banks(bank)).calibration, of="candidates", metric="cell_nll")
    losses = found.set_index("fitted")["value"]
    assert losses[True] < losses[False].min()
    assert select(found, fitted=True)["temperature"].item() > 2


# Seeds, shards, intervals.


def test_shards_parts_and_their_order_do_not_matter(predicted_bank: MakeBank, write: Write) -> None:
    pieces = [{"puzzles": 5, "shard": 0, "shards": 2}, {"puzzles": 7, "first": 5, "shard": 1, "shards": 2}]
    shards = write.banks(*(predicted_bank(**piece, training_seed=seed) for seed in (0, 1) for piece in pieces), parts=3)
    write.tables(shards, name="in-order"), write.tables(shards[::-1], name="reversed")
    whole = write.banks(*(predicted_bank(training_seed=seed) for seed in (0, 1)), parts=12)
    write.tables(whole, name="whole")
    assert write.bytes_of("in-order") == write.bytes_of("reversed") == write.bytes_of("whole")


def test_rows_over_all_training_seeds_are_means_with_other_intervals(predicted_bank: MakeBank, write: Write) -> None:
    found = write.tables(write.banks(*(predicted_bank(training_seed=seed) for seed in (0, 1, 2))))
    keys = {"calibration": ["of", "temperature", "fitted", "metric"], "risk": ["of", "metric", "coverage"]}
    keys["reliability"] = ["of", "unit", "binning", "temperature", "fitted", "bin"]
    for name, value in (("calibration", "value"), ("reliability", "accuracy"), ("risk", "risk")):
        table = getattr(found, name)
        if "fitted" in table:  # each seed has its own temperature
            table = table.assign(temperature=table["temperature"].mask(table["fitted"], 0.0))
        assert set(table["training_seed"]) == {"0", "1", "2", "all"}
        every = table["training_seed"] == "all"
        assert set(table["interval"][every]) == {"training seeds and puzzles"}
        assert set(table["interval"][~every]) - {"Wilson, puzzles only"} == {"puzzles only"}
        means = table[~every].groupby(keys[name])[value].mean()
        pd.testing.assert_series_equal(
            means, table[every].set_index(keys[name])[value].sort_index(), check_names=False, atol=2e-12
        )


def test_one_training_seed_has_no_row_over_all(predicted_bank: MakeBank, write: Write) -> None:
    for table in write.tables(write.banks(predicted_bank(training_seed=2, inference_seed=7))):
        assert set(table["training_seed"]) == {"2"}
        assert set(table["inference_seed"]) == {"7"}


def test_intervals_hold_the_value_where_it_is_an_accuracy_and_widen_with_the_level(
    predicted_bank: MakeBank, write: Write
) -> None:
    shards = write.banks(predicted_bank(), predicted_bank(training_seed=1))
    narrow, wide = write.tables(shards), write.tables(shards, plan=replace(PLAN, level=0.98))
    for table in (narrow.calibration, wide.calibration):
        shares = table[table["metric"].isin(["board", "all_cells", "cell_accuracy", "cell_confidence"])]
        assert ((shares["low"] < shares["value"]) & (shares["value"] < shares["high"])).all()
    assert (narrow.calibration["low"] >= wide.calibration["low"]).all()
    assert (narrow.calibration["high"] <= wide.calibration["high"]).all()


@both_whose
def test_the_interval_of_the_calibration_error_is_that_of_puzzles_drawn_again(
    predicted_bank: MakeBank, write: Write, whose: str
) -> None:
    bank = by_hash(predicted_bank())
    puzzles = chosen(candidates_of(bank, [2.0] * len(bank), own=False), whose)
    ((_, shares),) = puzzle_shares(12, PLAN.resamples, generator("bootstrap", PLAN.seed))
    draws = []
    for share in shares:
        drawn = [
            puzzle for puzzle, times in zip(puzzles, np.rint(12 * share).astype(int), strict=True) for _ in range(times)
        ]
        draws.append(calibration_error(in_bins(units(drawn, "cell"), edges_of([], "width", PLAN.bins))))
    low, high = percentile_interval(np.array(draws), PLAN.level)
    row = select(write.tables(write.banks(bank)).calibration, of=whose, temperature=2.0, fitted=False)
    row = select(row, metric="cell_ece_width").iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-9)


def test_the_interval_of_a_mean_is_that_of_the_voting_tables_bootstrap(predicted_bank: MakeBank, write: Write) -> None:
    banks = [by_hash(predicted_bank(training_seed=seed)) for seed in (0, 1)]
    values = np.stack([bank.correct["board"][:, :KEPT].mean(axis=1, keepdims=True) for bank in banks])
    draws = bootstrap_means(values, PLAN.resamples, generator("bootstrap", PLAN.seed))
    found = write.tables(write.banks(*banks)).calibration
    row = select(found, of="candidates", temperature=1.0, fitted=False, metric="board", training_seed="all").iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(tuple(percentile_interval(draws[:, 0], PLAN.level)), abs=1e-12)


def test_a_bin_without_a_prediction_has_no_number(predicted_bank: MakeBank, write: Write) -> None:
    shards = write.banks(predicted_bank())
    rows = write.tables(shards, plan=replace(PLAN, bins=40)).reliability
    empty = rows["count"] == 0
    assert empty.any()
    numbers = ["confidence", "accuracy", "low", "high"]
    assert rows.loc[empty, numbers].isna().all(axis=None)
    assert rows.loc[~empty, numbers].notna().all(axis=None)
    text = (write.folder / "a.reliability.csv").read_text().splitlines()[1 + int(np.flatnonzero(empty)[0])]
    assert ",0,,,,,0.9,puzzles only" in text


def test_counts_of_a_training_seed_are_its_own_and_those_over_all_are_of_all(
    predicted_bank: MakeBank, write: Write
) -> None:
    rows = write.tables(write.banks(*(predicted_bank(training_seed=seed) for seed in (0, 1)))).reliability
    boards = select(rows, of="candidates", unit="board_mean", binning="width", temperature=1.0, fitted=False)
    counts = boards.groupby("training_seed")["count"].sum()
    assert counts.to_dict() == {"0": 12 * KEPT, "1": 12 * KEPT, "all": 2 * 12 * KEPT}


# What cannot be.


def test_a_bank_that_keeps_no_logits_is_refused(predicted_bank: MakeBank, write: Write) -> None:
    with pytest.raises(PredictionsError, match=r"bank1\.parquet: it keeps no logits: roll out again with `logit_cand"):
        write.tables(write.banks(predicted_bank(), replace(predicted_bank(training_seed=1), logits=[], ranks=[])))


@pytest.mark.parametrize("other", [{"puzzles": 7}, {"first": 1}])
def test_training_seeds_of_different_puzzles_are_refused(predicted_bank: MakeBank, write: Write, other: dict) -> None:
    shards = write.banks(predicted_bank(training_seed=4), predicted_bank(training_seed=5, **other))
    lacking = 12 - other.get("puzzles", 11)
    with pytest.raises(
        ShardsError, match=f"training and inference seed \\(5, 0\\): {lacking} of the 12 puzzles of seeds"
    ):
        write.tables(shards)


def test_what_is_no_bank_is_refused_and_leaves_no_table(write: Write) -> None:
    (write.folder / "nothing").write_text("nothing")
    with pytest.raises(BankFileError, match="nothing: not a readable bank"):
        write.tables([write.folder / "nothing"])
    assert not list(write.folder.glob("*.csv"))


def test_a_missing_shard_and_two_inference_seeds_are_refused(predicted_bank: MakeBank, write: Write) -> None:
    with pytest.raises(ShardsError, match=r"shards \[1\] of 2 missing"):
        write.tables(write.banks(predicted_bank(shards=2)))
    with pytest.raises(ShardsError, match="inference seeds 0, 1: expected 1"):
        write.tables(write.banks(predicted_bank(), predicted_bank(inference_seed=1)))


# Extremes.


def test_one_bin_one_kept_candidate_and_extreme_temperatures_are_fine(predicted_bank: MakeBank, write: Write) -> None:
    plan = replace(PLAN, bins=1, temperatures=(0.01, 1.0, 100.0))
    found = write.tables(write.banks(predicted_bank(kept=1)), plan=plan)
    values = found.calibration.pivot_table("value", ["of", "temperature", "fitted"], "metric")
    assert np.isfinite(found.calibration["value"]).all()
    changes = [name for name in values if name.endswith("_change")]
    assert (values.loc["voted", changes] == 0).all(axis=None), "there is one candidate to vote for"
    pd.testing.assert_frame_equal(*(values.loc[whose].drop(columns=changes) for whose in ("candidates", "voted")))
    cold, hot = (values.loc[("candidates", T, False), "cell_confidence"] for T in (0.01, 100))
    assert cold > 0.98
    assert hot == pytest.approx(1 / 4, abs=0.03), "four tokens that are possible"
    gap = (values["cell_confidence"] - values["cell_accuracy"]).abs()
    assert set(found.reliability["bin"]) == {1}
    assert (values["cell_ece_width"] - values["cell_ece_mass"]).abs().max() < 1e-11
    assert gap.loc[("candidates", 0.01, False)] < 1


def test_a_bank_whose_candidates_all_tie_votes_for_the_first(predicted_bank: MakeBank, write: Write) -> None:
    bank = predicted_bank()
    bank = replace(bank, scores={"confidence": np.full((12, 6), 0.5)})
    found = write.tables(write.banks(bank))
    value = select(found.calibration, of="voted", temperature=1.0, fitted=False, metric="board")["value"].item()
    assert value == pytest.approx(bank.correct["board"][:, 0].mean())
    risks = select(found.risk, of="candidates")["risk"]
    np.testing.assert_allclose(risks, 1 - bank.correct["board"][:, :KEPT].mean(), atol=1e-11)


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all wrong"])
def test_where_all_are_right_or_all_are_wrong_the_temperature_is_at_its_bound(
    predicted_bank: MakeBank, write: Write, right: bool
) -> None:
    bank = predicted_bank()
    bank = replace(
        bank,
        logits=[logits[:1] for logits in bank.logits],
        ranks=[np.full_like(ranks[:1], not right) for ranks in bank.ranks],
        correct={name: np.full((12, 6), right) for name in bank.correct},
        cell_accuracy=np.full((12, 6), float(right)),
    )
    found = write.tables(write.banks(bank)).calibration
    row = select(found, of="voted", fitted=True, metric="cell_accuracy").iloc[0]
    assert row["value"] == float(right)
    assert row["temperature"] == LIMITS["low"] if right else row["temperature"] > 5
    assert select(found, of="voted", metric="aurc_board")["value"].item() == 1 - right


def test_puzzles_of_one_cell_are_predicted(predicted_bank: MakeBank, write: Write) -> None:
    bank = predicted_bank(puzzles=60)
    bank = cut(bank, [p for p, logits in enumerate(bank.logits) if logits.shape[1] == 1])
    assert len(bank) > 2
    values = write.tables(write.banks(bank)).calibration.pivot_table("value", ["of", "temperature", "fitted"], "metric")
    np.testing.assert_allclose(values["cell_accuracy"], values["board"])
    np.testing.assert_allclose(values["board_joint_ece_width"], values["cell_ece_width"], atol=1e-11)


def test_one_puzzle_alone_has_tables(predicted_bank: MakeBank, write: Write) -> None:
    found = write.tables(write.banks(predicted_bank(puzzles=1)))
    known = found.calibration[~found.calibration["fitted"]]
    np.testing.assert_array_equal(known["low"], known["high"])


def test_the_same_bank_read_back_is_the_same(predicted_bank: MakeBank, write: Write) -> None:
    (shard,) = write.banks(predicted_bank())
    bank = concatenate(read_banks(shard))
    predictions = read_predictions([shard], BOARDS)[0]
    assert predictions.puzzles == sorted(bank.puzzles)
    assert predictions.candidates == KEPT
    assert len(predictions.ranks) == sum(logits.shape[0] * logits.shape[1] for logits in bank.logits)
