"""The numbers of docs/cluster.md are those of the paper's study."""

from functools import partial
from pathlib import Path

from cvoting.assumed_gpu import RATE
from cvoting.data.sources import FILES
from cvoting.estimate import estimate
from cvoting.estimate_jobs import Counts
from cvoting.flops.registry import network_flops
from cvoting.memory.registry import network_memory
from cvoting.params.reading import read_study
from cvoting.resources import of_rollouts

ROOT = Path(__file__).parents[2]
LARGE = ("akorn-sudoku_hard", "itrsa-sudoku_hard", "transformer-sudoku_hard")


def test_the_page_lays_out_the_papers_largest_banks() -> None:
    page, study = (ROOT / "docs/cluster.md").read_text(), read_study(ROOT / "params/paper.yaml")
    counts = Counts(network_flops, partial(network_memory, device="gpu"))
    table = estimate(study, counts, FILES, RATE).set_index("name")
    asked = of_rollouts(study, counts)
    for name in LARGE:
        block, row, need = study.banks[name], table.loc[name], asked[name]
        seeds = len(study.runs[block.run].training_seeds)
        assert study.datasets[block.dataset].source.splits.test == 18_000
        assert block.candidates == 4096
        asks = f"{need.gpu} GPU, {need.threads} threads, {need.mem_mb:,} MB, {need.runtime} minutes"
        jobs = f"{row['jobs']} = {seeds} training seed{'s' * (seeds > 1)} x {block.shards} shards"
        line = f"| {name} | {jobs} | {asks} | {row['hours']:.3g} | {row['disk_gb']:.3g} |"
        assert line in page.splitlines(), line
    total = table.loc[list(LARGE)].sum()
    assert f"Together {total['jobs']} jobs, {total['hours']:.3g} GPU hours and {total['disk_gb']:.3g} GB" in page
