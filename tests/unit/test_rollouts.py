"""Rollouts: a candidate is a function of (inference seed, puzzle, candidate), whatever is rolled out beside it."""

import dataclasses
import shutil
import tracemalloc

import numpy as np
import pytest
import torch

from cvoting import rollouts
from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.models.akorn import AKOrN
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import initial_noise, roll_out
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "akorn", "boards", "test", "generated", "a generator", 6, 0, 5)
PLAN = RolloutPlan(T_eval=6, candidates=8, chunk=16)
READ = dataclasses.replace(PLAN, read_at=(2, 6), read_candidates=5)
with_and_without_steps = pytest.mark.parametrize("plan", [PLAN, READ], ids=["no step", "steps"])


@pytest.fixture(scope="module")
def model(tiny_akorn) -> AKOrN:
    model = AKOrN(tiny_akorn, TASK.grid, TASK.vocabulary, TASK.classes)
    model.initialise(torch.Generator().manual_seed(0))
    return model


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory) -> Puzzles:
    source = GeneratedSudoku(
        kind="generated_sudoku", givens=(5, 8), seed=0, splits=Splits(train=0, validation=0, test=9)
    )
    return SOURCES["generated_sudoku"]("boards", TASK, source, tmp_path_factory.mktemp("raw"))["test"]


@pytest.fixture
def bank_of(model, puzzles, tmp_path):
    """Rolls out a plan and reads the bank back."""

    def make(plan: RolloutPlan = PLAN, header: BankHeader = HEADER, name: str = "bank") -> Bank:
        path = tmp_path / f"{name}.parquet"
        roll_out(model, TASK, puzzles, plan, header, path, tmp_path / "partial", torch.device("cpu"))
        return concatenate(read_banks(path))

    return make


def assert_close(one: Bank, two: Bank, candidates: int):
    assert one.puzzles == two.puzzles
    for name in one.scores:
        np.testing.assert_allclose(
            one.scores[name][:, :candidates], two.scores[name][:, :candidates], rtol=1e-4, atol=1e-6
        )
    for name in one.correct:
        assert np.array_equal(one.correct[name][:, :candidates], two.correct[name][:, :candidates])


def test_what_is_in_memory_until_it_is_written_does_not_grow_with_candidates_and_puzzles():
    for candidates, puzzles in ((1, 10), (16, 1000), (4096, 1000), (2**15, 3)):
        parts = RolloutPlan(T_eval=1, candidates=candidates, chunk=128).parts(puzzles)
        assert [place for part in parts for place in part] == list(range(puzzles))
        assert max(len(part) for part in parts) * candidates <= max(2**14, candidates)


def test_a_bank_holds_every_score_answer_and_judgement(bank_of, puzzles):
    bank = bank_of()
    assert bank.header == HEADER
    assert bank.puzzles == puzzles.hashes
    assert set(bank.scores) == {
        "confidence",
        "negative_entropy",
        "log_probability",
        "energy_last",
        "energy_sum",
        "latent_residual",
        "logit_residual",
    }
    assert all(s.shape == (9, 8) and s.dtype == np.float64 and np.isfinite(s).all() for s in bank.scores.values())
    for row in range(9):
        answers = bank.answers[row][bank.answer_ids[row]]
        right = answers == puzzles.answers[row]
        blank = puzzles.questions[row] == 0
        assert np.array_equal(bank.correct["board"][row], right[:, blank].all(1))
        assert np.array_equal(bank.correct["all_cells"][row], right.all(1))
        assert bank.cell_accuracy[row] == pytest.approx(right[:, blank].mean(1))
        assert len(np.unique(bank.answers[row], axis=0)) == len(bank.answers[row]) == bank.answer_ids[row].max() + 1
        assert bank.answer_ids[row][0] == 0


def test_the_first_candidates_of_a_large_bank_are_the_small_bank(bank_of):
    small = bank_of(dataclasses.replace(PLAN, candidates=3), name="small")
    assert_close(small, bank_of(), 3)


@pytest.mark.parametrize("chunk", [1, 3, 8, 24, 1000])
def test_the_chunk_changes_no_candidate(bank_of, chunk):
    assert_close(bank_of(dataclasses.replace(PLAN, chunk=chunk), name="other"), bank_of(), 8)


