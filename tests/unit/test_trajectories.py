"""The table of trajectories: which puzzles, which steps, which examples."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cvoting.bank import Bank, Reading, concatenate
from cvoting.bank_file import BankFileError, write_banks
from cvoting.params.calibration import TrajectoriesPlan
from cvoting.shards import ShardsError
from cvoting.table_files import TRAJECTORIES_COLUMNS, read_csv
from cvoting.tasks.maze import Maze
from cvoting.trajectories import TrajectoriesError, write_trajectories

PLAN = TrajectoriesPlan(study="a-study", steps=(2, 16), puzzles=4, candidates=3)
MAZES = Maze(name="maze", grid=(3, 4), positions="free")

MakeBank = Callable[..., Bank]
Table = Callable[..., pd.DataFrame]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes banks in files, and their table."""

    def make(*banks: Bank, plan: TrajectoriesPlan = PLAN) -> pd.DataFrame:
        paths = [tmp_path / f"bank{number}.parquet" for number in range(len(banks))]
        for path, bank in zip(paths, banks, strict=True):
            write_banks(path, [bank])
        write_trajectories(paths, plan, tmp_path / "table.csv")
        return read_csv(tmp_path / "table.csv")

    return make


def read_out(bank: Bank, steps: Sequence[int] = (2, 16), candidates: int = 5) -> Bank:
    """The bank with other numbers at each step; some that are right at the end are wrong before."""
    readings = {
        step: Reading(
            {name: scores[:, :candidates] / step for name, scores in bank.scores.items()},
            {metric: correct[:, :candidates] & (step > 2) for metric, correct in bank.correct.items()},
            bank.cell_accuracy[:, :candidates] / step,
        )
        for step in steps
    }
    return replace(bank, steps=readings)


def judged(bank: Bank, right: Sequence[bool]) -> Bank:
    """The bank, of whose puzzles in the order of hashes all candidates are right, or wrong."""
    of_hash = dict(zip(sorted(bank.puzzles), right, strict=True))
    correct = np.array([[of_hash[puzzle]] * bank.candidates for puzzle in bank.puzzles])
    return replace(bank, correct=dict.fromkeys(bank.correct, correct))


def examples(found: pd.DataFrame) -> dict[str, str]:
    """The puzzle of each example."""
    shown = found.loc[found["example"].notna(), ["example", "puzzle"]].drop_duplicates()
    assert not shown["example"].duplicated().any()
    return dict(zip(shown["example"], shown["puzzle"], strict=True))


def test_the_puzzles_of_the_lowest_hashes_are_pooled(predicted_bank: MakeBank, table: Table) -> None:
    bank = predicted_bank()
    assert bank.puzzles != sorted(bank.puzzles)
    found = table(read_out(bank))
    assert sorted(set(found.loc[found["pooled"], "puzzle"])) == sorted(bank.puzzles)[:4]
    assert found["puzzle"].is_monotonic_increasing
    assert len(found[found["pooled"]]) == 4 * 3 * 3, "puzzles x candidates x steps with the end"


def test_more_pooled_puzzles_than_there_are_are_all(predicted_bank: MakeBank, table: Table) -> None:
    found = table(read_out(predicted_bank(puzzles=3)))
    assert found["pooled"].all()
    assert found["puzzle"].nunique() == 3


def test_numbers_are_those_of_the_bank_at_each_step_and_at_the_end(predicted_bank: MakeBank, table: Table) -> None:
    bank = read_out(predicted_bank())
    found = table(bank)
    assert list(found["step"][:3]) == [2, 16, 32]
    at = {**bank.steps, 32: bank}
    for row in found.itertuples():
        place, reading = bank.puzzles.index(row.puzzle), at[row.step]
        assert row.confidence == pytest.approx(reading.scores["confidence"][place, row.candidate], abs=1e-12)
        assert row.board == reading.correct["board"][place, row.candidate]
    assert set(found["candidate"]) == {0, 1, 2}
    assert found["optimal"].isna().all(), "no measure of boards"
    assert (found["board"][found["step"] == 2] == 0).all()
    assert found["board"].any()


def test_the_end_is_listed_once_where_it_was_read_out_too(predicted_bank: MakeBank, table: Table) -> None:
    bank = read_out(predicted_bank(), steps=(2, 32))
    found = table(bank, plan=replace(PLAN, steps=(2, 32)))
    assert list(found["step"][:4]) == [2, 32, 2, 32]
    last = found[found["step"] == 32]
    place = bank.puzzles.index(last["puzzle"].iloc[0])
    assert last["confidence"].iloc[0] == pytest.approx(bank.scores["confidence"][place, 0], abs=1e-12)


def test_of_mazes_it_is_known_whether_a_path_is_optimal(predicted_bank: MakeBank, table: Table) -> None:
    bank = predicted_bank(MAZES)
    found = table(read_out(bank))
    ends = found[found["step"] == 32]
    optimal = [bank.correct["optimal"][bank.puzzles.index(r.puzzle), r.candidate] for r in ends.itertuples()]
    np.testing.assert_array_equal(ends["optimal"], optimal)
    assert (ends["optimal"] > ends["board"]).any()


