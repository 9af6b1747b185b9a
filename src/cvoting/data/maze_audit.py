"""The audit of mazes."""

import numpy as np
from jaxtyping import Int, UInt8

from cvoting.data.audit import Difficulty, Examination
from cvoting.data.puzzles import Puzzles
from cvoting.tasks.maze import PATH, WALL, Maze


class MazeAuditor:
    """Looks for the shortest paths, compares labels with them, and finds mazes that are turned or mirrored others."""

    def __init__(self, task: Maze):
        self.task = task

    def examine(
        self, questions: UInt8[np.ndarray, "puzzles cells"], answers: UInt8[np.ndarray, "puzzles cells"]
    ) -> Examination:
        """Walls, path lengths, numbers of shortest paths, and what the label's path is worth."""
        task, malformed = self.task, ~self.task.consistent(questions)
        # What has no S or no G has no path; counting would take any cell for it.
        counts = [0 if bad else task.shortest_paths(q) for q, bad in zip(questions, malformed, strict=True)]
        found = task.judge(answers, questions, answers)
        rule = np.array(
            [
                not bad and np.array_equal(task.solve(q), a)
                for q, a, bad in zip(questions, answers, malformed, strict=True)
            ]
        )
        return Examination(
            measures={"walls": np.sum(questions == WALL, axis=1), "path_cells": np.sum(answers == PATH, axis=1) + 2},
            facts={"one_shortest_path": np.array([count == 1 for count in counts])},
            defects={
                "question_malformed": malformed,
                "no_path": np.array([count == 0 for count in counts]),
                "answer_contradicts_question": ~task.answers_question(answers, questions),
                "path_not_simple": ~found["valid"],
                "path_not_shortest": ~found["optimal"],
                "label_not_breadth_first": ~rule,
            },
        )

    def symmetry_classes(self, questions: UInt8[np.ndarray, "puzzles cells"]) -> Int[np.ndarray, "puzzles"]:
        """The same number for mazes that a turn or a mirror image maps to each other."""
        numbers: dict[bytes, int] = {}
        return np.array([numbers.setdefault(self.task.canonical_form(q), len(numbers)) for q in questions])

    def difficulty(self, puzzles: Puzzles) -> Difficulty:
        """The cells of the label's path, S and G included: the rating of Maze-hard and of generated mazes."""
        return Difficulty("path_cells", np.sum(puzzles.answers == PATH, axis=1) + 2)
