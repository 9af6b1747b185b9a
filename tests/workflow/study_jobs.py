"""The jobs that a study takes, read off its parameters alone: what Snakemake's plans are compared with."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import yaml

#: They are made of votes, of what is said of confidence, and of the heads of checkpoints.
CLAIMS = ["judging the claims"]
#: What all tables of banks make; the summary alone is made of training logs too, and not of trajectories.
SUMMARY = ["summarising the study", *CLAIMS]


class StudyJobs:
    """The jobs of a study as Snakemake announces them.

    `runs` and `banks` are those that a method lists the jobs of; None: all.

    Args:
        path: its parameters.
        copies: whether its figures are copied to figures/.
    """

    def __init__(self, path: Path, copies: bool = True):
        self.study: dict[str, Any] = yaml.safe_load(path.read_text())
        self.copies = copies

    def runs_of(self, model: str) -> list[str]:
        """The runs of a model."""
        return [name for name, run in self.study["runs"].items() if run["model"] == model]

    def banks_of(self, runs: Collection[str]) -> list[str]:
        """The banks of some runs."""
        return [name for name, bank in self.study["banks"].items() if bank["run"] in runs]

    def data(self) -> list[str]:
        """Builds of datasets and their audits, and the strata of those that models are tested on."""
        tested = dict.fromkeys(bank["dataset"] for bank in self.study["banks"].values())
        of = {"making": self.study["datasets"], "auditing": self.study["datasets"], "grading": tested}
        return [f"{what} the puzzles of {name}" for what, names in of.items() for name in names]

    def training(self, runs: Collection[str] | None = None) -> list[str]:
        """Trainings: each run with each training seed."""
        return [
            f"training {name} with seed {seed}"
            for name, run in self._chosen("runs", runs)
            for seed in run["training_seeds"]
        ]

    def rollouts(self, banks: Collection[str] | None = None) -> list[str]:
        """Rollouts: each bank with each training seed, inference seed and shard, once."""
        return [
            f"rolling out {name}: training seed {training_seed}, inference seed {inference_seed}, shard {shard}"
            for name, bank in self._chosen("banks", banks)
            for training_seed in self.study["runs"][bank["run"]]["training_seeds"]
            for inference_seed in bank["inference_seeds"]
            for shard in range(bank["shards"])
        ]

    def voting(self, banks: Collection[str] | None = None) -> list[str]:
        """Voting tables, also by difficulty, and those of steps and of what they cost."""
        chosen = dict(self._chosen("banks", banks))
        read = [name for name, bank in chosen.items() if bank.get("read_at")]
        steps = [f"voting in {name} at the steps it lists" for name in read]
        ends = [f"voting {where} {name}" for name in chosen for where in ("in", "by difficulty in")]
        return ends + steps + [f"accuracy against cost in {name}" for name in read]

    def adaptive(self, banks: Collection[str] | None = None) -> list[str]:
        """Tables of adaptive voting: of banks of several candidates."""
        return [f"voting adaptively in {name}" for name, bank in self._chosen("banks", banks) if bank["candidates"] > 1]

    def confidence(self, banks: Collection[str] | None = None) -> list[str]:
        """Tables of confidence: of banks that keep logits, of several candidates, and of those read out at steps."""
        chosen = dict(self._chosen("banks", banks))
        read = [name for name, bank in chosen.items() if bank.get("read_at")]
        tasks = {name: dataset["task"]["name"] for name, dataset in self.study["datasets"].items()}
        of = {
            "calibration of": [name for name, bank in chosen.items() if bank.get("logit_candidates")],
            "what confidence tells in": [name for name, bank in chosen.items() if bank["candidates"] > 1],
            "confidence against steps in": read,
            "a solved board of": [
                name for name in read if tasks[chosen[name]["dataset"]] == "sudoku" and chosen[name].get("boards", True)
            ],
        }
        return [f"{what} {name}" for what, names in of.items() for name in names]

    def figures(self, banks: Collection[str] | None = None, votes: bool | None = None) -> list[str]:
        """Figures that show one of the banks, and their copies; those of votes, or the others, alone."""
        used = dict(self._chosen("banks", banks))
        names = [
            name
            for name, block in self.study["figures"].items()
            if used.keys() & _banks_of_figure(block) and votes in (None, "votes" in block)
        ]
        return [f"drawing {n}" for n in names] + [f"copying {n} to figures/" for n in names if self.copies]

    def tables(self, banks: Collection[str] | None = None, runs: Collection[str] | None = None) -> list[str]:
        """Tables of the paper that are made from one of the banks, or show the parameters of one of the runs."""
        used = {bank for bank, _ in self._chosen("banks", banks)}, {run for run, _ in self._chosen("runs", runs)}
        made = {
            name: block.get("run") in used[1] if "run" in block else used[0] & set(block.get("banks", block.values()))
            for name, block in self.study.get("tables", {}).items()
        }
        return [f"making {name}" for name in made if made[name]]

    def from_banks(self, banks: Collection[str] | None = None) -> list[str]:
        """All that is made of the rollouts of the banks."""
        made = self.from_votes(banks) + self.adaptive(banks) + self.confidence(banks)
        return made + self.figures(banks, votes=False)

    def from_votes(self, banks: Collection[str] | None = None) -> list[str]:
        """All that is made of the votes of the banks."""
        return self.voting(banks) + self.figures(banks, votes=True) + self.tables(banks, runs=[]) + SUMMARY

    def all(self) -> list[str]:
        """Everything, sorted."""
        made = [*self.voting(), *self.adaptive(), *self.confidence(), *self.figures(), *self.tables(), *SUMMARY]
        return sorted([*self.data(), *self.training(), *self.rollouts(), *made])

    def _chosen(self, kind: str, names: Collection[str] | None) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((name, block) for name, block in self.study[kind].items() if names is None or name in names)


def _banks_of_figure(block: dict[str, Any]) -> set[str]:
    """The banks of all panels."""
    return set().union(*block.get("panels", [block.get("banks")]))
