"""The table of discrimination against plain loops over pairs, and against the voting table."""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from cvoting import recipes
from cvoting.bank import Bank
from cvoting.bank_file import BankFileError, write_banks
from cvoting.discrimination_table import MEASURES, write_discrimination
from cvoting.params.calibration import DiscriminationPlan
from cvoting.params.core import build
from cvoting.params.study import Study
from cvoting.params.voting import VotingParams
from cvoting.seeding import generator
from cvoting.shards import ShardsError
from cvoting.statistics import percentile_interval, puzzle_shares
from cvoting.table_files import DISCRIMINATION_COLUMNS, read_csv
from cvoting.tables import voting_tables
from cvoting.tally import tally
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

BOARDS, MAZES = Sudoku(name="sudoku", box=(2, 2)), Maze(name="maze", grid=(3, 4), positions="free")
PLAN = DiscriminationPlan(study="a-study", K=3, resamples=100, level=0.9, seed=0)

MakeBank = Callable[..., Bank]
#: Banks -> the table of discrimination.
Table = Callable[..., pd.DataFrame]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes banks in files, and their table."""

    def make(*banks: Bank, task: Task = BOARDS, plan: DiscriminationPlan = PLAN) -> pd.DataFrame:
        write_discrimination(files(tmp_path, banks), plan, task, tmp_path / "table.csv")
        return read_csv(tmp_path / "table.csv")

    return make


def files(folder: Path, banks: Sequence[Bank]) -> list[Path]:
    """A file for each bank."""
    paths = [folder / f"bank{number}.parquet" for number in range(len(banks))]
    for path, bank in zip(paths, banks, strict=True):
        write_banks(path, [bank])
    return paths


def values(rows: pd.DataFrame, others: int = 0, **where: object) -> dict[str, float]:
    """The measures of the rows with these values, of a bank with so many scores beside confidence."""
    for name, value in where.items():
        rows = rows[rows[name] == value]
    assert len(rows) == len(MEASURES) + others
    return dict(zip(rows["measure"], rows["value"], strict=True))


def beats(right: float, wrong: float) -> float:
    """What a pair counts."""
    return 0.5 if right == wrong else float(right > wrong)


def mean(numbers: list[float]) -> float:
    """NaN of none."""
    return sum(numbers) / len(numbers) if numbers else math.nan


def candidates(bank: Bank, metric: str, K: int, score: str) -> list[list[tuple[float, bool, int]]]:
    """Score, outcome and answer of the first K candidates of each puzzle."""
    columns = (bank.scores[score], bank.correct[metric], bank.answer_ids)
    return [
        list(zip(*puzzle, strict=True))[:K] for puzzle in zip(*(column.tolist() for column in columns), strict=True)
    ]


def within(puzzles: list[list[tuple[float, bool, int]]]) -> float:
    """The chance that a right candidate scores more than a wrong one of the same puzzle, the mean over puzzles."""
    mixed = [puzzle for puzzle in puzzles if len({right for _, right, _ in puzzle}) == 2]
    return mean([mean([beats(a, b) for a, x, _ in puzzle if x for b, y, _ in puzzle if not y]) for puzzle in mixed])


def slow(bank: Bank, metric: str, K: int) -> dict[str, float]:
    """Every measure, by loops over puzzles and pairs of their first K candidates."""
    puzzles = candidates(bank, metric, K, "confidence")
    groups = {"sd_within": (0, 1), "sd_within_right": (1,), "sd_within_wrong": (0,)}
    found = {}
    for name, kinds in groups.items():
        some = [[score for score, right, _ in puzzle if right in kinds] for puzzle in puzzles]
        found[name] = mean([statistics.stdev(scores) for scores in some if len(scores) > 1])
    found["distinct_answers"] = mean([len({i for _, _, i in puzzle}) for puzzle in puzzles])
    mixed = [puzzle for puzzle in puzzles if len({right for _, right, _ in puzzle}) == 2]
    found["mixed_puzzles"] = len(mixed) / len(puzzles)
    found["auroc_within"] = within(puzzles)
    if "energy_sum" in bank.scores:
        found["auroc_within_energy_sum"] = within(candidates(bank, metric, K, "energy_sum"))
    found["no_vote"] = mean([mean([right for _, right, _ in puzzle]) for puzzle in puzzles])
    found["vote"] = mean([max(puzzle, key=lambda candidate: candidate[0])[1] for puzzle in puzzles])
    found["oracle"] = mean([any(right for _, right, _ in puzzle) for puzzle in puzzles])
    found["sd_between"] = statistics.stdev([mean([score for score, _, _ in puzzle]) for puzzle in puzzles])
    found["auroc_between"] = mean(
        [beats(a, b) for p in puzzles for a, x, _ in p if x for q in puzzles if q is not p for b, y, _ in q if not y]
    )
    found["wrong_but_optimal"] = math.nan
    if metric == "board" and "optimal" in bank.correct:
        wrong = ~bank.correct["board"][:, :K]
        found["wrong_but_optimal"] = mean(bank.correct["optimal"][:, :K][wrong].astype(float).tolist())
    return found


@pytest.mark.parametrize("task", [BOARDS, MAZES], ids=lambda task: task.name)
@pytest.mark.parametrize("K", [2, 3, 6])
def test_every_measure_is_that_of_a_loop(predicted_bank: MakeBank, table: Table, task: Task, K: int) -> None:
    bank = predicted_bank(task, puzzles=15)
    energy = np.random.Generator(np.random.Philox(3)).normal(size=bank.scores["confidence"].shape).round(1)
    bank = replace(bank, scores=bank.scores | {"energy_sum": energy, "confidence_at_2": energy})
    found = table(bank, task=task, plan=replace(PLAN, K=K))
    metrics = [metric for metric in ("board", "optimal") if metric in task.metrics]
    assert set(found["metric"]) == set(metrics)
    for metric in metrics:
        wanted, mine = slow(bank, metric, K), values(found, others=1, metric=metric)
        assert mine.keys() == wanted.keys()
        for name, value in wanted.items():
            assert mine[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name
    tied = [len(set(scores)) < len(scores) for scores in bank.scores["confidence"].tolist()]
    assert any(tied), "candidates of equal confidence are compared too"


def test_the_table_says_what_it_is_of(predicted_bank: MakeBank, table: Table) -> None:
    found = table(predicted_bank(training_seed=3, inference_seed=8))
    assert tuple(found.columns) == DISCRIMINATION_COLUMNS
    about = {"study": "a-study", "run": "akorn-sudoku", "T_eval": 32, "puzzles": 12, "candidates": 3, "level": 0.9}
    about |= {"training_seed": "3", "inference_seed": "8", "interval": "puzzles only", "metric": "board"}
    assert all((found[name] == value).all() for name, value in about.items())
    assert list(found["measure"]) == list(MEASURES)


@pytest.mark.parametrize("task", [BOARDS, MAZES], ids=lambda task: task.name)
def test_votes_are_those_of_the_first_candidates_in_the_voting_table(
    predicted_bank: MakeBank, table: Table, tmp_path: Path, task: Task
) -> None:
    banks = [predicted_bank(task, training_seed=seed) for seed in (0, 1)]
    found = table(*banks, task=task)
    votes = {"no_vote": "random", "vote": "confidence", "oracle": "oracle"}
    params = VotingParams(K=(3,), votes=tuple(votes.values()), subsets=1, resamples=100, level=0.9, seed=0)
    voting, _ = voting_tables(tally(files(tmp_path, banks), params, task), params, "a-study")
    voting = voting[voting["estimator"] == "prefix"].set_index(["metric", "vote", "training_seed"])
    mine = found[found["measure"].isin(votes)]
    assert len(mine) == 3 * 3 * mine["metric"].nunique()
    for row in mine.itertuples():
        theirs = voting.loc[(row.metric, votes[row.measure], row.training_seed)]
        assert row.value == pytest.approx(theirs["value"], abs=1e-12)
        if row.training_seed == "all":
            assert (row.low, row.high) == pytest.approx((theirs["low"], theirs["high"]), abs=1e-12)


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all wrong"])
def test_what_compares_nothing_is_empty(predicted_bank: MakeBank, table: Table, tmp_path: Path, right: bool) -> None:
    bank = predicted_bank()
    found = table(replace(bank, correct={name: np.full((12, 6), right) for name in bank.correct}))
    empty = {"auroc_within", "auroc_between", "wrong_but_optimal", "sd_within_wrong" if right else "sd_within_right"}
    assert set(found.loc[found["value"].isna(), "measure"]) == empty
    assert found.loc[found["value"].isna(), ["low", "high"]].isna().all(axis=None)
    shares = values(found)
    assert (shares["mixed_puzzles"], shares["vote"], shares["oracle"]) == (0, right, right)
    (line,) = [line for line in (tmp_path / "table.csv").read_text().splitlines() if ",auroc_within," in line]
    assert ",auroc_within,,,,0.9,puzzles only" in line


def test_of_one_puzzle_nothing_lies_between_puzzles(predicted_bank: MakeBank, table: Table) -> None:
    found = values(table(predicted_bank(puzzles=1)))
    assert math.isnan(found["auroc_between"])
    assert math.isnan(found["sd_between"])


@pytest.mark.parametrize("confidence", [0.1, 0.7, 0.9, 1 / 3, 0.987654321])
def test_where_all_candidates_tie_confidence_tells_nothing(
    predicted_bank: MakeBank, table: Table, confidence: float
) -> None:
    bank = predicted_bank()
    found = values(table(replace(bank, scores={"confidence": np.full((12, 6), confidence)})))
    assert (found["sd_within"], found["auroc_within"], found["auroc_between"]) == (0, 0.5, 0.5)
    assert found["sd_between"] == 0


def test_the_interval_of_the_spread_between_puzzles_is_that_of_puzzles_drawn_again(
    predicted_bank: MakeBank, table: Table
) -> None:
    bank, found = predicted_bank(), table(predicted_bank())
    means = bank.scores["confidence"][:, :3].mean(axis=1)[np.argsort(bank.puzzles)]
    ((_, shares),) = puzzle_shares(12, 100, generator("bootstrap", 0))
    draws = np.array([np.std(np.repeat(means, np.rint(12 * share).astype(int)), ddof=1) for share in shares])
    row = found[found["measure"] == "sd_between"].iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(tuple(percentile_interval(draws, 0.9)), abs=1e-9)


def test_shards_parts_and_their_order_do_not_matter(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    pieces = [{"puzzles": 5, "shard": 0, "shards": 2}, {"puzzles": 7, "first": 5, "shard": 1, "shards": 2}]
    shards = [predicted_bank(**piece, training_seed=seed) for seed in (1, 0) for piece in pieces]
    written = []
    for banks in (shards, shards[::-1], [predicted_bank(training_seed=seed) for seed in (0, 1)]):
        table(*banks)
        written.append((tmp_path / "table.csv").read_bytes())
    assert written[0] == written[1] == written[2]


def test_rows_over_all_training_seeds_are_means(predicted_bank: MakeBank, table: Table) -> None:
    found = table(*(predicted_bank(training_seed=seed) for seed in (0, 1)))
    one, two, both = (values(found, training_seed=seed) for seed in ("0", "1", "all"))
    for name, value in both.items():
        assert value == pytest.approx((one[name] + two[name]) / 2, abs=1e-11, nan_ok=True)
    assert set(found.loc[found["training_seed"] == "all", "interval"]) == {"training seeds and puzzles"}
    assert (found["low"] <= found["high"])[found["value"].notna()].all()


def test_a_bank_that_is_not_whole_or_none_is_refused(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    with pytest.raises(ShardsError, match=r"shards \[0\] of 3 missing"):
        table(*(predicted_bank(shards=3, shard=shard, first=12 * shard) for shard in (1, 2)))
    with pytest.raises(ShardsError, match=r"seeds 0, 1: expected 1"):
        table(predicted_bank(), predicted_bank(inference_seed=1))
    with pytest.raises(ShardsError, match="training and inference seed"):
        table(predicted_bank(), predicted_bank(training_seed=1, first=1))
    with pytest.raises(BankFileError, match="no such file"):
        write_discrimination([tmp_path / "nowhere"], PLAN, BOARDS, tmp_path / "table.csv")


@pytest.mark.parametrize(("candidates", "K"), [(2, 2), (3, 3), (8, 4), (4096, 4)])
def test_no_more_candidates_are_compared_than_a_bank_has(repository: Path, candidates: int, K: int) -> None:
    study = build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))
    bank = replace(study.banks["akorn-sudoku_hard"], candidates=candidates)
    study = replace(study, banks={**study.banks, "mine": bank}, calibration=replace(study.calibration, candidates=4))
    assert json.loads(recipes.discrimination(study, "mine"))["plan"]["K"] == K


def test_a_bank_of_one_candidate_has_no_such_table(repository: Path) -> None:
    study = build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))
    bank = replace(study.banks["akorn-sudoku_hard"], candidates=1)
    assert "discrimination" not in bank.tables
    assert "discrimination" in replace(bank, candidates=2).tables
