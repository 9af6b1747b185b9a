"""The published 9x9 puzzles through the whole pipeline, where a mirror of the source files is present."""

import hashlib
import json
import os

import pandas as pd
import pytest

from cvoting.bank import concatenate
from cvoting.bank_file import read_banks
from cvoting.data.puzzles import Puzzles
from cvoting.data.sources import FILES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def real(copy_project, tmp_path_factory):
    """The study of params/real.yaml, run."""
    if not os.environ.get("CVOTING_MIRROR"):
        pytest.skip("CVOTING_MIRROR names no folder with the source files")
    project = copy_project(tmp_path_factory.mktemp("real") / "project")
    project.snakemake("--configfile", "params/real.yaml")
    return project


def test_the_source_files_are_the_published_ones(real):
    names = [
        "sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard", "royle_17_clues", "maze_hard_train", "maze_hard_test",
    ]  # fmt: skip
    for file in map(FILES.get, names):
        fetched = (real.folder / "data/raw" / file.path).read_bytes()
        assert hashlib.sha256(fetched).hexdigest() == file.sha256
        assert len(fetched) == file.bytes


def test_datasets_say_what_they_are(real):
    extreme = Puzzles.load(real.folder / "data/real/sudoku_extreme/test.npz")
    hard = Puzzles.load(real.folder / "data/real/sudoku_hard/test.npz")
    assert extreme.origin == "original"
    assert FILES["sudoku_extreme_1k_test_hard"].sha256 in extreme.source
    assert hard.origin == "generated"
    assert FILES["royle_17_clues"].sha256 in hard.source
    assert sorted((hard.questions > 0).sum(axis=1)) == sorted([*range(17, 35)] * 4)


@pytest.mark.parametrize(
    ("bank", "puzzles", "candidates"),
    [("akorn-sudoku_hard", 72, 16), ("akorn-sudoku_extreme", 100, 16), ("itrsa-maze_hard", 20, 8)],
)
def test_every_file_of_the_chain_is_there(real, bank, puzzles, candidates):
    results = real.folder / "results/real"
    rollouts = concatenate(read_banks(results / f"rollouts/{bank}/train0-infer0/shard0.parquet"))
    assert rollouts.answer_ids.shape == (puzzles, candidates)
    table = pd.read_csv(results / f"voting/{bank}.csv")
    assert set(table["puzzles"]) == {puzzles}
    assert table["value"].between(0, 1).all()


def test_mazes_are_shown_by_their_label_and_by_any_shortest_path(real):
    for name in ("fig3_itrsa_voting", "fig8_itrsa_test_time_scaling"):
        figure = pd.read_csv(real.folder / f"results/real/figures/{name}.csv")
        mazes = figure[figure["dataset"] == "maze_hard"]
        assert set(mazes["metric"]) == {"board", "optimal"}
        assert set(mazes["origin"]) == {"original"}


def test_the_figure_names_the_study_and_its_data(real):
    results = real.folder / "results/real/figures"
    figure = pd.read_csv(results / "fig2_akorn_voting.csv")
    assert set(figure["title"]) == {"real puzzles, tiny models"}
    assert dict(zip(figure["dataset"], figure["origin"], strict=True)) == {
        "sudoku_hard": "generated",
        "sudoku_extreme": "original",
    }
    assert figure["published"].isna().all()
    assert (results / "fig2_akorn_voting.pdf").read_bytes().startswith(b"%PDF")
    record = json.loads((results / "fig2_akorn_voting.run.json").read_text())
    assert record["recipe"]["study"] == "real"
