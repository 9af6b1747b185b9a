"""What every task of the registry does, whatever its parameters, and what the metrics of mazes are to each other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.data.augmentation import augment
from cvoting.data.sudoku_generator import generate
from cvoting.metrics import judge, judge_candidates
from cvoting.params.core import build, plain
from cvoting.tasks.base import Task
from cvoting.tasks.maze import FREE, GOAL, PATH, START, WALL, Maze
from cvoting.tasks.registry import TASKS
from cvoting.tasks.sudoku import Sudoku

GENERATORS = st.integers(0, 2**32 - 1).map(np.random.default_rng)
Puzzle = tuple[np.ndarray, np.ndarray]


def sudoku_puzzle(task: Sudoku, rng: np.random.Generator) -> Puzzle:
    """A board and its solution."""
    return generate(task, None, rng)


def maze_puzzle(task: Maze, rng: np.random.Generator) -> Puzzle:
    """A maze that has a path and a free cell, and its label."""
    while True:
        question = np.where(rng.random(task.cells) < 0.35, WALL, FREE).astype(np.uint8)
        question[rng.choice(task.cells, 2, replace=False)] = START, GOAL
        if task.shortest_length(question) and (question == FREE).any():
            return question, task.solve(question)


#: The parameters of each task of the registry, and what makes its puzzles.
BOXES = st.sampled_from([(1, 3), (2, 2), (2, 3), (3, 3)])
GRIDS = st.tuples(st.integers(2, 7), st.integers(2, 7))
PARAMS: dict[str, st.SearchStrategy[Any]] = {
    "sudoku": BOXES.map(lambda box: Sudoku(name="sudoku", box=box)),
    "maze": st.builds(Maze, name=st.just("maze"), grid=GRIDS, positions=st.sampled_from(["all", "free"])),
}
PUZZLES: dict[str, Callable[[Any, np.random.Generator], Puzzle]] = {"sudoku": sudoku_puzzle, "maze": maze_puzzle}

every_task = pytest.mark.parametrize("name", TASKS)
some_cases = settings(deadline=None, max_examples=40)


def some_puzzles(name: str, data: st.DataObject, count: int = 3) -> tuple[Any, np.ndarray, np.ndarray]:
    """A task, and questions and answers of it."""
    task, rng = data.draw(PARAMS[name]), data.draw(GENERATORS)
    puzzles = [PUZZLES[name](task, rng) for _ in range(count)]
    questions, answers = (np.stack(boards) for boards in zip(*puzzles, strict=True))
    return task, questions, answers


def test_every_task_has_parameters_to_test() -> None:
    assert PARAMS.keys() == PUZZLES.keys() == TASKS.keys()


@every_task
@given(data=st.data())
@some_cases
def test_a_task_is_one_and_its_parameters_come_back(name: str, data: st.DataObject) -> None:
    task = data.draw(PARAMS[name])
    assert isinstance(task, Task)
    assert build(TASKS[name], plain(task)) == task
    assert task.name == name
    assert task.cells == task.grid[0] * task.grid[1]
    assert "board" in task.metrics
    assert task.symmetry_groups[0] == "none"
    assert 0 <= task.blank < task.vocabulary


@every_task
@given(data=st.data())
@some_cases
def test_questions_and_answers_are_tokens_that_text_holds(name: str, data: st.DataObject) -> None:
    task, questions, answers = some_puzzles(name, data)
    assert (questions < task.vocabulary).all()
    assert ((answers >= task.first_answer_token) & (answers < task.first_answer_token + task.classes)).all()
    for tokens in (*questions, *answers):
        np.testing.assert_array_equal(task.parse(task.format(tokens)), tokens)
    assert task.consistent(questions).all()
    assert task.valid(answers).all()
    assert task.answers_question(answers, questions).all()
    # What is not asked for is told; what is left open is asked for.
    asked = task.positions_to_predict(questions)
    np.testing.assert_array_equal(questions[~asked], answers[~asked])
    assert asked[questions == task.blank].all()


@every_task
@some_cases
@given(data=st.data())
def test_a_puzzle_has_no_contradiction_and_an_inconsistent_question_has_one(name: str, data: st.DataObject) -> None:
    task, questions, _ = some_puzzles(name, data)
    assert [task.contradiction(question) for question in questions] == [None] * len(questions)
    rng = data.draw(GENERATORS)
    foreign = rng.integers(0, task.first_answer_token + task.classes, (20, task.cells))
    for question in foreign.astype(np.uint8):
        assert task.contradiction(question) is not None or task.consistent(question)


@every_task
@some_cases
@given(data=st.data())
def test_what_is_wrong_with_an_answer_is_said_exactly_if_something_is(name: str, data: st.DataObject) -> None:
    task, questions, answers = some_puzzles(name, data)
    rng = data.draw(GENERATORS)
    first = task.first_answer_token
    for question, answer in zip(questions, answers, strict=True):
        for changed in range(4):
            other = answer.copy()
            other[rng.integers(task.cells, size=changed)] = rng.integers(first, first + task.classes, size=changed)
            fine = task.valid(other) and task.answers_question(other, question)
            assert (task.violation(question, other) is None) == fine


@every_task
@given(data=st.data())
@some_cases
def test_a_transformed_puzzle_is_a_puzzle_with_an_answer_as_good(name: str, data: st.DataObject) -> None:
    task, questions, answers = some_puzzles(name, data)
    group = data.draw(st.sampled_from(task.symmetry_groups))
    moved, moved_answers = augment(task, questions, answers, group, data.draw(GENERATORS))
    assert task.consistent(moved).all()
    assert task.valid(moved_answers).all()
    assert task.answers_question(moved_answers, moved).all()
    before, after = (task.judge(a, q, a) for q, a in ((questions, answers), (moved, moved_answers)))
    for metric in task.metrics:
        np.testing.assert_array_equal(before[metric], after[metric], metric)
    if group == "none":
        np.testing.assert_array_equal(moved, questions)


@every_task
@given(data=st.data())
@some_cases
def test_the_label_is_right_by_every_metric_and_every_cell_right_is_every_position_right(
    name: str, data: st.DataObject
) -> None:
    task, questions, labels = some_puzzles(name, data)
    rng = data.draw(GENERATORS)
    answers = damaged(task, labels, rng)
    right, shares = judge(task, labels, questions, labels)
    assert tuple(right) == task.metrics
    assert all(mask.all() for mask in right.values())
    assert (shares == 1).all()
    found, shares = judge(task, answers, questions, labels)
    np.testing.assert_array_equal(found["board"], shares == 1)
    assert found["board"][(answers == labels).all(axis=1)].all()


@every_task
@given(data=st.data())
@some_cases
def test_candidates_are_judged_as_their_answers_are(name: str, data: st.DataObject) -> None:
    task, questions, labels = some_puzzles(name, data)
    rng = data.draw(GENERATORS)
    tables = [np.stack([label, *(damaged(task, label, rng) for _ in range(2))]) for label in labels]
    ids = rng.integers(3, size=(len(labels), 6))
    answers = np.stack([table[row] for table, row in zip(tables, ids, strict=True)])
    one, shares = judge_candidates(task, tables, ids, questions, labels)
    other, other_shares = judge(task, answers, questions[:, None], labels[:, None])
    for metric in task.metrics:
        np.testing.assert_array_equal(one[metric], other[metric])
    np.testing.assert_array_equal(shares, other_shares)


def damaged(task: Task, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels with a few tokens replaced at random, or none."""
    wrong = rng.random(labels.shape) < rng.choice([0, 0.5, 2]) / task.cells
    others = task.first_answer_token + rng.integers(task.classes, size=labels.shape)
    return np.where(wrong, others, labels).astype(np.uint8)


