"""Tables of hyper-parameters (Tables 1 to 3): the paper's values beside those of a run of the study."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.errors import CvotingError
from cvoting.paper_tables.base import write_table

#: Columns of reference/hyperparameters.csv; `key` is a key of the run's block, `published` is JSON.
COLUMNS = ("table", "parameter", "key", "published", "source")
NAMES = {"adam": "Adam", "adamw": "AdamW", "adam_atan2": "Adam-atan2", "attention": "Attention"}


class HyperparametersError(CvotingError):
    """A file that is not a table of the paper's hyper-parameters."""


def write(name: str, recipe: Mapping[str, Any], inputs: Sequence[Path], published: Path, out_dir: Path) -> None:
    """Write a table of hyper-parameters.

    Args:
        name: of the table.
        recipe: `title` of the study, `params.run`, and the run's `network`, `training` and `train_puzzles`.
        inputs: none.
        published: reference/hyperparameters.csv.
        out_dir: the folder of the table's files.
    """
    data = prepare(name, recipe, read_hyperparameters(published))
    theirs, ours = ([_text(json.loads(value)) for value in data[column]] for column in ("published", "ours"))
    marks = data["same"].map({True: "", False: " ≠"})
    shown = pd.DataFrame({"Parameter": data["parameter"], "Paper": theirs, "Ours": ours + marks})
    caption = f"Hyper-parameters of {recipe['params']['run']}, {recipe['title']}; ≠ marks what differs from the paper."
    write_table(data, shown, caption, name, out_dir)


def prepare(name: str, recipe: Mapping[str, Any], published: pd.DataFrame) -> pd.DataFrame:
    """The paper's values and the run's as JSON, and whether they are the same.

    Args:
        name: of the table.
        recipe: see `write`.
        published: all tables of the paper.
    """
    rows = published[published["table"] == name].drop(columns="table")
    values = _values(recipe)
    missing = [key for key in rows["key"] if key not in values]
    if missing:
        raise HyperparametersError(
            f"run {recipe['params']['run']!r} has no {', '.join(missing)}, which {name} shows: name a run of the "
            "table's model in `tables`"
        )
    ours = [values[key] for key in rows["key"]]
    same = [value == json.loads(theirs) for value, theirs in zip(ours, rows["published"], strict=True)]
    return rows.assign(ours=[json.dumps(value) for value in ours], same=same, run=recipe["params"]["run"])


def read_hyperparameters(path: Path) -> pd.DataFrame:
    """The paper's hyper-parameters.

    Raises:
        HyperparametersError: when the file is no table, columns are missing or a value is not JSON.
    """
    try:
        table = pd.read_csv(path, dtype=str)
    except ValueError as error:
        raise HyperparametersError(f"{path}: not a table of hyper-parameters: restore it with git") from error
    if tuple(table.columns) != COLUMNS:
        raise HyperparametersError(f"{path}: columns {', '.join(table.columns)}: expected {', '.join(COLUMNS)}")
    for line, value in enumerate(table["published"], start=2):
        try:
            json.loads(value)
        except (TypeError, json.JSONDecodeError) as error:
            raise HyperparametersError(f"{path}, line {line}: published = {value!r}: expected JSON") from error
    return table


def _values(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of a run by its dotted key, and what follows from several."""
    training = recipe["training"]
    flat = _flat({"network": recipe["network"], "training": training})
    # To four digits: a whole number of epochs need not be one of updates.
    epochs = float(f"{training['updates'] * training['batch'] / recipe['train_puzzles']:.4g}")
    # The released AKOrN knows convolutions too; attention is the one that the paper uses, and the one that is here.
    connectivity = {"connectivity": "attention"} if recipe["network"]["architecture"] == "akorn" else {}
    return flat | {"epochs": epochs} | connectivity


def _flat(block: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in block.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _text(value: Any) -> str:
    """A value as the paper prints it."""
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, float):
        return f"{value:g}"
    return NAMES.get(value, value) if isinstance(value, str) else str(value)
