"""What made each output of a study, in a file that git can hold.

Snakemake remembers the parameters, code and inputs of every output in `.snakemake/metadata`, which belongs to one
checkout: after a clone it would take any file for the right one.  Here these records are exported, without times and
with the SHA-256 of each output, to the study's lock file, and restored for the files that are what the lock file says.
A file that neither a record nor the lock file describes, or whose inputs have other contents now, gets a record that
says so, and Snakemake makes it again.  The versions of packages are kept beside, and nothing is made again for them:
`foreign` says what was made with others.  See docs/provenance.md.
"""

import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError
from cvoting.run_record import content_key

LOCK_FORMAT = 2
#: Version of Snakemake's records (`snakemake.persistence.RECORD_FORMAT_VERSION`); it does not compare older ones.
RECORD_FORMAT = 6
#: Begins a parameter that stands for a doubt: no job has such a parameter, so Snakemake sees that parameters changed.
DOUBT = "provenance: "
#: Snakemake cuts the base64 name of an output into path components of at most this length.
COMPONENT = 254

Record = dict[str, Any]


class LockFileError(CvotingError):
    """A lock file that cannot be read."""


class Provenance:
    """The records of the outputs of one study.

    Args:
        lock: the lock file.
        outputs: every output of the study; paths relative to the working directory.
        versions: of the packages that make outputs now.
        state: Snakemake's folder.
    """

    def __init__(
        self, lock: Path, outputs: Iterable[str], versions: Mapping[str, str], state: Path = Path(".snakemake")
    ):
        self.lock, self.outputs, self.versions, self.state = lock, set(outputs), dict(versions), state
        self._foreign: Counter[tuple[str, str]] = Counter()
        self._checksums = Checksums(state / "sha256.json")

    def restore(self) -> None:
        """Give Snakemake, for every output, the record that belongs to it as it is now.

        Raises:
            LockFileError: when the lock file cannot be read.
        """
        locked = read_lock(self.lock)
        written = os.stat(self.lock).st_mtime if locked else 0.0
        self._foreign.clear()
        for output in sorted(self.outputs):
            entry, present = locked.get(output), os.path.exists(output)
            record = self._own_record(output) if present else None
            described = entry and (not present or self._checksums.of(output) == entry["sha256"])
            # Other parameters can give the same contents: of two records that fit the file, the later one counts.
            if entry and described and not (record and record["endtime"] > written):
                record = _to_record(entry)
            if record:
                self._write_record(output, self._with_doubts(record, locked))
                self._foreign.update((record.get("versions") or {}).items() - self.versions.items() if present else ())
            elif present:
                why = "differs from the one described in" if entry else "is not described in"
                self._write_record(output, _to_record({"params": [f"{DOUBT}{output} {why} {self.lock}"]}))
        self._checksums.save()

    def foreign(self) -> str:
        """How many of the files that are here were made with other versions, in words; empty when none was.

        As `restore` found them.
        """
        made = [f"{package} {version} ({n})" for (package, version), n in sorted(self._foreign.items())]
        here = [f"{package} {self.versions.get(package, 'none')}" for package in sorted({p for p, _ in self._foreign})]
        return f"made with {', '.join(made)}; here is {', '.join(here)}" if made else ""

    def export(self) -> None:
        """Bring the lock file up to date with the outputs made here; what it says of files that are not here stays.

        Raises:
            LockFileError: when the lock file cannot be read.
        """
        old = read_lock(self.lock)
        new: dict[str, Record] = {}
        for output in self.outputs | set(old):
            entry, present = old.get(output), os.path.exists(output)
            record = self._own_record(output) if present and output in self.outputs else None
            if record:
                new[output] = _to_entry({"versions": self.versions} | record, self._checksums.of(output))
            elif entry and (self._checksums.of(output) == entry["sha256"] if present else output in self.outputs):
                new[output] = entry
        self._checksums.save()
        if new or old:  # even with what it says already: its time tells which records are newer
            with atomic_path(self.lock) as temporary:
                temporary.write_text(_lock_text(new))

    def _own_record(self, output: str) -> Record | None:
        """Snakemake's record, without doubts, when it is about the very file that is there."""
        try:
            record = json.loads(self._record_path(output).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        if record.get("rule") is None or record.get("endtime") != os.stat(output).st_mtime:
            return None
        return record | {"params": [p for p in record["params"] if not p.startswith(DOUBT)]}

    def _with_doubts(self, record: Record, locked: dict[str, Record]) -> Record:
        """The record, marked where an input is not what the output was made from.

        Snakemake itself compares the contents of an input only when it is newer than the output, but a checkout may
        bring back an older file.  Of an input that is not here, the lock file knows the contents.
        """
        doubts = []
        for path, recorded in record["input_checksums"].items():
            now = self._checksums.of(path) if os.path.exists(path) else locked.get(path, {}).get("sha256")
            if now and recorded != f"sha256:{now}":
                doubts.append(f"{DOUBT}made from another {path}")
        return record | {"params": record["params"] + doubts}

    def _write_record(self, output: str, record: Record) -> None:
        if os.path.exists(output):
            modified = os.stat(output).st_mtime
            record = {"starttime": modified} | record | {"endtime": modified}
        text, path = json.dumps(record), self._record_path(output)
        if not path.exists() or path.read_text() != text:
            with atomic_path(path) as temporary:
                temporary.write_text(text)

    def _record_path(self, output: str) -> Path:
        name = base64.urlsafe_b64encode(output.encode()).decode()
        *folders, last = [name[i : i + COMPONENT] for i in range(0, len(name), COMPONENT)]
        return self.state.joinpath("metadata", *(f"@{folder}" for folder in folders), last)


def read_lock(lock: Path) -> dict[str, Record]:
    """What a lock file says of each output; nothing where there is no such file.

    Raises:
        LockFileError: when it cannot be read.
    """
    if not lock.exists():
        return {}
    try:
        content = json.loads(lock.read_text())
    except json.JSONDecodeError as error:
        raise LockFileError(f"{lock}: not JSON ({error}): settle the merge, or restore it from git") from error
    if content.get("format") != LOCK_FORMAT:
        found = content.get("format")
        raise LockFileError(f"{lock}: format {found!r}, expected {LOCK_FORMAT}: delete it, and run again")
    environments = content["environments"]
    return {name: entry | {"versions": environments[entry["versions"]]} for name, entry in content["outputs"].items()}


def sha256_of(path: str) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Checksums:
    """SHA-256 of files, remembered in a file: what has the same size and modification time is not read again."""

    def __init__(self, memory: Path):
        self._memory, self._known = memory, {}
        if memory.exists():
            self._known = json.loads(memory.read_text())
        self._saved = dict(self._known)

    def of(self, path: str) -> str:
        """The SHA-256 of a file, in hexadecimal."""
        status = os.stat(path)
        stamp = [status.st_size, status.st_mtime_ns]
        known = self._known.get(path)
        if known is None or known[:2] != stamp:
            known = self._known[path] = [*stamp, sha256_of(path)]
        return known[2]

    def save(self) -> None:
        """Remember for the next time."""
        if self._known != self._saved:
            with atomic_path(self._memory) as temporary:
                temporary.write_text(json.dumps(self._known))
            self._saved = dict(self._known)


def _lock_text(entries: Mapping[str, Record]) -> str:
    """A lock file.  Each set of versions stands there once, under a name that its entries have."""
    names = {
        output: content_key(json.dumps(entry["versions"], sort_keys=True))[:8] for output, entry in entries.items()
    }
    content = {
        "format": LOCK_FORMAT,
        "environments": {names[name]: entry["versions"] for name, entry in entries.items()},
        "outputs": {name: entry | {"versions": names[name]} for name, entry in entries.items()},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _to_entry(record: Record, sha256: str) -> Record:
    """What the lock file says of an output: nothing that depends on time, machine or paths outside the project."""
    checksums = {path: value.removeprefix("sha256:") for path, value in record["input_checksums"].items()}
    return {
        "sha256": sha256,
        "rule": record["rule"],
        "code": record["code"],
        "params": record["params"],
        "inputs": {path: checksums.get(path) for path in record["input"]},
        "versions": record["versions"],
    }


def _to_record(entry: Record) -> Record:
    """Snakemake's record of an output; what is not given, Snakemake does not compare."""
    inputs = entry.get("inputs")
    return {
        "record_format_version": RECORD_FORMAT,
        "rule": entry.get("rule"),
        "code": entry.get("code"),
        "params": entry["params"],
        "input": None if inputs is None else sorted(inputs),
        "input_checksums": {path: f"sha256:{value}" for path, value in (inputs or {}).items() if value},
        "versions": entry.get("versions"),
    }
