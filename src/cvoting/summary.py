"""What a study says: in few numbers, and in the curves behind them.  DVC shows and compares both.

`metrics.json`, all numbers fractions:

- `voting.<bank>`: board accuracy (of mazes by the label) at the bank's largest K, of `random`, `confidence` (C-voting)
  and `oracle`; of a bank of one candidate, which has no vote, of `random` alone
- `calibration.<bank>`: `ece`, the expected calibration error of the cells of all kept candidates at temperature 1, in
  bins of equal width, where a bank keeps logits; `auroc_within`, that of confidence for right candidates of the same
  puzzle, where there are right and wrong ones
- `training.<run>`: board accuracy on the validation puzzles after the last update, the mean over training seeds; of
  imported runs none

`plots/<curves>.csv`, in long form: `panel` is a bank or a run, `line` a vote, a seed or whose cells are meant.

- `voting.csv`: `board_accuracy` against `K`, of every vote
- `calibration.csv`: `ece` against `temperature`, of all kept candidates and of the one that C-voting selects
- `training.csv`: `validation_board` and `validation_loss` (nats) against `update`, of every training seed

Votes are over all seeds there are, by the estimator of the figures against K.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.table_files import (
    ESTIMATOR,
    LOG_COLUMNS,
    NO_VOTE,
    TableError,
    over_all_seeds,
    read_log,
    read_tables,
    rounded,
    without_vote,
    write_csv,
)

METRIC = "board"
#: The votes among the metrics, where a study has them.
VOTES = (NO_VOTE, "confidence", "oracle")
#: The calibration error, and whose it is among the metrics.
ECE, WHOSE = "cell_ece_width", "candidates"
#: Columns of the curves after `panel` and `line`.
CURVES = {
    "voting": ("K", "board_accuracy"),
    "calibration": ("temperature", "ece"),
    "training": LOG_COLUMNS,
}

Tables = Mapping[str, pd.DataFrame]


def write_summary(
    recipe: Mapping[str, Any],
    voting: Sequence[Path],
    calibration: Sequence[Path],
    discrimination: Sequence[Path],
    logs: Sequence[Path],
    out_dir: Path,
) -> None:
    """Write `metrics.json` and the CSV files of the curves.

    Args:
        recipe: `voting`, `calibration` and `discrimination`, the names of the banks with such a table, and `training`,
            run and training seed of every training.
        voting, calibration, discrimination: the tables of these banks, in their order.
        logs: the training logs, in their order.
        out_dir: the folder of `metrics.json` and `plots/`.

    Raises:
        TableError: when a file is not the table or log it should be, or there is not one for each bank or training.
    """
    tables = {
        "voting": read_tables("voting table", recipe["voting"], voting),
        "calibration": read_tables("calibration table", recipe["calibration"], calibration),
        "discrimination": read_tables("discrimination table", recipe["discrimination"], discrimination),
    }
    curves = {
        "voting": voting_curves(tables["voting"]),
        "calibration": calibration_curves(tables["calibration"]),
        "training": training_curves(recipe["training"], logs),
    }
    for name, curve in curves.items():
        write_csv(curve, out_dir / f"plots/{name}.csv")
    with atomic_path(out_dir / "metrics.json") as temporary:
        text = json.dumps(metrics(curves, tables["discrimination"]), indent=1, allow_nan=False)
        temporary.write_text(text + "\n")


def voting_curves(tables: Tables) -> pd.DataFrame:
    """Board accuracy against K, of every vote.

    Args:
        tables: voting tables, by bank.
    """
    rows = []
    for bank, table in tables.items():
        known = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == METRIC)])
        known = without_vote(known) if (known["candidates"] == 1).all() else known
        rows.append(known.assign(panel=bank, line=known["vote"], board_accuracy=known["value"]))
    return _joined("voting", rows)


def calibration_curves(tables: Tables) -> pd.DataFrame:
    """The calibration error of cells against the temperature, fitted ones left out.

    Args:
        tables: calibration tables, by bank.
    """
    rows = []
    for bank, table in tables.items():
        known = over_all_seeds(table[(table["metric"] == ECE) & ~table["fitted"]])
        rows.append(known.assign(panel=bank, line=known["of"], ece=known["value"]))
    return _joined("calibration", rows)


def training_curves(trainings: Sequence[Sequence[Any]], logs: Sequence[Path]) -> pd.DataFrame:
    """Board accuracy and loss on the validation puzzles against the updates.

    Args:
        trainings: run and training seed of each.
        logs: of these trainings, in their order.

    Raises:
        TableError: when a file is no training log, or there is not one for each training.
    """
    if len(trainings) != len(logs):
        of = ", ".join(f"{run} with seed {seed}" for run, seed in trainings)
        raise TableError(f"{len(logs)} files, expected {len(trainings)}: the training logs of {of}, in that order")
    named = zip(trainings, logs, strict=True)
    return _joined("training", [read_log(log).assign(panel=run, line=f"seed {seed}") for (run, seed), log in named])


def metrics(curves: Mapping[str, pd.DataFrame], discrimination: Tables) -> dict[str, dict[str, Any]]:
    """The few numbers, as nested mappings; kinds and banks without a number are left out.

    Args:
        curves: by name.
        discrimination: discrimination tables, by bank.
    """
    voting: dict[str, Any] = {}
    for panel, rows in curves["voting"].groupby("panel", sort=False):
        last = rows[rows["K"] == rows["K"].max()].set_index("line")["board_accuracy"]
        voting[str(panel)] = rounded({vote: last[vote] for vote in VOTES if vote in last})
    ece = curves["calibration"].query("temperature == 1 and line == @WHOSE").set_index("panel")["ece"]
    auroc = {bank: value for bank, table in discrimination.items() for value in _auroc(table)}
    found: dict[str, dict[str, float]] = {bank: {} for bank in voting}
    for name, of_banks in (("ece", ece), ("auroc_within", auroc)):
        for bank, number in of_banks.items():
            found.setdefault(str(bank), {})[name] = number
    calibration = {bank: rounded(numbers) for bank, numbers in found.items() if numbers}
    training = rounded(_last_accuracies(curves["training"]))
    kinds = {"voting": voting, "calibration": calibration, "training": training}
    return {kind: numbers for kind, numbers in kinds.items() if numbers}


def _auroc(table: pd.DataFrame) -> list[float]:
    """The AUROC within puzzles in a discrimination table; nothing where it is undefined."""
    rows = over_all_seeds(table[(table["measure"] == "auroc_within") & (table["metric"] == METRIC)])
    return rows["value"].dropna().tolist()


def _last_accuracies(curves: pd.DataFrame) -> dict[str, float]:
    """Of each run the mean over training seeds after the last update."""
    last = curves.groupby(["panel", "line"], sort=False)["validation_board"].last()
    return {str(run): value for run, value in last.groupby("panel", sort=False).mean().items()}


def _joined(name: str, rows: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of curves, with their columns alone; the columns, too, where there are no rows."""
    columns = ["panel", "line", *CURVES[name]]
    return pd.concat([part[columns] for part in rows], ignore_index=True) if rows else pd.DataFrame(columns=columns)
