"""The strata of a set of puzzles: ranges of the measure of difficulty that the task's `Auditor` knows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Int

from cvoting.data.audit import Auditor
from cvoting.data.puzzles import Puzzles
from cvoting.table_files import DIFFICULTY_COLUMNS, write_csv

#: Where a task states no strata, each has at least this part of the puzzles.
LEAST_PART = 1 / 6


def strata_of(values: Int[np.ndarray, "puzzles"], starts: Sequence[int] = ()) -> list[str]:
    """The stratum of each puzzle: "7", "3-10" or "51+".

    Without `starts`, strata are the narrowest ranges, from the least value up, that hold `LEAST_PART` of the puzzles.

    Args:
        values: the measure of each puzzle; at least one.
        starts: as of `Difficulty`, the first at most the least value.
    """
    open_ended, starts = bool(starts), starts or _even_starts(values)
    ends = [*(start - 1 for start in starts[1:]), int(values.max())]
    names = [f"{start}-{end}" if end > start else str(start) for start, end in zip(starts, ends, strict=True)]
    if open_ended:
        names[-1] = f"{starts[-1]}+"
    return [names[place] for place in np.searchsorted(starts, values, side="right") - 1]


def _even_starts(values: Int[np.ndarray, "puzzles"]) -> list[int]:
    """The least values of strata that are as alike in size as their values let them be."""
    least = LEAST_PART * len(values)
    starts, inside, left = [], least, len(values)
    for value, puzzles in zip(*np.unique(values, return_counts=True), strict=True):
        if inside >= least and left >= least:
            starts.append(int(value))
            inside = 0
        inside += puzzles
        left -= puzzles
    return starts


def write_strata(sets: Sequence[Puzzles], auditor: Auditor, out: Path) -> None:
    """Write the stratum of each puzzle, in the order of their hashes, of which nothing can be told of a board.

    Args:
        sets: the splits of one dataset.
        auditor: that of their task.
        out: the CSV file.
    """
    found = [auditor.difficulty(puzzles) for puzzles in sets]
    values = np.concatenate([difficulty.values for difficulty in found])
    columns = (
        [name for puzzles in sets for name in puzzles.hashes],
        found[0].measure,
        values,
        strata_of(values, found[0].starts),
    )
    table = pd.DataFrame(dict(zip(DIFFICULTY_COLUMNS, columns, strict=True)))
    write_csv(table.sort_values("puzzle").drop_duplicates("puzzle"), out)
