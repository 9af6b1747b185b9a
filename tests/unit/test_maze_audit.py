"""The audit of mazes finds every defect that a maze can have, and mazes that are others turned or mirrored."""

import numpy as np
import pytest

from cvoting.data.audit_registry import AUDITORS
from cvoting.data.maze_audit import MazeAuditor
from cvoting.tasks.maze import Maze
from cvoting.tasks.registry import TASKS

TASK = Maze(name="maze", grid=(3, 3))
AUDITOR = MazeAuditor(TASK)


def examine(question: str, answer: str):
    return AUDITOR.examine(TASK.parse(question)[None], TASK.parse(answer)[None])


def defects(question: str, answer: str) -> set[str]:
    return {name for name, mask in examine(question, answer).defects.items() if mask[0]}


def test_every_task_has_an_auditor():
    assert AUDITORS.keys() == TASKS.keys()


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("S       G", "S  o  ooG", set()),
        # As short, and not the one that the rule finds.
        ("S       G", "Soo  o  G", {"label_not_breadth_first"}),
        ("S   #   G", "S  o# ooG", set()),
        ("S ##   G ", "So##o  G ", set()),
        # Round the wall where straight on is shorter.
        ("S G      ", "S Go oooo", {"label_not_breadth_first", "path_not_shortest"}),
        ("S       G", "S  o   oG", {"label_not_breadth_first", "path_not_shortest", "path_not_simple"}),
        ("S   #   G", "S  oo ooG", {"answer_contradicts_question", "label_not_breadth_first"}),
    ],
)
def test_a_label_is_compared_with_its_maze(question, answer, expected):
    found = defects(question, answer)
    if "answer_contradicts_question" in expected:
        assert expected <= found
    else:
        assert found == expected


@pytest.mark.parametrize("question", ["S        ", "        G", "SS      G", "S  o    G", "         "])
def test_a_malformed_question_is_found_and_has_no_path(question):
    assert {"question_malformed", "no_path", "label_not_breadth_first"} <= defects(question, "S  o  ooG")


def test_a_maze_without_a_way_is_found():
    assert {"no_path", "path_not_shortest"} <= defects("S##### G ", "S##### G ")


def test_walls_paths_and_unique_paths_are_counted():
    found = AUDITOR.examine(
        np.stack([TASK.parse(q) for q in ("S## ##  G", "S       G")]),
        np.stack([TASK.parse(a) for a in ("S##o##ooG", "S  o  ooG")]),
    )
    assert found.measures["walls"].tolist() == [4, 0]
    assert found.measures["path_cells"].tolist() == [5, 5]
    assert found.facts["one_shortest_path"].tolist() == [True, False]


def test_any_tokens_can_be_examined():
    rng = np.random.default_rng(0)
    questions, answers = rng.integers(0, 256, (2, 50, 9), dtype=np.uint8)
    found = AUDITOR.examine(questions, answers)
    assert found.defects["question_malformed"].all()
    assert found.defects["answer_contradicts_question"].all()


def test_turned_and_mirrored_mazes_are_one_class():
    one, other = TASK.parse("S #     G"), TASK.parse("S  #    G")
    questions = np.concatenate([one[TASK.symmetries], other[TASK.symmetries]])
    assert AUDITOR.symmetry_classes(questions).tolist() == [0] * 8 + [1] * 8
