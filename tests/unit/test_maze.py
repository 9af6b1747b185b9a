"""The maze task, against mazes small enough to check by eye."""

import numpy as np
import pytest

from cvoting.params.core import ParameterError, build
from cvoting.tasks.maze import FREE, GOAL, PATH, START, WALL, Maze
from cvoting.tasks.maze_paths import breadth_first_path, count_shortest_paths, neighbours

THREE = Maze(name="maze", grid=(3, 3))
WIDE = Maze(name="maze", grid=(3, 5))
FREE_ONLY = Maze(name="maze", grid=(3, 5), positions="free")

# The only way round the wall, and the label of this maze: from S down, right, up to G.
QUESTION = WIDE.parse("S ##G" " # # " "     ")  # fmt: skip
LABEL = WIDE.parse("S ##G" "o# #o" "ooooo")  # fmt: skip


def verdict(answer: str, question: np.ndarray = QUESTION, label: np.ndarray = LABEL, task: Maze = WIDE) -> str:
    """The metrics by which an answer is right."""
    found = task.judge(task.parse(answer), question, label)
    return " ".join(name for name in task.metrics if found[name])


def test_tokens_are_numbered_in_the_order_of_the_published_alphabet():
    assert THREE.parse("# SGo#  o").tolist() == [WALL, FREE, START, GOAL, PATH, WALL, FREE, FREE, PATH]
    assert THREE.format(THREE.parse("# SGo#  o")) == "# SGo#  o"
    assert (THREE.vocabulary, THREE.classes, THREE.first_answer_token, THREE.blank) == (4, 5, 0, FREE)
    assert (WIDE.grid, WIDE.cells) == ((3, 5), 15)


@pytest.mark.parametrize(
    ("text", "message"),
    [("# SG", "4 characters, expected 9"), ("# SGo# .o", r"character '\.' at position 8, expected one of '# SGo'")],
)
def test_foreign_boards_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        THREE.parse(text)


@pytest.mark.parametrize("grid", [[1, 5], [5, 65]])
def test_grids_without_2_to_64_rows_and_columns_are_refused(grid):
    with pytest.raises(ParameterError, match=r"grid.*expected at least 2 and at most 64"):
        build(Maze, {"name": "maze", "grid": grid})


def test_every_cell_is_predicted_or_the_free_ones():
    assert WIDE.positions_to_predict(QUESTION).all()
    assert np.flatnonzero(~FREE_ONLY.positions_to_predict(QUESTION)).tolist() == [0, 2, 3, 4, 6, 8]


def test_neighbours_come_down_left_right_up():
    assert neighbours((3, 3))[4] == (7, 3, 5, 1)
    assert neighbours((3, 3))[0] == (3, 1)
    assert neighbours((3, 3))[8] == (7, 5)


def test_the_label_prefers_down_then_left_then_right_then_up():
    # Six shortest paths from corner to corner; S discovers the cell below first, which discovers the one below it, ...
    assert THREE.format(THREE.solve(THREE.parse("S       G"))) == "S  o  ooG"
    # The other way, up and left: left comes first, and again.
    assert THREE.format(THREE.solve(THREE.parse("G       S"))) == "G  o  ooS"
    # From the upper right corner to the lower left one: down twice, then left.
    assert THREE.format(THREE.solve(THREE.parse("  S   G  "))) == "  S  oGoo"
    # From the lower left corner to the upper right one: right comes before up.
    assert THREE.format(THREE.solve(THREE.parse("  G   S  "))) == "  G  oSoo"


def test_a_maze_without_a_way_has_no_path():
    question = WIDE.parse("S ##G" " ### " "   ##")  # fmt: skip
    assert WIDE.shortest_length(question) == WIDE.shortest_paths(question) == 0
    np.testing.assert_array_equal(WIDE.solve(question), question)
    assert breadth_first_path([False] * 9, 0, 8, (3, 3)) == []


def test_shortest_paths_are_counted():
    open_grid = [True] * 20
    # Three steps down and four to the right, in any order: 7! / (3! 4!).
    assert count_shortest_paths(open_grid, 0, 19, (4, 5)) == 35
    assert len(breadth_first_path(open_grid, 0, 19, (4, 5))) == 8
    assert count_shortest_paths([True] * 9, 0, 1, (3, 3)) == 1
    assert WIDE.shortest_paths(QUESTION) == 1
    assert WIDE.shortest_length(QUESTION) == 9


def test_an_answer_is_the_label_or_optimal_or_valid_or_wrong():
    assert verdict(WIDE.format(LABEL)) == "board label optimal valid"
    # Other classes elsewhere do not matter: walls drawn as free cells, S and G as path.
    assert verdict("S   G" "o   o" "ooooo") == "optimal valid"  # fmt: skip
    assert verdict("o ##o" "o# #o" "ooooo") == "optimal valid"  # fmt: skip
    assert verdict("SSSSS" "oGG#o" "ooooo") == "optimal valid"  # fmt: skip
    for stray in ("So##G" "o# #o" "ooooo", "S ##G" "o#o#o" "ooooo", "S o#G" "o# #o" "ooooo"):  # fmt: skip
        assert verdict(stray) == ""
    for gap in ("S ##G" " # # " "     ", "S ##G" "o# #o" "oo oo", "S ##G" "o# # " "ooooo"):  # fmt: skip
        assert verdict(gap) == ""
    assert verdict("SoooG" " # # " "     ") == ""  # fmt: skip


