"""The outcomes of a bank over one or several seeds, with resampled means."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float

from cvoting.params.voting import VotingParams
from cvoting.seeding import generator
from cvoting.statistics import bootstrap_means, drawn_anew
from cvoting.table_files import ALL
from cvoting.tally import Tally


@dataclass(frozen=True)
class Pool:
    """The outcomes of one training seed with one inference seed, or of several.

    Attributes:
        training_seed, inference_seed: a number, or `ALL`.
        values: the outcomes; those of several inference seeds averaged for each training seed.
        draws: their bootstrap means.
        tied: share of puzzles with a tie at the top; NaN for votes that are not by a score.
        distinct: mean number of distinct answers; NaN where they are unknown.
    """

    training_seed: str
    inference_seed: str
    values: Float[np.ndarray, "training_seeds puzzles votes estimators outcomes K"]
    draws: Float[np.ndarray, "resamples votes estimators outcomes K"]
    tied: Float[np.ndarray, "votes estimators K"]
    distinct: Float[np.ndarray, "estimators K"]

    @property
    def one_draw(self) -> bool:
        """Whether it is of one training and one inference seed."""
        return ALL not in (self.training_seed, self.inference_seed)

    @property
    def interval(self) -> str:
        """What the bootstrap draws anew."""
        return drawn_anew(len(self.values))


def pools(counted: Tally, params: VotingParams) -> Iterator[Pool]:
    """Every pair of seeds; where there are several, every training seed over all inference seeds, and all together.

    Every pool is resampled alike, so that their intervals do not differ by chance.
    """
    for t_seeds, i_seeds in groups_of_seeds(counted.values):
        values = _values(counted, t_seeds, i_seeds)
        by_column = values.reshape(*values.shape[:2], -1)
        draws = bootstrap_means(by_column, params.resamples, generator("bootstrap", params.seed))
        yield Pool(
            training_seed=name_of_seeds(t_seeds),
            inference_seed=name_of_seeds(i_seeds),
            values=values,
            draws=draws.reshape(params.resamples, *values.shape[2:]),
            tied=_mean(counted.tied, t_seeds, i_seeds),
            distinct=_mean(counted.distinct, t_seeds, i_seeds),
        )


def groups_of_seeds(pairs: Iterable[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """The training and the inference seeds of every pool, as of `pools`.

    Args:
        pairs: every training seed with every inference seed.
    """
    training, inference = (sorted(set(seeds)) for seeds in zip(*pairs, strict=True))
    groups = [([t], [i]) for t in training for i in inference]
    if len(inference) > 1:
        groups += [([t], inference) for t in training]
    if len(training) > 1:
        groups += [(training, inference)]
    return groups


def name_of_seeds(seeds: Sequence[int]) -> str:
    """A seed, or `ALL` of several.

    Args:
        seeds: at least one.
    """
    return str(seeds[0]) if len(seeds) == 1 else ALL


def _values(counted: Tally, training: list[int], inference: list[int]) -> Float[np.ndarray, "training_seeds *rest"]:
    """The outcomes of some seeds, averaged over inference seeds; of one pair no copy, for they may be large."""
    if len(training) == len(inference) == 1:
        return counted.values[training[0], inference[0]][None]
    return np.stack([sum(counted.values[t, i] for i in inference) / len(inference) for t in training])


def _mean(
    numbers: dict[tuple[int, int], Float[np.ndarray, "puzzles *rest"]], training: list[int], inference: list[int]
) -> Float[np.ndarray, "*rest"]:
    """The mean over the puzzles of several pairs of seeds."""
    return np.mean([numbers[seeds].mean(axis=0) for seeds in product(training, inference)], axis=0)
