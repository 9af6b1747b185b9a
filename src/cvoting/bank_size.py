"""How large a bank will be: known before anything is rolled out."""

from collections.abc import Mapping

from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import Extent
from cvoting.tasks.base import Task

#: Bytes of a score, of a logit, of a label's place among the logits, and of the number of an answer.
SCORE_BYTES, LOGIT_BYTES, RANK_BYTES, ID_BYTES = 8, 2, 1, 4


def bank_bytes(extent: Extent, task: Task, network: NetworkParams, puzzles: int, asked: int) -> dict[str, int]:
    """At most how many bytes a bank takes as plain numbers, before it is compressed, by what they are.

    Fewer where candidates agree: an answer is kept once.

    Args:
        extent: how much is kept of each puzzle.
        task: cells, tokens and metrics.
        network: its scores and classes.
        puzzles: how many.
        asked: positions to predict, of all puzzles together.
    """
    M, read, kept = extent.candidates, extent.candidates_read, extent.logit_candidates
    tokens = max(task.vocabulary, task.first_answer_token + task.classes) + network.padding

    def judged(scores: tuple[str, ...]) -> float:
        """Bytes of a candidate's scores, cell accuracy, and metrics of a bit each."""
        return SCORE_BYTES * (len(scores) + 1) + len(task.metrics) / 8

    boards = (M + 2) * task.cells if extent.boards else 0
    return {
        "answers": puzzles * (boards + M * ID_BYTES),
        "scores": round(puzzles * M * judged(extent.scores(network.extra_scores))),
        "steps": round(puzzles * read * len(extent.read_at) * judged(extent.step_scores(network.extra_scores))),
        "logits": asked * kept * (tokens * LOGIT_BYTES + RANK_BYTES),
    }


def in_words(parts: Mapping[str, int]) -> str:
    """The sum and its parts, in megabytes."""
    total = sum(parts.values())
    listed = ", ".join(f"{name} {size / 1e6:,.1f}" for name, size in parts.items() if size)
    return f"at most {total / 1e6:,.1f} MB before compression ({listed})"
