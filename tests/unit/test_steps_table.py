"""The voting table at the steps where a bank was read out: Figure 8 is made from it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from cvoting import recipes
from cvoting.bank import Bank, Reading
from cvoting.bank_file import BankFileError, write_banks
from cvoting.params.core import ParameterError, build
from cvoting.params.study import Study
from cvoting.params.voting import VotingParams
from cvoting.shards import ShardsError
from cvoting.table_files import VOTING_COLUMNS, read_csv
from cvoting.tables import voting_tables, write_steps
from cvoting.tally import TallyError, tally
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES

TASK = Sudoku(name="sudoku", box=(2, 2))
PARAMS = VotingParams(K=(1, 2, 5), votes=tuple(VOTES), subsets=4, resamples=100, level=0.9, seed=0)
STEPS, READ = (8, 32), 5
MAJORITIES = {"majority_answer", "majority_cell", "majority_confidence"}

ReadFile = Callable[..., Path]


@pytest.fixture
def read_file(make_bank: Callable[..., Bank], tmp_path: Path) -> ReadFile:
    """Writes a bank of eight candidates; at each step its first five are those of the bank of five that ends there."""

    def write(name: str, **options: object) -> Path:
        ends = {step: make_bank(candidates=READ, **options) for step in STEPS}
        steps = {step: Reading(end.scores, end.correct, end.cell_accuracy) for step, end in ends.items()}
        write_banks(tmp_path / name, [replace(make_bank(**options), steps=steps)])
        return tmp_path / name

    return write


def steps_table(shards: Sequence[Path], params: VotingParams = PARAMS, steps: Sequence[int] = STEPS) -> pd.DataFrame:
    """The table, from its file."""
    path = shards[0].with_suffix(".steps.csv")
    write_steps(shards, params, TASK, "a-study", steps, path)
    return read_csv(path)


def test_rows_of_a_step_are_those_of_a_bank_that_ends_there_but_for_majorities(
    read_file: ReadFile, bank_file: Callable[..., Path]
) -> None:
    seeds = (0, 1)
    found = steps_table([read_file(f"bank{seed}", inference_seed=seed) for seed in seeds])
    assert tuple(found.columns) == VOTING_COLUMNS
    assert list(dict.fromkeys(found["T_eval"])) == list(STEPS)
    for step in STEPS:
        ends = [bank_file(f"{step}-{seed}", candidates=READ, T_eval=step, inference_seed=seed) for seed in seeds]
        rows, _ = voting_tables(tally(ends, PARAMS, TASK), PARAMS, "a-study")
        assert set(rows["vote"]) >= MAJORITIES
        rows = rows[~rows["vote"].isin(MAJORITIES)].reset_index(drop=True)
        there = found[found["T_eval"] == step].reset_index(drop=True)
        assert there["distinct_answers"].isna().all(), "a bank does not know what candidates answered at a step"
        there["distinct_answers"] = rows["distinct_answers"]
        pd.testing.assert_frame_equal(there, rows, check_dtype=False, rtol=1e-14)


def test_steps_do_not_change_the_table_of_the_end(read_file: ReadFile, bank_file: Callable[..., Path]) -> None:
    for mine, theirs in zip(
        *(voting_tables(tally([file("bank")], PARAMS, TASK), PARAMS, "s") for file in (read_file, bank_file)),
        strict=True,
    ):
        pd.testing.assert_frame_equal(mine, theirs)


def test_the_same_steps_give_the_same_bytes_in_any_order_of_shards(read_file: ReadFile) -> None:
    shards = [read_file("a", puzzles=7, shards=2), read_file("b", puzzles=5, first=7, shards=2, shard=1)]
    steps_table(shards), steps_table(shards[::-1])
    one, two = (shard.with_suffix(".steps.csv").read_bytes() for shard in shards)
    assert one == two


def test_a_step_that_was_not_read_out_is_refused_with_the_remedy(
    read_file: ReadFile, bank_file: Callable[..., Path]
) -> None:
    remedy = "roll out again with the step in `read_at`"
    with pytest.raises(BankFileError, match=rf"bank: not read out at step 16: {remedy}"):
        steps_table([read_file("bank")], steps=(8, 16))
    with pytest.raises(BankFileError, match=rf"plain\.parquet: not read out at step 8: {remedy}"):
        steps_table([bank_file("plain")])


def test_more_voters_than_were_read_out_are_refused(read_file: ReadFile) -> None:
    with pytest.raises(TallyError, match="K = 8: expected at most 5, the candidates of the bank"):
        steps_table([read_file("bank")], replace(PARAMS, K=(1, 8)))


def test_votes_over_answers_alone_cannot_be_held_at_a_step(read_file: ReadFile) -> None:
    with pytest.raises(TallyError, match="expected those of one of majority_cell"):
        steps_table([read_file("bank")], replace(PARAMS, votes=("majority_cell",)))
    with pytest.raises(ParameterError, match=r"voting.votes = 'best': expected one of confidence"):
        steps_table([read_file("bank")], replace(PARAMS, votes=("best",)))


def test_a_missing_shard_is_noticed_at_a_step_too(read_file: ReadFile) -> None:
    with pytest.raises(ShardsError, match=r"shards \[0\] of 2 missing"):
        steps_table([read_file("a", shards=2, shard=1)])


def test_a_bank_votes_with_the_numbers_of_candidates_that_it_has(repository: Path) -> None:
    study = build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))
    small = replace(study.banks["akorn-sudoku_hard"], candidates=3)
    recipe = json.loads(recipes.voting(replace(study, banks={**study.banks, "mine": small}), "mine"))
    assert study.voting.K == (1, 2, 4, 8)
    assert recipe["voting"]["K"] == [1, 2]


@pytest.mark.parametrize(("read_candidates", "K"), [(5, [1, 5]), (None, [1, 16]), (1, [1])])
def test_all_candidates_that_were_read_out_vote_at_a_step(
    repository: Path, read_candidates: int | None, K: list[int]
) -> None:
    study = build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))
    bank = replace(study.banks["itrsa-sudoku_hard"], read_candidates=read_candidates, candidates=16)
    recipe = json.loads(recipes.steps(replace(study, banks={**study.banks, "mine": bank}), "mine"))
    assert recipe["voting"]["K"] == K
    assert recipe["read_at"] == list(bank.read_at)
