"""The files of one bank, read together: none of another bank, none missing, none twice."""

from dataclasses import asdict
from itertools import product
from pathlib import Path

from cvoting.bank import Bank
from cvoting.errors import CvotingError

#: What differs between the files of a bank.
OF_A_FILE = ("training_seed", "inference_seed", "shard")


class ShardsError(CvotingError):
    """Bank files that are not all those of one bank."""


class Shards:
    """What was read of a bank so far."""

    def __init__(self) -> None:
        self._first: Bank | None = None
        self._shards: dict[tuple[int, int], set[int]] = {}
        self._puzzles: dict[tuple[int, int], list[str]] = {}

    def add(self, path: Path, bank: Bank) -> tuple[int, int]:
        """Take note of a part of a file; its training and inference seed.

        Raises:
            ShardsError: when it is of another bank than the first part.
        """
        self._first = self._first or bank
        found, wanted = _about(bank), _about(self._first)
        differing = [name for name in wanted if found[name] != wanted[name]]
        if differing:
            problems = "; ".join(f"{name} = {found[name]!r}, expected {wanted[name]!r}" for name in differing)
            raise ShardsError(f"{path}: another bank than the first file's: {problems}: give one bank at a time")
        seeds = bank.header.training_seed, bank.header.inference_seed
        self._shards.setdefault(seeds, set()).add(bank.header.shard)
        self._puzzles.setdefault(seeds, []).extend(bank.puzzles)
        return seeds

    def complete(self, training_seeds: int | None = None, inference_seeds: int | None = None) -> tuple[list[str], Bank]:
        """The puzzles in ascending order of their hashes and the first part, once everything was added.

        Args:
            training_seeds, inference_seeds: how many are expected; None: any number.

        Raises:
            ShardsError: when there is none, when a shard is missing or came twice, when a pair of seeds lacks puzzles
                that another has, or for another number of seeds.
        """
        if self._first is None:
            raise ShardsError("no puzzles in the bank files: expected at least one: give the files of a bank")
        for seeds, shards in self._shards.items():
            missing = sorted(set(range(self._first.header.shards)) - shards)
            if missing:
                of = f"{missing} of {self._first.header.shards}"
                raise ShardsError(f"training and inference seed {seeds}: shards {of} missing: give them too")
            if len(set(self._puzzles[seeds])) < len(self._puzzles[seeds]):
                raise ShardsError(f"training and inference seed {seeds}: a puzzle comes twice: give every file once")
        puzzles = {seeds: sorted(of_seeds) for seeds, of_seeds in self._puzzles.items()}
        first, wanted = next(iter(puzzles.items()))
        for seeds in product(*map(sorted, map(set, zip(*puzzles, strict=True)))):
            if (found := puzzles.get(seeds, [])) != wanted:
                lacking = len(set(wanted) - set(found))
                raise ShardsError(
                    f"training and inference seed {seeds}: {lacking} of the {len(wanted)} puzzles of seeds {first} are "
                    "missing: give all shards of all pairs of seeds"
                )
        expected = {"training": training_seeds, "inference": inference_seeds}
        for (kind, number), of_kind in zip(expected.items(), map(set, zip(*puzzles, strict=True)), strict=True):
            if number not in (None, len(of_kind)):
                listed = ", ".join(map(str, sorted(of_kind)))
                raise ShardsError(f"{kind} seeds {listed}: expected {number}: give the files of the first")
        return wanted, self._first


def _about(bank: Bank) -> dict[str, object]:
    """What all files of a bank have in common."""
    header = {name: value for name, value in asdict(bank.header).items() if name not in OF_A_FILE}
    kept = len(bank.logits[0]) if bank.logits else 0
    return header | {"candidates": bank.candidates, "scores": sorted(bank.scores), "candidates with logits": kept}
