"""The table of a solved board: which puzzle, which candidates, and which studies can have it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from cvoting import recipes
from cvoting.__main__ import main
from cvoting.bank import Bank, Reading, concatenate
from cvoting.bank_file import write_banks
from cvoting.params.calibration import SolvedBoardPlan
from cvoting.params.core import ParameterError, build
from cvoting.params.study import Study
from cvoting.shards import ShardsError
from cvoting.solved_board import SolvedBoardError, write_solved_board
from cvoting.table_files import SOLVED_BOARD_COLUMNS, read_csv
from cvoting.tasks.sudoku import Sudoku
from cvoting.trajectories import TrajectoriesError

BOARDS = Sudoku(name="sudoku", box=(2, 2))
PLAN = SolvedBoardPlan(study="a-study", steps=(2, 16), candidates=5)
BANK, MAZES, ENDS = "itrsa-sudoku_hard", "itrsa-maze_hard", "akorn-sudoku_hard"

MakeBank = Callable[..., Bank]
Table = Callable[..., pd.DataFrame]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Writes banks in files, and their table."""

    def make(*banks: Bank, plan: SolvedBoardPlan = PLAN) -> pd.DataFrame:
        paths = [tmp_path / f"bank{number}.parquet" for number in range(len(banks))]
        for path, bank in zip(paths, banks, strict=True):
            write_banks(path, [bank])
        write_solved_board(paths, plan, BOARDS, tmp_path / "table.csv")
        return read_csv(tmp_path / "table.csv")

    return make


def judged(bank: Bank, words: Sequence[str]) -> Bank:
    """The bank, whose candidates are right (R) or wrong (W) as words say, one for each puzzle in the order of hashes.

    The first candidate is the most confident at the end, and the last one at each step before, where all are wrong.
    """
    order = np.argsort(np.argsort(bank.puzzles))
    right = np.array([[letter == "R" for letter in words[place]] for place in order])
    correct = dict.fromkeys(bank.correct, right)
    scores = {"confidence": np.broadcast_to(0.9 - 0.1 * np.arange(bank.candidates), right.shape)}
    before = Reading({"confidence": scores["confidence"][:, ::-1] / 2}, {"board": right & False}, bank.cell_accuracy)
    return replace(bank, correct=correct, scores=scores, steps=dict.fromkeys(PLAN.steps, before))


@pytest.mark.parametrize(
    ("words", "chosen", "solved"),
    [
        (["RWWWWR", "RWWWWW", "RWWWWW"], 1, 3),  # the sixth candidate is none of the five: alike, so by hash
        (["RWWWWW", "RWWWWW"], 0, 2),
        (["RRWWWW", "RWWWWW", "RRWWWW"], 0, 3),  # shares 2, 1, 2 of 5
        (["RRWWWW", "RWWWWW", "RRWWWW", "RWWWWW"], 3, 4),  # in their order puzzles 1, 3, 0, 2
        (["RRRWWW", "WRWWWW", "RWWWWW", "RRRRRR"], 2, 1),  # most are right; not solved; -; all are right
        (["RRRWWW", "WWWWWW"], None, 0),
    ],
)
def test_of_boards_that_are_solved_though_most_candidates_are_wrong_the_middle_one_is_shown(
    predicted_bank: MakeBank, table: Table, words: list[str], chosen: int | None, solved: int
) -> None:
    bank = judged(predicted_bank(puzzles=len(words)), words)
    found = table(bank)
    assert set(found["chosen_from"]) == {solved}
    if chosen is None:
        assert len(found) == 1
        assert found[["puzzle", "candidate", "confidence", "answer"]].isna().all(axis=None)
    else:
        assert set(found["puzzle"]) == {sorted(bank.puzzles)[chosen]}
        assert len(found) == 3 * 5, "steps with the end x candidates"


def test_numbers_are_those_of_the_bank_and_answers_keep_the_givens(predicted_bank: MakeBank, table: Table) -> None:
    bank = judged(predicted_bank(puzzles=1, training_seed=4), ["RWRWWW"])
    found = table(bank)
    assert tuple(found.columns) == SOLVED_BOARD_COLUMNS
    about = {"study": "a-study", "run": "akorn-sudoku", "T_eval": 32, "training_seed": "4", "inference_seed": "0"}
    about |= {"puzzles": 1, "candidates": 5, "box_rows": 2, "box_columns": 2}
    about |= {"question": BOARDS.format(bank.questions[0]), "label": BOARDS.format(bank.labels[0])}
    assert all((found[name] == value).all() for name, value in about.items())
    by_step = found.groupby("step")
    assert {step: rows["confidence"].round(3).tolist() for step, rows in by_step} == {
        2: [0.2, 0.25, 0.3, 0.35, 0.4], 16: [0.2, 0.25, 0.3, 0.35, 0.4], 32: [0.9, 0.8, 0.7, 0.6, 0.5],
    }  # fmt: skip
    assert {step: rows["board"].sum() for step, rows in by_step} == {2: 0, 16: 0, 32: 2}
    assert {step: rows["leads"].tolist().index(1) for step, rows in by_step} == {2: 4, 16: 4, 32: 0}
    assert (by_step["leads"].sum() == 1).all()
    assert found.loc[found["step"] < 32, "answer"].isna().all()
    blank = bank.questions[0] == 0
    for answer, row in zip(found.loc[found["step"] == 32, "answer"], bank.answer_ids[0], strict=False):
        np.testing.assert_array_equal(
            BOARDS.parse(answer), np.where(blank, bank.answers[0][row], bank.questions[0]), strict=True
        )


