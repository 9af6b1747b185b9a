"""A walk through ablations: edits of params.yaml one after another, each run, with the jobs it costs."""

import difflib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd
from project import Project
from rerun_rows import assert_jobs
from rerun_site import Site
from study_jobs import SUMMARY, StudyJobs

RESULTS = "results/toy"
VARIANT = "itrsa_deep"
#: What a variant takes: a model, a run, a bank, and a place in a figure.
VARIANT_EDITS = {
    "  transformer:\n    network:": (
        f"  {VARIANT}:\n    network: {{<<: *itrsa, self_attentions: 3}}\n    training: *itrsa_training\n"
        "  transformer:\n    network:"
    ),
    "  transformer-sudoku: {": (
        f"  {VARIANT}-sudoku: {{model: {VARIANT}, dataset: sudoku, training_seeds: [0]}}\n  transformer-sudoku: {{"
    ),
    "  transformer-sudoku_hard:\n    {": (
        f"  {VARIANT}-sudoku_hard: {{<<: *ablation_bank, run: {VARIANT}-sudoku, weights: average}}\n"
        "  transformer-sudoku_hard:\n    {"
    ),
    "      - [itrsa-sudoku_hard, akorn-sudoku_hard, hrm_fixed-sudoku_hard]\n      - [itrsa-maze_hard": (
        f"      - [itrsa-sudoku_hard, {VARIANT}-sudoku_hard, akorn-sudoku_hard, hrm_fixed-sudoku_hard]\n"
        "      - [itrsa-maze_hard"
    ),
}


@dataclass(frozen=True)
class Step:
    """An ablation.

    Attributes:
        title: what is tried.
        edits: passages of params.yaml and what takes their place.
        note: what may be surprising.
        jobs: those it costs, from the study after the edit.
        check: looks at the results.
    """

    title: str
    edits: dict[str, str]
    note: str
    jobs: Callable[[StudyJobs], list[str]]
    check: Callable[[Project], None]


def other_K(project: Project) -> None:
    """Every voting table has the new numbers of candidates, as far as its bank has candidates."""
    for path in (project.folder / RESULTS / "voting").glob("*_hard.csv"):
        assert set(pd.read_csv(path)["K"]) in ({1, 3, 8}, {1}), path


def all_trained(project: Project) -> None:
    """A checkpoint of each run says with which detach step it was trained."""
    for run, expected in (("itrsa-sudoku", 1), ("itrsa_no_truncation-sudoku", None)):
        record = json.loads((project.folder / f"{RESULTS}/checkpoints/{run}/seed0.safetensors.run.json").read_text())
        assert record["recipe"]["training"]["detach_step"] == expected


def two_seeds(project: Project) -> None:
    """The table has both seeds, and rows over both."""
    table = pd.read_csv(project.folder / RESULTS / "voting/akorn-sudoku_hard.csv", dtype={"training_seed": str})
    assert set(table["training_seed"]) == {"0", "1", "all"}


def named_in(project: Project) -> set[str]:
    """The folders of results with a table that names the variant."""
    places = ("voting", "calibration", "figures", "tables", "plots")
    files = [file for place in places for file in (project.folder / RESULTS / place).glob("*.csv")]
    files.append(project.folder / RESULTS / "metrics.json")
    return {file.parent.name for file in files if not file.name.startswith(VARIANT) and VARIANT in file.read_text()}


def variant_shown(project: Project) -> None:
    """The figure shows it, and the metrics and plots."""
    assert named_in(project) == {"figures", "plots", "toy"}


def no_orphan(project: Project) -> None:
    """Its files are there still, and no table or figure has a word of them."""
    assert (project.folder / f"{RESULTS}/checkpoints/{VARIANT}-sudoku/seed0.safetensors").exists()
    assert (project.folder / f"{RESULTS}/voting/{VARIANT}-sudoku_hard.csv").exists()
    assert named_in(project) == set()


#: Jobs in which K is 1, or 1 and all.
OF_ONE_K = ("voting in hrm_fixed", "at the steps", "fig8_itrsa_test_time_scaling", "difficulty")
SHARING = ["itrsa-sudoku", "itrsa-maze_hard", "itrsa_linear_mixing-sudoku", "itrsa_ffn-sudoku"]
FIGURE = ["drawing fig3_itrsa_voting", "copying fig3_itrsa_voting to figures/"]
STEPS = [
    Step(
        "Other numbers of candidates",
        {"K: [1, 2, 4, 8]": "K: [1, 3, 8]"},
        "Every K up to a bank's `candidates` comes from the same rollouts; a larger one needs more `candidates`. Banks "
        "of one candidate, and the tables at listed steps and by difficulty, have no other K.",
        lambda study: [
            *(job for job in study.from_votes() if not any(word in job for word in OF_ONE_K)),
            *study.adaptive(),
            *(job for job in study.figures() if "adaptive" in job),
        ],
        other_K,
    ),
    Step(
        "Another detach step",
        {"detach_step: 2": "detach_step: 1"},
        "The block has an anchor, `&itrsa_training`: the variants that repeat it are trained again too, but not those "
        "that set their own.",
        lambda study: [
            *study.training(SHARING),
            *study.rollouts(study.banks_of(SHARING)),
            *study.from_banks(study.banks_of(SHARING)),
            *study.tables([], SHARING),
        ],
        all_trained,
    ),
    Step(
        "Another training seed",
        {
            "akorn-sudoku: {model: akorn, dataset: sudoku, training_seeds: [0]}": (
                "akorn-sudoku: {model: akorn, dataset: sudoku, training_seeds: [0, 1]}"
            )
        },
        "The first seed is neither trained nor rolled out again; tables and figures then show the spread.",
        lambda study: [
            "training akorn-sudoku with seed 1",
            *(job for job in study.rollouts(["akorn-sudoku_hard"]) if "training seed 1" in job),
            *study.from_banks(["akorn-sudoku_hard"]),
        ],
        two_seeds,
    ),
    Step(
        "A variant of a model",
        VARIANT_EDITS,
        "A model, a run, a bank, and its place in a figure.",
        lambda study: [
            f"training {VARIANT}-sudoku with seed 0",
            *study.rollouts([f"{VARIANT}-sudoku_hard"]),
            *study.voting([f"{VARIANT}-sudoku_hard"]),
            *study.adaptive([f"{VARIANT}-sudoku_hard"]),
            *study.confidence([f"{VARIANT}-sudoku_hard"]),
            *FIGURE,
            *SUMMARY,
        ],
        variant_shown,
    ),
    Step(
        "The variant removed",
        {new: old for old, new in VARIANT_EDITS.items()},
        "Its files stay until you delete them; no table, figure or metric has a word of them, as each is made from "
        "what params.yaml lists.",
        lambda study: [*FIGURE, *SUMMARY],
        no_orphan,
    ),
]


def walk(site: Site) -> Iterator[tuple[Step, str, str]]:
    """Take the steps one after another in a clone; gives each with the difference in params.yaml and its jobs in words.

    Raises:
        AssertionError: when a step costs other jobs, or a result is not what it should be.
    """
    clone = site.clone()
    path = clone.folder / "params.yaml"
    for step in STEPS:
        before = path.read_text()
        after = before
        for old, new in step.edits.items():
            assert after.count(old) == 1, old
            after = after.replace(old, new)
        path.write_text(after)
        ran = clone.jobs(clone.snakemake())
        counted = assert_jobs(ran, step.jobs(StudyJobs(path)))
        step.check(clone)
        yield step, _difference(before, after), counted


def _difference(before: str, after: str) -> str:
    """The lines that changed."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))