def maze_and_answer(task: Maze, rng: np.random.Generator) -> Puzzle:
    """A maze and an answer that shows the label, another way, or something near to one."""
    question, label = maze_puzzle(task, rng)
    detour = question.copy()
    detour[rng.random(task.cells) < 0.3] = WALL
    detour[question == START], detour[question == GOAL] = START, GOAL
    answer = np.where(task.solve(detour) == PATH, PATH, question) if rng.random() < 0.7 else label
    return question, damaged(task, answer.astype(np.uint8), rng)


def slow_verdict(task: Maze, question: np.ndarray, answer: np.ndarray) -> tuple[bool, bool]:
    """Optimal and valid by their definition, with sets of cells and distances by relaxation."""
    rows, columns = task.grid
    cells = {
        divmod(int(c), columns) for c in np.flatnonzero((answer == PATH) | (question == START) | (question == GOAL))
    }
    open_cells = {divmod(int(c), columns) for c in np.flatnonzero(question != WALL)}
    start, goal = (divmod(int(np.flatnonzero(question == token)[0]), columns) for token in (START, GOAL))

    def touching(cell: tuple[int, int], among: set) -> list:
        return [other for other in among if abs(other[0] - cell[0]) + abs(other[1] - cell[1]) == 1]

    distance = dict.fromkeys(open_cells, rows * columns) | {start: 0}
    for _ in range(rows * columns):
        distance = {c: min([d, *(distance[n] + 1 for n in touching(c, open_cells))]) for c, d in distance.items()}
    walk = [start]
    while onwards := [c for c in touching(walk[-1], cells) if c not in walk]:
        walk.append(onwards[0])
    order = {cell: i for i, cell in enumerate(walk)}
    valid = cells <= open_cells and set(walk) == cells and walk[-1] == goal
    valid = valid and all(abs(order[c] - order[n]) == 1 for c in cells for n in touching(c, cells))
    return valid and len(walk) == distance[goal] + 1, valid


