"""Edits of params.yaml: the jobs that `snakemake -n` plans, and the stages that `dvc status` names."""

import dataclasses
import json

import yaml
from project import Project
from rerun_rows import IDLE, TOY, Row, assert_jobs, collector
from rerun_site import Site
from ruamel.yaml import YAML
from study_jobs import CLAIMS, SUMMARY

from cvoting.params.study import Study

ROWS: list[Row] = []
row = collector(ROWS)
AFFECTS = {field.name: field.metadata["affects"] for field in dataclasses.fields(Study)}
COMMANDS = "edit params.yaml\nsnakemake -n\ndvc status"


def parameter(key: str, value: object, expected: str, jobs: list[str]) -> None:
    """A row: another value of one parameter of the toy study plans some jobs, and concerns the stages of its block."""

    @row(f"another `{key}`", COMMANDS, expected)
    def edit(site: Site) -> str:
        with site.edited() as clone:
            clone.edit_params(value, *key.split("."))
            planned = assert_jobs(clone.plan(), jobs)
            stages = changed_stages(clone)
        assert stages == set(AFFECTS[key.split(".")[0]]), stages
        return f"{planned}; stages: {', '.join(sorted(stages, key=list(AFFECTS['study']).index))}"


def changed_stages(project: Project) -> set[str]:
    """The stages that DVC would run because of their parameters."""
    said = json.loads(project.dvc("status", "--json"))
    return {stage for stage, changes in said.items() if "params.yaml" in str(changes)}


AKORN_RUNS = TOY.runs_of("akorn")
AKORN_BANKS = TOY.banks_of(AKORN_RUNS)
MAZE_RUNS = [name for name, run in TOY.study["runs"].items() if run["dataset"] == "maze_hard"]
MAZE_BANKS = TOY.banks_of(MAZE_RUNS)

parameter(
    "datasets.maze_hard.source.seed",
    1,
    "the mazes, what was trained on them, and what follows",
    [
        *(job for job in TOY.data() if job.endswith(" maze_hard")),
        *TOY.training(MAZE_RUNS),
        *TOY.rollouts(MAZE_BANKS),
        *TOY.from_banks(MAZE_BANKS),
    ],
)
parameter(
    "models.akorn.training.optimizer.lr",
    0.004,
    "exactly that model's trainings and what follows from them",
    [
        *TOY.training(AKORN_RUNS),
        *TOY.rollouts(AKORN_BANKS),
        *TOY.from_banks(AKORN_BANKS),
        *TOY.tables([], AKORN_RUNS),
    ],
)
parameter(
    "banks.akorn-maze_hard.T_eval",
    5,
    "that bank's rollouts and what follows; no training",
    [*TOY.rollouts(["akorn-maze_hard"]), *TOY.from_banks(["akorn-maze_hard"])],
)
parameter("voting.level", 0.9, "voting tables and what is made of them; no rollout", TOY.from_votes())
parameter(
    "adaptive.K_max",
    3,
    "tables of adaptive voting and their figure alone",
    [*TOY.adaptive(), *(job for job in TOY.figures() if "adaptive" in job)],
)
parameter(
    "calibration.bins",
    7,
    "calibration tables, their figures, the summary and the verdicts",
    [
        *SUMMARY,
        *(job for job in TOY.confidence() if job.startswith("calibration of")),
        *(job for job in TOY.figures() if "calibration" in job),
    ],
)
parameter(
    "calibration.candidates",
    3,
    "tables of discrimination, their figure, the summary and the verdicts",
    [
        *SUMMARY,
        *(job for job in TOY.confidence() if job.startswith("what confidence tells")),
        *(job for job in TOY.figures() if "extra_confidence_discrimination" in job),
    ],
)
parameter(
    "calibration.shown_puzzles",
    3,
    "lists of trajectories, their figures and the verdicts alone",
    [
        *CLAIMS,
        *(job for job in TOY.confidence() if job.startswith("confidence against steps")),
        *(job for job in TOY.figures() if "confidence_histograms" in job or "confidence_steps" in job),
    ],
)
parameter(
    "title",
    "another title",
    "figures, tables of the paper and the verdicts alone",
    [*TOY.figures(), *TOY.tables(), *CLAIMS],
)


@row(
    "keys of params.yaml in another order, comments gone",
    "edit params.yaml\nsnakemake -n\ndvc status",
    "no job",
)
def order_and_comments(site: Site) -> str:
    """Neither counts."""
    with site.edited() as clone:
        path = clone.folder / "params.yaml"
        study = YAML(typ="safe").load(path)  # reads `off` as a word, as DVC does
        path.write_text("# A comment.\n" + yaml.safe_dump(study, sort_keys=True))
        assert_jobs(clone.plan(), [])
        assert changed_stages(clone) == set()
    return f"{IDLE}; no stage"


@row(
    "a published value in reference/published.csv",
    "edit\nsnakemake -n",
    "figures, tables of banks and verdicts, which may show it",
)
def published_value(site: Site) -> str:
    """Published values are read by figures, and by tables that are made from banks."""
    with site.edited() as clone:
        path = clone.folder / "reference/published.csv"
        path.write_text(path.read_text() + "\n")
        return assert_jobs(clone.plan(), [*TOY.figures(), *TOY.tables(runs=[]), *CLAIMS])
