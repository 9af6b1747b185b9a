"""What a study is said to cost before it runs: jobs, operations, hours, memory, disk, beside what was measured."""

import math
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cvoting.assumed_gpu import RATE
from cvoting.bank_size import bank_bytes
from cvoting.data.sources import FILES
from cvoting.errors import CvotingError
from cvoting.estimate import DISK, LARGEST, SUMMED, estimate
from cvoting.estimate_jobs import Counts, of_bank, of_run
from cvoting.estimate_page import markdown, scientific, text, too_large
from cvoting.flops.registry import network_flops
from cvoting.job_benchmarks import Measured, Record, read_benchmarks
from cvoting.memory.jobs import training_memory
from cvoting.memory.registry import network_memory
from cvoting.params.imported import ImportedParams
from cvoting.params.reading import read_study
from cvoting.params.study import Study

ROOT = Path(__file__).parents[2]
STUDIES = sorted([ROOT / "params.yaml", *ROOT.glob("params/*.yaml")])
COUNTS = Counts(network_flops, partial(network_memory, device="gpu"))
BANK, RUN = "itrsa-sudoku_hard", "itrsa-sudoku"


@pytest.fixture(scope="module")
def toy() -> Study:
    return read_study(ROOT / "params/toy.yaml")


@pytest.fixture(scope="module")
def paper() -> pd.DataFrame:
    return costs(read_study(ROOT / "params/paper.yaml"))


def costs(study: Study, rate: float = RATE, measured: Mapping[str, Measured] | None = None) -> pd.DataFrame:
    """The estimate, by stage and name."""
    return estimate(study, COUNTS, FILES, rate, measured).set_index(["stage", "name"])


