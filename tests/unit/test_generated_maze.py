"""Generated mazes: as hard in kind as the published ones, labelled by their rule, each a function of its number."""

from pathlib import Path

import numpy as np
import pytest

from cvoting.data import maze_generator
from cvoting.data.generated_maze import build
from cvoting.data.puzzles import DataError
from cvoting.params.core import ParameterError
from cvoting.params.core import build as build_params
from cvoting.params.datasets import DatasetParams
from cvoting.params.mazes import GeneratedMaze
from cvoting.params.splits import Splits
from cvoting.tasks.maze import PATH, WALL, Maze

FIVE = Maze(name="maze", grid=(5, 5))
TEN = Maze(name="maze", grid=(10, 10))
THIRTY = Maze(name="maze", grid=(30, 30))
RAW = Path("unused")


def parameters(walls=(0.277, 0.45), path=(24, 100), seed=0, shortest_paths=2, **splits):
    ranges = {"wall_fraction": walls, "path_cells": path, "shortest_paths": shortest_paths}
    return GeneratedMaze(kind="generated_maze", **ranges, seed=seed, splits=Splits(**splits))


SMALL = {"walls": (0.2, 0.4), "path": (8, 25)}


@pytest.mark.parametrize(
    ("task", "source"),
    [
        (TEN, parameters(test=200)),
        (FIVE, parameters(**SMALL, test=50)),
        (Maze(name="maze", grid=(4, 9)), parameters((0.2, 0.4), (12, 20), test=30)),
        pytest.param(THIRTY, parameters(path=(110, 154), test=20), marks=pytest.mark.slow),
    ],
)
def test_mazes_have_the_walls_paths_and_labels_that_were_asked_for(task, source):
    puzzles = build("mazes", task, source, RAW)["test"]
    assert len(puzzles) == source.splits.test
    assert task.consistent(puzzles.questions).all()
    walls, cells = np.sum(puzzles.questions == WALL, axis=1), np.sum(puzzles.answers == PATH, axis=1) + 2
    assert set(walls.tolist()) <= set(source.walls(task.cells))
    assert (cells >= source.path_cells[0]).all()
    assert (cells <= source.path_cells[1]).all()
    np.testing.assert_array_equal(puzzles.ratings, cells)
    np.testing.assert_array_equal([task.solve(q) for q in puzzles.questions], puzzles.answers)
    np.testing.assert_array_equal([task.shortest_length(q) for q in puzzles.questions], cells)
    assert min(task.shortest_paths(q) for q in puzzles.questions) >= 2


def test_most_mazes_have_several_shortest_paths_even_where_one_is_enough():
    puzzles = build("mazes", TEN, parameters(shortest_paths=1, test=200), RAW)["test"]
    assert np.mean([TEN.shortest_paths(q) > 1 for q in puzzles.questions]) >= 0.9


def test_every_number_of_walls_and_both_ends_of_the_path_lengths_occur():
    puzzles = build("mazes", FIVE, parameters((0.2, 0.4), (8, 9), test=150), RAW)["test"]
    assert set(np.sum(puzzles.questions == WALL, axis=1).tolist()) == {5, 6, 7, 8, 9, 10}
    assert set(puzzles.ratings.tolist()) == {8, 9}


def test_a_maze_is_a_function_of_name_seed_split_and_number():
    small = build("mazes", TEN, parameters(train=3, test=3), RAW)
    large = build("mazes", TEN, parameters(train=8, validation=2, test=5), RAW)
    np.testing.assert_array_equal(small["train"].questions, large["train"].questions[:3])
    np.testing.assert_array_equal(small["test"].questions, large["test"].questions[:3])
    others = [build("other", TEN, parameters(train=3), RAW), build("mazes", TEN, parameters(seed=1, train=3), RAW)]
    everything = [small["train"], small["test"], *(other["train"] for other in others)]
    assert len({h for puzzles in everything for h in puzzles.hashes}) == 12


def test_the_generator_of_a_version_makes_the_same_mazes():
    # Another hash here means: count up GENERATOR_VERSION, because mazes made before cannot be made again.
    assert maze_generator.GENERATOR_VERSION == 1
    puzzles = build("mazes", FIVE, parameters(**SMALL, test=2), RAW)["test"]
    assert puzzles.hashes == ["b9235e923931a07f", "255bc1d8f76409c9"]


def test_products_say_that_they_are_generated():
    puzzles = build("mazes", FIVE, parameters(**SMALL, seed=7, test=1), RAW)["test"]
    assert puzzles.origin == "generated"
    for part in ("maze generator, version 1", "dataset mazes", "seed 7", "5x5 cells", "0.2 to 0.4", "8 to 25 cells"):
        assert part in puzzles.source


def test_no_maze_repeats_another_of_any_split_turned_or_mirrored():
    splits = build("mazes", FIVE, parameters((0.2, 0.4), (12, 25), train=30, validation=30, test=30), RAW)
    forms = [FIVE.canonical_form(q) for puzzles in splits.values() for q in puzzles.questions]
    assert len(set(forms)) == 90


def test_mazes_that_are_used_up_or_out_of_reach_are_refused(monkeypatch):
    # One wall, S and G beside each other: the wall beside S or beside G, the rest is turning and mirroring.
    two = Maze(name="maze", grid=(2, 2))
    with pytest.raises(DataError, match="after 2 different ones, 100 draws gave no new one: ask for fewer puzzles"):
        build("mazes", two, parameters((0.25, 0.25), (2, 2), shortest_paths=1, test=3), RAW)
    monkeypatch.setattr(maze_generator, "ATTEMPTS", 3)
    with pytest.raises(DataError, match=r"25 to 25 cells on the path .* none among 768 patterns of walls: ask for"):
        build("mazes", FIVE, parameters((0.2, 0.4), (25, 25), test=1), RAW)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wall_fraction": [0.4, 0.3]}, r"wall_fraction = \[0.4, 0.3\]: expected the smaller number first"),
        ({"path_cells": [9, 8]}, r"path_cells = \[9, 8\]: expected the smaller number first"),
        ({"path_cells": [26, 30]}, r"path_cells = \[26, 30\]: expected at most the 25 cells"),
        ({"wall_fraction": [0.21, 0.23]}, "expected a whole number of walls between 5.25 and 5.75, of 25 cells"),
    ],
)
def test_parameters_that_no_maze_can_have_are_refused(changes, message):
    source = {"kind": "generated_maze", "wall_fraction": [0.2, 0.4], "path_cells": [8, 9], "seed": 0, "splits": {}}
    with pytest.raises(ParameterError, match=message):
        build_params(DatasetParams, {"task": {"name": "maze", "grid": [5, 5]}, "source": source | changes})


def test_tasks_and_sources_that_do_not_go_together_are_refused():
    source = {"kind": "generated_maze", "wall_fraction": [0.2, 0.4], "path_cells": [8, 9], "seed": 0, "splits": {}}
    with pytest.raises(ParameterError, match="'generated_maze': expected for sudoku one of"):
        build_params(DatasetParams, {"task": {"name": "sudoku", "box": [2, 2]}, "source": source})
    source = {"kind": "generated_sudoku", "givens": None, "seed": 0, "splits": {}}
    with pytest.raises(ParameterError, match="'generated_sudoku': expected for maze one of generated_maze, maze_hard"):
        build_params(DatasetParams, {"task": {"name": "maze", "grid": [5, 5]}, "source": source})
