"""Banks as files: Parquet with one row per puzzle, whose per-candidate columns are lists.

A bank of any number of puzzles is written and read a few rows at a time.  Writing the same bank twice gives the same
bytes.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cvoting.atomic import atomic_path
from cvoting.bank import Bank, BankHeader, Reading, bank_at
from cvoting.errors import CvotingError

FORMAT = 2
#: The columns of the logits and of the labels' places among them, in files that keep some.
LOGITS, RANKS = "logits", "ranks"
#: The columns that only a bank with boards has.
BOARDS = ("question", "label", "answers")


class BankFileError(CvotingError, ValueError):
    """A file that is not a readable bank, or a bank that cannot be written."""


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


def read_banks(path: str | Path, logits: bool = True) -> Iterator[Bank]:
    """The parts of a bank file, one row group at a time: memory is that of the largest part.

    Args:
        path: the file.
        logits: whether to read those that it keeps.

    Raises:
        BankFileError: when the file is damaged or not a bank.
    """
    yield from _parts(path, lambda column: logits or column not in (LOGITS, RANKS), _from_table)


def read_ends(path: str | Path, logits: bool = False) -> Iterator[Bank]:
    """As `read_banks`, without the earlier steps and, unless asked for, the logits: they are not read from the file."""
    left = () if logits else (LOGITS, RANKS)
    yield from _parts(path, lambda column: not column.startswith("step/") and column not in left, _from_table)


def read_at(path: str | Path, step: int) -> Iterator[Bank]:
    """As `read_banks` with each part `at` a step; nothing else is read from the file.

    Raises:
        BankFileError: also when the bank was not read out at the step.
    """
    place, about = f"step/{step}/", ("puzzle", *BOARDS[:2])

    def at_step(table: pa.Table, header: BankHeader) -> Bank:
        if not any(name.startswith(place) for name in table.column_names):
            raise BankFileError(f"{path}: not read out at step {step}: roll out again with the step in `read_at`")
        reading = Reading(**_reading(table, place))
        return bank_at(header, step, table["puzzle"].to_pylist(), *_questions_and_labels(table), reading)

    yield from _parts(path, lambda column: column in about or column.startswith(place), at_step)


def _parts(
    path: str | Path, wanted: Callable[[str], bool], make: Callable[[pa.Table, BankHeader], Bank]
) -> Iterator[Bank]:
    """What `make` makes of the wanted columns of each row group."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = json.loads((file.schema_arrow.metadata or {}).get(b"cvoting", b"{}"))
            if about.get("format") != FORMAT:
                raise BankFileError(
                    f"{path}: bank format {about.get('format')!r}, expected {FORMAT}: it holds no rollouts, or "
                    "those of another version of cvoting: make it again"
                )
            columns = [name for name in file.schema_arrow.names if wanted(name)]
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns).combine_chunks()
                yield make(table, BankHeader(**about["header"]))
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


def _to_table(bank: Bank) -> pa.Table:
    columns = {
        "puzzle": pa.array(bank.puzzles, pa.string()),
        **(_board_columns(bank) if bank.questions.shape[1] else {}),
        "answer_id": _fixed_lists(bank.answer_ids.astype(np.int32)),
        **_reading_columns(bank),
    }
    for step, reading in bank.steps.items():
        columns |= {f"step/{step}/{name}": values for name, values in _reading_columns(reading).items()}
    if bank.logits:
        columns |= {LOGITS: _logits_column(bank.logits), RANKS: _ranks_column(bank.ranks)}
    about = json.dumps({"format": FORMAT, "header": asdict(bank.header)}, sort_keys=True)
    return pa.table(columns).replace_schema_metadata({"cvoting": about})


def _board_columns(bank: Bank) -> dict[str, pa.Array]:
    """Questions, labels, and the tables of distinct answers, as columns."""
    ends = np.cumsum([0, *(len(answers) for answers in bank.answers)]).astype(np.int32)
    tables = pa.ListArray.from_arrays(ends, _fixed_lists(np.concatenate(bank.answers)))
    return dict(zip(BOARDS, (_fixed_lists(bank.questions), _fixed_lists(bank.labels), tables), strict=True))


def _reading_columns(reading: Bank | Reading) -> dict[str, pa.FixedSizeListArray]:
    """Scores and judgements as columns."""
    return {
        **{f"score/{name}": _fixed_lists(values.astype(np.float64)) for name, values in reading.scores.items()},
        **{f"correct/{name}": _fixed_lists(values) for name, values in reading.correct.items()},
        "cell_accuracy": _fixed_lists(reading.cell_accuracy.astype(np.float64)),
    }


