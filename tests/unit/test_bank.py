"""The rollout file: what is written is read, byte for byte the same each time, and damage is noticed."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cvoting.bank import Bank, Reading, concatenate
from cvoting.bank_file import BankFileError, read_at, read_banks, read_ends, write_banks
from cvoting.seeding import generator

MakeBank = Callable[..., Bank]


def read_out(bank: Bank, candidates: int = 5, steps: tuple[int, ...] = (16, 2)) -> Bank:
    """The bank with readings of its first candidates, with other numbers at each step."""
    readings = {
        step: Reading(
            {name: scores[:, :candidates] / step for name, scores in bank.scores.items()},
            {metric: correct[:, :candidates] & (step > 2) for metric, correct in bank.correct.items()},
            bank.cell_accuracy[:, :candidates] / step,
        )
        for step in steps
    }
    return replace(bank, steps=readings)


@pytest.fixture(params=[False, True], ids=["no step", "steps"])
def make_bank(request: pytest.FixtureRequest, make_bank: MakeBank) -> MakeBank:
    """Banks with and without readings at steps."""
    return (lambda *args, **options: read_out(make_bank(*args, **options))) if request.param else make_bank


def assert_equal(a: Bank, b: Bank) -> None:
    """Every field, exactly."""
    np.testing.assert_equal(asdict(a), asdict(b))


def test_a_bank_is_read_as_it_was_written_part_by_part(make_bank: MakeBank, tmp_path: Path) -> None:
    parts = [make_bank(puzzles=3), make_bank(puzzles=1, first=3), make_bank(puzzles=2, first=4)]
    write_banks(tmp_path / "bank.parquet", parts)
    read = list(read_banks(tmp_path / "bank.parquet"))
    assert [len(part) for part in read] == [3, 1, 2]
    for part, written in zip(read, parts, strict=True):
        assert_equal(part, written)
    assert_equal(concatenate(read), make_bank(puzzles=6))


def test_the_number_of_candidates_is_M(make_bank: MakeBank) -> None:
    assert make_bank(candidates=7).candidates == 7


def test_writing_twice_gives_the_same_bytes(make_bank: MakeBank, tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_banks(tmp_path / name, [make_bank()])
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_bank_passes_through_a_file_unchanged_when_read_and_written_again(
    make_bank: MakeBank, tmp_path: Path
) -> None:
    write_banks(tmp_path / "first", [make_bank(), make_bank(first=12)])
    write_banks(tmp_path / "second", read_banks(tmp_path / "first"))
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_infinite_scores_and_a_single_candidate_survive(make_bank: MakeBank, tmp_path: Path) -> None:
    bank = make_bank(puzzles=2, candidates=1)
    bank = replace(bank, scores=bank.scores | {"energy_sum": np.array([[-np.inf], [np.nan]])})
    write_banks(tmp_path / "bank", [bank])
    assert_equal(concatenate(read_banks(tmp_path / "bank")), bank)


def test_parts_of_different_banks_are_refused_and_leave_no_file(make_bank: MakeBank, tmp_path: Path) -> None:
    other = [make_bank(inference_seed=1), make_bank(energies=False), make_bank(candidates=9)]
    for part in other:
        with pytest.raises(ValueError, match="parts of different banks"):
            write_banks(tmp_path / "bank", [make_bank(), part])
    assert not list(tmp_path.iterdir())


def test_parts_that_were_read_out_at_other_steps_are_refused(make_bank: MakeBank, tmp_path: Path) -> None:
    bank = make_bank()
    for other in (read_out(bank, steps=(2,)), read_out(bank, candidates=4)):
        with pytest.raises(ValueError, match="parts of different banks"):
            write_banks(tmp_path / "bank", [bank, other])
    assert not list(tmp_path.iterdir())


def test_at_a_step_a_bank_is_what_was_read_out_there_and_has_no_answers(make_bank: MakeBank) -> None:
    bank = read_out(make_bank())
    there = bank.at(16)
    assert there.header == replace(bank.header, T_eval=16)
    assert (there.candidates, there.steps) == (5, {})
    assert (bank.knows_answers, there.knows_answers) == (True, False)
    assert not any(map(len, there.answers))
    np.testing.assert_equal(asdict(Reading(there.scores, there.correct, there.cell_accuracy)), asdict(bank.steps[16]))
    for name in ("puzzles", "questions", "labels"):
        np.testing.assert_equal(getattr(there, name), getattr(bank, name))


def test_the_end_and_a_step_can_be_read_from_a_file_by_themselves(make_bank: MakeBank, tmp_path: Path) -> None:
    bank = read_out(make_bank())
    write_banks(tmp_path / "bank", [bank])
    assert_equal(concatenate(read_ends(tmp_path / "bank")), replace(bank, steps={}))
    for step in bank.steps:
        assert_equal(concatenate(read_at(tmp_path / "bank", step)), bank.at(step))
    with pytest.raises(BankFileError, match=r"bank: not read out at step 1: roll out again with the step in `read_at`"):
        list(read_at(tmp_path / "bank", 1))


def test_a_bank_of_no_puzzles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no puzzles"):
        write_banks(tmp_path / "bank", [])
    assert not list(tmp_path.iterdir())


def test_a_flipped_bit_of_the_data_never_changes_a_number(make_bank: MakeBank, tmp_path: Path) -> None:
    path, rng = tmp_path / "bank", generator("flipped bits", 0)
    write_banks(path, [make_bank()])
    whole, bank = path.read_bytes(), make_bank()
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    noticed = 0
    for position in rng.integers(len(whole), size=300):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            read = concatenate(read_banks(path))
            ends = concatenate(read_ends(path))
        except BankFileError:
            noticed += position < pages
        else:
            if position < pages:
                assert_equal(read, bank)
                assert_equal(ends, replace(bank, steps={}))
    assert noticed > 50


@pytest.mark.parametrize("length", [0, 3, 100, -1])
def test_a_truncated_file_is_an_error_that_says_what_to_do(make_bank: MakeBank, tmp_path: Path, length: int) -> None:
    write_banks(tmp_path / "bank", [make_bank()])
    (tmp_path / "bank").write_bytes((tmp_path / "bank").read_bytes()[:length])
    with pytest.raises(BankFileError, match="delete it and make it again"):
        list(read_banks(tmp_path / "bank"))


def test_another_parquet_file_is_not_a_bank(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "table")
    with pytest.raises(BankFileError, match="bank format None, expected 2"):
        list(read_banks(tmp_path / "table"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BankFileError, match="nowhere"):
        list(read_banks(tmp_path / "nowhere"))