def test_what_is_no_digit_is_blank_in_an_answer(predicted_bank: MakeBank, table: Table) -> None:
    bank = judged(predicted_bank(puzzles=1), ["RWWWWW"])
    cell = int(np.flatnonzero(bank.questions[0] == 0)[0])
    answers = np.where(np.arange(16) == cell, BOARDS.digits + 1, bank.answers[0])
    found = table(replace(bank, answers=[answers.astype(np.uint8)]))
    assert set(found["answer"].dropna().str[cell]) == {"."}


def test_of_equally_confident_candidates_the_first_leads(predicted_bank: MakeBank, table: Table) -> None:
    bank = judged(predicted_bank(puzzles=1), ["RWWWWW"])
    found = table(replace(bank, scores={"confidence": np.full((1, 6), 0.5)}))
    assert found.loc[found["step"] == 32, "leads"].tolist() == [1, 0, 0, 0, 0]


def test_shards_and_their_order_do_not_matter(predicted_bank: MakeBank, table: Table, tmp_path: Path) -> None:
    pieces = [{"puzzles": 5, "shard": 0, "shards": 2}, {"puzzles": 7, "first": 5, "shard": 1, "shards": 2}]
    shards = [judged(predicted_bank(**piece), ["RWWWWW"] * 7) for piece in pieces]
    written = []
    for banks in (shards, shards[::-1], [judged(predicted_bank(), ["RWWWWW"] * 12)]):
        table(*banks)
        written.append((tmp_path / "table.csv").read_bytes())
    assert written[0] == written[1] == written[2]
    assert concatenate(shards).puzzles == predicted_bank().puzzles


def test_banks_that_do_not_hold_what_is_shown_are_refused(
    predicted_bank: MakeBank, table: Table, tmp_path: Path
) -> None:
    bank = judged(predicted_bank(puzzles=1), ["RWWWWW"])
    with pytest.raises(TrajectoriesError, match=r"not read out at the steps \[3\]: roll out again with `read_at`"):
        table(bank, plan=replace(PLAN, steps=(2, 3)))
    with pytest.raises(TrajectoriesError, match="6 candidates read out at steps, expected 7: roll out again"):
        table(bank, plan=replace(PLAN, candidates=7))
    with pytest.raises(ShardsError, match=r"shards \[1\] of 2 missing"):
        table(judged(predicted_bank(puzzles=1, shards=2), ["RWWWWW"]))
    with pytest.raises(SolvedBoardError, match=r"bank0\.parquet: a bank without boards, expected one that keeps them"):
        table(bank.without_boards())
    assert not (tmp_path / "table.csv").exists()


@pytest.fixture
def toy(repository: Path) -> dict[str, Any]:
    """The toy study as it stands in its file."""
    return yaml.safe_load((repository / "params/toy.yaml").read_text())


def test_a_job_is_told_its_bank_and_the_verb_writes_the_table(
    toy: dict[str, Any], predicted_bank: MakeBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = json.loads(recipes.solved_board(build(Study, toy), BANK))
    assert recipe["plan"] == {"study": "toy", "steps": [1, 2, 4, 6], "candidates": 5}
    recipe["plan"]["steps"] = PLAN.steps
    write_banks(tmp_path / "bank.parquet", [judged(predicted_bank(puzzles=1), ["RWWWWW"])])
    words = ["solved-board", json.dumps(recipe), "--out", str(tmp_path / "table.csv"), str(tmp_path / "bank.parquet")]
    monkeypatch.setattr("sys.argv", ["cvoting", *words])
    assert main() == 0
    assert len(read_csv(tmp_path / "table.csv")) == 3 * 5
    assert (tmp_path / "table.csv.run.json").is_file()


def test_boards_of_sudoku_that_are_read_out_have_the_table(toy: dict[str, Any]) -> None:
    study = build(Study, toy)
    assert {bank for bank in study.banks if "solved_board" in study.tables_of(bank)} == {BANK}
    assert study.tables_of(MAZES) == study.banks[MAZES].tables
    bare = replace(study.banks[BANK], boards=False)
    del toy["figures"]["extra_solved_board"]
    assert "solved_board" not in replace(build(Study, toy), banks=study.banks | {BANK: bare}).tables_of(BANK)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"banks": [MAZES]}, f".banks = {MAZES!r}: expected a bank of Sudoku that keeps its boards, with `read_at`, "),
        ({"banks": [ENDS]}, f".banks = {ENDS!r}: expected a bank of Sudoku that keeps its boards, with `read_at`, "),
        ({"banks": []}, ".banks = []: expected at least one"),
        ({"steps": [1, 3]}, f".steps: 3: expected one that banks.{BANK} is read out at, 1, 2, 4, 6"),
    ],
    ids=["mazes", "no steps", "no bank", "another step"],
)
def test_figures_of_other_banks_and_steps_are_refused(
    toy: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    toy["figures"] = {"extra_solved_board": {"banks": [BANK]} | change}
    with pytest.raises(ParameterError) as refused:
        build(Study, toy)
    (problem,) = refused.value.problems
    assert problem.startswith(f"figures.extra_solved_board{message}")