@pytest.mark.parametrize("shards", [2, 3, 5])
def test_shards_together_are_the_whole_bank_bit_for_bit(bank_of, shards):
    parts = [bank_of(dataclasses.replace(PLAN, shards=shards, shard=s), name=f"s{s}") for s in range(shards)]
    one, two = bank_of(), concatenate(parts)
    assert one.puzzles == two.puzzles
    assert np.array_equal(one.answer_ids, two.answer_ids)
    for name in one.scores:
        assert np.array_equal(one.scores[name], two.scores[name]), name


@pytest.mark.parametrize(("puzzles", "candidates", "chunk", "shards"), [(9, 8, 16, 4), (100, 3, 2, 7), (5, 1, 64, 1)])
def test_shards_partition_the_puzzles_into_whole_chunks(puzzles, candidates, chunk, shards):
    plans = [
        RolloutPlan(T_eval=1, candidates=candidates, chunk=chunk, shards=shards, shard=shard) for shard in range(shards)
    ]
    parts = [part for plan in plans for part in plan.parts(puzzles)]
    assert [p for part in parts for p in part] == list(range(puzzles))
    assert all(part.start % plans[0].puzzles_at_once == 0 for part in parts)


def test_noise_of_one_candidate_can_be_drawn_alone():
    many = initial_noise(["a", "b"], range(5), (4, 3), 0)
    assert np.array_equal(initial_noise(["b"], range(3, 4), (4, 3), 0)[0, 0], many[1, 3])
    others = [initial_noise(["b"], range(3, 4), (4, 3), 1), initial_noise(["a"], range(3, 4), (4, 3), 0)]
    assert not any(np.array_equal(other[0, 0], many[1, 3]) for other in others)


def test_another_inference_seed_gives_other_candidates(bank_of):
    other = bank_of(header=dataclasses.replace(HEADER, inference_seed=6), name="other")
    assert not np.isclose(other.scores["confidence"], bank_of().scores["confidence"]).any()


@with_and_without_steps
def test_the_same_rollouts_give_the_same_bytes(bank_of, tmp_path, plan):
    bank_of(plan, name="one"), bank_of(plan, name="two")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


@with_and_without_steps
def test_an_interrupted_job_goes_on_with_the_parts_it_has(bank_of, tmp_path, monkeypatch, plan):
    monkeypatch.setattr("cvoting.params.rollouts.PART_PUZZLES", 2)
    bank_of(plan, name="whole")
    calls = []
    original = rollouts._roll_out_group

    def stop_at_third(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    with monkeypatch.context() as patched:
        patched.setattr(rollouts, "_roll_out_group", stop_at_third)
        with pytest.raises(KeyboardInterrupt):
            bank_of(plan, name="stopped")
    assert len(list((tmp_path / "partial").iterdir())) == 2
    assert not (tmp_path / "stopped.parquet").exists()
    bank_of(plan, name="stopped")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "stopped.parquet").read_bytes()
    assert not (tmp_path / "partial").exists()


def test_parts_that_another_process_removed_are_made_again(bank_of, tmp_path, monkeypatch):
    monkeypatch.setattr("cvoting.params.rollouts.PART_PUZZLES", 2)
    bank_of(name="whole")
    write_banks = rollouts.write_banks

    def removing(path, parts):
        if path.name == "raced.parquet":
            shutil.rmtree(tmp_path / "partial")
        write_banks(path, parts)

    monkeypatch.setattr(rollouts, "write_banks", removing)
    bank_of(name="raced")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "raced.parquet").read_bytes()


def test_memory_does_not_grow_with_the_number_of_puzzles(model, puzzles, tmp_path):
    def peak(copies: int) -> int:
        many = Puzzles(
            np.tile(puzzles.questions, (copies, 1)), np.tile(puzzles.answers, (copies, 1)), "generated", "copies"
        )
        many.hashes  # noqa: B018 - computed before the measurement
        tracemalloc.start()
        path, partial = tmp_path / f"{copies}.parquet", tmp_path / "partial"
        plan = RolloutPlan(T_eval=1, candidates=64, chunk=512)
        roll_out(model, TASK, many, plan, HEADER, path, partial, torch.device("cpu"))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(8)
    assert peak(32) < 1.5 * peak(8)
