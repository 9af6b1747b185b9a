"""Readers of puzzle files, on files in the published forms made of generated boards."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cvoting.data.parsers import CSV_HEADER, ROYLE_CLUES, read_hugging_face_csv, read_royle_list
from cvoting.data.questions import read_questions
from cvoting.data.sudoku_generator import generate
from cvoting.tasks.maze import FREE, GOAL, START, Maze
from cvoting.tasks.sudoku import BLANK, Sudoku
from harness import Row, Settings, Work, compare
from yardsticks import looping

SUDOKU, MAZE = Sudoku(name="sudoku", box=(3, 3)), Maze(name="maze", grid=(30, 30))
GIVENS = 30
#: Boards that are made; each stands in a file time and again, to so many lines.
BOARDS, LINES, MAZE_LINES, QUESTION_LINES = 50, 20_000, 1_000, 500


def measure(settings: Settings) -> list[Row]:
    """Puzzles per second."""
    boards = [generate(SUDOKU, GIVENS, _rng(number)) for number in range(2 if settings.quick else BOARDS)]
    lines, maze_lines, questions = (2, 2, 2) if settings.quick else (LINES, MAZE_LINES, QUESTION_LINES)
    folder = settings.folder
    sudokus, mazes, royle, own = (folder / name for name in ("sudoku.csv", "maze.csv", "royle.txt", "own.txt"))
    _write(sudokus, _csv(SUDOKU, boards), lines, ",".join(CSV_HEADER))
    _write(mazes, _csv(MAZE, [_free_maze()]), maze_lines, ",".join(CSV_HEADER))
    _write(royle, (SUDOKU.format(_clues(answer)).replace(".", "0") for _, answer in boards), lines)
    _write(own, (SUDOKU.format(question) for question, _ in boards), questions)
    works = [
        Work("CSV of 9x9 Sudoku", lambda: read_hugging_face_csv(sudokus, SUDOKU, "made up"), lines, "puzzles"),
        Work("CSV of 30x30 mazes", lambda: read_hugging_face_csv(mazes, MAZE, "made up"), maze_lines, "puzzles"),
        Work("list of 17 clues", lambda: read_royle_list(royle, SUDOKU), lines, "puzzles"),
        Work("questions of a user", lambda: read_questions(SUDOKU, own), questions, "puzzles"),
    ]
    return compare(works, [looping(settings)], settings)


def _csv(task: Sudoku | Maze, boards: list[tuple[np.ndarray, np.ndarray]]) -> list[str]:
    return [f"made up,{task.format(question)},{task.format(answer)},1" for question, answer in boards]


def _write(path: Path, rows: Iterator[str] | list[str], lines: int, header: str | None = None) -> None:
    """The rows over and over, to a number of lines."""
    rows = list(rows)
    content = [rows[line % len(rows)] for line in range(lines)]
    path.write_text("\n".join([*([header] if header else []), *content]) + "\n")


def _clues(answer: np.ndarray) -> np.ndarray:
    """As many cells of an answer as a board of Royle's has; they need not have one solution."""
    kept = _rng(int(answer[0])).permutation(len(answer))[:ROYLE_CLUES]
    return np.where(np.isin(np.arange(len(answer)), kept), answer, BLANK).astype(np.uint8)


def _free_maze() -> tuple[np.ndarray, np.ndarray]:
    """A maze without inner walls, and its label."""
    question = np.full(MAZE.cells, FREE, np.uint8)
    question[0], question[-1] = START, GOAL
    return question, MAZE.solve(question)


def _rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))