def test_a_detour_is_valid_and_not_optimal():
    task = Maze(name="maze", grid=(4, 4))
    question = task.parse("S  G" " ## " "    " "    ")  # fmt: skip
    label = task.parse("SooG" " ## " "    " "    ")  # fmt: skip
    np.testing.assert_array_equal(task.solve(question), label)

    def of(answer: str) -> str:
        return verdict(answer, question, label, task)

    assert of("S  G" "o##o" "oooo" "    ") == "valid"  # fmt: skip
    assert of("S  G" "o##o" "o  o" "oooo") == "valid"  # fmt: skip
    # Both ways at once, and a ring of path beside the path.
    assert of("SooG" "o##o" "oooo" "    ") == ""  # fmt: skip
    wide = Maze(name="maze", grid=(3, 6))
    question = wide.parse("S     " "   #  " "G     ")  # fmt: skip
    detour = wide.parse("So    " "#o#   " "Go    ")  # fmt: skip
    assert wide.format(wide.solve(question)) == "S     " "o  #  " "G     "  # fmt: skip
    label = wide.solve(question)
    assert verdict(wide.format(detour), question, label, wide) == "valid"
    assert verdict("So  oo" " o  oo" "Go    ", question, label, wide) == ""  # fmt: skip
    assert verdict("S   oo" "o   oo" "G     ", question, label, wide) == ""  # fmt: skip


def test_a_path_that_touches_itself_is_not_a_simple_one():
    task = Maze(name="maze", grid=(2, 4))
    question = task.parse("S  G    ")
    assert verdict("SooG oo ", question, task.solve(question), task) == ""


def test_start_and_goal_may_be_neighbours():
    question = THREE.parse("SG       ")
    assert verdict("SG       ", question, question, THREE) == "board label optimal valid"
    assert verdict("SGo      ", question, question, THREE) == ""


def test_only_free_cells_count_for_the_board_where_only_they_are_predicted():
    # Wrong at the free cell among the walls; right at every free cell, with a stray path on a wall and without.
    assert verdict("G S##" "o #Go" "ooooo", task=FREE_ONLY) == "optimal valid"  # fmt: skip
    assert verdict("G S##" "oo oo" "ooooo", task=FREE_ONLY) == "board"  # fmt: skip
    assert verdict("G S##" "oG So" "ooooo", task=FREE_ONLY) == "board optimal valid"  # fmt: skip


def test_an_answer_keeps_its_question_and_shows_no_path_on_walls():
    assert WIDE.answers_question(LABEL, QUESTION)
    assert WIDE.answers_question(QUESTION, QUESTION)
    # A missing wall, a path on a wall, a second S, no S.
    for answer in ("S ##Go#  oooooo", "S ##Goo #oooooo", "SS##Go# #oooooo", "o ##Go# #oooooo"):
        assert not WIDE.answers_question(WIDE.parse(answer), QUESTION)
    assert not WIDE.answers_question(LABEL, LABEL), "a question that shows its answer is none"


def test_a_question_has_one_start_one_goal_and_no_path():
    questions = [THREE.parse(q) for q in ("S       G", "S        ", "        G", "SS      G", "S      GG", "So      G")]
    assert THREE.consistent(np.stack(questions)).tolist() == [True] + [False] * 5


def test_an_answer_is_valid_by_itself_when_a_simple_path_joins_its_only_ends():
    answers = ("S  o  ooG", "Soo  o  G", "S  o# ooG", "S   o   G", "o  o  ooG", "S  S  ooG", "oo oo   G", "oo oo    ")
    valid = THREE.valid(np.stack([THREE.parse(a) for a in answers]))
    assert valid.tolist() == [True, True, True, False, False, False, False, False]


def test_answers_of_many_candidates_are_judged_at_once():
    answers = np.stack([[LABEL, QUESTION], [QUESTION, LABEL], [LABEL, LABEL]])
    questions = np.broadcast_to(QUESTION, answers.shape)
    found = WIDE.judge(answers, questions, np.broadcast_to(LABEL, answers.shape))
    for metric in WIDE.metrics:
        assert found[metric].tolist() == [[True, False], [False, True], [True, True]]


def test_a_square_has_eight_symmetries_and_another_rectangle_four():
    assert len({tuple(s) for s in THREE.symmetries.tolist()}) == 8
    assert len({tuple(s) for s in WIDE.symmetries.tolist()}) == 4
    flipped = WIDE.parse("G##_S".replace("_", " ") + " # # " + "     ")
    assert flipped.tobytes() in {image.tobytes() for image in QUESTION[WIDE.symmetries]}
    assert WIDE.canonical_form(flipped) == WIDE.canonical_form(QUESTION)
    assert WIDE.canonical_form(LABEL) != WIDE.canonical_form(QUESTION)


def test_a_symmetry_of_another_group_is_refused():
    with pytest.raises(ValueError, match="symmetry group 'digits': expected one of none, dihedral"):
        WIDE.random_symmetries(1, "digits", np.random.default_rng(0))
