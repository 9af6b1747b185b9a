"""Symmetries of Sudoku keep what makes a puzzle a puzzle, for any box, any group and any seed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.data.augmentation import augment
from cvoting.data.sudoku_generator import count_solutions, generate, solve
from cvoting.tasks.sudoku import Sudoku

TASKS = st.sampled_from([(1, 3), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3)]).map(
    lambda box: Sudoku(name="sudoku", box=box)
)
GROUPS = st.sampled_from(Sudoku.symmetry_groups)
GENERATORS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(TASKS, GROUPS, GENERATORS)
@settings(deadline=None)
def test_a_symmetry_permutes_cells_and_digits_and_leaves_the_blank(task, group, rng):
    cells, tokens = task.random_symmetries(3, group, rng)
    assert (np.sort(cells, axis=1) == np.arange(task.cells)).all()
    assert (np.sort(tokens, axis=1) == np.arange(task.vocabulary)).all()
    assert (tokens[:, 0] == 0).all()


@given(TASKS, GENERATORS)
@settings(deadline=None)
def test_a_shuffle_maps_rows_columns_and_boxes_to_rows_columns_and_boxes(task, rng):
    cells, _ = task.random_symmetries(2, "shuffles", rng)
    units = {frozenset(unit.tolist()) for kind in task.units for unit in kind}
    boxes = {frozenset(unit.tolist()) for unit in task.units[2]}
    for permutation in cells:
        assert {frozenset(permutation[unit].tolist()) for kind in task.units for unit in kind} == units
        assert {frozenset(permutation[unit].tolist()) for unit in task.units[2]} == boxes


@given(TASKS, GROUPS, GENERATORS)
@settings(deadline=None, max_examples=50)
def test_a_transformed_puzzle_has_the_transformed_answer_as_its_only_solution(task, group, rng):
    question, answer = generate(task, None, rng)
    questions, answers = augment(task, question[None], answer[None], group, rng)
    assert count_solutions(task, questions[0]) == 1
    np.testing.assert_array_equal(solve(task, questions[0]), answers[0])
    assert np.sum(questions != 0) == np.sum(question != 0)


@given(TASKS, GROUPS, GENERATORS)
@settings(deadline=None)
def test_an_invalid_board_stays_invalid(task, group, rng):
    boards = rng.integers(0, task.vocabulary, size=(4, task.cells), dtype=np.uint8)
    _, moved = augment(task, boards, boards, group, rng)
    np.testing.assert_array_equal(task.valid(moved), task.valid(boards))
    np.testing.assert_array_equal(task.consistent(moved), task.consistent(boards))
