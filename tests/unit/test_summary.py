"""The numbers of a summary by hand from small tables, and what it refuses."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cvoting import recipes
from cvoting.params.imported import ImportedParams
from cvoting.params.reading import read_study
from cvoting.params.voting import VotingParams
from cvoting.summary import CURVES, write_summary
from cvoting.table_files import (
    CALIBRATION_COLUMNS,
    DISCRIMINATION_COLUMNS,
    VOTING_COLUMNS,
    TableError,
    over_all_seeds,
    read_csv,
    write_csv,
)
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import Sudoku

LOG = "update,loss,validation_loss,validation_cell,validation_board\n"


class Study:
    """A folder with the tables and logs of a study, and its summary."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.recipe: dict[str, list[Any]] = {"voting": [], "calibration": [], "discrimination": [], "training": []}
        self.files: dict[str, list[Path]] = {kind: [] for kind in self.recipe}

    def table(self, kind: str, bank: str, columns: Sequence[str], *rows: dict[str, object]) -> None:
        """Add a table; the columns that a row leaves out are empty."""
        write_csv(pd.DataFrame(rows, columns=list(columns)), self.folder / f"{bank}.{kind}.csv")
        self.add(kind, bank, self.folder / f"{bank}.{kind}.csv")

    def log(self, run: str, seed: int, *rows: str) -> None:
        """Add a training log."""
        path = self.folder / f"{run}{seed}.log.csv"
        path.write_text(LOG + "".join(f"{row}\n" for row in rows))
        self.add("training", (run, seed), path)

    def add(self, kind: str, name: object, path: Path) -> None:
        """Add a file."""
        self.recipe[kind].append(name)
        self.files[kind].append(path)

    def summarise(self) -> dict[str, Any]:
        """Write the summary; gives the metrics."""
        write_summary(self.recipe, *self.files.values(), self.folder / "out")
        return json.loads((self.folder / "out/metrics.json").read_text())

    def curves(self, name: str) -> list[list[object]]:
        """The rows of a file of curves."""
        return pd.read_csv(self.folder / f"out/plots/{name}.csv").values.tolist()


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def vote(name: str, K: int, value: float, seed: object = "all", **other: object) -> dict[str, object]:
    """A row of a voting table."""
    about = {"vote": name, "K": K, "value": value, "training_seed": 0, "inference_seed": seed, "candidates": 4}
    return {"estimator": "expected", "metric": "board", **about, **other}


def test_votes_are_those_at_the_largest_K_over_all_seeds_by_the_estimator_of_the_figures(study: Study) -> None:
    rows = [
        vote("confidence", 1, 0.25),
        vote("confidence", 4, 0.5),
        vote("confidence", 4, 0.1, seed=0),
        vote("confidence", 4, 0.2, estimator="prefix"),
        vote("confidence", 4, 0.3, metric="optimal"),
        vote("energy_sum", 4, 0.4),
        vote("random", 1, 0.25),
        vote("random", 4, 0.25),
    ]
    study.table("voting", "a", VOTING_COLUMNS, *rows)
    assert study.summarise() == {"voting": {"a": {"random": 0.25, "confidence": 0.5}}}
    assert study.curves("voting") == [
        ["a", "confidence", 1, 0.25],
        ["a", "confidence", 4, 0.5],
        ["a", "energy_sum", 4, 0.4],
        ["a", "random", 1, 0.25],
        ["a", "random", 4, 0.25],
    ]


def test_a_bank_of_one_candidate_has_no_vote(study: Study) -> None:
    rows = [vote(name, 1, 0.125, seed=0, candidates=1) for name in ("confidence", "oracle")]
    study.table("voting", "fixed", VOTING_COLUMNS, *rows)
    assert study.summarise() == {"voting": {"fixed": {"random": 0.125}}}
    assert study.curves("voting") == [["fixed", "random", 1, 0.125]]


def test_votes_of_a_bank_are_the_numbers_of_its_voting_table(study: Study, bank_file: Callable[..., Path]) -> None:
    params = VotingParams(
        K=(1, 8), votes=("confidence", "random", "oracle"), subsets=4, resamples=100, level=0.95, seed=0
    )
    shards = [bank_file(f"seed{seed}", inference_seed=seed) for seed in (0, 1)]
    path = study.folder / "table.csv"
    write_voting(shards, params, Sudoku(name="sudoku", box=(2, 2)), "a-study", path, study.folder / "paired.csv")
    study.add("voting", "a", path)
    found, table = study.summarise()["voting"]["a"], over_all_seeds(read_csv(path))
    rows = table[(table["K"] == 8) & (table["estimator"] == "expected") & (table["metric"] == "board")]
    assert found == rows.set_index("vote")["value"].to_dict()
    assert found["random"] < found["confidence"] < found["oracle"]


