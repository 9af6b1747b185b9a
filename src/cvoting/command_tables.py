"""Verbs that make tables and figures of rollouts, and strata of puzzles: arithmetic on files, without torch."""

import argparse
from collections.abc import Callable
from pathlib import Path

from cvoting.command_inputs import choose, count_flops, make_task, read_puzzles


def add_table_verbs(verb: Callable[..., argparse.ArgumentParser]) -> None:
    """Add them to the command line.

    Args:
        verb: adds the verb of a function.
    """
    outputs = {
        voting: ("out", "paired"),
        steps: ("out",),
        scaling: ("out",),
        adaptive: ("out",),
        calibration: ("out", "reliability", "risk"),
        discrimination: ("out",),
        trajectories: ("out",),
        solved_board: ("out",),
    }
    for run, names in outputs.items():
        verb(run, "recipe", **dict.fromkeys(names, Path)).add_argument("shards", type=Path, nargs="+")
    verb(strata, "recipe", out=Path).add_argument("files", type=Path, nargs="+", help="built sets (.npz)")
    verb(by_difficulty, "recipe", strata=Path, out=Path).add_argument("shards", type=Path, nargs="+")
    verb(figure, "recipe", published=Path, out_dir=Path).add_argument("tables", type=Path, nargs="+")
    sub = verb(table, "recipe", published=Path, out_dir=Path)
    sub.add_argument(
        "--voting", type=Path, nargs="*", default=[], help="voting tables of the table's banks, then any other kinds"
    )
    sub = verb(summary, "recipe", out_dir=Path)
    for kind in ("voting table", "calibration table", "discrimination table", "training log"):
        option, about = kind.split()[0], f"{kind}s, in the recipe's order"
        sub.add_argument(f"--{option}", type=Path, nargs="*", default=[], help=about)
    sub = verb(claims, "recipe", published=Path, field=Path, out_dir=Path)
    for kind in ("voting", "paired", "steps", "calibration", "discrimination", "trajectories", "checkpoints"):
        about = "checkpoints of the counted runs" if kind == "checkpoints" else f"tables of {kind}"
        sub.add_argument(f"--{kind}", type=Path, nargs="*", default=[], help=f"{about}, in the recipe's order")


def strata(args: argparse.Namespace) -> None:
    """Say how difficult each puzzle of a dataset is; of its splits those that models are tested on."""
    from cvoting.data.audit_registry import AUDITORS
    from cvoting.data.strata import write_strata
    from cvoting.run_record import record_run

    task = make_task(args.recipe["task"])
    auditor = choose("task with an audit", task.name, AUDITORS)(task)
    with record_run(args.out, recipe=args.recipe):
        write_strata([read_puzzles(path, task) for path in args.files], auditor, args.out)


