"""Parameters of datasets: sources fit their task, and one file has one checksum in a study."""

import pytest

from cvoting.data.registry import SOURCES as BUILDERS
from cvoting.params.core import ParameterError, build, tag_of
from cvoting.params.datasets import SOURCES, DatasetParams, accepted_checksums, checksum_conflicts

SUDOKU, MAZE = {"name": "sudoku", "box": [3, 3]}, {"name": "maze", "grid": [30, 30]}
TRAIN_FILE, TEST_FILE = "sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard"
EXTREME = {"kind": "sudoku_extreme", "train_file": TRAIN_FILE, "test_file": TEST_FILE, "seed": 0, "splits": {}}
MAZE_HARD = {"train_file": "maze_hard_train", "test_file": "maze_hard_test"}
SOURCES_OF_FILES = [
    {"kind": "sudoku_hard", "givens": [17, 34], "boards_per_level": 1, "seed": 0},
    EXTREME,
    {"kind": "satnet_sudoku", "splits": {}},
    {"kind": "rrn_sudoku_hard", "seed": 0, "splits": {}},
]


def dataset(task, source):
    return build(DatasetParams, {"task": task, "source": source})


def test_every_kind_of_source_has_its_builder():
    assert {tag_of(kind)[1] for kinds in SOURCES.values() for kind in kinds} == set(BUILDERS)


@pytest.mark.parametrize("source", SOURCES_OF_FILES, ids=lambda source: source["kind"])
def test_published_boards_are_of_3x3_boxes(source):
    assert dataset(SUDOKU, source).source.kind == source["kind"]
    with pytest.raises(
        ParameterError, match=rf"task.box = \[2, 3\]: expected \[3, 3\], .* the {source['kind']} boards"
    ):
        dataset({"name": "sudoku", "box": [2, 3]}, source)


def test_a_source_of_another_task_is_refused_with_those_of_the_task():
    with pytest.raises(
        ParameterError, match=r"source.kind = 'sudoku_extreme': expected for maze one of generated_maze, m"
    ):
        dataset(MAZE, EXTREME)
    with pytest.raises(
        ParameterError, match=r"source.kind = 'maze_hard': expected for sudoku one of generated_sudoku, s"
    ):
        dataset(SUDOKU, {"kind": "maze_hard", **MAZE_HARD, "seed": 0, "splits": {}})


def test_boards_cannot_have_all_cells_given():
    source = {"kind": "generated_sudoku", "givens": [10, 36], "seed": 0, "splits": {}}
    with pytest.raises(ParameterError, match=r"source.givens = \[10, 36\]: expected at most 35"):
        dataset({"name": "sudoku", "box": [2, 3]}, source)


def test_two_datasets_with_different_checksums_of_one_file_are_a_conflict():
    ours = dataset(SUDOKU, EXTREME)
    theirs = dataset(SUDOKU, EXTREME | {"checksums": {TRAIN_FILE: "0" * 64}})
    assert list(checksum_conflicts({"a": theirs, "b": theirs})) == []
    assert accepted_checksums({"a": theirs}) == {TRAIN_FILE: "0" * 64, TEST_FILE: None}
    [problem] = checksum_conflicts({"a": ours, "b": theirs})
    found = f"datasets.b.source.checksums.{TRAIN_FILE} = '{'0' * 64}'"
    assert problem == f"{found}: expected None as in a, a study has one copy of a file"