def test_the_table_says_what_it_is_of(predicted_bank: MakeBank, table: Table) -> None:
    found = table(read_out(predicted_bank(training_seed=4, inference_seed=2)))
    assert tuple(found.columns) == TRAJECTORIES_COLUMNS
    about = {"study": "a-study", "run": "akorn-sudoku", "T_eval": 32, "training_seed": "4", "inference_seed": "2"}
    about |= {"puzzles": 12, "candidates": 3}
    assert all((found[name] == value).all() for name, value in about.items())


W, R = False, True


@pytest.mark.parametrize(
    ("right", "wrong_example", "right_example"),
    [
        ([R, W, R, W, R, W, R, W, R, W, R, W], 1, 0),
        ([W, W, R, W, R, W, R, W, R, W, R, W], 0, 2),
        ([R, R, R, R, R, R, R, W, R, W, R, W], 7, 0),  # outside the pool of four
        ([W] * 11 + [R], 0, 11),
        ([R] * 12, None, 0),
        ([W] * 12, 0, None),
    ],
)
def test_examples_are_the_first_puzzles_in_the_order_of_hashes_whose_votes_are_wrong_and_right(
    predicted_bank: MakeBank,
    table: Table,
    right: list[bool],
    wrong_example: int | None,
    right_example: int | None,
) -> None:
    bank = judged(predicted_bank(), right)
    found, in_order = table(read_out(bank)), sorted(bank.puzzles)
    places = {"wrong": wrong_example, "right": right_example}
    assert examples(found) == {name: in_order[at] for name, at in places.items() if at is not None}
    outside = {at for at in places.values() if at is not None and at >= 4}
    assert set(found.loc[~found["pooled"], "puzzle"]) == {in_order[at] for at in outside}
    assert found["puzzle"].nunique() == 4 + len(outside)
    assert found.groupby("puzzle").size().eq(9).all(), "an example outside the pool has all its rows too"


def test_the_vote_of_an_example_is_among_the_listed_candidates_at_the_end(
    predicted_bank: MakeBank, table: Table
) -> None:
    bank = judged(predicted_bank(puzzles=1), [R])
    # Candidate 1 wins of the first three, and is wrong; candidate 5 would win of all six, and is right.
    scores, correct = np.array([[0.5, 0.8, 0.6, 0.1, 0.1, 0.9]]), np.array([[R, W, R, R, R, R]])
    bank = read_out(replace(bank, scores={"confidence": scores}, correct=dict.fromkeys(bank.correct, correct)))
    assert list(examples(table(bank))) == ["wrong"]
    assert list(examples(table(bank, plan=replace(PLAN, candidates=1)))) == ["right"]


def test_of_equally_confident_candidates_the_first_is_voted_for(predicted_bank: MakeBank, table: Table) -> None:
    bank = predicted_bank(puzzles=1)
    scores, correct = np.full((1, 6), 0.5), np.array([[W, R, R, R, R, R]])
    bank = replace(bank, scores={"confidence": scores}, correct=dict.fromkeys(bank.correct, correct))
    assert list(examples(table(read_out(bank)))) == ["wrong"]


def test_shards_and_their_order_do_not_matter(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    pieces = [{"puzzles": 5, "shard": 0, "shards": 2}, {"puzzles": 7, "first": 5, "shard": 1, "shards": 2}]
    shards = [read_out(predicted_bank(**piece)) for piece in pieces]
    whole = read_out(predicted_bank())
    assert concatenate(shards).puzzles == whole.puzzles
    written = []
    for banks in (shards, shards[::-1], [whole]):
        table(*banks)
        written.append((tmp_path / "table.csv").read_bytes())
    assert written[0] == written[1] == written[2]


def test_a_bank_that_was_not_read_out_is_refused(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    with pytest.raises(TrajectoriesError, match=r"bank0\.parquet: not read out at the steps \[2, 16\]: roll out again"):
        table(predicted_bank())
    with pytest.raises(TrajectoriesError, match=r"not read out at the steps \[3\]: roll out again with `read_at`"):
        table(read_out(predicted_bank()), plan=replace(PLAN, steps=(2, 3)))
    assert not (tmp_path / "table.csv").exists()


def test_a_bank_with_too_few_candidates_read_out_is_refused(predicted_bank: MakeBank, table: Table) -> None:
    with pytest.raises(
        TrajectoriesError, match="2 candidates read out at steps, expected 3: roll out again with `read_"
    ):
        table(read_out(predicted_bank(), candidates=2))


def test_a_bank_that_is_not_whole_is_refused(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    with pytest.raises(ShardsError, match=r"shards \[1\] of 2 missing"):
        table(read_out(predicted_bank(shards=2)))
    with pytest.raises(ShardsError, match="training seeds 0, 1: expected 1"):
        table(*(read_out(predicted_bank(training_seed=seed)) for seed in (0, 1)))
    with pytest.raises(BankFileError, match="no such file"):
        write_trajectories([tmp_path / "nowhere"], PLAN, tmp_path / "table.csv")
