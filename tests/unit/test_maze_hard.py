"""Datasets drawn from the Maze-hard files: small stand-ins of them, and the real ones where there is a mirror."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from cvoting.data import generated_maze
from cvoting.data.audit import audit
from cvoting.data.maze_audit import MazeAuditor
from cvoting.data.maze_hard import build
from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.source_file import SourceFile
from cvoting.data.sources import FILES
from cvoting.params.core import ParameterError
from cvoting.params.core import build as build_params
from cvoting.params.datasets import DatasetParams
from cvoting.params.mazes import GeneratedMaze, MazeHard
from cvoting.params.splits import Splits
from cvoting.tasks.maze import PATH, WALL, Maze

TRAIN_FILE, TEST_FILE = "maze_hard_train", "maze_hard_test"
MIRROR = os.environ.get("CVOTING_MIRROR")
SMALL = Maze(name="maze", grid=(5, 5))
HARD = Maze(name="maze", grid=(30, 30))


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder of fetched files of 5x5 mazes: 20 training rows and 12 test rows."""
    splits = Splits(train=20, test=12)
    source = {"wall_fraction": (0.2, 0.4), "path_cells": (8, 25), "seed": 0, "splits": splits}
    mazes = generated_maze.build("rows", SMALL, GeneratedMaze(kind="generated_maze", **source), tmp_path)
    for key, name in ((TRAIN_FILE, "train"), (TEST_FILE, "test")):
        puzzles = mazes[name]
        pairs = zip(puzzles.questions, puzzles.answers, strict=True)
        lines = [f"test,{SMALL.format(q)},{SMALL.format(a)},{i}\r\n" for i, (q, a) in enumerate(pairs)]
        content = ("source,question,answer,rating\r\n" + "".join(lines)).encode()
        (tmp_path / f"{name}.csv").write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        page = "https://example.org"
        file = SourceFile(name=key, path=f"{name}.csv", page=page, bytes=len(content), sha256=digest, about="a test")
        monkeypatch.setitem(FILES, key, file)
    return tmp_path


def parameters(seed=0, **splits):
    return MazeHard(kind="maze_hard", train_file=TRAIN_FILE, test_file=TEST_FILE, seed=seed, splits=Splits(**splits))


def test_validation_mazes_are_held_out_from_training_and_the_test_set_stays_whole(raw):
    splits = build("mazes", SMALL, parameters(train=14, validation=6, test=12), raw)
    assert {name: len(puzzles) for name, puzzles in splits.items()} == {"train": 14, "validation": 6, "test": 12}
    assert not set(splits["train"].hashes) & set(splits["validation"].hashes)
    assert all(p.origin == "original" and "drawn with seed 0 from " in p.source for p in splits.values())
    assert splits["test"].ratings.tolist() == list(range(12))
    assert (np.diff(splits["train"].ratings) > 0).all(), "mazes are in the order of their file"


def test_a_draw_does_not_change_with_the_other_splits_and_is_part_of_a_larger_one(raw):
    small = build("mazes", SMALL, parameters(train=5, validation=2, test=4), raw)
    large = build("mazes", SMALL, parameters(train=12, validation=4, test=9), raw)
    for split, puzzles in small.items():
        assert set(puzzles.hashes) < set(large[split].hashes)
    assert set(build("mazes", SMALL, parameters(seed=1, train=5), raw)["train"].hashes) != set(small["train"].hashes)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": 18, "validation": 3}, "21 training and validation puzzles, expected at most 20"),
        ({"test": 13}, "13 test puzzles, expected at most 12"),
    ],
)
def test_more_mazes_than_a_file_has_are_refused(raw, splits, message):
    with pytest.raises(DataError, match=f"dataset mazes: {message}"):
        build("mazes", SMALL, parameters(**splits), raw)


def test_another_grid_than_that_of_the_files_is_refused():
    source = {"kind": "maze_hard", "train_file": TRAIN_FILE, "test_file": TEST_FILE, "seed": 0, "splits": {"test": 1}}
    with pytest.raises(ParameterError, match=r"task.grid = \[9, 9\]: expected \[30, 30\]"):
        build_params(DatasetParams, {"task": {"name": "maze", "grid": [9, 9]}, "source": source})


@pytest.fixture(scope="module")
def published() -> dict[str, Puzzles]:
    """All mazes of the two published files."""
    if not MIRROR:
        pytest.skip("CVOTING_MIRROR names no folder with the published files")
    files = {key: FILES[key] for key in (TRAIN_FILE, TEST_FILE)}
    found = {}
    for name, file in files.items():
        places = [Path(folder) / file.path for folder in MIRROR.split(os.pathsep)]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            pytest.skip(f"no folder of CVOTING_MIRROR has {file.path}")
        found[name] = read_hugging_face_csv(path, HARD, file.path)
    return found


def test_every_published_label_follows_the_rule(published):
    for puzzles in published.values():
        assert len(puzzles) == 1000
        np.testing.assert_array_equal([HARD.solve(q) for q in puzzles.questions], puzzles.answers)


def test_published_mazes_are_what_the_generator_is_measured_by(published):
    every = published.values()
    questions = np.concatenate([p.questions for p in every])
    cells = np.concatenate([np.sum(p.answers == PATH, axis=1) + 2 for p in every])
    walls = np.mean(questions == WALL, axis=1)
    assert (cells.min(), cells.max()) == (110, 154)
    assert (round(walls.min(), 3), walls.max()) == (0.277, 0.45)
    np.testing.assert_array_equal(np.concatenate([p.ratings for p in every]), cells)
    counts = [HARD.shortest_paths(q) for q in questions]
    assert min(counts) > 1
    assert np.median(counts) == pytest.approx(3.8e6, rel=0.02)


@pytest.mark.parametrize(("file", "flip", "others"), [(TRAIN_FILE, 0.931, 0.003), (TEST_FILE, 0.905, 0.001)])
def test_the_rule_of_the_labels_is_not_symmetric(published, file, flip, others):
    puzzles = published[file]
    cell = np.arange(900).reshape(30, 30)
    shares = {}
    for symmetry in HARD.symmetries:
        moved = [HARD.solve(q) for q in puzzles.questions[:, symmetry]]
        shares[symmetry.tobytes()] = np.mean(np.all(moved == puzzles.answers[:, symmetry], axis=1))
    assert shares.pop(cell.tobytes()) == 1
    assert shares.pop(cell[:, ::-1].tobytes()) == pytest.approx(flip)
    assert max(shares.values()) <= others


def test_the_published_files_pass_the_audit(published):
    report = audit(MazeAuditor(HARD), published)
    assert report.defects(strict=True) == []
    assert not any(s.found.facts["one_shortest_path"].any() for s in report.sets)
