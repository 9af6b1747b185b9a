"""How a table of the paper is written: CSV with every number, Markdown and LaTeX as it is read."""

from pathlib import Path

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.table_files import write_csv

FORMATS = ("csv", "md", "tex")


def write_table(
    data: pd.DataFrame, shown: pd.DataFrame, caption: str, name: str, out_dir: Path, pages: bool = False
) -> None:
    """Write a table in three formats under its name.

    Args:
        data: every number.
        shown: the cells of the table as text.
        caption: what it is, of which study.
        name: of the table.
        out_dir: the folder of the three files.
        pages: whether the table goes over several pages in LaTeX, as a `longtable`.
    """
    write_csv(data, out_dir / f"{name}.csv")
    markdown = f"{caption}\n\n{shown.to_markdown(index=False, disable_numparse=True)}\n"
    latex = (
        shown.map(_escaped)
        .rename(columns=_escaped)
        .style.hide(axis="index")
        .to_latex(
            hrules=True,
            caption=_escaped(caption),
            label=f"tab:{name}",
            position=None if pages else "tb",
            environment="longtable" if pages else None,
            convert_css=False,
        )
    )
    for suffix, text in (("md", markdown), ("tex", latex)):
        with atomic_path(out_dir / f"{name}.{suffix}") as temporary:
            temporary.write_text(text, encoding="utf-8")


def _escaped(text: str) -> str:
    """Text as LaTeX writes it."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: f"\\{c}" for c in "&%$#_{}"} | {
        "β": r"$\beta$",
        "≠": r"$\neq$",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
    }
    return "".join(special.get(character, character) for character in text)
