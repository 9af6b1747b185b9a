"""The voting table of a bank, means over puzzles with intervals, and its comparison of votes with each other.

Numbers are fractions (figures show percent).  Seeds are text: a number, or "all" in rows over several.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cvoting.gap import gap_closed, with_gap
from cvoting.metrics import CELL_ACCURACY
from cvoting.params.core import ParameterError
from cvoting.params.voting import VotingParams
from cvoting.pools import Pool, pools
from cvoting.statistics import ROUNDING, defined_interval, percentile_interval, two_sided_p, wilson
from cvoting.table_files import GAP, NO_VOTE, ORACLE, PAIRED_COLUMNS, VOTING_COLUMNS, Row, of_bank, rounded, write_csv
from cvoting.tally import ESTIMATORS, Tally, tally
from cvoting.tasks.base import Task
from cvoting.voting import VOTES, Highest, Reference

#: The rule that all others are compared with.
COMPARED = "confidence"
#: Other rules that are compared, each with some: what the paper claims or leaves open of E-voting (Section 3.2).
ALSO_COMPARED = {"energy_sum": ("energy_last", "random")}


def write_voting(
    shards: Sequence[Path], params: VotingParams, task: Task, study: str, out: Path, paired_out: Path
) -> None:
    """Write the voting table of a bank and its paired comparison.

    Args:
        shards: the bank's files: of all training seeds, inference seeds and shards.
        params: which votes, numbers of candidates and intervals.
        task: the task of the bank's puzzles.
        study: name of the study.
        out, paired_out: the two CSV files.

    Raises:
        ParameterError: for an unknown vote.
        ShardsError: when the files are not all those of one bank.
        TallyError: when a vote of them cannot be held.
    """
    check_votes(params)
    voting, paired = voting_tables(tally(shards, params, task), params, study)
    write_csv(voting, out)
    write_csv(paired, paired_out)


def write_steps(
    shards: Sequence[Path], params: VotingParams, task: Task, study: str, read_at: Sequence[int], out: Path
) -> None:
    """Write the voting table of a bank at the steps where its candidates were read out; T_eval is the step.

    Args:
        shards, params, task, study: as of `write_voting`; the largest K is at most the number of candidates read.
        read_at: the steps.
        out: the CSV file.

    Raises:
        ParameterError: for an unknown vote.
        BankFileError: when a file was not read out at a step.
        ShardsError: when the files are not all those of one bank.
        TallyError: when a vote of them cannot be held.
    """
    check_votes(params)
    tables = [voting_tables(tally(shards, params, task, step), params, study)[0] for step in read_at]
    write_csv(pd.concat(tables, ignore_index=True), out)


def check_votes(params: VotingParams) -> None:
    """Refuse unknown votes.

    Args:
        params: names them.

    Raises:
        ParameterError: where there is one.
    """
    unknown = [f"voting.votes = {v!r}: expected one of {', '.join(VOTES)}" for v in params.votes if v not in VOTES]
    if unknown:
        raise ParameterError(unknown)


def voting_tables(counted: Tally, params: VotingParams, study: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The voting table and the paired comparison, for every vote, K, estimator, metric and pool of seeds.

    Voting table: `low` and `high` are bootstrap percentiles over what `interval` names; for the 0/1 outcomes of
    `prefix` at K = 1 of one pair of seeds, Wilson's interval.  `tie_share` is the share of puzzles whose best score
    among the K candidates is not unique, empty for votes that are not by a score; `distinct_answers` is the mean number
    of different answers that the K candidates gave, empty where answers are unknown; both are exact for `expected`.
    `subsets` is the number of candidate subsets a value is the mean over; empty where it is exact.  `gap_closed` is the
    share of the gap between random choice and the oracle that the vote closes (`cvoting.gap`), with the percentiles of
    the same resamples, of those in which it is defined; empty where there is no gap, as at K = 1, or where one of the
    two is not among the votes.  `gap_puzzles` counts the puzzles with a gap.

    Paired comparison: `difference` is the outcome of `vote`, C-voting in most rows, minus that of the vote `against`,
    on the same puzzles and candidates.  `p` is two-sided, by the bootstrap, not corrected for the number of rows;
    `better` and `worse` count the puzzles where the difference (over several seeds: its mean) is positive and negative.

    Args:
        counted: the outcomes.
        params: the bootstrap and the confidence level.
        study: name of the study.
    """
    voting: list[Row] = []
    paired: list[Row] = []
    for pool in pools(counted, params):
        numbers = of_bank(study, counted.header) | {"level": params.level, "interval": pool.interval}
        voting += [row | numbers | own for row, own in _voting_rows(counted, pool, params.level)]
        others = {COMPARED: counted.votes} | ALSO_COMPARED
        for vote in (vote for vote in others if vote in counted.votes):
            paired += [
                row | numbers | own for row, own in _paired_rows(counted, pool, params.level, vote, others[vote])
            ]
    return _frame(voting, VOTING_COLUMNS), _frame(paired, PAIRED_COLUMNS)


