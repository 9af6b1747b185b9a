"""How difficult puzzles are, and what votes achieve on those that are as difficult: by hand, and without boards."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cvoting.bank import Bank
from cvoting.bank_file import write_banks
from cvoting.data.audit_registry import AUDITORS
from cvoting.data.puzzles import Puzzles
from cvoting.data.strata import strata_of, write_strata
from cvoting.data.sudoku_audit import RATINGS, SudokuAuditor
from cvoting.params.core import ParameterError
from cvoting.params.voting import VotingParams
from cvoting.shards import ShardsError
from cvoting.statistics import wilson
from cvoting.strata_table import StrataError, write_by_difficulty
from cvoting.table_files import STRATA_COLUMNS, TableError, over_all_seeds, read_csv
from cvoting.tables import voting_tables
from cvoting.tally import tally
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
PARAMS = VotingParams(
    K=(1, 8),
    votes=("confidence", "majority_answer", "random", "oracle"),
    subsets=4,
    resamples=100,
    level=0.9,
    seed=0,
)

BankFile = Callable[..., Path]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        # Each has at least a sixth of the puzzles: with 18 levels of as many puzzles, three each.
        (list(range(17, 35)), [name for name in ("17-19", "20-22", "23-25", "26-28", "29-31", "32-34") for _ in "abc"]),
        ([9] * 97 + [10] * 276 + [11] * 119 + [12] * 8, ["9"] * 97 + ["10"] * 276 + ["11-12"] * 127),
        # One easy puzzle is no stratum, wherever it stands.
        ([1, *[5] * 11], ["1-5"] * 12),
        ([5] * 11 + [9], ["5-9"] * 12),
        ([7, 7], ["7", "7"]),
    ],
)
def test_strata_hold_a_sixth_of_the_puzzles_each(values, names):
    assert strata_of(np.array(values)) == names
    assert strata_of(np.array(values)[::-1]) == names[::-1], "whatever the order"


def test_ratings_fall_into_the_strata_that_sudoku_extreme_is_reported_by():
    values = np.array([0, 1, 2, 3, 10, 11, 50, 51, 4000])
    assert strata_of(values, RATINGS) == ["0", "1-2", "1-2", "3-10", "3-10", "11-50", "11-50", "51+", "51+"]
    assert strata_of(values[:3], RATINGS) == ["0", "1-2", "1-2"]


def test_boards_are_as_difficult_as_their_rating_or_else_as_their_givens(puzzles):
    auditor, boards = SudokuAuditor(TASK), puzzles["test"]
    found = auditor.difficulty(boards)
    assert (found.measure, found.starts) == ("givens", ())
    assert found.values.tolist() == [sum(token > 0 for token in question) for question in boards.questions.tolist()]
    rated = auditor.difficulty(replace(boards, ratings=np.arange(5)))
    assert (rated.measure, rated.values.tolist(), rated.starts) == ("rating", [0, 1, 2, 3, 4], RATINGS)


def test_mazes_are_as_difficult_as_their_label_is_long():
    task = Maze(name="maze", grid=(3, 3))
    questions = np.stack([task.parse(text) for text in ("S       G", "SG       ")])
    answers = np.stack([task.parse(text) for text in ("S  o  ooG", "SG       ")])
    found = AUDITORS["maze"](task).difficulty(Puzzles(questions, answers, "own", "by hand"))
    assert (found.measure, found.values.tolist()) == ("path_cells", [5, 2])


def test_the_file_has_hashes_in_their_order_and_nothing_of_a_board(puzzles, tmp_path):
    sets = [puzzles["test"], puzzles["validation"], puzzles["test"]]
    write_strata(sets, SudokuAuditor(TASK), tmp_path / "strata.csv")
    found = read_csv(tmp_path / "strata.csv")
    assert list(found.columns) == ["puzzle", "measure", "value", "stratum"]
    assert found["puzzle"].tolist() == sorted(puzzles["test"].hashes + puzzles["validation"].hashes), "each once"
    givens = dict(zip(puzzles["test"].hashes, (puzzles["test"].questions > 0).sum(axis=1), strict=True))
    for _, row in found[found["puzzle"].isin(puzzles["test"].hashes)].iterrows():
        assert row["value"] == givens[row["puzzle"]]
    assert set(found["measure"]) == {"givens"}


@pytest.fixture
def strata(tmp_path: Path) -> Path:
    """The made-up puzzles by their number: 0 and 1, then 2 to 11, and some of another split."""
    values = range(40)
    rows = {"puzzle": [f"{value:016x}" for value in values], "measure": "rating", "value": values}
    rows["stratum"] = ["0-1" if value < 2 else "2+" for value in values]
    pd.DataFrame(rows).sample(frac=1, random_state=0).to_csv(tmp_path / "strata.csv", index=False)
    return tmp_path / "strata.csv"


def by_difficulty(shards: list[Path], strata: Path, params: VotingParams = PARAMS) -> pd.DataFrame:
    """The table of strata, from its file."""
    out = strata.with_name("out.csv")
    write_by_difficulty(shards, strata, params, TASK, "a-study", out)
    return read_csv(out)


def test_a_stratum_has_the_numbers_of_a_bank_of_its_puzzles_alone(bank_file: BankFile, strata: Path) -> None:
    seeds = [(t, i) for t in (0, 1) for i in (0, 1)]
    whole = [bank_file(f"b{t}{i}", training_seed=t, inference_seed=i) for t, i in seeds]
    found = by_difficulty(whole, strata)
    assert tuple(found.columns) == STRATA_COLUMNS
    assert list(dict.fromkeys(found["stratum"])) == ["all", "0-1", "2+"]
    assert set(found["measure"]) == {"rating"}
    assert set(found["metric"]) == {"board"}
    assert found[["training_seeds", "inference_seeds"]].drop_duplicates().values.tolist() == [[2, 2]]
    for name, first, puzzles in (("all", 0, 12), ("0-1", 0, 2), ("2+", 2, 10)):
        alone = [
            bank_file(f"p{first}{puzzles}{t}{i}", puzzles=puzzles, first=first, training_seed=t, inference_seed=i)
            for t, i in seeds
        ]
        expected = over_all_seeds(voting_tables(tally(alone, PARAMS, TASK), PARAMS, "a-study")[0])
        expected = expected[(expected["estimator"] == "expected") & (expected["metric"] == "board")]
        rows = found[found["stratum"] == name]
        assert set(rows["puzzles"]) == {puzzles}
        for column in ("vote", "K", "value", "gap_closed"):
            assert rows[column].fillna(-1).tolist() == expected[column].fillna(-1).tolist()
        spread = (rows["low"] < rows["high"]).to_numpy() & (rows["interval"] == "training seeds and puzzles").to_numpy()
        assert rows["low"][spread].tolist() == expected["low"][spread].tolist()


def test_where_all_puzzles_are_alike_the_interval_is_wilsons(make_bank: Callable[..., Bank], strata: Path) -> None:
    bank = make_bank()
    right = np.repeat(np.arange(12) < 2, 8).reshape(12, 8)  # both puzzles of the first stratum, none of the second
    write_banks(strata.with_name("b.parquet"), [replace(bank, correct={"board": right, "all_cells": right})])
    found = by_difficulty([strata.with_name("b.parquet")], strata)
    for name, value, puzzles in (("0-1", 1, 2), ("2+", 0, 10)):
        rows = found[(found["stratum"] == name) & (found["vote"] == "confidence")]
        low, high = wilson(value * puzzles, puzzles, 0.9)
        for _, row in rows.iterrows():
            assert (row["value"], row["interval"]) == (value, "Wilson, puzzles only")
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-12)
    assert set(found.loc[found["stratum"] == "all", "interval"]) == {"puzzles only"}


def test_a_bank_without_boards_has_the_same_numbers_for_what_needs_no_answers(
    make_bank: Callable[..., Bank], strata: Path
) -> None:
    bank = make_bank()
    cells = 0 * bank.questions[:, :1]  # one token stands for what a file cannot leave out
    bare = replace(bank, questions=cells, labels=cells, answers=[cells[:0]] * len(bank), answer_ids=0 * bank.answer_ids)
    tables = []
    for name, of in (("whole", bank), ("bare", bare)):
        path = strata.with_name(f"{name}.parquet")
        write_banks(path, [of])
        tables.append(by_difficulty([path], strata))
    whole, without = tables
    held = whole[whole["vote"] != "majority_answer"]
    pd.testing.assert_frame_equal(without.reset_index(drop=True), held.reset_index(drop=True), check_dtype=False)


def test_puzzles_of_unknown_difficulty_are_refused(bank_file: BankFile, strata: Path) -> None:
    missing = r"strata.csv: 4 of the 12 puzzles of the bank are missing, the first is 0000000000000028: give the table"
    with pytest.raises(StrataError, match=missing):
        by_difficulty([bank_file("b", first=32)], strata)


def test_another_table_an_unknown_vote_and_a_missing_shard_are_refused(bank_file: BankFile, strata: Path) -> None:
    bank = bank_file("b")
    by_difficulty([bank], strata)
    with pytest.raises(TableError, match="a table of strata, expected the table of difficulty"):
        by_difficulty([bank], strata.with_name("out.csv"))
    with pytest.raises(ParameterError, match=r"voting.votes = 'best': expected one of"):
        by_difficulty([bank], strata, replace(PARAMS, votes=("best",)))
    with pytest.raises(ShardsError, match=r"shards \[1\] of 2 missing"):
        by_difficulty([bank_file("half", shards=2)], strata)
