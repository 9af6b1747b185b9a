"""The audit of Sudoku boards."""

import numpy as np
from jaxtyping import Int, UInt8

from cvoting.data.audit import Difficulty, Examination
from cvoting.data.puzzles import Puzzles
from cvoting.data.sudoku_generator import count_solutions
from cvoting.data.sudoku_symmetry import symmetry_classes
from cvoting.tasks.sudoku import BLANK, Sudoku

#: Ratings 0, 1-2, 3-10, 11-50 and 51+, as results on Sudoku-extreme are reported by.
RATINGS = (0, 1, 3, 11, 51)


class SudokuAuditor:
    """Counts solutions, compares answers with their questions, and finds boards that are shuffles of each other."""

    def __init__(self, task: Sudoku):
        self.task = task

    def examine(
        self, questions: UInt8[np.ndarray, "puzzles cells"], answers: UInt8[np.ndarray, "puzzles cells"]
    ) -> Examination:
        """The givens, the number of solutions, and whether the answer is the only one."""
        solutions = np.array([count_solutions(self.task, question) for question in questions])
        contradicts = ~self.task.answers_question(answers, questions)
        breaks_rules = ~self.task.valid(answers)
        return Examination(
            measures={"givens": np.sum(questions != BLANK, axis=1)},
            facts={"one_solution": solutions == 1},
            defects={
                "no_solution": solutions == 0,
                "several_solutions": solutions == 2,
                "answer_contradicts_question": contradicts,
                "answer_breaks_rules": breaks_rules,
                # A valid board that keeps the givens is a solution, and so the only one where there is one.
                "answer_not_the_only_solution": contradicts | breaks_rules | (solutions != 1),
            },
        )

    def symmetry_classes(self, questions: UInt8[np.ndarray, "puzzles cells"]) -> Int[np.ndarray, "puzzles"]:
        """The same number for boards that the task's largest symmetry group, "shuffles", maps to each other."""
        return symmetry_classes(self.task, questions)

    def difficulty(self, puzzles: Puzzles) -> Difficulty:
        """The rating that the source states, for Sudoku-extreme backtracks of a solver; else the number of givens."""
        if puzzles.ratings is not None:
            return Difficulty("rating", puzzles.ratings, RATINGS)
        return Difficulty("givens", np.sum(puzzles.questions != BLANK, axis=1))