def test_calibration_is_of_cells_of_all_candidates_at_temperature_1(study: Study) -> None:
    study.table("voting", "a", VOTING_COLUMNS, vote("random", 1, 0.5))
    study.table("voting", "b", VOTING_COLUMNS, vote("random", 1, 0.5))
    ece = {"training_seed": "0", "of": "candidates", "metric": "cell_ece_width", "temperature": 1.0, "fitted": False}
    rows = [
        ece | {"value": 0.0625},
        ece | {"value": 0.1, "temperature": 2.0},
        ece | {"value": 0.2, "of": "voted"},
        ece | {"value": 0.3, "fitted": True},
        ece | {"value": 0.4, "metric": "cell_ece_mass"},
    ]
    study.table("calibration", "a", CALIBRATION_COLUMNS, *rows)
    auroc = {"training_seed": "0", "metric": "board", "measure": "auroc_within"}
    others = [auroc | {"value": 0.7, "metric": "optimal"}, auroc | {"value": 0.8, "measure": "auroc_between"}]
    study.table("discrimination", "a", DISCRIMINATION_COLUMNS, auroc | {"value": 0.75}, *others)
    study.table("discrimination", "b", DISCRIMINATION_COLUMNS, auroc, *others)
    assert study.summarise()["calibration"] == {"a": {"ece": 0.0625, "auroc_within": 0.75}}
    assert study.curves("calibration") == [
        ["a", "candidates", 1.0, 0.0625],
        ["a", "candidates", 2.0, 0.1],
        ["a", "voted", 1.0, 0.2],
    ]


def test_trainings_end_with_the_mean_over_seeds_of_the_last_validation(study: Study) -> None:
    study.log("a", 0, "100,9,0.75,0.5,0.25", "200,8,0.5,0.75,0.5")
    study.log("a", 1, "100,9,0.75,0.5,0.0", "200,8,0.5,0.75,0.25")
    study.log("b", 0, "50,9,0.25,0.5,1.0")
    assert study.summarise() == {"training": {"a": 0.375, "b": 1.0}}
    assert study.curves("training")[1:3] == [["a", "seed 0", 200, 0.5, 0.5], ["a", "seed 1", 100, 0.75, 0.0]]


def test_a_study_of_imported_runs_without_logits_has_curves_without_rows(study: Study) -> None:
    study.table("voting", "a", VOTING_COLUMNS, vote("random", 1, 0.5))
    assert set(study.summarise()) == {"voting"}
    assert study.curves("calibration") == study.curves("training") == []
    header = (study.folder / "out/plots/training.csv").read_text()
    assert header == ",".join(["panel", "line", *CURVES["training"]]) + "\n"


def test_the_same_tables_give_the_same_bytes(study: Study) -> None:
    study.log("a", 0, "100,9,0.75,0.5,0.1", "200,8,0.5,0.75,0.3")
    study.log("a", 1, "100,9,0.75,0.5,0.1", "200,8,0.5,0.75,0.6")
    first, second = (
        (study.summarise(), [path.read_bytes() for path in sorted((study.folder / "out").rglob("*.*"))])
        for _ in range(2)
    )
    assert first == second
    assert first[0] == {"training": {"a": 0.45}}, "without the rounding errors of the mean"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"a0\.log\.csv: not a training log \(the columns ''"),
        ("update,loss\n1,2\n", "expected update, validation_loss, validation_board among them"),
        (LOG, r"not a training log \(it was cut off\): delete it and make it again"),
        (LOG + "100,9,0.75,0.5", r"not a training log \(it was cut off\)"),
    ],
    ids=["empty", "other columns", "no row", "cut off"],
)
def test_a_file_that_is_no_whole_training_log_is_refused(study: Study, content: str, message: str) -> None:
    study.log("a", 0)
    study.files["training"][0].write_text(content)
    with pytest.raises(TableError, match=message):
        study.summarise()
    assert not (study.folder / "out").exists()


def test_a_missing_log_is_refused(study: Study) -> None:
    study.log("a", 0, "100,9,0.75,0.5,0.25")
    study.recipe["training"].append(("b", 3))
    with pytest.raises(TableError, match="1 files, expected 2: the training logs of a with seed 0, b with seed 3, in"):
        study.summarise()


def test_the_recipe_names_what_there_is_and_nothing_else(repository: Path) -> None:
    toy = read_study(repository / "params/toy.yaml")
    recipe = json.loads(recipes.summary(toy))
    assert recipe["voting"] == sorted(toy.banks)
    assert recipe["calibration"] == ["itrsa-maze_hard", "itrsa-sudoku_hard"]
    assert set(recipe["voting"]) - set(recipe["discrimination"]) == {"hrm_fixed-sudoku_hard", "hrm_fixed-maze_hard"}
    assert recipe["training"] == [[run, 0] for run in sorted(toy.runs)]
    block = ImportedParams(file="a.pth", sha256="0" * 64)
    imported = replace(toy.runs["akorn-sudoku"], imported=block)
    other = replace(toy, title="another title", runs=toy.runs | {"akorn-sudoku": imported}, tables=type(toy.tables)())
    rest = [training for training in recipe["training"] if training != ["akorn-sudoku", 0]]
    assert json.loads(recipes.summary(other)) == recipe | {"training": rest}
