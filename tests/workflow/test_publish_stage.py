"""What the project keeps of a study: small copies of its results, and a page that shows them."""

from pathlib import Path

import pytest
from study_jobs import StudyJobs

pytestmark = pytest.mark.slow

TOY = StudyJobs(Path(__file__).parents[2] / "params/toy.yaml")


def test_publishing_copies_figures_tables_logs_and_verdicts_as_small_files(site) -> None:
    clone = site.clone()
    clone.snakemake("publish")
    docs = clone.folder / "docs/results/toy"
    kept = {str(file.relative_to(docs)) for file in docs.rglob("*") if file.is_file()}
    page = (docs / "README.md").read_text()
    for figure in TOY.study["figures"]:
        assert {f"figures/{figure}.csv", f"figures/{figure}.png"} <= kept
        assert f"](figures/{figure}.png)" in page
    assert {f"tables/{table}.md" for table in TOY.study["tables"]} | {"claims.csv", "claims.md", "metrics.json"} <= kept
    assert "checkpoints/akorn-sudoku/seed0.log.csv" in kept
    assert max((docs / name).stat().st_size for name in kept) < 1.5e6
    assert clone.plan("publish") == []
