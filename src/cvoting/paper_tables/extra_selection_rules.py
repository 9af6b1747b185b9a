"""Beyond the paper: which selection rule closes most of the gap between random choice and the oracle.

A block for each bank and way of counting, at the bank's largest K; numbers are paired, as all rules see the same
candidates of the same puzzles.  A last block says of each rule what holds over the banks.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cvoting.paper_tables.base import write_table
from cvoting.params.core import build
from cvoting.params.paper_tables import RulesTable
from cvoting.table_files import (
    ESTIMATOR,
    GAP,
    METRICS,
    NO_GAP,
    NO_VOTE,
    ORACLE,
    over_all_seeds,
    read_tables,
    rounded,
    seeds_of,
)

NAME = "extra_selection_rules"
COMPARED = "confidence"
REFERENCES = (ORACLE, NO_VOTE)
ABOUT = ("study", "run", "model", "dataset", "split", "origin", "T_eval", "puzzles", "level", "interval")
NUMBERS = ("value", "low", "high", *GAP[:3])
DIFFERENCE = ("difference", "difference_low", "difference_high")
COLUMNS = (
    "part", "bank", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "K", "gap", "gap_puzzles",
    "vote", *NUMBERS, *DIFFERENCE, "p", "better", "worse", "rank", "note", "banks", "first", "above", "below",
    "gap_closed_least", "gap_closed_most",
)  # fmt: skip
WHOLE = ("K", "T_eval", "puzzles", "training_seeds", "inference_seeds", "gap_puzzles", "better", "worse", "banks",
         "first", "above", "below")  # fmt: skip


def write(recipe: Mapping[str, Any], inputs: Sequence[Path], published: Path, out_dir: Path) -> None:
    """Write the table.

    Args:
        recipe: `study` and `title` of the study, and `params` of the table.
        inputs: the voting table of each bank, in the order of `params.banks`; then its paired comparison likewise.
        published: reference/published.csv; the paper has no such table.
        out_dir: the folder of the table's files.
    """
    params = build(RulesTable, recipe["params"], f"tables.{NAME}")
    banks = len(params.banks)
    voting = read_tables("voting table", params.banks, inputs[:banks])
    paired = read_tables("paired comparison", params.banks, inputs[banks:])
    data = prepare(voting, paired, params)
    caption = (
        f"Selection rules on the same candidates, {recipe['title']}. Of each bank at its largest K: accuracy in %, the "
        "share in % of the gap between random choice and the oracle that a rule closes, and its accuracy less that of "
        f"C-voting in points, with {data['level'].iloc[0]:.0%} bootstrap intervals over puzzles, and over training "
        "seeds where there are several; p: two-sided, by the bootstrap, not corrected for the number of rows; ranks by "
        "accuracy, of ties their mean. Last, of each rule over all banks with a gap that have it: the least and the "
        "largest share, in how many it is above and below C-voting by an interval without 0, its mean rank, and in how "
        "many no rule is better. n: puzzles, and those with right and wrong candidates; seeds: training x inference; "
        "in the last block both are sums over its banks."
    )
    write_table(data, shown(data), caption, NAME, out_dir, pages=True)


def prepare(voting: Mapping[str, pd.DataFrame], paired: Mapping[str, pd.DataFrame], params: RulesTable) -> pd.DataFrame:
    """Every number, as fractions.

    `part` "bank": a row for each bank, metric and vote; `difference` is its accuracy less that of C-voting, `better`
    and `worse` count the puzzles where it is above and below C-voting, and `rank` is of the rules, without the
    references and only where there is a gap.  `part` "rules": a row for each metric and rule, over the `banks` that
    have a gap and the rule, where there are two or more banks with a gap: its mean `rank`, in how many banks it is
    `first`, in how many its difference is `above` and `below` 0 with its whole interval, and the least and largest
    share; puzzles and seeds are summed over the banks.

    Args:
        voting, paired: tables by bank.
        params: the banks.
    """
    of_banks = pd.concat(
        [
            _of_bank(voting[bank], paired[bank], metric).assign(part="bank", bank=bank)
            for bank in params.banks
            for metric in METRICS
            if (voting[bank]["metric"] == metric).any()
        ],
        ignore_index=True,
    )
    data = pd.concat([of_banks, pd.DataFrame(list(_of_rules(of_banks)))], ignore_index=True)
    return data.reindex(columns=list(COLUMNS)).astype(dict.fromkeys(WHOLE, "Int64"))


def shown(data: pd.DataFrame) -> pd.DataFrame:
    """The cells of the table as text.

    Args:
        data: what `prepare` made.
    """
    return pd.DataFrame([_bank_cells(row) if row["part"] == "bank" else _rule_cells(row) for _, row in data.iterrows()])


def _of_bank(voting: pd.DataFrame, paired: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of one bank and metric: rules from the best, then the references."""
    rows, against = (
        over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == metric)])
        for table in (voting, paired)
    )
    rows = rows[rows["K"] == rows["K"].max()].reset_index(drop=True)
    with_C_voting = (against["vote"] == "confidence") & (against["K"] == rows["K"].iloc[0])
    against = against[with_C_voting].set_index("against")
    values = rows.set_index("vote")["value"]
    rows["gap"] = rounded({"gap": values[ORACLE] - values[NO_VOTE]})["gap"]
    rows["note"] = NO_GAP if rows["gap_closed"].isna().all() else None
    # The paired comparison is C-voting minus the rule; here it is the rule minus C-voting.
    for name, source in zip(DIFFERENCE, ("difference", "high", "low"), strict=True):
        rows[name] = 0.0 - rows["vote"].map(against[source])
    rows["p"] = rows["vote"].map(against["p"])
    rows["better"], rows["worse"] = rows["vote"].map(against["worse"]), rows["vote"].map(against["better"])
    is_rule = ~rows["vote"].isin(REFERENCES)
    rows["rank"] = rows.loc[is_rule & rows["gap_closed"].notna(), "value"].rank(ascending=False)
    rows["reference"] = rows["vote"].map({vote: place for place, vote in enumerate(REFERENCES, start=1)}).fillna(0)
    return rows.sort_values(["reference", "value"], ascending=[True, False], kind="stable").assign(**seeds_of(voting))


