"""The audit as a phase of the workflow."""

import csv
import json

import pytest

pytestmark = pytest.mark.slow


def test_every_dataset_has_a_table_with_a_row_per_split(built):
    audits = built.folder / "results/toy/audit"
    for dataset, splits in {"sudoku": ["train", "validation"], "sudoku_hard": ["test"]}.items():
        with open(audits / f"{dataset}.csv") as file:
            assert [row["set"] for row in csv.DictReader(file)] == [f"data/toy/{dataset}/{s}.npz" for s in splits]
        assert (audits / f"{dataset}.json.run.json").is_file()


def test_test_puzzles_are_compared_with_those_that_their_models_were_trained_on(built):
    content = json.loads((built.folder / "results/toy/audit/sudoku_hard.json").read_text())
    sets = [overlap["sets"] for overlap in content["overlaps"]]
    assert sets == [["data/toy/sudoku_hard/test.npz", "data/toy/sudoku/train.npz"]]


def test_a_defect_fails_the_rule_with_its_message_and_leaves_no_table(copy_project, tmp_path):
    project = copy_project(tmp_path / "project")
    # There are 288 * 16 boards of 4x4 cells with one blank: two draws of 300 share some.
    for dataset, split in (("sudoku", "train"), ("sudoku_hard", "test")):
        project.edit_params([15, 15], "datasets", dataset, "source", "givens")
        project.edit_params(300, "datasets", dataset, "source", "splits", split)
    said = project.snakemake("results/toy/audit/sudoku_hard.csv", check=False)
    assert "cvoting audit: defects, of which the report says more:" in said
    assert "puzzles with in_another_set, the first is number" in said
    assert "Error in rule audit_sudoku_hard" in said
    assert not list((project.folder / "results/toy").rglob("sudoku_hard.*"))
