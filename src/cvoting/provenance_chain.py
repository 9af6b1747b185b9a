"""What made a file, up the chain to puzzles and seeds, as the study's lock file tells it.

The chain of a file is the file, everything it was made from, and so on to files that no rule makes.  What the lock file
says can be compared with the files themselves.
"""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cvoting.errors import CvotingError
from cvoting.provenance import Record, read_lock, sha256_of


class ProvenanceError(CvotingError):
    """A file that no lock file describes, or that is not what the lock file says."""


@dataclass(frozen=True)
class Link:
    """A file of a chain.

    Attributes:
        path: relative to the project.
        sha256: of the contents that what stands before it in the chain was made from; None where that is not known.
        made: what made it; None for a file that no rule makes.
    """

    path: str
    sha256: str | None
    made: Record | None

    @property
    def recipe(self) -> dict[str, Any]:
        """The parameters of the job that made it, seeds among them."""
        return next((found for found in self._parameters() if isinstance(found, dict)), {})

    @property
    def code(self) -> str | None:
        """The hash of the code that made it."""
        return next((found for found in self._parameters() if isinstance(found, str)), None)

    def problem(self) -> str | None:
        """How the file differs from what the lock file says; None for one that does not."""
        if self.made and self.sha256 != self.made["sha256"]:
            return "what follows was made from another version of it"
        if not Path(self.path).exists():
            return None if self.made else "it is not here, and no rule makes it"
        found = sha256_of(self.path)
        if self.sha256 not in (None, found):
            return f"its SHA-256 is {found}, expected {self.sha256}"
        return None

    def _parameters(self) -> Iterator[Any]:
        """Those of the rule: a recipe in JSON, and a hash."""
        for text in (self.made or {}).get("params", []):
            value = ast.literal_eval(text)
            yield json.loads(value) if value.startswith("{") else value


def chain(path: str, locks: Path = Path("provenance")) -> list[Link]:
    """The chain of a file: the file first, everything after what was made from it, each once.

    Args:
        path: the file, relative to the project.
        locks: the folder of the lock files.

    Raises:
        ProvenanceError: when no lock file describes the file.
        LockFileError: when a lock file cannot be read.
    """
    for lock in sorted(locks.glob("*.lock.json")):
        outputs = read_lock(lock)
        if path in outputs:
            return list(_links(path, outputs[path]["sha256"], outputs, set()))
    raise ProvenanceError(f"{path}: no lock file in {locks} describes it: name a file that a rule of a study has made")


def verify(links: list[Link]) -> list[str]:
    """What is not as the lock file says, one line each; files that a rule makes and that are not here are no problem.

    Every file is read anew, whatever is remembered of its contents.

    Args:
        links: a chain.
    """
    problems = ((link.path, link.problem()) for link in links)
    return [f"{path}: {problem}" for path, problem in problems if problem]


def described(links: list[Link]) -> str:
    """A chain in words: every file with what made it, its parameters as YAML."""
    return "\n".join(_described(link) for link in links)


def _links(path: str, sha256: str | None, outputs: Mapping[str, Record], seen: set[str]) -> Iterator[Link]:
    """The file and what it was made from, but for files that were seen."""
    if path in seen:
        return
    seen.add(path)
    made = outputs.get(path)
    yield Link(path, sha256, made)
    for name, recorded in (made or {}).get("inputs", {}).items():
        yield from _links(name, recorded, outputs, seen)


def _described(link: Link) -> str:
    """One file."""
    lines = [link.path, f"  sha256: {link.sha256}"]
    if link.made is None:
        return "\n".join([*lines, "  no rule makes it", ""])
    lines.append(f"  made by: {link.made['rule']}" + (f", code {link.code}" if link.code else ""))
    lines.append(f"  with: {', '.join(f'{package} {version}' for package, version in link.made['versions'].items())}")
    if link.recipe:
        text = yaml.safe_dump(link.recipe, default_flow_style=None, width=112, sort_keys=True)
        lines += ["  parameters:", *(f"    {line}" for line in text.splitlines())]
    lines += ["  made from:", *(f"    {name}" for name in link.made["inputs"])] if link.made["inputs"] else []
    return "\n".join([*lines, ""])
