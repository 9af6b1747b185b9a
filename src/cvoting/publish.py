"""The small copies of a study's results that a repository keeps, and the page that shows them."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from PIL import Image

from cvoting.atomic import atomic_path
from cvoting.claims.page import markdown
from cvoting.picture_file import write_picture
from cvoting.table_files import read_log

#: Pixels of a published picture for one of the figure's: enough for a page.
SCALE = 0.5
PAGE = "README.md"


def publish(title: str, files: Sequence[Path], results: Path, out_dir: Path) -> None:
    """Copy files of a study, pictures smaller, and write the page that shows them.

    Args:
        title: of the study.
        files: to be copied.
        results: the folder of the study's results, in which they are.
        out_dir: where they go, to the same places below it.

    Raises:
        TableError: when a training log is none.
    """
    for file in files:
        copy = out_dir / file.relative_to(results)
        copy.parent.mkdir(parents=True, exist_ok=True)
        (_copy_picture if file.suffix == ".png" else _copy)(file, copy)
    published = [file.relative_to(results) for file in files]
    with atomic_path(out_dir / PAGE) as temporary:
        temporary.write_text(_page(title, published, results), encoding="utf-8")


def _copy(file: Path, copy: Path) -> None:
    with atomic_path(copy) as temporary:
        shutil.copyfile(file, temporary)


def _copy_picture(file: Path, copy: Path) -> None:
    with Image.open(file) as picture:
        width, height = (round(SCALE * pixels) for pixels in picture.size)
        write_picture(picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), copy)


def _page(title: str, published: Sequence[Path], results: Path) -> str:
    """What is there, pictures shown."""
    pictures = [file for file in published if file.suffix == ".png"]
    tables = [file for file in published if file.parent.name == "tables" and file.suffix == ".md"]
    logs = [file for file in published if file.name.endswith(".log.csv")]
    shown = [f"### {file.stem}\n\n![{file.stem}]({file.as_posix()})\n\n{_numbers(file)}" for file in pictures]
    listed = "\n".join(f"- [{file.stem}]({file.as_posix()})" for file in tables)
    ended = "Board accuracy and loss are of the validation puzzles, after the last update."
    sections = {
        "Verdicts on all claims": ["[claims.md](claims.md)"] * (Path("claims.md") in published),
        "Figures": shown,
        "Tables": [listed] * bool(tables),
        "Trainings": [ended, markdown(_trainings(logs, results))] if logs else [],
    }
    parts = [f"# Results, {title}", f"Made by `make publish` from `{results.as_posix()}`: do not edit."]
    parts += [part for name, content in sections.items() if content for part in (f"## {name}", *content)]
    return "\n\n".join(parts) + "\n"


def _numbers(picture: Path) -> str:
    return f"Numbers: [{picture.stem}.csv]({picture.with_suffix('.csv').as_posix()})"


def _trainings(logs: Sequence[Path], results: Path) -> pd.DataFrame:
    """A row for each training."""
    rows = []
    for log in logs:
        last = read_log(results / log).iloc[-1]
        rows.append({
            "run": log.parent.name,
            "training seed": log.name.removeprefix("seed").removesuffix(".log.csv"),
            "updates": f"{last['update']:,.0f}",
            "board accuracy, %": f"{100 * last['validation_board']:.1f}",
            "loss, nats": f"{last['validation_loss']:.3f}",
            "log": f"[{log.name}]({log.as_posix()})",
        })  # fmt: skip
    return pd.DataFrame(rows)
