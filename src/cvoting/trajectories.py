"""The confidence of single candidates at every step: of some puzzles taken by their hashes, and of two examples."""

from collections.abc import Iterator, Sequence, Set
from operator import itemgetter
from pathlib import Path

import pandas as pd

from cvoting.bank import Bank, Reading
from cvoting.bank_file import read_banks, read_ends
from cvoting.errors import CvotingError
from cvoting.params.calibration import SolvedBoardPlan, TrajectoriesPlan
from cvoting.shards import Shards
from cvoting.table_files import TRAJECTORIES_COLUMNS, Row, of_bank, write_csv

#: What an example is called, by whether its vote is right.
EXAMPLES = {False: "wrong", True: "right"}


class TrajectoriesError(CvotingError):
    """A bank whose trajectories are not known."""


def write_trajectories(shards: Sequence[Path], plan: TrajectoriesPlan, out: Path) -> None:
    """Write the confidence and correctness of the first candidates of some puzzles at every step that was read out.

    `pooled`: the puzzles of the lowest hashes, which are those of a random sample.  `example`: the first puzzle in the
    order of hashes whose C-vote among the listed candidates is wrong, and the first whose vote is right.  The last step
    is the end, T_eval.

    Args:
        shards: the files of one training and one inference seed of a bank.
        plan: how many puzzles and candidates.
        out: the CSV file.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one training and one inference seed of a bank.
        TrajectoriesError: when it was not read out at the steps, or for fewer candidates.
    """
    read, right = Shards(), dict[str, bool]()
    for path in shards:
        for bank in read_ends(path):
            read.add(path, bank)
            right |= zip(bank.puzzles, votes_are_right(bank, plan.candidates), strict=True)
    in_order, _ = read.complete(training_seeds=1, inference_seeds=1)
    pooled = set(in_order[: plan.puzzles])
    examples: dict[str, str] = {}
    for kind, name in EXAMPLES.items():
        examples |= dict.fromkeys([p for p in in_order if right[p] == kind][:1], name)
    rows = []
    for bank, place in read_out(shards, pooled | examples.keys(), plan):
        puzzle = bank.puzzles[place]
        about = about_candidates(bank, plan, len(right))
        about |= {"puzzle": puzzle, "pooled": puzzle in pooled, "example": examples.get(puzzle)}
        rows += [about | row for row in _rows(bank, place, plan)]
    table = pd.DataFrame(sorted(rows, key=itemgetter("puzzle")), columns=list(TRAJECTORIES_COLUMNS))
    write_csv(table.astype({"optimal": "Int64"}), out)


def votes_are_right(bank: Bank, candidates: int) -> list[bool]:
    """Of each puzzle, whether C-voting among the first candidates is right."""
    selected = bank.scores["confidence"][:, :candidates].argmax(axis=1)
    return bank.correct["board"][range(len(bank)), selected].tolist()


def read_out(shards: Sequence[Path], puzzles: Set[str], plan: SolvedBoardPlan) -> Iterator[tuple[Bank, int]]:
    """Where the puzzles are; a bank is refused that does not hold what is listed."""
    for path in shards:
        for bank in read_banks(path, logits=False):
            missing = [step for step in plan.steps if step not in bank.steps]
            if missing:
                raise TrajectoriesError(f"{path}: not read out at the steps {missing}: roll out again with `read_at`")
            read = min(bank.steps[step].cell_accuracy.shape[1] for step in plan.steps)
            if read < plan.candidates:
                raise TrajectoriesError(
                    f"{path}: {read} candidates read out at steps, expected {plan.candidates}: roll out again with "
                    "`read_candidates`"
                )
            yield from ((bank, place) for place, puzzle in enumerate(bank.puzzles) if puzzle in puzzles)


def about_candidates(bank: Bank, plan: SolvedBoardPlan, puzzles: int) -> Row:
    """What rows are of."""
    seeds = {name: str(getattr(bank.header, name)) for name in ("training_seed", "inference_seed")}
    return of_bank(plan.study, bank.header) | seeds | {"puzzles": puzzles, "candidates": plan.candidates}


def readings_of(bank: Bank, plan: SolvedBoardPlan) -> dict[int, Reading]:
    """What the candidates were at the steps of the plan, and at the end of the rollout."""
    end = Reading(bank.scores, bank.correct, bank.cell_accuracy)
    return {step: bank.steps[step] for step in plan.steps} | {bank.header.T_eval: end}


def _rows(bank: Bank, place: int, plan: TrajectoriesPlan) -> Iterator[Row]:
    """One row per candidate and step of a puzzle, up to the end of the rollout."""
    readings = readings_of(bank, plan)
    for candidate in range(plan.candidates):
        for step, reading in readings.items():
            judged = {metric: int(correct[place, candidate]) for metric, correct in reading.correct.items()}
            yield {
                "candidate": candidate,
                "step": step,
                "confidence": round(float(reading.scores["confidence"][place, candidate]), 12),
                "board": judged["board"],
                "optimal": judged.get("optimal"),
            }