def _from_table(table: pa.Table, header: BankHeader) -> Bank:
    steps = dict.fromkeys(int(name.split("/")[1]) for name in table.column_names if name.startswith("step/"))
    questions, labels = _questions_and_labels(table)
    answer_ids = _matrix(table["answer_id"])
    logits = _logits(table[LOGITS]) if LOGITS in table.column_names else []
    return Bank(
        header=header,
        puzzles=table["puzzle"].to_pylist(),
        questions=questions,
        labels=labels,
        answers=_answers(table, answer_ids),
        answer_ids=answer_ids,
        **_reading(table, ""),
        steps={step: Reading(**_reading(table, f"step/{step}/")) for step in steps},
        logits=logits,
        ranks=_ranks(table[RANKS], logits) if logits else [],
    )


def _questions_and_labels(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Tokens; of no cell where there are no boards."""
    if BOARDS[0] not in table.column_names:
        none = np.empty((len(table), 0), np.uint8)
        return none, none
    return _matrix(table[BOARDS[0]]), _matrix(table[BOARDS[1]])


def _answers(table: pa.Table, answer_ids: np.ndarray) -> list[np.ndarray]:
    """The tables of distinct answers; where there are no boards, as many rows of no cell as are named."""
    if BOARDS[2] not in table.column_names:
        return [np.empty((named, 0), np.uint8) for named in answer_ids.max(axis=1) + 1]
    tables = table[BOARDS[2]].combine_chunks()
    rows = _matrix(pa.chunked_array([tables.flatten()]))
    offsets = tables.offsets.to_numpy() - tables.offsets[0].as_py()
    return [rows[a:b] for a, b in pairwise(offsets)]


def _reading(table: pa.Table, prefix: str) -> dict[str, Any]:
    """Scores and judgements from the columns of a prefix."""

    def under(place: str) -> dict[str, np.ndarray]:
        return {n.removeprefix(place): _matrix(table[n]) for n in table.column_names if n.startswith(place)}

    return {
        "scores": under(f"{prefix}score/"),
        "correct": under(f"{prefix}correct/"),
        "cell_accuracy": _matrix(table[f"{prefix}cell_accuracy"]),
    }


def _logits_column(logits: list[np.ndarray]) -> pa.ListArray:
    """Per puzzle a list of candidates, each a list of cells, each a list of tokens."""
    candidates = np.cumsum([0, *(len(of_puzzle) for of_puzzle in logits)]).astype(np.int32)
    cells = np.cumsum([0, *(of_puzzle.shape[1] for of_puzzle in logits for _ in of_puzzle)]).astype(np.int32)
    tokens = _fixed_lists(np.concatenate([of_puzzle.reshape(-1, of_puzzle.shape[2]) for of_puzzle in logits]))
    return pa.ListArray.from_arrays(candidates, pa.ListArray.from_arrays(cells, tokens))


def _ranks_column(ranks: list[np.ndarray]) -> pa.ListArray:
    """Per puzzle a list of all its predictions, candidate by candidate."""
    ends = np.cumsum([0, *(of_puzzle.size for of_puzzle in ranks)]).astype(np.int32)
    return pa.ListArray.from_arrays(ends, pa.array(np.concatenate([of_puzzle.ravel() for of_puzzle in ranks])))


def _ranks(column: pa.ChunkedArray, logits: list[np.ndarray]) -> list[np.ndarray]:
    """The inverse of `_ranks_column`, with the candidates and cells of the logits."""
    places = column.combine_chunks().flatten().to_numpy()
    ends = np.cumsum([of_puzzle[..., 0].size for of_puzzle in logits])[:-1]
    shapes = [of_puzzle.shape[:2] for of_puzzle in logits]
    return [part.reshape(shape) for part, shape in zip(np.split(places, ends), shapes, strict=True)]


def _logits(column: pa.ChunkedArray) -> list[np.ndarray]:
    """The inverse of `_logits_column`."""
    of_puzzles = column.combine_chunks()
    kept = np.diff(of_puzzles.offsets.to_numpy())
    of_candidates = of_puzzles.flatten()
    rows = _matrix(pa.chunked_array([of_candidates.flatten()]))
    ends = (of_candidates.offsets.to_numpy() - of_candidates.offsets[0].as_py())[np.cumsum([0, *kept])]
    return [rows[a:b].reshape(k, -1, rows.shape[1]) for (a, b), k in zip(pairwise(ends), kept, strict=True)]


def _fixed_lists(values: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _matrix(column: pa.ChunkedArray) -> np.ndarray:
    lists = column.combine_chunks()
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), lists.type.list_size)
