"""An audit as text to read, as a table with one row per set, and as JSON with everything."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from cvoting.atomic import atomic_path
from cvoting.data.audit import SYMMETRY_FACTS, Audit, AuditedSet

#: Longest histogram that the text shows; JSON has them all.
SHOWN_VALUES = 40
#: How many puzzles with a defect JSON names.
NAMED_PUZZLES = 5
NOTE = (
    "Equality up to symmetry is a finding and no defect, unless the audit is strict: there are so few small boards\n"
    "that it cannot be avoided.  It includes equal questions."
)


def text(audit: Audit, strict: bool = False) -> str:
    """What was found, for a reader; the last lines name the defects, or say that there is none.

    Args:
        audit: the audit.
        strict: equality up to symmetry is a defect.
    """
    lines = [line for audited in audit.sets for line in (*_set_lines(audited, strict), "")]
    if audit.overlaps:
        lines.append("Puzzles of each set that are in the other, equal / equal up to symmetry:")
    for overlap in audit.overlaps:
        first, second = ("{:,} / {:,}".format(*n) for n in zip(overlap.exact, overlap.up_to_symmetry, strict=True))
        lines += [f"  {overlap.sets[0]}: {first}", f"  {overlap.sets[1]}: {second}", ""]
    defects = audit.defects(strict)
    lines += [NOTE, "", f"Defects: {len(defects) or 'none'}", *(f"  {defect}" for defect in defects)]
    return "\n".join(lines)


def write_csv(audit: Audit, path: Path) -> None:
    """One row per set: its name, number of puzzles, origin and source; range and mean of each measure, empty where a
    set has none, such as ratings; and the number of puzzles of each fact and defect, in the words of `text`.
    """
    rows = []
    for audited in audit.sets:
        found = audited.found
        row: dict[str, Any] = {"set": audited.name, "puzzles": len(audited), "origin": audited.origin}
        for name, values in found.measures.items():
            row |= {f"{name}_{what}": value for what, value in summary(values).items()}
        row |= {name: int(mask.sum()) for name, mask in {**found.facts, **found.defects}.items()}
        rows.append({**row, "source": audited.source})
    with atomic_path(path) as temporary, open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, dict.fromkeys(name for row in rows for name in row), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_json(audit: Audit, path: Path, strict: bool = False) -> None:
    """Sets, with histograms and the numbers of the first puzzles that have a defect; overlaps, by pair; refused files;
    and the list of defects that `text` ends with.

    Puzzles are numbered from 1, in the order of their file.
    """
    sets = [
        {
            "set": audited.name,
            "puzzles": len(audited),
            "origin": audited.origin,
            "source": audited.source,
            "measures": {
                name: {**summary(values), "histogram": histogram(values)}
                for name, values in audited.found.measures.items()
            },
            "facts": {name: int(mask.sum()) for name, mask in audited.found.facts.items()},
            "defects": {
                name: {"puzzles": int(mask.sum()), "first": (np.flatnonzero(mask)[:NAMED_PUZZLES] + 1).tolist()}
                for name, mask in audited.found.defects.items()
            },
        }
        for audited in audit.sets
    ]
    overlaps = [
        {"sets": list(overlap.sets), "exact": list(overlap.exact), "up_to_symmetry": list(overlap.up_to_symmetry)}
        for overlap in audit.overlaps
    ]
    content = {"sets": sets, "overlaps": overlaps, "refused": dict(audit.refused), "defects": audit.defects(strict)}
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n")


def summary(values: Int[np.ndarray, "puzzles"]) -> dict[str, int | float]:
    """Least, mean and greatest value."""
    return {"min": int(values.min()), "mean": round(float(values.mean()), 4), "max": int(values.max())}


def histogram(values: Int[np.ndarray, "puzzles"]) -> dict[str, int]:
    """How many puzzles have each value."""
    return {str(value): int(count) for value, count in zip(*np.unique(values, return_counts=True), strict=True)}


def _set_lines(audited: AuditedSet, strict: bool) -> Iterator[str]:
    """The paragraph of a set."""
    found = audited.found
    yield f"{audited.name}: {len(audited):,} puzzles, {audited.origin}: {audited.source}"
    for name, values in found.measures.items():
        counts = histogram(values)
        yield f"  {name}: {{min}} to {{max}}, mean {{mean:.2f}}".format(**summary(values))
        if len(counts) <= SHOWN_VALUES:
            yield f"    number of puzzles: {', '.join(f'{value}: {count}' for value, count in counts.items())}"
    symmetry = dict.fromkeys(SYMMETRY_FACTS, "DEFECT" if strict else "finding")
    kinds = {**symmetry, **dict.fromkeys(found.defects, "DEFECT")}
    for name, mask in {**found.facts, **found.defects}.items():
        yield f"  {name:30} {mask.sum():>9,} {kinds.get(name, '') if mask.any() else ''}".rstrip()
