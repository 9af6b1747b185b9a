"""The rollout file: everything later stages need of the rollouts of one checkpoint on one set of puzzles.

A Parquet file with one row per puzzle, whose per-candidate columns are lists: a bank of any number of puzzles is
written and read a few rows at a time.  Writing the same bank twice gives the same bytes.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Bool, Float, Int, UInt8

from cvoting.atomic import atomic_path
from cvoting.data.puzzles import Origin
from cvoting.errors import CvotingError

FORMAT = 1


class BankFileError(CvotingError, ValueError):
    """A file that is not a readable bank, or a bank that cannot be written."""


@dataclass(frozen=True)
class BankHeader:
    """What a bank file is of: the same for all its rows; it is number `shard` of `shards` files, from 0."""

    run: str
    model: str
    dataset: str
    split: str
    origin: Origin
    source: str
    T_eval: int
    training_seed: int
    inference_seed: int
    shards: int = 1
    shard: int = 0


@dataclass(frozen=True)
class Reading:
    """What the first candidates of some puzzles were at a step; arrays as those of `Bank`."""

    scores: dict[str, Float[np.ndarray, "puzzles read"]]
    correct: dict[str, Bool[np.ndarray, "puzzles read"]]
    cell_accuracy: Float[np.ndarray, "puzzles read"]


@dataclass(frozen=True)
class Bank:
    """Rollouts of some puzzles; candidate k of puzzle p is entry [p, k] of every per-candidate array.

    Attributes:
        header: what the bank is of.
        puzzles: the hash of each puzzle.
        questions, labels: tokens.
        answers: for each puzzle its table of distinct answers, in order of appearance.
        answer_ids: the row of the puzzle's table that a candidate answered.
        scores: per name, larger is better: confidence, negative_entropy, log_probability, and confidence_at_<t> for
            each temperature that was asked for; latent_residual and logit_residual (minus the change); where the model
            has an energy, energy_last and energy_sum (minus the energy).
        correct: per metric of the task, whether the candidate's answer is right.
        cell_accuracy: share of the positions to predict that are right.
        steps: what the first candidates were at earlier steps.
    """

    header: BankHeader
    puzzles: list[str]
    questions: UInt8[np.ndarray, "puzzles cells"]
    labels: UInt8[np.ndarray, "puzzles cells"]
    answers: list[UInt8[np.ndarray, "_ cells"]]
    answer_ids: Int[np.ndarray, "puzzles candidates"]
    scores: dict[str, Float[np.ndarray, "puzzles candidates"]]
    correct: dict[str, Bool[np.ndarray, "puzzles candidates"]]
    cell_accuracy: Float[np.ndarray, "puzzles candidates"]
    steps: dict[int, Reading] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.puzzles)

    @property
    def candidates(self) -> int:
        """M, the number of candidates per puzzle."""
        return self.answer_ids.shape[1]

    @property
    def knows_answers(self) -> bool:
        """Whether it holds what the candidates answered."""
        return any(map(len, self.answers))

    def at(self, step: int) -> "Bank":
        """The bank as if its rollouts had ended at one of its `steps`, without what they answered there."""
        reading = self.steps[step]
        return Bank(
            header=replace(self.header, T_eval=step),
            puzzles=self.puzzles,
            questions=self.questions,
            labels=self.labels,
            answers=[self.questions[:0]] * len(self),
            answer_ids=np.zeros(reading.cell_accuracy.shape, dtype=np.int32),
            scores=reading.scores,
            correct=reading.correct,
            cell_accuracy=reading.cell_accuracy,
        )


def write_banks(path: str | Path, parts: Iterable[Bank]) -> None:
    """Write parts, in order, as one bank; each part becomes one row group.

    Raises:
        BankFileError: when there is no part.
        ValueError: when the parts have different headers or scores.
    """
    with atomic_path(path) as temporary:
        writer = None
        try:
            for part in parts:
                table = _to_table(part)
                if writer is None:
                    writer = pq.ParquetWriter(temporary, table.schema, compression="zstd", write_page_checksum=True)
                elif not table.schema.equals(writer.schema, check_metadata=True):
                    raise ValueError(f"{path}: parts of different banks: {table.schema} and {writer.schema}")
                writer.write_table(table, row_group_size=max(len(part), 1))
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise BankFileError(
                f"{path}: a bank of no puzzles, expected at least one: give more puzzles, or ask for fewer shards"
            )


def read_banks(path: str | Path) -> Iterator[Bank]:
    """The parts of a bank file, one row group at a time: memory is that of the largest part.

    Raises:
        BankFileError: when the file is damaged or not a bank.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = json.loads((file.schema_arrow.metadata or {}).get(b"cvoting", b"{}"))
            if about.get("format") != FORMAT:
                raise BankFileError(
                    f"{path}: bank format {about.get('format')!r}, expected {FORMAT}: it holds no rollouts, or "
                    "those of another version of cvoting: make it again"
                )
            for group in range(file.num_row_groups):
                yield _from_table(file.read_row_group(group), BankHeader(**about["header"]))
    except BankFileError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else "no permission"
        raise BankFileError(f"{path}: not a readable bank ({reason}): roll out this shard first") from error
    # Pages carry checksums; damage in the footer surfaces in whatever reads it first.
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BankFileError(
            f"{path}: not a readable bank (damaged or of another kind): delete it and make it again"
        ) from error


