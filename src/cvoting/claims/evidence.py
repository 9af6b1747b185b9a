"""What a study says, asked by model, dataset and vote: the numbers that claims are judged by.

A number over several seeds is that of all of them, by the estimator of the figures against K.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cvoting.claims.estimates import Estimate, Source, minus, rank_correlation, read_row
from cvoting.table_files import ALL, ESTIMATOR, LEARNED, NO_VOTE, one_candidate, over_all_seeds, seeds_of

#: C-voting, and what mazes and boards are judged by: the label.
C_VOTING, BOARD = "confidence", "board"
WHERE = {"sudoku_hard": "Sudoku-hard", "sudoku_extreme": "Sudoku-extreme", "maze_hard": "Maze-hard"}


class NotRunError(Exception):
    """A study lacks what a number needs; says what, and is part of no message to users."""


@dataclass(frozen=True)
class Evidence:
    """The tables of a study.

    Attributes:
        banks: the bank of each model on each dataset.
        longest: the same of what is said of steps: of several banks one with most steps.
        ablation: the bank of each variant of Table 4.
        tables: by kind ("voting", "paired", "steps", "calibration", "discrimination", "trajectories") and bank.
        parameters: how many each model has.
        published: the published numbers, by id.
        bootstrap: how numbers of trajectories are resampled: `resamples`, `level`, `seed`.
    """

    banks: Mapping[str, Mapping[str, str]]
    longest: Mapping[str, Mapping[str, str]]
    ablation: Mapping[str, str]
    tables: Mapping[str, Mapping[str, pd.DataFrame]]
    parameters: Mapping[str, int]
    published: pd.DataFrame
    bootstrap: Mapping[str, Any]

    def bank(self, model: str, dataset: str) -> str:
        """The bank of a model on a dataset.

        Raises:
            NotRunError: where the study has none.
        """
        if dataset not in self.banks.get(model, {}):
            raise NotRunError(f"no bank of {model} on {dataset}")
        return self.banks[model][dataset]

    def longest_bank(self, model: str, dataset: str) -> str:
        """The same with the most steps."""
        self.bank(model, dataset)
        return self.longest[model][dataset]

    def variant(self, name: str) -> str:
        """The bank of a variant of Table 4.

        Raises:
            NotRunError: where the study has no ablation on the paper's puzzles.
        """
        if name not in self.ablation:
            raise NotRunError("no table4_ablation on sudoku_extreme")
        return self.ablation[name]

    def table(self, kind: str, bank: str) -> pd.DataFrame:
        """A table of a bank.

        Raises:
            NotRunError: where the bank has none of that kind.
        """
        if bank not in self.tables[kind]:
            raise NotRunError(f"no table of {kind} of {bank}")
        return self.tables[kind][bank]

    def printed(self, id: str) -> pd.Series:
        """A row of the published numbers."""
        return self.published.loc[[id]].iloc[0]

    def source(self, bank: str) -> Source:
        """The rollouts of a bank."""
        table = self.table("voting", bank)
        sizes = {name: int(table[name].iloc[0]) for name in ("puzzles", "candidates")}
        return Source(bank, **sizes, **seeds_of(table), steps=int(table["T_eval"].iloc[0]))

    def largest_K(self, *places: tuple[str, str]) -> int:
        """The largest K that the banks of some models on some datasets all have."""
        return min(int(self.table("voting", self.bank(*place))["K"].max()) for place in places)

    def accuracy(
        self, bank: str, vote: str = C_VOTING, K: int | None = None, metric: str = BOARD, kind: str = "voting"
    ) -> Estimate:
        """What a vote of K candidates achieves.

        Args:
            bank: its name.
            vote: a rule, or `NO_VOTE`.
            K: None: as many as there are; without a vote 1.
            metric: what counts as right.
            kind: "voting", or "steps" for the last step that was read out.

        Raises:
            NotRunError: where the study does not hold this vote.
        """
        table = self.table(kind, bank)
        rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == metric)])
        if kind == "steps":
            rows = rows[rows["T_eval"] == rows["T_eval"].max()]
        if vote == NO_VOTE:
            row = self._row(rows[rows["K"] == 1], vote, bank)
        else:
            rows = rows[rows["vote"] == vote]
            row = self._row(rows[rows["K"] == (rows["K"].max() if K is None else K)], f"{vote} of {K or ''}", bank)
        return read_row(row).over(self.source(bank), K=None if vote == NO_VOTE else int(row["K"]))

    def paired(
        self, bank: str, against: str, K: int | None = None, vote: str = C_VOTING, metric: str = BOARD
    ) -> Estimate:
        """The difference of two votes on the same puzzles and candidates.

        Args:
            bank, vote, K, metric: as of `accuracy`.
            against: the vote that is subtracted.

        Raises:
            NotRunError: where the study does not hold these votes.
        """
        rows = self.compared(bank, against, vote, metric)
        row = self._row(rows[rows["K"] == (rows["K"].max() if K is None else K)], f"{vote} against {against}", bank)
        about = {"interval": f"paired, {row['interval']}", "K": int(row["K"]), "note": f"p = {row['p']:.2g}"}
        found = read_row(row, "difference").over(self.source(bank), **about)
        return self.learned(found, bank)

    def compared(self, bank: str, against: str, vote: str = C_VOTING, metric: str = BOARD) -> pd.DataFrame:
        """The differences of two votes at every K, in the order of K.

        Raises:
            NotRunError: where the study does not hold these votes.
        """
        table = self.table("paired", bank)
        of = (table["vote"] == vote) & (table["against"] == against) & (table["metric"] == metric)
        rows = over_all_seeds(table[of & (table["estimator"] == ESTIMATOR)]).sort_values("K")
        if rows.empty:
            raise NotRunError(f"no {vote} against {against} in {bank}")
        return rows

    def gain(self, model: str, dataset: str, K: int | None = None) -> Estimate:
        """What C-voting gains over no vote, paired; with its growth over K."""
        return self.gain_in(self.bank(model, dataset), K)

    def gain_in(self, bank: str, K: int | None = None) -> Estimate:
        """The same in a bank."""
        rows, found = self.compared(bank, NO_VOTE), self.paired(bank, NO_VOTE, K)
        return self.growing(found, rows)

    @staticmethod
    def growing(found: Estimate, rows: pd.DataFrame) -> Estimate:
        """A difference at the largest K with its growth from the smallest."""
        return found.over(*found.sources, trend=rank_correlation(rows["difference"]))

    def above(self, better: Estimate, reference: Estimate, may_fail: bool = False) -> Estimate:
        """How far a model is above another one.

        Args:
            better, reference: their accuracies.
            may_fail: whether the paper's reference solves nothing either; else one that has not learned its task here
                shows nothing.
        """
        found, (source,) = minus(better, reference), reference.sources
        return found if may_fail else self._beside(found, source.bank, reference.value)

    def measure(self, kind: str, bank: str, **where: object) -> Estimate:
        """A number of a table of calibration or discrimination.

        Args:
            kind: which table.
            bank: its name.
            where: values of columns that single out a row.

        Raises:
            NotRunError: where there is no such number.
        """
        table = self.table(kind, bank)
        for column, value in where.items():
            table = table[table[column] == value]
        row = self._row(over_all_seeds(table.dropna(subset=["value"])), ", ".join(map(str, where.values())), bank)
        own = {"training_seeds": seeds_of(table)["training_seeds"], "inference_seeds": 1}
        sizes = {"puzzles": int(row["puzzles"]), "candidates": int(row["candidates"]), "steps": int(row["T_eval"])}
        return self.learned(read_row(row).over(Source(bank, **sizes, **own)), bank)

    def by_seed(self, bank: str) -> pd.DataFrame:
        """Board accuracy of C-voting among the first K candidates, by K and inference seed.

        Raises:
            NotRunError: where the bank has one inference seed.
        """
        table = self.table("voting", bank)
        of = (table["vote"] == C_VOTING) & (table["metric"] == BOARD) & (table["estimator"] == "prefix")
        own = (table["inference_seed"] != ALL) & (table["training_seed"] != ALL)
        rows = table[of & own]
        if rows["inference_seed"].nunique() < 2:
            raise NotRunError(f"one inference seed of {bank}")
        return rows

    def learned(self, found: Estimate, bank: str) -> Estimate:
        """A number of a bank, which bears on no claim where its single candidates solve next to nothing."""
        return self._beside(found, bank, one_candidate(self.table("voting", bank)))

    @staticmethod
    def _beside(found: Estimate, bank: str, accuracy: float) -> Estimate:
        """A number, which bears on no claim where a bank has learned nothing."""
        why = f"{bank} has not learned its task: {accuracy:.1%}, below {LEARNED:.0%}"
        return found.over(*found.sources, incomparable=why) if accuracy < LEARNED else found

    @staticmethod
    def _row(rows: pd.DataFrame, what: str, bank: str) -> pd.Series:
        if rows.empty:
            raise NotRunError(f"no {what.strip()} in {bank}")
        return rows.iloc[0]
