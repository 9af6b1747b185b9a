"""The table of scaling: what a bank's votes achieve with every number of candidates and steps, and what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float

from cvoting.flops.base import NetworkFlops
from cvoting.flops.rollouts import rollout_flops
from cvoting.params.voting import VotingParams
from cvoting.pools import groups_of_seeds, name_of_seeds
from cvoting.scaling import GAINS, Grid, cross_judged, front, shares_of_the_gain
from cvoting.seeding import generator
from cvoting.statistics import ROUNDING, bootstrap_means, defined_interval, drawn_anew
from cvoting.table_files import ESTIMATOR, METRICS, SCALING_COLUMNS, Row, of_bank, rounded, write_csv
from cvoting.tables import check_votes
from cvoting.tally import ESTIMATORS, Tally, tally
from cvoting.tasks.base import Task

#: Of puzzles in the order of their hashes, every other one is of the other half.
HALVES = 2
#: The places of shares among the gains.
SHARES = [place for place, name in enumerate(GAINS) if name.endswith("_share")]


def write_scaling(
    shards: Sequence[Path],
    params: VotingParams,
    task: Task,
    study: str,
    network: NetworkFlops,
    read_at: Sequence[int],
    from_step: int,
    out: Path,
) -> None:
    """Write the table of scaling of a bank, by each of its votes and each of `METRICS` that the task has.

    `T_eval` are steps, `flops` is what the rollouts of K candidates with so many steps cost per puzzle.  Rows by
    `measure`:

    - `accuracy`: of every K and number of steps; the mean over all subsets of K candidates.
    - `front`: the iso-compute front, those of them that are more accurate than all that cost no more.  It is chosen
      after the fact, by the accuracies that it shows, which are therefore too high.
    - `front_held_out`: for each cost of the front, the accuracy of choosing the best that costs no more, where each
      half of the puzzles answers with the choice of the other half; K and steps are the choice of all puzzles.
    - the gains of `cvoting.scaling.GAINS`, from the fewest candidates with `from_step` steps to the most of both; K and
      steps are those that a gain reaches.  Shares are empty where the interval of the gain is not above 0.

    `low` and `high` are bootstrap percentiles; a resample is the same for all rows, so that gains are paired, and the
    choices of `front_held_out` are made in it anew.

    Args:
        shards: the bank's files, of all training seeds, inference seeds and shards.
        params: which votes, numbers of candidates and intervals; the largest K is at most the number of candidates
            read.
        task: the task of the bank's puzzles.
        study: name of the study.
        network: what the parts of the bank's model cost on the task.
        read_at: the steps where the bank was read out.
        from_step: one of them.
        out: the CSV file.

    Raises:
        ParameterError: for an unknown vote.
        BankFileError: when a file was not read out at a step.
        ShardsError: when the files are not all those of one bank.
        TallyError: when a vote of them cannot be held.
    """
    check_votes(params)
    cells = sorted(product(params.K, read_at), key=lambda cell: (rollout_flops(network, cell[1], cell[0]), cell))
    K, T = np.array(cells).T
    grid = Grid(K, T, np.array([rollout_flops(network, int(t), int(k)) for k, t in cells]))
    found = _outcomes([tally(shards, params, task, step) for step in read_at], cells, params.K)
    rows = list(_rows(found, grid, params, study, from_step))
    write_csv(pd.DataFrame(rows, columns=list(SCALING_COLUMNS)), out)


@dataclass(frozen=True)
class _Outcomes:
    """The outcomes of all cells.

    Attributes:
        first: the counts of one step, for what all have in common.
        metrics: of `METRICS` those of the task.
        values: per pair of training and inference seed.
    """

    first: Tally
    metrics: tuple[str, ...]
    values: dict[tuple[int, int], Float[np.ndarray, "puzzles votes metrics cells"]]


def _outcomes(counted: Sequence[Tally], cells: Sequence[tuple[int, int]], K: Sequence[int]) -> _Outcomes:
    """What votes achieved on each puzzle in each cell."""
    first, steps = counted[0], [of_step.header.T_eval for of_step in counted]
    metrics = tuple(metric for metric in METRICS if metric in first.outcomes)
    places, estimator = [first.outcomes.index(metric) for metric in metrics], ESTIMATORS.index(ESTIMATOR)
    values = {}
    for seeds in first.values:
        known = [of_step.values[seeds][:, :, estimator, places] for of_step in counted]
        values[seeds] = np.stack([known[steps.index(T)][..., K.index(k)] for k, T in cells], axis=-1)
    return _Outcomes(first, metrics, values)


def _rows(found: _Outcomes, grid: Grid, params: VotingParams, study: str, from_step: int) -> Iterator[Row]:
    """The rows of every pool of seeds, of every vote and metric."""
    about = of_bank(study, found.first.header) | {"estimator": ESTIMATOR, "level": params.level}
    about |= {"puzzles": len(found.first.puzzles), "candidates": found.first.candidates, "from_step": from_step}
    for t_seeds, i_seeds in groups_of_seeds(found.values):
        pool = {"training_seed": name_of_seeds(t_seeds), "inference_seed": name_of_seeds(i_seeds)}
        pool |= {"interval": drawn_anew(len(t_seeds))}
        halves = _in_halves(np.stack([sum(found.values[t, i] for i in i_seeds) / len(i_seeds) for t in t_seeds]))
        by_column = halves.reshape(*halves.shape[:2], -1)
        draws = bootstrap_means(by_column, params.resamples, generator("bootstrap", params.seed))
        sums = np.concatenate([by_column.mean(axis=(0, 1))[None], draws]).reshape(-1, *halves.shape[2:])
        for v, vote in enumerate(found.first.votes):
            for m, metric in enumerate(found.metrics):
                own = about | pool | {"vote": vote, "metric": metric}
                yield from (own | row for row in _numbers(grid, sums[:, :, v, m], from_step, params.level))


def _in_halves(
    values: Float[np.ndarray, "training_seeds puzzles *rest"],
) -> Float[np.ndarray, "training_seeds puzzles 2 *rest"]:
    """Outcomes that count in the half of their puzzle only, so that a mean over all puzzles is that half's part."""
    halves = np.zeros((*values.shape[:2], HALVES, *values.shape[2:]))
    for half in range(HALVES):
        halves[:, half::HALVES, half] = values[:, half::HALVES]
    return halves


