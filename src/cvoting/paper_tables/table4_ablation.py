"""Table 4: the ablations of ItrSA++, each a variant of one run, and the published column.

The paper does not say whether its column votes: its 63.2 % for the whole model is far below the 95.2 % that it has with
C-voting, so the published value stands beside no vote, and a vote is shown too.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.paper_tables.base import write_table
from cvoting.params.core import build
from cvoting.params.paper_tables import AblationTable
from cvoting.published import read_published
from cvoting.table_files import ESTIMATOR, over_all_seeds, read_tables, seeds_of

NAME = "table4_ablation"
METRIC = "board"
#: Columns of a voting table that say what a row is of.
ABOUT = ("study", "run", "dataset", "split", "origin", "T_eval", "puzzles", "level", "interval")
#: Variant -> what the paper calls it, and the id of its published value.
VARIANTS = {
    "no_truncation": ("w/o GT", "c15-no-truncation"),
    "no_ema": ("w/o EMA", "c15-no-ema"),
    "linear_mixing": ("Cross attn. to linear", "c15-linear-mixing"),
    "ffn": ("SwiGLU to FFN", "c15-ffn"),
    "full": ("ItrSA++ (proposed)", "c15-full"),
}


def write(recipe: Mapping[str, Any], inputs: Sequence[Path], published: Path, out_dir: Path) -> None:
    """Write the table.

    Args:
        recipe: `title` and `paper_scale` of the study, and `params` of the table.
        inputs: the voting table of each variant's bank, in the order of `params.banks`.
        published: reference/published.csv.
        out_dir: the folder of the table's files.
    """
    params = build(AblationTable, recipe["params"], f"tables.{NAME}")
    data = prepare(read_tables("voting table", params.banks, inputs), params, read_published(published))
    accuracy = "Board acc. in test, published" if recipe["paper_scale"] else "Published (9x9 boards, paper's scale)"
    shown = pd.DataFrame(
        {
            "Variant": data["name"],
            accuracy: [f"{100 * value:.1f} %" for value in data["published"]],
            "No vote": _percent(data, ""),
            f"C-voting, K = {data['K'].iloc[0]}": _percent(data, "voted_"),
            "Seeds": data["training_seeds"].astype(str) + " x " + data["inference_seeds"].astype(str),
        }
    )
    about = data.iloc[-1]
    caption = (
        f"Ablations of ItrSA++, {recipe['title']}: board accuracy in %, {about['level']:.0%} interval over puzzles and "
        f"over training seeds where there are several; {about['dataset']} ({about['origin']}), n = {about['puzzles']} "
        f"puzzles, T_eval = {about['T_eval']}; seeds: training x inference."
    )
    write_table(data, shown, caption, NAME, out_dir)


def prepare(tables: Mapping[str, pd.DataFrame], params: AblationTable, published: pd.DataFrame) -> pd.DataFrame:
    """One row per variant: board accuracy without a vote and with one, and the published value.

    As many candidates vote as every variant has.

    Args:
        tables: voting tables, by bank.
        params: the bank of each variant.
        published: the published numbers.
    """
    values, most = published.set_index("id")["value"], min(int(table["K"].max()) for table in tables.values())
    rows = []
    for variant, (name, claim) in VARIANTS.items():
        table = tables[getattr(params, variant)]
        about = {"variant": variant, "name": name, "published": values[claim], "published_id": claim}
        rows.append(_row(table, most) | about)
    columns = ["variant", "name", *(c for c in rows[0] if c not in ("variant", "name"))]
    return pd.DataFrame(rows)[columns]


def _row(table: pd.DataFrame, most: int) -> dict[str, Any]:
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == METRIC)])
    vote = rows[rows["vote"] == "confidence"].set_index("K")
    one, several = vote.loc[1], vote.loc[most]
    numbers = {name: one[name] for name in ("value", "low", "high")}
    voted = {f"voted_{name}": several[name] for name in ("value", "low", "high")}
    return {**{name: one[name] for name in ABOUT}, **seeds_of(table), **numbers, "K": most, **voted}


def _percent(data: pd.DataFrame, prefix: str) -> list[str]:
    columns = [data[f"{prefix}{name}"] for name in ("value", "low", "high")]
    return [f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]" for value, low, high in zip(*columns, strict=True)]
