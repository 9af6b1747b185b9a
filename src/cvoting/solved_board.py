"""A board that C-voting solves: the confidence of its candidates at every step, and what they answer at the end."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cvoting.bank import Bank
from cvoting.bank_file import read_ends
from cvoting.errors import CvotingError
from cvoting.params.calibration import SolvedBoardPlan
from cvoting.shards import Shards
from cvoting.table_files import SOLVED_BOARD_COLUMNS, Row, write_csv
from cvoting.tasks.sudoku import BLANK, Sudoku
from cvoting.trajectories import about_candidates, read_out, readings_of, votes_are_right


class SolvedBoardError(CvotingError):
    """A bank that does not hold its boards."""


def write_solved_board(shards: Sequence[Path], plan: SolvedBoardPlan, task: Sudoku, out: Path) -> None:
    """Write every listed candidate of one puzzle at every step that was read out, and its answer at the end.

    The puzzle is one of those that C-voting among the listed candidates solves though most of them are wrong: in the
    order of the share that is right, and then of hashes, the middle one, and of two the first.  Where there is none, a
    row without a puzzle says so.  `leads`: the most confident candidate of a step, of equal ones the first.

    Args:
        shards: the files of one training and one inference seed of a bank.
        plan: the steps, and how many candidates.
        task: of the boards.
        out: the CSV file.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one training and one inference seed of a bank.
        SolvedBoardError: when the bank does not hold its boards.
        TrajectoriesError: when it was not read out at the steps, or for fewer candidates.
    """
    read, solved = Shards(), list[tuple[float, str]]()
    for path in shards:
        for bank in read_ends(path):
            read.add(path, bank)
            if not bank.knows_boards:
                raise SolvedBoardError(f"{path}: a bank without boards, expected one that keeps them: roll out again")
            shares = bank.correct["board"][:, : plan.candidates].mean(axis=1).tolist()
            votes = zip(shares, bank.puzzles, votes_are_right(bank, plan.candidates), strict=True)
            solved += [(share, puzzle) for share, puzzle, right in votes if right and share < 0.5]
    in_order, first = read.complete(training_seeds=1, inference_seeds=1)
    about = about_candidates(first, plan, len(in_order)) | {"chosen_from": len(solved)}
    about |= dict(zip(("box_rows", "box_columns"), task.box, strict=True))
    chosen = {puzzle for _, puzzle in sorted(solved)[(len(solved) - 1) // 2 :][:1]}
    rows = [row for bank, place in read_out(shards, chosen, plan) for row in _rows(bank, place, plan, task)]
    table = pd.DataFrame([about | row for row in rows or [{}]], columns=list(SOLVED_BOARD_COLUMNS))
    write_csv(table.astype(dict.fromkeys(("candidate", "step", "board", "leads"), "Int64")), out)


def _rows(bank: Bank, place: int, plan: SolvedBoardPlan, task: Sudoku) -> Iterator[Row]:
    """One row per step and candidate of a puzzle; what is no digit in an answer is left blank."""
    question, table = bank.questions[place], bank.answers[place]
    digits = np.where(table > task.digits, BLANK, table)
    answers = [task.format(answer) for answer in np.where(task.positions_to_predict(question), digits, question)]
    board = {"question": task.format(question), "label": task.format(bank.labels[place])}
    for step, reading in readings_of(bank, plan).items():
        confidence = reading.scores["confidence"][place, : plan.candidates]
        for candidate in range(plan.candidates):
            yield board | {
                "puzzle": bank.puzzles[place],
                "candidate": candidate,
                "step": step,
                "confidence": round(float(confidence[candidate]), 12),
                "board": int(reading.correct["board"][place, candidate]),
                "leads": int(candidate == confidence.argmax()),
                "answer": answers[bank.answer_ids[place, candidate]] if step == bank.header.T_eval else None,
            }