def _numbers(
    grid: Grid, sums: Float[np.ndarray, "sample_and_draws 2 cells"], from_step: int, level: float
) -> Iterator[Row]:
    """The numbers of one vote and metric, with what each is of.

    Args:
        grid: the cells.
        sums: the parts of the two halves of the puzzles in the accuracy of each cell, in the sample itself and then in
            each resample.
        from_step: where gains start.
        level: of the intervals.
    """
    accuracy = sums.sum(axis=1)
    every, chosen = np.arange(len(grid.cost)), front(grid, accuracy[0])
    few, many, last = int(grid.K.min()), int(grid.K.max()), int(grid.T.max())
    corners = (few, from_step), (few, last), (many, from_step), (many, last)
    start, deep, broad, both = (grid.place(*corner) for corner in corners)
    gains = shares_of_the_gain(*(accuracy[:, cell] for cell in (start, deep, broad, both)))
    if np.quantile(gains[1:, 0], (1 - level) / 2) <= ROUNDING:
        gains[:, SHARES] = np.nan
    reached = {"depth_alone": deep, "breadth_alone": broad}
    for names, cells, values in (
        (["accuracy"] * len(every), every, accuracy),
        (["front"] * len(chosen), chosen, accuracy[:, chosen]),
        (["front_held_out"] * len(chosen), chosen, cross_judged(sums[:, 0], sums[:, 1], grid.no_dearer(chosen))),
        (GAINS, [reached.get(name, both) for name in GAINS], gains),
    ):
        low, high = defined_interval(values[1:], level)
        for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
            of = {"measure": name, "K": grid.K[cell], "T_eval": grid.T[cell], "flops": grid.cost[cell]}
            yield of | rounded({"value": values[0, place], "low": low[place], "high": high[place]})