def cvoting(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command line."""
    return subprocess.run([sys.executable, "-m", "cvoting", *arguments], capture_output=True, text=True, cwd=cwd)


def with_seeds(study: Study, trainings: int, inferences: int) -> Study:
    """The study with other numbers of seeds of one run and its bank."""
    run, bank = study.runs[RUN], study.banks[BANK]
    changed = replace(bank, inference_seeds=tuple(range(5, 5 + inferences)))
    runs = {**study.runs, RUN: replace(run, training_seeds=tuple(range(trainings)))}
    return replace(study, runs=runs, banks={**study.banks, BANK: changed})


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_study_is_costed_in_seconds_and_its_totals_are_sums_of_rows(path: Path) -> None:
    start, study = time.monotonic(), read_study(path)
    table = costs(study)
    assert time.monotonic() - start < 5
    rows = table.iloc[:-3]
    assert list(rows.index.get_level_values("name")) == [*study.runs, *study.banks, "puzzles"]
    for name, stages in (("all trainings", ["train", "import"]), ("all rollouts", ["rollouts"])):
        part, total = rows[rows.index.get_level_values("stage").isin(stages)], table.loc["", name]
        assert total[list(SUMMED)].to_list() == pytest.approx(part[list(SUMMED)].sum().to_list())
        assert total[list(LARGEST)].to_list() == part[list(LARGEST)].max().fillna(0).to_list()
    assert table.loc[("", "all"), list(SUMMED)].to_list() == pytest.approx(rows[list(SUMMED)].sum().to_list())
    assert rows["disk_gb"].to_list() == pytest.approx(
        (rows[[f"{part}_mb" for part in DISK]].sum(axis=1) / 1e3).to_list()
    )
    assert (rows["hours"] * 3600 * RATE).to_list() == pytest.approx(rows["flops"].to_list())
    assert (table[list(SUMMED)] >= 0).all(axis=None)


def test_a_training_seed_more_adds_exactly_its_jobs(toy: Study) -> None:
    before, after = costs(with_seeds(toy, 1, 2)), costs(with_seeds(toy, 2, 2))
    changed = {name for name in before.index[:-3] if not before.loc[name].equals(after.loc[name])}
    of_the_run = {bank for bank, block in toy.banks.items() if block.run == RUN}
    assert changed == {("train", RUN), *(("rollouts", bank) for bank in of_the_run)}
    for name in changed:
        summed, same = list(SUMMED), list(LARGEST)
        assert after.loc[name, summed].to_list() == pytest.approx((2 * before.loc[name, summed]).to_list())
        assert after.loc[name, same].to_list() == before.loc[name, same].to_list()
    jobs = {job.file for job in of_run(with_seeds(toy, 2, 2), RUN, COUNTS)}
    assert jobs == {f"train/{RUN}/seed0", f"train/{RUN}/seed1"}


def test_a_bank_has_a_job_for_each_seed_and_shard(toy: Study) -> None:
    study = with_seeds(toy, 2, 3)
    study = replace(study, banks={**study.banks, BANK: replace(study.banks[BANK], shards=2)})
    jobs = list(of_bank(study, BANK, COUNTS))
    files = {f"rollouts/{BANK}/train{t}-infer{i}/shard{s}" for t in (0, 1) for i in (5, 6, 7) for s in (0, 1)}
    assert len(jobs) == 12
    assert {job.file for job in jobs} == files


def test_steps_and_logits_are_those_of_the_first_inference_seed(toy: Study) -> None:
    bank, task = toy.banks[BANK], toy.datasets["sudoku_hard"].task
    assert bank.read_at
    assert bank.logit_candidates
    network = toy.models[toy.runs[RUN].model].network
    # 24 puzzles of 16 cells.
    of_bank_ = {part: size / 1e6 for part, size in bank_bytes(bank, task, network, 24, 24 * 16).items()}
    for trainings, seeds in ((1, 2), (1, 3), (2, 2), (2, 3)):
        row = costs(with_seeds(toy, trainings, seeds)).loc["rollouts", BANK]
        times = {"answers": seeds, "scores": seeds, "steps": 1, "logits": 1}
        for part, size in of_bank_.items():
            assert row[f"{part}_mb"] == pytest.approx(size * trainings * times[part], rel=1e-3), part


def test_reading_out_on_the_way_costs_the_first_inference_seed_more(toy: Study) -> None:
    study = with_seeds(toy, 1, 2)
    bank = replace(study.banks[BANK], T_eval=6, read_at=(1, 2, 6), read_candidates=3, shards=1)
    first, other = of_bank(replace(study, banks={**study.banks, BANK: bank}), BANK, COUNTS)
    network, task = toy.models[toy.runs[RUN].model].network, toy.datasets["sudoku_hard"].task
    # 3 candidates of 24 boards at steps 1 and 2; all are read out at steps 3 to 6 anyway.
    assert first.flops - other.flops == 24 * 3 * 2 * network_flops(network, task).readout > 0


def test_an_imported_run_is_one_job_that_computes_nothing_and_leaves_a_checkpoint(toy: Study) -> None:
    block, name = ImportedParams(file="weights.safetensors", sha256="0" * 64, format="checkpoint"), "transformer-sudoku"
    study = replace(toy, runs={**toy.runs, name: replace(toy.runs[name], imported=block)})
    row, trained = costs(study).loc["import", name], costs(toy).loc["train", name]
    assert (row["jobs"], row["flops"], row["resume_mb"]) == (1, 0, 0)
    assert row["checkpoint_mb"] == trained["checkpoint_mb"] > 0


def test_the_paper_costs_what_is_known_of_it(paper: pd.DataFrame) -> None:
    expected = {
        ("train", "akorn-sudoku"): 9.05e15,
        ("train", "hrm_fixed-maze_hard"): 1.0e19,
    }
    for name, flops in expected.items():
        assert paper.loc[name, "flops_of_a_job"] == pytest.approx(flops, rel=0.01)
    for name in ("akorn-sudoku_hard", "itrsa-sudoku_hard"):
        # 3 training seeds in 18 shards of 1,000 boards; K = 4096.
        row = paper.loc["rollouts", name]
        assert row["jobs"] == 3 * 18
        assert row["flops"] == pytest.approx(54 * row["flops_of_a_job"])
        assert row["flops"] / 3 == pytest.approx(1.8e18, rel=0.02)
    # Whole numbers would have overflowed.
    assert paper.loc[("", "all"), "flops"] > 2**63


def measured_jobs(study: Study, seconds: float) -> dict[str, Measured]:
    """The same time for every job of a study."""
    jobs = [job for run in study.runs for job in of_run(study, run, COUNTS)]
    jobs += [job for bank in study.banks for job in of_bank(study, bank, COUNTS)]
    return {job.file: Measured(seconds, 10**9) for job in jobs}


def test_measured_hours_stand_beside_the_estimate_and_a_missing_one_is_a_blank(toy: Study) -> None:
    study = with_seeds(toy, 1, 3)
    measured = measured_jobs(study, 36.0)
    table = costs(study, 1e9, measured)
    row = table.loc["rollouts", BANK]
    assert row["measured_hours"] == pytest.approx(row["jobs"] * 0.01)
    assert row["ratio"] == pytest.approx(row["flops"] / 1e9 / 3600 / row["measured_hours"])
    assert row["measured_memory_gb"] == 1.0
    total = table.loc["", "all"]
    assert total["measured_hours"] == pytest.approx(0.01 * len(measured))
    assert total["ratio"] == pytest.approx(total["hours"] / total["measured_hours"])
    del measured[f"rollouts/{BANK}/train0-infer6/shard0"]
    table = costs(study, 1e9, measured)
    for name in (("rollouts", BANK), ("", "all rollouts"), ("", "all")):
        assert table.loc[name, ["measured_hours", "measured_memory_gb", "ratio"]].isna().all(), name
    assert table.loc[("", "all trainings"), "measured_hours"] == pytest.approx(0.01 * len(study.runs))
    shown = next(line for line in markdown(table.reset_index()).splitlines() if f"| {BANK} " in line)
    assert [cell.strip() for cell in shown.split("|")][-3:] == ["", "", ""]


def test_benchmark_files_are_read_by_job(tmp_path: Path) -> None:
    header = "s\th:m:s\tmax_rss\tmax_vms"
    files = {
        "train/akorn/seed0": "100.0\t0:01:40\t2.0\t3.0",
        "rollouts/b/train0-infer1/shard0": "1.5\t0:00:01\t-\t-",
        "voting/b": "1.0\t0:00:01\t1\t1",
    }
    for name, row in files.items():
        path = tmp_path / f"{name}.tsv"
        path.parent.mkdir(parents=True)
        path.write_text(f"{header}\n{row}\n")
    found = read_benchmarks(tmp_path)
    assert list(found) == ["train/akorn/seed0", "rollouts/b/train0-infer1/shard0"]
    assert found["train/akorn/seed0"] == (100.0, 2 * 2**20)
    assert math.isnan(found["rollouts/b/train0-infer1/shard0"].bytes)
    path = tmp_path / "record.json"
    record = Record.here(tmp_path, 5e10)
    record.save(path)
    assert Record.load(path).jobs["train/akorn/seed0"] == record.jobs["train/akorn/seed0"]
    assert (Record.load(path).rate, Record.load(path).machine) == (5e10, record.machine)


def test_a_record_keeps_the_jobs_of_an_earlier_one_of_the_same_machine() -> None:
    earlier = Record("a", 5e10, {"train/b": Measured(1.0, 1.0), "train/a": Measured(2.0, 2.0)})
    later = Record("a", 5e10, {"train/b": Measured(3.0, 3.0), "train/c": Measured(4.0, 4.0)})
    assert {job: taken.seconds for job, taken in later.over(earlier).jobs.items()} == {
        "train/a": 2.0,
        "train/b": 3.0,
        "train/c": 4.0,
    }
    assert later.over(replace(earlier, machine="b")) == later
    assert later.over(replace(earlier, rate=1e10)) == later


@pytest.mark.parametrize("content", ["", "s\tmax_rss\n", "time\n1\n", "s\tmax_rss\nfast\t1\n"])
def test_another_file_in_the_place_of_a_benchmark_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train/seed0.tsv").write_text(content)
    with pytest.raises(CvotingError, match="not a benchmark file of Snakemake"):
        read_benchmarks(tmp_path)


def test_a_folder_that_is_not_there_and_a_file_that_is_no_record_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CvotingError, match="absent: expected the folder of a study's benchmark files"):
        read_benchmarks(tmp_path / "absent")
    for content in ("", "[]", '{"jobs": {}}', '{"machine": "", "rate": 1, "jobs": {"a": 1}}'):
        (tmp_path / "record.json").write_text(content)
        with pytest.raises(CvotingError, match="no record of jobs: make it again"):
            Record.load(tmp_path / "record.json")


def test_numbers_are_short_and_what_is_assumed_is_said(toy: Study) -> None:
    assert [scientific(value) for value in (9.046e15, 1e20, 1.0, 0.05)] == ["9.05e15", "1.00e20", "1.00e0", "5.00e-2"]
    table = estimate(toy, COUNTS, FILES, 1e10)
    assert "at a rate of 1.00e10 FLOP/s for each job.\nMemory is what a job on a GPU takes" in text(table, 1e10, "gpu")
    assert "rate of 4.02e13 FLOP/s for each job, 60% of an H100's 6.70e13 in float32." in text(table, RATE, "cpu")


def test_what_takes_more_memory_than_there_is_is_told_with_what_to_change(toy: Study) -> None:
    table = estimate(toy, COUNTS, FILES, RATE)
    of_jobs = table[table["jobs"] > 0].set_index(["stage", "name"])["memory_of_a_job_gb"]
    assert list(too_large(toy, table, COUNTS, 1.0)) == []
    assert len(list(too_large(toy, table, COUNTS, 1e-9))) == len(toy.runs) + len(toy.banks)
    limit = of_jobs["train", RUN] / 2
    lines = dict(line.split(" takes ") for line in too_large(toy, table, COUNTS, limit))
    block, dataset = toy.models[toy.runs[RUN].model], toy.datasets[toy.runs[RUN].dataset]
    said = lines[f"`{RUN}`"]
    assert said.startswith(f"more than {limit:g} GB: `accumulate: ")
    parts = int(said.split("accumulate: ")[1].split("`")[0])
    memory, training = network_memory(block.network, dataset.task, "gpu"), toy.training_of(RUN)
    sizes = [training_memory(memory, training, dataset.source.splits.validation, n) for n in (parts - 1, parts)]
    assert sizes[1] <= limit * 1e9 < sizes[0]


def test_the_command_prints_a_table_and_writes_every_column(toy: Study, tmp_path: Path) -> None:
    path = tmp_path / "cost.csv"
    run = cvoting("estimate", "--configfile", "params/toy.yaml", "--rate", "1e10", "--csv", str(path))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Hours are FLOP / rate, at a rate of 1.00e10 FLOP/s")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines() if "|" in line]
    assert [line[1] for line in lines[2:]] == [*toy.runs, *toy.banks, "puzzles", "all trainings", "all rollouts", "all"]
    table = estimate(toy, COUNTS, FILES, 1e10)
    pd.testing.assert_frame_equal(pd.read_csv(path, keep_default_na=True).fillna({"stage": ""}), table)


@pytest.mark.parametrize("value", ["fast", "0", "-1e14", "nan", "inf", ""])
def test_a_rate_that_is_no_number_above_zero_is_refused(value: str) -> None:
    run = cvoting("estimate", f"--rate={value}")
    assert run.returncode == 2
    assert f"argument --rate: {value!r}, expected a number above 0, such as 1e14" in run.stderr


def test_the_page_about_costs_is_up_to_date_and_another_is_refused(tmp_path: Path) -> None:
    assert cvoting("cost", "--check").returncode == 0, "run `python -m cvoting cost`"
    page = tmp_path / "cost.md"
    page.write_text((ROOT / "docs/cost.md").read_text().replace("9.05e15", "9.06e15"))
    stale = cvoting("cost", "--check", f"--file={page}")
    assert stale.returncode == 1
    assert f"{page} says other costs than the parameters: run `python -m cvoting cost`" in stale.stderr
    assert cvoting("cost", f"--file={page}").returncode == 0
    assert page.read_text() == (ROOT / "docs/cost.md").read_text()


def test_a_record_is_made_of_a_folder_and_a_rate_together() -> None:
    run = cvoting("cost", "--benchmarks=absent")
    assert run.returncode == 1
    assert "--benchmarks and --rate make a record of jobs together: expected both, or neither" in run.stderr


def test_the_laptop_study_took_at_most_twice_as_long_as_estimated_and_at_least_half() -> None:
    record = Record.load(ROOT / "docs/results/laptop/jobs.json")
    table: Any = costs(read_study(ROOT / "params.yaml"), record.rate, record.jobs)
    for name in ("all trainings", "all rollouts", "all"):
        assert 0.5 < table.loc[("", name), "ratio"] < 2, name
