"""A whole sweep over K, votes and temperatures from one bank, beside rolling out anew for each of them."""

from dataclasses import replace
from functools import partial

from bench_rollouts import write_bank
from cases import Case
from cvoting.bank_file import read_ends
from cvoting.estimators import Subsets, expected, prefix
from cvoting.params.reading import read_study
from cvoting.params.rollouts import RolloutPlan
from cvoting.tables import write_voting
from cvoting.tally import outcomes_of
from cvoting.voting import VOTES, Ballot, Highest, Reference, available
from harness import ROOT, Row, Settings, Work, compare
from yardsticks import sorting

#: The model, the largest K, and the puzzles.
CASE, K_MAX, PUZZLES = Case("laptop", "akorn-sudoku", 128), 256, 24
QUICK_CASE, QUICK_K_MAX, QUICK_PUZZLES = Case("toy", "akorn-sudoku", 2), 4, 4
BANK = "akorn-sudoku_hard"


def measure(settings: Settings) -> list[Row]:
    """Seconds of both ways, and how many times as long the second takes.

    Anew for each K is measured.  Anew for each K, vote and temperature is that times their number, as such a script
    would roll out: every selection rule, and C-voting at every temperature other than 1.
    """
    sweep = Sweep(settings)
    works = [
        Work("one bank: every K, vote and temperature", sweep.from_one_bank, 1, "sweeps"),
        Work("of it the rollouts", partial(sweep.roll_out, sweep.K[-1], sweep.temperatures), 1, "sweeps"),
        Work(f"a bank and a voting table for each K of {list(sweep.K)}", sweep.anew, 1, "sweeps"),
    ]
    rows = [row | {"value": row["seconds"], "unit": "s"} for row in compare(works, [sorting(settings)], settings)]
    once, _, anew = (float(str(row["value"])) for row in rows)
    factor = anew / once
    rules, temperatures = sweep.rules(), len(sweep.temperatures)
    each = rules + temperatures - 1
    return [
        *rows,
        {"what": "anew for each K / from one bank, measured", "value": factor, "unit": "times"},
        {
            "what": f"anew for each K, of {rules} rules and {temperatures} temperatures / from one bank, computed",
            "value": factor * each,
            "unit": "times",
        },
    ]


class Sweep:
    """Both ways to the same numbers.

    Args:
        settings: how much, and where.
    """

    def __init__(self, settings: Settings):
        study = read_study(ROOT / "params.yaml")
        self.case, k_max, self.puzzles = (
            (QUICK_CASE, QUICK_K_MAX, QUICK_PUZZLES) if settings.quick else (CASE, K_MAX, PUZZLES)
        )
        self.K = tuple(2**power for power in range(k_max.bit_length()))
        self.steps = 2 if settings.quick else study.banks[BANK].T_eval
        self.voting = study.voting
        self.temperatures = study.calibration.temperatures
        self.folder = settings.folder
        self.path = settings.folder / "sweep.parquet"

    def roll_out(self, candidates: int, temperatures: tuple[float, ...] = ()) -> None:
        """Write a bank, with the confidence at some temperatures."""
        plan = RolloutPlan(T_eval=self.steps, candidates=candidates, chunk=self.case.rows, temperatures=temperatures)
        write_bank(self.case, plan, self.puzzles, self.path)

    def vote(self, K: tuple[int, ...]) -> None:
        """The voting table of the bank that was written last."""
        write_voting(
            [self.path],
            replace(self.voting, K=K),
            self.case.task,
            "benchmark",
            self.folder / "v.csv",
            self.folder / "p.csv",
        )

    def vote_at_temperatures(self) -> None:
        """C-voting at every temperature and K, by both estimators, from the bank that was written last."""
        subsets = Subsets(self.voting.subsets, self.voting.seed)
        for bank in read_ends(self.path):
            ballot = Ballot.stacked(bank.scores, bank.answer_ids, bank.answers)
            outcomes = outcomes_of(bank, self.case.task)
            for temperature in self.temperatures:
                rule = Highest(f"confidence_at_{temperature:g}")
                prefix(rule, ballot, outcomes, self.K)
                expected(rule, ballot, outcomes, self.K, subsets)

    def from_one_bank(self) -> None:
        """Everything from the bank of the largest K."""
        self.roll_out(self.K[-1], self.temperatures)
        self.vote(self.K)
        self.vote_at_temperatures()

    def anew(self) -> None:
        """A bank for every K."""
        for k in self.K:
            self.roll_out(k)
            self.vote((k,))

    def rules(self) -> int:
        """How many selection rules the bank can hold."""
        (*_, bank) = read_ends(self.path)
        held = available(self.voting.votes, bank.scores)
        return sum(not isinstance(VOTES[name], Reference) for name in held)