def _voting_rows(counted: Tally, pool: Pool, level: float) -> Iterator[tuple[Row, Row]]:
    """What a row is about, and what it says."""
    puzzles = len(counted.puzzles)
    value = pool.values.mean(axis=(0, 1))
    low, high = percentile_interval(pool.draws, level)
    closed = gap_closed(value, counted.votes), *defined_interval(gap_closed(pool.draws, counted.votes), level)
    referenced = {NO_VOTE, ORACLE} <= set(counted.votes)
    gaps = with_gap(pool.values, counted.votes).sum(axis=0) if referenced else None
    for at, about in _cells(counted, pool):
        bounds, extra = (low[at], high[at]), {}
        if pool.one_draw and about["K"] == 1 and about["estimator"] == "prefix" and about["metric"] != CELL_ACCURACY:
            bounds, extra = wilson(round(value[at] * puzzles), puzzles, level), {"interval": "Wilson, puzzles only"}
        vote, estimator, metric, K = at
        numbers = {"value": value[at], "low": bounds[0], "high": bounds[1]}
        numbers |= {"tie_share": pool.tied[vote, estimator, K], "distinct_answers": pool.distinct[estimator, K]}
        numbers |= dict(zip(GAP, (bound[at] for bound in closed), strict=False))
        yield about, rounded(numbers) | {"gap_puzzles": None if gaps is None else gaps[estimator, metric, K]} | extra


def _paired_rows(
    counted: Tally, pool: Pool, level: float, vote: str, others: Sequence[str]
) -> Iterator[tuple[Row, Row]]:
    """What a row is about, and what it says: a vote compared with others."""
    places = [place for place, name in enumerate(counted.votes) if name in others and name != vote]
    compared = {place: _compared(pool, level, counted.votes.index(vote), place) for place in places}
    for (place, *at), about in _cells(counted, pool):
        if place in compared:
            numbers, counts = ({name: of[tuple(at)] for name, of in kind.items()} for kind in compared[place])
            yield about, rounded(numbers) | {"vote": vote, "against": about["vote"]} | counts


def _compared(pool: Pool, level: float, vote: int, other: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Numbers and counts of puzzles of a vote beside another, for each estimator, outcome and K.

    Two votes at a time: all differences together take as much memory as all outcomes.
    """
    differences = (pool.values[:, :, vote] - pool.values[:, :, other]).mean(axis=0)
    draws = pool.draws[:, vote] - pool.draws[:, other]
    low, high = percentile_interval(draws, level)
    numbers = {"difference": differences.mean(axis=0), "low": low, "high": high, "p": two_sided_p(draws)}
    better, worse = (differences > ROUNDING).sum(axis=0), (differences < -ROUNDING).sum(axis=0)
    return numbers, {"better": better, "worse": worse}


def _cells(counted: Tally, pool: Pool) -> Iterator[tuple[tuple[int, ...], Row]]:
    """The index of every number of a pool, and what it is about."""
    axes = (counted.votes, ESTIMATORS, counted.outcomes, counted.K)
    seeds = {"training_seed": pool.training_seed, "inference_seed": pool.inference_seed}
    sizes = {"puzzles": len(counted.puzzles), "candidates": counted.candidates}
    for at in np.ndindex(*map(len, axes)):
        vote, estimator, metric, K = (axis[i] for axis, i in zip(axes, at, strict=True))
        averaged = estimator == "expected" and K > 1 and not isinstance(VOTES[vote], Highest | Reference)
        inexact = averaged and not counted.subsets.exhausts(counted.candidates, K)
        which = {"vote": vote, "K": K, "estimator": estimator, "metric": metric}
        yield at, seeds | sizes | which | {"subsets": counted.subsets.count if inexact else None}


def _frame(rows: list[Row], columns: tuple[str, ...]) -> pd.DataFrame:
    whole = {name: "Int64" for name in ("subsets", "gap_puzzles") if name in columns}
    return pd.DataFrame(rows, columns=list(columns)).astype(whole)