def _of_rules(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows over banks, of each metric by mean rank."""
    ranked = rows[rows["rank"].notna()]
    for metric, of_metric in ranked.groupby("metric", sort=False):
        if of_metric["bank"].nunique() < 2:
            continue
        best = of_metric.groupby("bank")["value"].transform("max")
        first = of_metric.assign(first=of_metric["value"] == best)
        found = [_of_rule(str(vote), of_vote) for vote, of_vote in first.groupby("vote", sort=False)]
        yield from ({"metric": metric} | row for row in sorted(found, key=lambda row: row["rank"]))


def _of_rule(vote: str, rows: pd.DataFrame) -> dict[str, Any]:
    """One rule over banks."""
    seeds = {name: rows[name].sum() for name in ("training_seeds", "inference_seeds")}
    return {
        "part": "rules",
        "study": rows["study"].iloc[0],
        "estimator": ESTIMATOR,
        "level": rows["level"].iloc[0],
        "puzzles": rows["puzzles"].sum(),
        "gap_puzzles": rows["gap_puzzles"].sum(),
        **seeds,
        "vote": vote,
        "banks": len(rows),
        "rank": rows["rank"].mean(),
        "first": rows["first"].sum(),
        "above": (rows["difference_low"] > 0).sum(),
        "below": (rows["difference_high"] < 0).sum(),
        "gap_closed_least": rows["gap_closed"].min(),
        "gap_closed_most": rows["gap_closed"].max(),
    }


def _bank_cells(row: pd.Series) -> dict[str, str]:
    """The cells of a rule in a bank."""
    seeds = f"seeds {row['training_seeds']} x {row['inference_seeds']}"
    way = ", any shortest path" if row["metric"] == "optimal" else ""
    return {
        "Study: bank": f"{row['study']}: {row['bank']} ({row['origin']}){way}",
        "Rule": row["vote"],
        "Accuracy": _interval(row, NUMBERS[:3]),
        "Gap closed": row["note"] or _interval(row, NUMBERS[3:]),
        "Less C-voting": "" if row["vote"] == COMPARED else _interval(row, DIFFERENCE),
        "p": "" if pd.isna(row["p"]) else f"{row['p']:.3f}",
        "Rank": "" if pd.isna(row["rank"]) else f"{row['rank']:g}",
        "n": f"{row['puzzles']} ({row['gap_puzzles']}), K = {row['K']}, {seeds}",
    }


def _rule_cells(row: pd.Series) -> dict[str, str]:
    """The cells of a rule over banks."""
    way = ", any shortest path" if row["metric"] == "optimal" else ""
    banks = "1 bank" if row["banks"] == 1 else f"{row['banks']} banks"
    compared = f"above in {row['above']}, below in {row['below']}" if row["vote"] != COMPARED else ""
    return {
        "Study: bank": f"{row['study']}: {banks}{way}",
        "Rule": row["vote"],
        "Accuracy": "",
        "Gap closed": f"{_percent(row['gap_closed_least'])} to {_percent(row['gap_closed_most'])}",
        "Less C-voting": compared,
        "p": "",
        "Rank": f"mean {row['rank']:.1f}, first in {row['first']}",
        "n": f"{row['puzzles']} ({row['gap_puzzles']}), seeds {row['training_seeds']} x {row['inference_seeds']}",
    }


def _interval(row: pd.Series, names: Sequence[str]) -> str:
    """A number with its interval, in percent or points; a dash where it is undefined."""
    value, low, high = (row[name] for name in names)
    return "–" if np.isnan(value) else f"{_percent(value)} [{_percent(low)}, {_percent(high)}]"


def _percent(value: float) -> str:
    """A fraction in percent, with a minus sign."""
    return f"{100 * value:.1f}".replace("-", "−")
