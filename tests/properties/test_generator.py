"""The generator and the solver against a slow solver that shares no code with them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.data.sudoku_generator import count_solutions, generate, solve
from cvoting.tasks.sudoku import Sudoku

GENERATORS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def all_solutions(board, rows, columns, limit):
    """Every completion of a board (a list of rows), found by trying each digit in the first blank cell."""
    size = rows * columns
    for r in range(size):
        for c in range(size):
            if board[r][c]:
                continue
            found = []
            top, left = r - r % rows, c - c % columns
            taken = {*board[r], *(line[c] for line in board)}
            taken |= {board[y][x] for y in range(top, top + rows) for x in range(left, left + columns)}
            for digit in set(range(1, size + 1)) - taken:
                board[r][c] = digit
                found += all_solutions(board, rows, columns, limit - len(found))
                board[r][c] = 0
                if len(found) >= limit:
                    break
            return found
    return [[list(line) for line in board]]


def slow_solutions(task, board, limit=2):
    rows = [[int(d) for d in line] for line in board.reshape(task.grid)]
    return [np.array(s, np.uint8).ravel() for s in all_solutions(rows, *task.box, limit)]


@given(
    st.sampled_from([((1, 2), 1), ((2, 2), 5), ((2, 2), 9), ((2, 3), 11), ((2, 3), 14), ((3, 2), 12), ((3, 3), 30)]),
    GENERATORS,
)
@settings(deadline=None, max_examples=50)
def test_a_generated_board_has_the_asked_givens_and_exactly_one_solution(size, rng):
    box, givens = size
    task = Sudoku(name="sudoku", box=box)
    question, answer = generate(task, givens, rng)
    assert np.sum(question != 0) == givens
    (only,) = slow_solutions(task, question)
    np.testing.assert_array_equal(only, answer)
    np.testing.assert_array_equal(solve(task, question), answer)


@given(st.sampled_from([(2, 2), (2, 3), (3, 2)]), GENERATORS)
@settings(deadline=None, max_examples=50)
def test_no_given_of_a_minimal_board_can_be_spared(box, rng):
    task = Sudoku(name="sudoku", box=box)
    question, answer = generate(task, None, rng)
    assert len(slow_solutions(task, question)) == 1
    cell = rng.choice(np.flatnonzero(question))
    question[cell] = 0
    assert len(slow_solutions(task, question)) == 2
    assert task.answers_question(answer, question)


@given(st.integers(0, 16), GENERATORS)
@settings(deadline=None)
def test_solutions_of_arbitrary_boards_are_counted_right(givens, rng):
    # Half of the boards come from an answer, so that they have solutions; the other half rarely do.
    task = Sudoku(name="sudoku", box=(2, 2))
    _, board = generate(task, 16, rng)
    if rng.random() < 0.5:
        board = rng.integers(1, 5, size=16, dtype=np.uint8)
    board[rng.permutation(16)[givens:]] = 0
    expected = len(slow_solutions(task, board, limit=300)) if task.consistent(board) else 0
    assert count_solutions(task, board, limit=300) == expected


@given(GENERATORS)
@settings(deadline=None, max_examples=20)
def test_a_generator_in_the_same_state_gives_the_same_board(rng):
    task = Sudoku(name="sudoku", box=(3, 3))
    state = rng.bit_generator.state
    first = generate(task, 35, rng)
    rng.bit_generator.state = state
    np.testing.assert_array_equal(generate(task, 35, rng), first)
