"""Banks that may be handed on where their puzzles may not: hashes, scores and judgements, and no board."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks, write_banks
from cvoting.calibration_tables import write_calibration
from cvoting.data.puzzles import Puzzles
from cvoting.models.registry import MODELS
from cvoting.params.calibration import CalibrationPlan
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.voting import VotingParams
from cvoting.rollouts import roll_out
from cvoting.table_files import read_csv
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "akorn", "boards", "test", "original", "a file", 3, 0, 5)
PLAN = RolloutPlan(T_eval=3, candidates=6, chunk=12, read_at=(1, 2), logit_candidates=4)
VOTES = ("confidence", "energy_sum", "majority_answer", "majority_confidence", "majority_cell", "random", "oracle")
VOTING = VotingParams(K=(1, 2, 6), votes=VOTES, subsets=3, resamples=20, level=0.9, seed=0)
CALIBRATION = CalibrationPlan(study="a-study", temperatures=(1.0, 2.0), bins=5, resamples=20, level=0.9, seed=0)


@pytest.fixture
def banks(tiny_networks: dict[str, NetworkParams], puzzles: dict[str, Puzzles], tmp_path: Path) -> dict[bool, Path]:
    """The same rollouts with boards and without."""
    model = MODELS["akorn"](tiny_networks["akorn"], TASK.grid, TASK.vocabulary, TASK.classes)
    model.initialise(torch.Generator().manual_seed(0))
    files = {boards: tmp_path / f"{boards}.parquet" for boards in (True, False)}
    for boards, file in files.items():
        plan, partial = replace(PLAN, boards=boards), tmp_path / "partial"
        roll_out(model, TASK, puzzles["validation"], plan, HEADER, file, partial, torch.device("cpu"))
    return files


def read(path: Path) -> Bank:
    """All of a bank."""
    return concatenate(read_banks(path))


def test_such_a_bank_holds_no_token_of_a_board(banks: dict[bool, Path]) -> None:
    whole, bare = read(banks[True]), read(banks[False])
    assert (whole.knows_boards, bare.knows_boards, bare.knows_answers) == (True, False, True)
    assert bare.questions.size == bare.labels.size == sum(table.size for table in bare.answers) == 0
    assert bare.puzzles == whole.puzzles
    np.testing.assert_array_equal(bare.answer_ids, whole.answer_ids)
    names = {boards: set(pq.read_schema(file).names) for boards, file in banks.items()}
    assert names[True] - names[False] == {"question", "label", "answers"}


def test_its_votes_are_the_same_but_for_those_that_compose_an_answer(banks: dict[bool, Path], tmp_path: Path) -> None:
    for boards, file in banks.items():
        write_voting([file], VOTING, TASK, "a-study", tmp_path / f"{boards}.csv", tmp_path / f"{boards}.paired.csv")
    whole, bare = (read_csv(tmp_path / f"{boards}.csv") for boards in (True, False))
    assert set(whole["vote"]) - set(bare["vote"]) == {"majority_cell"}
    same = whole[whole["vote"] != "majority_cell"].reset_index(drop=True)
    pd.testing.assert_frame_equal(bare.reset_index(drop=True), same)


def test_its_calibration_is_the_same(banks: dict[bool, Path], tmp_path: Path) -> None:
    found = set()
    for boards, file in banks.items():
        outs = [tmp_path / f"{boards}.{kind}.csv" for kind in ("calibration", "reliability", "risk")]
        write_calibration([file], CALIBRATION, TASK, *outs)
        found.add(tuple(out.read_bytes() for out in outs))
    assert len(found) == 1


def test_banks_with_and_without_boards_are_no_one_bank(banks: dict[bool, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="parts of different banks"):
        write_banks(tmp_path / "both", [read(banks[True]), read(banks[False])])
