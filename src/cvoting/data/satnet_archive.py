"""Reader of SATNet's archive: PyTorch tensors in a zip file, read without running what a pickle may hold."""

import io
import warnings
from pathlib import Path

import numpy as np
from jaxtyping import Shaped, UInt8

from cvoting.data.puzzles import DataError
from cvoting.data.source_file import SourceFile, checked_member
from cvoting.tasks.sudoku import BLANK, Sudoku

QUESTIONS, ANSWERS = "features.pt", "labels.pt"


def read_satnet_archive(
    path: Path, file: SourceFile, task: Sudoku
) -> tuple[UInt8[np.ndarray, "puzzles cells"], UInt8[np.ndarray, "puzzles cells"]]:
    """Questions and answers of an archive, in its order.

    Args:
        path: the archive.
        file: knows the git blob ids of the members.
        task: the size of the boards, and what a valid answer is.

    Raises:
        SourceError: when a member is not the published one.
        DataError: when a member is no one-hot tensor, or an answer has a blank, breaks the rules or contradicts its
            question.
    """
    questions, answers = (
        _tokens(_tensor(checked_member(file, path, member), f"{path}, {member}"), f"{path}, {member}", task)
        for member in (QUESTIONS, ANSWERS)
    )
    if len(questions) != len(answers):
        raise DataError(f"{path}: {len(questions)} boards in {QUESTIONS}, but {len(answers)} in {ANSWERS}")
    checks = {
        "has a blank": (answers != BLANK).all(axis=1),
        "contradicts its question": task.answers_question(answers, questions),
        "breaks the rules of the task": task.valid(answers),
    }
    for problem, right in checks.items():
        for i in np.flatnonzero(~right)[:1].tolist():
            raise DataError(f"{path}, {ANSWERS}, board {i + 1}: the answer {problem} ({task.format(answers[i])})")
    return questions, answers


def _tensor(content: bytes, where: str) -> Shaped[np.ndarray, "..."]:
    """The values of a saved tensor."""
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pickle protocol of bytes that are refused anyway
            tensor = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        return tensor.numpy()
    except MemoryError:
        raise
    except Exception as error:  # of a damaged or hostile file torch may raise anything
        raise DataError(f"{where}: no saved tensor ({type(error).__name__}); nothing else is loaded") from error


def _tokens(values: Shaped[np.ndarray, "..."], where: str, task: Sudoku) -> UInt8[np.ndarray, "puzzles cells"]:
    """The tokens of one-hot boards; all zeros are a blank."""
    expected = (*task.grid, task.digits)
    if values.ndim != 4 or values.shape[1:] != expected:
        raise DataError(f"{where}: a tensor of shape {list(values.shape)}, expected [boards, {str(expected)[1:-1]}]")
    hot = values == 1
    wrong = np.argwhere(~(hot | (values == 0)).all(axis=-1) | (hot.sum(axis=-1) > 1))
    for board, row, column in wrong[:1].tolist():
        found = values[board, row, column].tolist()
        cell = f"board {board + 1}, row {row + 1}, column {column + 1}"
        raise DataError(f"{where}, {cell}: {found}, expected a single 1, or zeros for a blank")
    tokens = np.where(hot.any(axis=-1), hot.argmax(axis=-1) + 1, BLANK)
    return tokens.astype(np.uint8).reshape(len(values), task.cells)