def concatenate(parts: Iterable[Bank]) -> Bank:
    """All rows of some parts of one bank, in memory at once."""
    parts = list(parts)
    first = parts[0]
    steps = {step: [part.steps[step] for part in parts] for step in first.steps}
    return Bank(
        header=first.header,
        puzzles=[p for part in parts for p in part.puzzles],
        questions=np.concatenate([p.questions for p in parts]),
        labels=np.concatenate([p.labels for p in parts]),
        answers=[a for part in parts for a in part.answers],
        answer_ids=np.concatenate([p.answer_ids for p in parts]),
        **_concatenated(parts),
        steps={step: Reading(**_concatenated(readings)) for step, readings in steps.items()},
    )


def _concatenated(parts: Sequence["Bank | Reading"]) -> dict[str, Any]:
    """The scores and judgements of some parts."""
    scores, correct = ([getattr(part, name) for part in parts] for name in ("scores", "correct"))
    return {
        "scores": {name: np.concatenate([part[name] for part in scores]) for name in scores[0]},
        "correct": {name: np.concatenate([part[name] for part in correct]) for name in correct[0]},
        "cell_accuracy": np.concatenate([part.cell_accuracy for part in parts]),
    }


def _to_table(bank: Bank) -> pa.Table:
    cells = bank.questions.shape[1]
    answers = pa.ListArray.from_arrays(
        np.concatenate([[0], np.cumsum([len(a) for a in bank.answers])]).astype(np.int32),
        _fixed_lists(np.concatenate([np.empty((0, cells), np.uint8), *bank.answers])),
    )
    columns = {
        "puzzle": pa.array(bank.puzzles, pa.string()),
        "question": _fixed_lists(bank.questions),
        "label": _fixed_lists(bank.labels),
        "answers": answers,
        "answer_id": _fixed_lists(bank.answer_ids.astype(np.int32)),
        **_reading_columns(bank),
    }
    for step, reading in bank.steps.items():
        columns |= {f"step/{step}/{name}": values for name, values in _reading_columns(reading).items()}
    about = json.dumps({"format": FORMAT, "header": asdict(bank.header)}, sort_keys=True)
    return pa.table(columns).replace_schema_metadata({"cvoting": about})


def _reading_columns(reading: Bank | Reading) -> dict[str, pa.FixedSizeListArray]:
    """Scores and judgements as columns."""
    return {
        **{f"score/{name}": _fixed_lists(values.astype(np.float64)) for name, values in reading.scores.items()},
        **{f"correct/{name}": _fixed_lists(values) for name, values in reading.correct.items()},
        "cell_accuracy": _fixed_lists(reading.cell_accuracy.astype(np.float64)),
    }


def _from_table(table: pa.Table, header: BankHeader) -> Bank:
    table = table.combine_chunks()
    steps = dict.fromkeys(int(name.split("/")[1]) for name in table.column_names if name.startswith("step/"))
    questions = _matrix(table["question"])
    tables = table["answers"].combine_chunks()
    rows = _matrix(pa.chunked_array([tables.flatten()]))
    offsets = tables.offsets.to_numpy() - tables.offsets[0].as_py()
    return Bank(
        header=header,
        puzzles=table["puzzle"].to_pylist(),
        questions=questions,
        labels=_matrix(table["label"]),
        answers=[rows[a:b] for a, b in pairwise(offsets)],
        answer_ids=_matrix(table["answer_id"]),
        **_reading(table, ""),
        steps={step: Reading(**_reading(table, f"step/{step}/")) for step in steps},
    )


def _reading(table: pa.Table, prefix: str) -> dict[str, Any]:
    """Scores and judgements from the columns of a prefix."""

    def under(place: str) -> dict[str, np.ndarray]:
        return {n.removeprefix(place): _matrix(table[n]) for n in table.column_names if n.startswith(place)}

    return {
        "scores": under(f"{prefix}score/"),
        "correct": under(f"{prefix}correct/"),
        "cell_accuracy": _matrix(table[f"{prefix}cell_accuracy"]),
    }


def _fixed_lists(values: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _matrix(column: pa.ChunkedArray) -> np.ndarray:
    lists = column.combine_chunks()
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), lists.type.list_size)
