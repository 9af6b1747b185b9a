"""Equality of boards up to symmetry, against the whole group where it is small enough to be listed."""

import os
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.data import sudoku_symmetry
from cvoting.data.parsers import read_royle_list
from cvoting.data.sudoku_generator import generate
from cvoting.data.sudoku_symmetry import find_symmetry, fingerprint, symmetry_classes
from cvoting.tasks.sudoku import Sudoku

MIRROR = os.environ.get("CVOTING_MIRROR")
NINE = Sudoku(name="sudoku", box=(3, 3))
BOXES = [(1, 3), (2, 1), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3), (3, 4), (4, 4)]
TASKS = st.sampled_from(BOXES).map(lambda box: Sudoku(name="sudoku", box=box))
GENERATORS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def sparse_boards(task, count, most, rng):
    """Boards of up to `most` arbitrary givens of few digits, which have many symmetries of their own."""
    boards = rng.integers(1, min(task.digits, 4), size=(count, task.cells), endpoint=True, dtype=np.uint8)
    givens = rng.integers(0, most, size=(count, 1), endpoint=True)
    return np.where(rng.permuted(np.tile(np.arange(task.cells), (count, 1)), axis=1) < givens, boards, np.uint8(0))


def transformed(task, boards, rng):
    """Each board after a random symmetry of its own."""
    cells, tokens = task.random_symmetries(len(boards), "shuffles", rng)
    return np.take_along_axis(tokens, np.take_along_axis(boards, cells, axis=1), axis=1)


def all_line_orders(bands, lines):
    for order in permutations(range(bands)):
        for inner in product(permutations(range(lines)), repeat=bands):
            yield [band * lines + line for band, within in zip(order, inner, strict=True) for line in within]


def smallest_form(task, board):
    """The least of all boards that a symmetry can make, digits named in the order of their appearance."""
    rows, columns = (np.array([*all_line_orders(*bands)]) for bands in (task.box[::-1], task.box))
    cells = (rows[:, None, :, None] * task.digits + columns[None, :, None, :]).reshape(-1, *task.grid)
    if task.box[0] == task.box[1]:
        cells = np.concatenate([cells, cells.swapaxes(1, 2)])
    moved = board[cells.reshape(-1, task.cells)]
    digits = np.arange(1, task.digits + 1)
    seen = moved[:, None, :] == digits[:, None]
    appearance = np.where(seen.any(axis=2), seen.argmax(axis=2), task.cells + digits)
    names = np.pad(appearance.argsort(axis=1).argsort(axis=1) + 1, ((0, 0), (1, 0))).astype(np.uint8)
    return min(map(bytes, np.take_along_axis(names, moved, axis=1)))


@given(TASKS, GENERATORS)
@settings(deadline=None)
def test_a_symmetry_does_not_change_the_fingerprint(task, rng):
    boards = sparse_boards(task, 4, task.cells, rng)
    np.testing.assert_array_equal(fingerprint(task, boards)[0], fingerprint(task, transformed(task, boards, rng))[0])


@given(TASKS, GENERATORS)
@settings(deadline=None)
def test_what_looks_the_same_once_sorted_is_the_board_after_a_symmetry(task, rng):
    boards = sparse_boards(task, 2, task.digits, rng)
    for board, look in zip(boards, fingerprint(task, boards)[1], strict=True):
        assert find_symmetry(task, board, look) is not None


@given(TASKS, st.booleans(), GENERATORS)
@settings(deadline=None)
def test_the_symmetry_between_a_board_and_its_transform_is_found(task, sparse, rng):
    board = sparse_boards(task, 1, task.digits if sparse else task.cells, rng)[0]
    other = transformed(task, board[None], rng)[0]
    cells, tokens = find_symmetry(task, board, other)
    np.testing.assert_array_equal(tokens[board[cells]], other)
    assert tokens[0] == 0
    assert (np.sort(tokens) == np.arange(task.vocabulary)).all()
    units = [{frozenset(unit.tolist()) for unit in kind} for kind in task.units]
    rows, columns, boxes = ({frozenset(cells[unit].tolist()) for unit in kind} for kind in task.units)
    assert boxes == units[2]
    assert [rows, columns] == units[:2] or (task.box[0] == task.box[1] and [columns, rows] == units[:2])


@given(st.sampled_from([(1, 3), (3, 1), (2, 1), (2, 2), (2, 3), (3, 2)]), st.integers(2, 9), GENERATORS)
@settings(deadline=None, max_examples=40)
def test_classes_are_those_that_the_whole_group_makes(box, most, rng):
    task = Sudoku(name="sudoku", box=box)
    boards = sparse_boards(task, 12, min(most, task.cells), rng)
    boards = np.concatenate([boards, transformed(task, boards[:6], rng), boards[:2]])
    classes = symmetry_classes(task, boards)
    forms = np.unique([smallest_form(task, board) for board in boards], return_inverse=True)[1]
    np.testing.assert_array_equal(classes[:, None] == classes, forms[:, None] == forms)


@given(st.sampled_from([(2, 2), (2, 3), (3, 3)]), GENERATORS)
@settings(deadline=None, max_examples=30)
def test_colliding_fingerprints_are_confirmed_before_they_count(box, rng):
    task = Sudoku(name="sudoku", box=box)
    boards = sparse_boards(task, 8, task.digits, rng)
    boards = np.concatenate([boards, transformed(task, boards[:4], rng)])
    classes = symmetry_classes(task, boards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sudoku_symmetry, "fingerprint", lambda task, boards: (np.zeros(len(boards), np.uint64), boards))
        collided = symmetry_classes(task, boards)
    np.testing.assert_array_equal(classes[:, None] == classes, collided[:, None] == collided)


def test_random_puzzles_are_never_confirmed_equal():
    rng = np.random.default_rng(0)
    boards = np.stack([generate(NINE, None, rng)[0] for _ in range(300)])
    assert len(set(symmetry_classes(NINE, boards).tolist())) == 300
    doubled = np.concatenate([boards, transformed(NINE, boards, rng)])
    classes = symmetry_classes(NINE, doubled)
    np.testing.assert_array_equal(classes[:300], classes[300:])


@pytest.mark.parametrize("kept", [np.ones(81, np.uint8), np.eye(9, dtype=np.uint8).ravel()], ids=["full", "diagonal"])
def test_the_search_stays_short_where_nothing_tells_lines_and_digits_apart(monkeypatch, kept):
    calls = []
    search = sudoku_symmetry._search
    monkeypatch.setattr(sudoku_symmetry, "_search", lambda *arguments: calls.append(1) or search(*arguments))
    rng = np.random.default_rng(0)
    first, second = (generate(NINE, 81, rng)[1] * kept for _ in range(2))
    assert find_symmetry(NINE, first, transformed(NINE, first[None], rng)[0]) is not None
    find_symmetry(NINE, first, second)
    # Two searches of two sides each: a root, 9 rows, 81 pairs of a row and a column.
    assert len(calls) <= 2 * 2 * (1 + 9 + 81)


@pytest.mark.slow
@pytest.mark.skipif(not MIRROR, reason="CVOTING_MIRROR names no mirror")
def test_royles_puzzles_are_all_different_as_he_says():
    boards = read_royle_list(Path(MIRROR) / "rrn/sudoku17.txt", NINE)
    assert len(set(symmetry_classes(NINE, boards).tolist())) == len(boards) == 49_151
