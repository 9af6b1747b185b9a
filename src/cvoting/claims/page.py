"""The table of claims as a page to read: what was found, what each verdict means, and the field since."""

from pathlib import Path

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.claims.rules import Verdict

ABOUT = """\
Every claim of the paper beside what the {title} finds, by rules that are the same for all
studies. A claim holds where each number that bears on it says so; those not comparable or not run do not bear on it.

| verdict | what it means |
|---|---|
| {reproduced} / {not_reproduced} | at the paper's scale only: what the rule asks for is true, or false |
| {holds} / {fails} | the same in a smaller study, of orderings, shapes and equalities |
| {undecided} | the interval lies on both sides of the rule's limit: more puzzles or seeds would tell |
| {yes} / {no} | the answer to a question that the paper leaves open |
| {not_comparable} | a number of other puzzles and models than the paper's, or beside a model that has learned nothing |
| {not_run} | the study lacks what it takes, which the note names |
"""
NUMBERS = """\
Percent and points, but for counts, temperatures and correlations; [ ] is the {level} interval. Differences of two
votes in one bank are paired: the same puzzles and candidates. Those of two banks come from the intervals of both,
which is too wide where both solve the same puzzles. n: puzzles; seeds: training x inference; " / " parts two banks.
Cost: millions of recurrent steps of the rollouts behind a number. The command makes what shows it, of the study in
`params.yaml`; for another add `--configfile`.
"""
FIELD = """\
Settings differ between the rows (training set, test puzzles, depth, selection): compare within a row. Seen: in the
source itself (read), or in a survey or an abstract (second-hand).
"""


def write_page(table: pd.DataFrame, field: pd.DataFrame, path: Path) -> None:
    """Write the page.

    Args:
        table: of all claims.
        field: what others have published since.
        path: the file.
    """
    names = {verdict.name.lower(): f"**{verdict.value}**" for verdict in Verdict}
    levels = " or ".join(f"{level:.0%}" for level in table["level"].dropna().unique())
    title = table["title"].iloc[0]
    rules = table[["rule_name", "rule"]].drop_duplicates().rename(columns={"rule_name": "name", "rule": "in words"})
    parts = [
        f"# The claims, {title}",
        ABOUT.format(title=title, **names),
        "## Verdicts",
        markdown(claims(table)),
        "## Rules",
        markdown(rules.sort_values("name")),
        "## Numbers",
        NUMBERS.format(level=levels),
        *(part for _, of in table.groupby("claim", sort=False) for part in section(of)),
        "## The field since",
        FIELD,
        markdown(field_table(field)),
    ]
    with atomic_path(path) as temporary:
        temporary.write_text("\n\n".join(part.rstrip("\n") for part in parts) + "\n", encoding="utf-8")


def claims(table: pd.DataFrame) -> pd.DataFrame:
    """One row per claim: how many of its numbers say what."""
    rows = []
    for claim, of in table.groupby("claim", sort=False):
        first, said = of.iloc[0], of["verdict"].value_counts(sort=False)
        counts = ", ".join(f"{n} {verdict}" for verdict, n in said.items()) if len(of) > 1 else ""
        verdict = f"**{first['claim_verdict']}**"
        rows.append({"id": claim, "claim or question": first["about"], "verdict": verdict, "numbers": counts})
    return pd.DataFrame(rows)


def section(of: pd.DataFrame) -> tuple[str, str, str]:
    """What there is to say of a claim: heading, verdict, numbers."""
    first = of.iloc[0]
    places = "; ".join(dict.fromkeys(of["figure_or_section"]))
    verdict = f"**{first['claim_verdict']}** ({places}). `{first['command']}`"
    return f"### {first['claim']}: {first['about']}", verdict, markdown(numbers(of))


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """One row per number."""
    columns = {
        "number": table["number"],
        "paper": [paper(row) for _, row in table.iterrows()],
        "ours": [ours(row) for _, row in table.iterrows()],
        "K": [_text(value) for value in table["K"]],
        "n": [_text(value) for value in table["puzzles"]],
        "seeds": [seeds(row) for _, row in table.iterrows()],
        "cost": ["" if pd.isna(steps) else f"{steps / 1e6:,.2f}" for steps in table["rollout_steps"]],
        "rule": table["rule_name"],
        "verdict": table["verdict"],
        "note": [_note(row) for _, row in table.iterrows()],
    }
    return pd.DataFrame(columns)


def paper(row: pd.Series) -> str:
    """The published number of a row, with its spread and n; a dash where none is printed."""
    if pd.isna(row["published"]):
        return "–"
    text = _number(row["published"], row["unit"])
    if pd.notna(row["published_spread"]):
        text += f" ± {_number(row['published_spread'], row['unit'])}"
    return text + (f" (n = {int(row['published_n']):,})" if pd.notna(row["published_n"]) else "")


def ours(row: pd.Series) -> str:
    """Our number of a row with its interval; a dash where there is none."""
    if pd.isna(row["value"]):
        return "–"
    text = _number(row["value"], row["unit"])
    if pd.isna(row["level"]):
        return text
    return f"{text} [{_number(row['low'], row['unit'])}, {_number(row['high'], row['unit'])}]"


def field_table(field: pd.DataFrame) -> pd.DataFrame:
    """What others have published since."""
    names = {"sudoku_extreme": "Sudoku-extreme", "maze_hard": "Maze-hard", "maze_unique": "mazes with one path"}
    kinds = {"board": "", "optimal": " (any shortest path)", "oracle": " (any candidate)"}
    values = [
        f"{100 * row['value']:g}" if pd.notna(row["value"]) else f"{100 * row['low']:g} to {100 * row['high']:g}"
        for _, row in field.iterrows()
    ]
    return pd.DataFrame(
        {
            "system": field["system"],
            "arXiv": [_text(value) for value in field["arxiv"]],
            "M parameters": [_text(value) for value in field["parameters_millions"]],
            "task": [names.get(name, name) for name in field["dataset"]],
            "%": [value + kinds[metric] for value, metric in zip(values, field["metric"], strict=True)],
            "setting": [_text(value) for value in field["setting"]],
            "scales by": [_text(value) for value in field["scales_by"]],
            "code": field["code"],
            "seen": field["seen"],
        }
    )


def markdown(table: pd.DataFrame) -> str:
    """A table in which nothing is padded, so that a changed cell changes one line."""
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _number(value: float, unit: str) -> str:
    """A number as it is read."""
    if unit == "%":
        return f"{100 * value:.1f}" if abs(value) >= 0.0005 or value == 0 else f"{100 * value:.2g}"
    return f"{value:,.0f}" if unit == "count" else f"{value:.3g}"


def seeds(row: pd.Series) -> str:
    """Training by inference seeds."""
    return "" if not _text(row["training_seeds"]) else f"{row['training_seeds']} x {row['inference_seeds']}"


def _note(row: pd.Series) -> str:
    """The note, with the rank correlation where there is one."""
    trend = "" if pd.isna(row["trend"]) else f"rank correlation {row['trend']:.2f}"
    return "; ".join(filter(None, [_text(row["note"]), trend]))


def _text(value: object) -> str:
    return "" if pd.isna(value) else str(value)  # type: ignore[call-overload]
