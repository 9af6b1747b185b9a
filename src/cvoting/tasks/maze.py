"""Mazes: encoding, positions to predict, the rule of the labels, and what a path through a maze is worth.

A maze is a grid of walls and free cells with a start S and a goal G; its answer shows a shortest path.  Question and
answer are read row by row.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Int, UInt8

from cvoting.params.core import key
from cvoting.tasks.base import cell_name, difference
from cvoting.tasks.maze_paths import breadth_first_path, count_shortest_paths, has_path_shape, length_from

#: Tokens, and classes: of an answer, whose path is of the last one.
WALL, FREE, START, GOAL, PATH = range(5)
ALPHABET = "# SGo"


@dataclass(frozen=True, kw_only=True)
class Maze:
    """The task; also its parameter block.  Tokens and classes: 0 wall, 1 free, 2 S, 3 G, 4 path (in answers only).

    Symmetries are no part of the published training data: of several shortest paths the label is the one that a search
    in a fixed order of directions finds, and a turned or mirrored label is hardly ever that of the turned maze (of the
    published test labels 90.5 % survive the left-right flip, at most 0.1 % any other).  So augmentation with the group
    "dihedral" teaches paths that are as short, and labels that are wrong.
    """

    name: Literal["maze"] = key("the task")
    grid: tuple[int, int] = key("rows and columns; [30, 30] in the paper", minimum=2, maximum=64)
    positions: Literal["all", "free"] = key(
        "cells to predict (the paper does not say): all, as HRM's accuracy counts, or free, all but walls, S and G",
        default="all",
    )

    #: An answer's token is its class plus this.
    first_answer_token: ClassVar[int] = 0
    #: The token of a cell that the question leaves open.
    blank: ClassVar[int] = FREE
    #: What `random_symmetries` draws from, smallest group first.
    symmetry_groups: ClassVar[tuple[str, ...]] = ("none", "dihedral")
    #: What `judge` says of answers.
    metrics: ClassVar[tuple[str, ...]] = ("board", "label", "optimal", "valid")
    #: Number of tokens of a question, and of classes of an answer's cell, among which is the path.
    vocabulary: ClassVar[int] = 4
    classes: ClassVar[int] = 5

    @property
    def cells(self) -> int:
        """Number of cells of a maze."""
        return self.grid[0] * self.grid[1]

    def positions_to_predict(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch cells"]:
        """Every cell, or the free ones: the set L of the paper (Section 4)."""
        return (questions == FREE) | (self.positions == "all")

    def consistent(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether there is one S, one G, and else walls and free cells only: no path is shown."""
        once = (np.sum(questions == START, axis=-1) == 1) & (np.sum(questions == GOAL, axis=-1) == 1)
        return np.asarray(once & (questions < PATH).all(axis=-1))

    def contradiction(self, question: UInt8[np.ndarray, "cells"]) -> str | None:
        """Not one S and one G, a path that is drawn already, or none that leads from S to G; or None."""
        for token in (START, GOAL):
            count = int(np.sum(question == token))
            if count != 1:
                return f"{count} times {ALPHABET[token]!r}, expected exactly one"
        for cell in np.flatnonzero(question == PATH).tolist():
            where = f"{ALPHABET[PATH]!r} in {cell_name(self.grid, cell)}"
            return f"a path is drawn already ({where}), expected ' ' there"
        return None if self.shortest_length(question) else "no path leads from S to G"

    def valid(self, answers: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether the path of an answer is a simple one from its one S to its one G, of any length."""
        questions = np.where(answers == PATH, np.uint8(FREE), answers)
        return self._paths(answers, questions)[1]

    def answers_question(
        self, answers: UInt8[np.ndarray, "*batch cells"], questions: UInt8[np.ndarray, "*batch cells"]
    ) -> Bool[np.ndarray, "*batch"]:
        """Whether an answer keeps every wall, S and G of its question, and shows a path on free cells only."""
        kept = ((answers == questions) & (questions != PATH)) | ((answers == PATH) & (questions == FREE))
        return np.asarray(kept.all(axis=-1))

    def violation(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """The first wall that the path goes through, else what is wrong with it, else the first changed cell; or None.

        A changed cell beside a path that is right does not matter to the metrics `valid` and `optimal`.
        """
        if through := difference(self, question, answer, (answer == PATH) & (question == WALL)):
            return through
        if not self._paths(answer, question)[1]:
            return "not one simple path of free cells from S to G"
        changed = difference(self, question, answer, (answer != PATH) | (question != FREE))
        return f"{changed} (the metrics 'valid' and 'optimal' look at the path alone)" if changed else None

    def remark(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """How long the path is, where it is one."""
        if not self._paths(answer, question)[1]:
            return None
        ends = (question == START) | (question == GOAL)
        longer = int(((answer == PATH) | ends).sum()) - self.shortest_length(question)
        cells = f"{longer} cell{'s' * (longer > 1)} longer than a shortest path"
        return f"its path is {cells if longer else 'a shortest path'}"

    def judge(
        self,
        answers: UInt8[np.ndarray, "*batch cells"],
        questions: UInt8[np.ndarray, "*batch cells"],
        labels: UInt8[np.ndarray, "*batch cells"],
    ) -> dict[str, Bool[np.ndarray, "*batch"]]:
        """By each of `metrics` whether answers are right.

        board: every position to predict is that of the label.  label: every cell is.  valid: the cells predicted as
        path form, with S and G, one simple path without walls: each but its ends touches two others, no more, so that
        its order is beyond doubt; what else is predicted anywhere does not matter.  optimal: this path is as short as
        any.  A label is optimal, an optimal answer valid.

        Args:
            answers, questions, labels: tokens, one row per answer.
        """
        right = answers == labels
        optimal, valid = self._paths(answers, questions)
        board = np.asarray((right | ~self.positions_to_predict(questions)).all(axis=-1))
        return {"board": board, "label": np.asarray(right.all(axis=-1)), "optimal": optimal, "valid": valid}

    def solve(self, question: UInt8[np.ndarray, "cells"]) -> UInt8[np.ndarray, "cells"]:
        """The label of a maze; the question itself where no path leads from S to G."""
        answer = question.copy()
        answer[breadth_first_path(*_search(question), self.grid)[1:-1]] = PATH
        return answer

    def shortest_paths(self, question: UInt8[np.ndarray, "cells"]) -> int:
        """The number of shortest paths; 0 where no path leads from S to G."""
        return count_shortest_paths(*_search(question), self.grid)

    def shortest_length(self, question: UInt8[np.ndarray, "cells"]) -> int:
        """The number of cells of a shortest path, S and G included; 0 where no path leads from S to G."""
        return _shortest_length(question.tobytes(), self.grid)

    def parse(self, text: str) -> UInt8[np.ndarray, "cells"]:
        """The tokens of a maze written as one character per cell: '#' wall, ' ' free, 'S', 'G', 'o' path.

        Raises:
            ValueError: with what was found, for a wrong length or character.
        """
        if len(text) != self.cells:
            raise ValueError(f"{len(text)} characters, expected {self.cells} ({self.grid[0]} x {self.grid[1]} cells)")
        strangers = sorted(set(text) - set(ALPHABET))
        if strangers:
            at = text.index(strangers[0])
            raise ValueError(f"character {strangers[0]!r} at position {at + 1}, expected one of {ALPHABET!r}")
        return np.array([ALPHABET.index(c) for c in text], dtype=np.uint8)

    def format(self, tokens: UInt8[np.ndarray, "cells"]) -> str:
        """The inverse of `parse`."""
        return "".join(ALPHABET[t] for t in tokens)

    def draw(self, characters: str) -> str:
        """A maze, one line per row, from one character per cell."""
        columns = self.grid[1]
        return "\n".join(characters[start : start + columns] for start in range(0, self.cells, columns))

    @cached_property
    def symmetries(self) -> Int[np.ndarray, "symmetries cells"]:
        """The cell permutations of the turns and mirror images: 8 of a square, 4 of another rectangle."""
        cell = np.arange(self.cells).reshape(self.grid)
        turns = range(4) if self.grid[0] == self.grid[1] else (0, 2)
        images = [np.rot90(board, turn) for board in (cell, cell[:, ::-1]) for turn in turns]
        return np.stack([image.reshape(-1) for image in images])

    def canonical_form(self, question: UInt8[np.ndarray, "cells"]) -> bytes:
        """The same for two mazes exactly if one is the other, turned or mirrored."""
        return min(image.tobytes() for image in question[self.symmetries])

    def random_symmetries(
        self, count: int, group: str, rng: np.random.Generator
    ) -> tuple[Int[np.ndarray, "count cells"], UInt8[np.ndarray, "count tokens"]]:
        """Transformations that keep a path a path, and a shortest one shortest; the rule of the labels they break.

        `tokens[maze[cells]]` is the transformed maze, of questions and answers alike; no token changes.

        Args:
            count: how many to draw, independently and uniformly.
            group: "none", or "dihedral": turns and mirror images.
            rng: the source of randomness.

        Raises:
            ValueError: for an unknown group.
        """
        if group not in self.symmetry_groups:
            raise ValueError(f"symmetry group {group!r}: expected one of {', '.join(self.symmetry_groups)}")
        tokens = np.broadcast_to(np.arange(len(ALPHABET), dtype=np.uint8), (count, len(ALPHABET)))
        chosen = rng.integers(len(self.symmetries), size=count) if group == "dihedral" else np.zeros(count, np.int64)
        return self.symmetries[chosen], tokens

    def _paths(
        self, answers: UInt8[np.ndarray, "*batch cells"], questions: UInt8[np.ndarray, "*batch cells"]
    ) -> tuple[Bool[np.ndarray, "*batch"], Bool[np.ndarray, "*batch"]]:
        """Whether the paths of answers are shortest ones, and whether they are simple paths from S to G at all."""
        ends = (questions == START) | (questions == GOAL)
        paths = (answers == PATH) | ends
        possible = self.consistent(questions) & ~(paths & (questions == WALL)).any(axis=-1)
        valid = np.array(possible & has_path_shape(paths, ends, self.grid))
        optimal, lengths = np.zeros_like(valid), paths.sum(axis=-1)
        for at in map(tuple, np.argwhere(valid)):
            # Rings beside the path cannot hide here: the path alone would be shorter than the shortest one.
            optimal[at] = lengths[at] == self.shortest_length(questions[at])
            start = int(np.argmax(questions[at] == START))
            valid[at] = optimal[at] or length_from(paths[at], start, self.grid) == lengths[at]
        return optimal, valid


def _search(question: UInt8[np.ndarray, "cells"]) -> tuple[list[bool], int, int]:
    """Where a path may go, its start and its goal."""
    start, goal = (int(np.argmax(question == token)) for token in (START, GOAL))
    return (question != WALL).tolist(), start, goal


@lru_cache(maxsize=2**16)
def _shortest_length(question: bytes, grid: tuple[int, int]) -> int:
    return len(breadth_first_path(*_search(np.frombuffer(question, np.uint8)), grid))