@given(PARAMS["maze"], GENERATORS)
@settings(deadline=None, max_examples=300)
def test_label_implies_optimal_and_optimal_valid_and_a_slow_judge_agrees(task: Maze, rng: np.random.Generator) -> None:
    question, answer = maze_and_answer(task, rng)
    label = task.solve(question)
    found = {name: bool(mask) for name, mask in task.judge(answer, question, label).items()}
    assert (found["optimal"], found["valid"]) == slow_verdict(task, question, answer)
    assert found["label"] <= found["board"]
    assert found["label"] <= found["optimal"] <= found["valid"]
    # By itself an answer is valid when it is so for the maze that it shows.
    if task.answers_question(answer, question):
        assert bool(task.valid(answer)) == found["valid"]


@given(PARAMS["maze"], GENERATORS)
@settings(deadline=None, max_examples=100)
def test_the_number_of_shortest_paths_is_that_of_all_walks_of_their_length(
    task: Maze, rng: np.random.Generator
) -> None:
    question, _ = maze_puzzle(task, rng)
    length = task.shortest_length(question)
    assert task.shortest_paths(question) == len(shortest_walks(task, question, length))


def shortest_walks(task: Maze, question: np.ndarray, length: int) -> list[list[int]]:
    """All walks from S to G of so many cells, one by one; those that come too late are given up."""
    columns = task.grid[1]
    start, goal = (int(np.flatnonzero(question == token)[0]) for token in (START, GOAL))

    def far(cell: int) -> int:
        return abs(cell // columns - goal // columns) + abs(cell % columns - goal % columns)

    walks = [[start]]
    for left in range(length - 2, -1, -1):
        steps = [(walk, n) for walk in walks for n in range(task.cells) if next_to(walk[-1], n, columns)]
        walks = [[*walk, n] for walk, n in steps if question[n] != WALL and n not in walk and far(n) <= left]
    return [walk for walk in walks if walk[-1] == goal]


def next_to(one: int, other: int, columns: int) -> bool:
    """Whether two cells share a side."""
    return abs(one // columns - other // columns) + abs(one % columns - other % columns) == 1
