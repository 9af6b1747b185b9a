"""The small copies of a study's results, and the page that shows them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from cvoting.publish import PAGE, publish
from cvoting.table_files import TableError

LOG = "update,loss,validation_loss,validation_board\n10,1.5,1.25,0.5\n20,1,0.125,0.75\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """What a study made, in `results`."""
    results = tmp_path / "results"
    texts = {
        "claims.md": "verdicts\n",
        "figures/fig2_akorn_voting.csv": "K\n1\n",
        "tables/table3_akorn.md": "a table\n",
        "checkpoints/akorn-sudoku/seed1.log.csv": LOG,
    }
    for name, text in texts.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    picture = results / "figures/fig2_akorn_voting.png"
    noise = np.random.default_rng(0).integers(0, 255, (90, 120, 4), dtype=np.uint8)
    Image.fromarray(noise).save(picture)
    return [*(results / name for name in texts), picture]


def test_files_are_copied_and_pictures_become_smaller(files: list[Path], tmp_path: Path) -> None:
    publish("a study", files, tmp_path / "results", tmp_path / "docs")
    for file in files[:-1]:
        assert (tmp_path / "docs" / file.relative_to(tmp_path / "results")).read_bytes() == file.read_bytes()
    copy = tmp_path / "docs/figures/fig2_akorn_voting.png"
    with Image.open(copy) as picture:
        assert (picture.size, picture.mode) == ((60, 45), "P")
    assert copy.stat().st_size < files[-1].stat().st_size / 4


def test_colours_of_curves_survive_among_many_others(files: list[Path], tmp_path: Path) -> None:
    shades = np.linspace(0, 255, 120 * 120).reshape(120, 120, 1)
    picture = np.concatenate([shades, shades[::-1], np.full_like(shades, 150)], axis=2).astype(np.uint8)
    colours = {"#0072B2": (10, 4), "#E69F00": (30, 4), "#D55E00": (50, 4), "#009E73": (70, 4)}
    for colour, (row, column) in colours.items():
        picture[row : row + 8, column : column + 8] = ImageColor.getrgb(colour)
    Image.fromarray(picture).save(files[-1])
    publish("a study", files, tmp_path / "results", tmp_path / "docs")
    with Image.open(tmp_path / "docs/figures/fig2_akorn_voting.png") as copy:
        shown = np.asarray(copy.convert("RGB")).astype(int)
    for colour, (row, column) in colours.items():
        assert abs(shown[row // 2 + 2, column // 2 + 2] - ImageColor.getrgb(colour)).max() <= 16, colour


def test_the_page_shows_figures_tables_and_how_trainings_ended(files: list[Path], tmp_path: Path) -> None:
    publish("a study", files, tmp_path / "results", tmp_path / "docs")
    page = (tmp_path / "docs" / PAGE).read_text()
    assert page.startswith("# Results, a study\n")
    assert "![fig2_akorn_voting](figures/fig2_akorn_voting.png)" in page
    assert "[fig2_akorn_voting.csv](figures/fig2_akorn_voting.csv)" in page
    assert "- [table3_akorn](tables/table3_akorn.md)" in page
    row = "| akorn-sudoku | 1 | 20 | 75.0 | 0.125 | [seed1.log.csv](checkpoints/akorn-sudoku/seed1.log.csv) |"
    assert row in page.splitlines()


def test_a_study_of_trainings_alone_has_a_page_of_them(files: list[Path], tmp_path: Path) -> None:
    publish("a study", files[3:4], tmp_path / "results", tmp_path / "docs")
    headings = [line for line in (tmp_path / "docs" / PAGE).read_text().splitlines() if line.startswith("#")]
    assert headings == ["# Results, a study", "## Trainings"]


def test_publishing_twice_gives_the_same_bytes(files: list[Path], tmp_path: Path) -> None:
    for name in ("one", "two"):
        publish("a study", files, tmp_path / "results", tmp_path / name)
    one, two = (sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert len(one) == len(files) + 1


def test_what_is_no_training_log_is_refused(files: list[Path], tmp_path: Path) -> None:
    files[3].write_text("update\n1\n")
    with pytest.raises(TableError, match=r"seed1\.log\.csv: not a training log"):
        publish("a study", files, tmp_path / "results", tmp_path / "docs")