def voting(args: argparse.Namespace) -> None:
    """Compute the voting tables of a bank."""
    from cvoting.params.core import build
    from cvoting.params.voting import VotingParams
    from cvoting.run_record import record_run
    from cvoting.tables import write_voting

    recipe = args.recipe
    params, task = build(VotingParams, recipe["voting"], "voting"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_voting(args.shards, params, task, recipe["study"], args.out, args.paired)


def steps(args: argparse.Namespace) -> None:
    """Compute the voting table of a bank at the steps where it was read out."""
    from cvoting.params.core import build
    from cvoting.params.voting import VotingParams
    from cvoting.run_record import record_run
    from cvoting.tables import write_steps

    recipe = args.recipe
    params, task = build(VotingParams, recipe["voting"], "voting"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_steps(args.shards, params, task, recipe["study"], recipe["read_at"], args.out)


def by_difficulty(args: argparse.Namespace) -> None:
    """Compute what the votes of a bank achieve on puzzles that are as difficult as each other."""
    from cvoting.params.core import build
    from cvoting.params.voting import VotingParams
    from cvoting.run_record import record_run
    from cvoting.strata_table import write_by_difficulty

    recipe = args.recipe
    params, task = build(VotingParams, recipe["voting"], "voting"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_by_difficulty(args.shards, args.strata, params, task, recipe["study"], args.out)


def scaling(args: argparse.Namespace) -> None:
    """Compute a bank's accuracy and its cost for every number of candidates and steps."""
    from cvoting.params.core import build
    from cvoting.params.voting import VotingParams
    from cvoting.run_record import record_run
    from cvoting.scaling_table import write_scaling

    recipe, read_at = args.recipe, (args.recipe["read_at"], args.recipe["from_step"])
    params, task = build(VotingParams, recipe["voting"], "voting"), make_task(recipe["task"])
    network = count_flops(recipe["network"], task)
    with record_run(args.out, recipe=recipe):
        write_scaling(args.shards, params, task, recipe["study"], network, *read_at, args.out)


def adaptive(args: argparse.Namespace) -> None:
    """Compute what drawing candidates of a bank until a rule to stop holds achieves."""
    from cvoting.adaptive_table import write_adaptive
    from cvoting.params.adaptive import AdaptivePlan
    from cvoting.params.core import build
    from cvoting.run_record import record_run

    recipe = args.recipe
    plan, task = build(AdaptivePlan, recipe["plan"], "plan"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_adaptive(args.shards, plan, task, args.out)


def calibration(args: argparse.Namespace) -> None:
    """Compute the calibration, reliability and risk tables of a bank that keeps logits."""
    from cvoting.calibration_tables import write_calibration
    from cvoting.params.calibration import CalibrationPlan
    from cvoting.params.core import build
    from cvoting.run_record import record_run

    recipe = args.recipe
    plan, task = build(CalibrationPlan, recipe["plan"], "plan"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_calibration(args.shards, plan, task, args.out, args.reliability, args.risk)


def discrimination(args: argparse.Namespace) -> None:
    """Compute how well a bank's confidence tells right candidates from wrong ones."""
    from cvoting.discrimination_table import write_discrimination
    from cvoting.params.calibration import DiscriminationPlan
    from cvoting.params.core import build
    from cvoting.run_record import record_run

    recipe = args.recipe
    plan, task = build(DiscriminationPlan, recipe["plan"], "plan"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_discrimination(args.shards, plan, task, args.out)


def trajectories(args: argparse.Namespace) -> None:
    """List the confidence of a few puzzles' candidates at every step that a bank was read out at."""
    from cvoting.params.calibration import TrajectoriesPlan
    from cvoting.params.core import build
    from cvoting.run_record import record_run
    from cvoting.trajectories import write_trajectories

    with record_run(args.out, recipe=args.recipe):
        write_trajectories(args.shards, build(TrajectoriesPlan, args.recipe["plan"], "plan"), args.out)


def solved_board(args: argparse.Namespace) -> None:
    """List the candidates of one board that C-voting solves at every step that a bank was read out at."""
    from cvoting.params.calibration import SolvedBoardPlan
    from cvoting.params.core import build
    from cvoting.run_record import record_run
    from cvoting.solved_board import write_solved_board
    from cvoting.tasks.sudoku import Sudoku

    plan, task = build(SolvedBoardPlan, args.recipe["plan"], "plan"), build(Sudoku, args.recipe["task"], "task")
    with record_run(args.out, recipe=args.recipe):
        write_solved_board(args.shards, plan, task, args.out)


def figure(args: argparse.Namespace) -> None:
    """Draw a figure."""
    from cvoting.figures.registry import FIGURES
    from cvoting.run_record import record_run

    name = args.recipe["figure"]
    module = choose("figure", name, FIGURES)
    with record_run(args.out_dir / name, recipe=args.recipe):
        module.write(args.recipe, args.tables, args.published, args.out_dir)


def table(args: argparse.Namespace) -> None:
    """Make a table of the paper."""
    from cvoting.paper_tables.registry import PAPER_TABLES
    from cvoting.run_record import record_run

    name = args.recipe["table"]
    module = choose("table", name, PAPER_TABLES)
    with record_run(args.out_dir / name, recipe=args.recipe):
        module.write(args.recipe, args.voting, args.published, args.out_dir)


def summary(args: argparse.Namespace) -> None:
    """Say what a study says in few numbers, and write its curves."""
    from cvoting.run_record import record_run
    from cvoting.summary import write_summary

    with record_run(args.out_dir / "metrics.json", recipe=args.recipe):
        write_summary(args.recipe, args.voting, args.calibration, args.discrimination, args.training, args.out_dir)


def claims(args: argparse.Namespace) -> None:
    """Judge the claims of the paper: a verdict on each, by rules."""
    from cvoting.claims.table import KINDS, write_claims
    from cvoting.run_record import record_run

    files = {kind: getattr(args, kind) for kind in KINDS}
    with record_run(args.out_dir / "claims.csv", recipe=args.recipe):
        write_claims(args.recipe, files, args.checkpoints, args.published, args.field, args.out_dir)
