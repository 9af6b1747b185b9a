"""A bank in any number of shards: the same votes bit for bit, gathered without loading all of it."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cvoting import tally as tally_module
from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import write_banks
from cvoting.data.puzzles import Puzzles
from cvoting.models.registry import MODELS
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.voting import VotingParams
from cvoting.rollouts import roll_out
from cvoting.tables import write_voting
from cvoting.tally import tally
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "akorn", "boards", "test", "generated", "a generator", 4, 0, 5)
VOTES = ("confidence", "energy_sum", "logit_residual", "majority_answer", "majority_cell", "random", "oracle")
PARAMS = VotingParams(K=(1, 2, 6), votes=VOTES, subsets=3, resamples=20, level=0.9, seed=0)


@pytest.mark.parametrize("name", list(MODELS))
def test_any_number_of_shards_gives_the_same_votes_bit_for_bit(
    tiny_networks: dict[str, NetworkParams], puzzles: dict[str, Puzzles], tmp_path: Path, name: str
) -> None:
    model = MODELS[name](tiny_networks[name], TASK.grid, TASK.vocabulary, TASK.classes)
    model.initialise(torch.Generator().manual_seed(0))
    plan = RolloutPlan(T_eval=1 if model.params.step_problems(3) else 3, candidates=6, chunk=4)
    tables = set()
    for shards in (1, 2, 3, 7):
        files = [tmp_path / f"{shards}-{shard}.parquet" for shard in range(shards)]
        for shard, file in enumerate(files):
            own, header = (replace(x, shards=shards, shard=shard) for x in (plan, HEADER))
            roll_out(model, TASK, puzzles["validation"], own, header, file, tmp_path / "partial", torch.device("cpu"))
        out, paired = tmp_path / "voting.csv", tmp_path / "paired.csv"
        write_voting(files, PARAMS, TASK, "a-study", out, paired)
        tables.add((out.read_bytes(), paired.read_bytes()))
    assert len(tables) == 1


def test_gathering_shards_holds_one_part_of_a_bank_at_a_time(
    make_bank: Callable[..., Bank], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally_module, "CANDIDATES_AT_ONCE", 2048)
    params = replace(PARAMS, K=(1,), votes=("confidence",))
    peaks = {}
    for shards in (2, 8):
        files = [tmp_path / f"{shards}-{shard}.parquet" for shard in range(shards)]
        for shard, file in enumerate(files):
            write_banks(file, [make_bank(4, candidates=1024, first=4 * shard, shards=shards, shard=shard)])
        tally(files, params, TASK)  # what is loaded or cached once
        tracemalloc.start()
        tally(files, params, TASK)
        peaks[shards] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[8] < 1.5 * peaks[2]  # four times as large a bank
