"""Parameter files: YAML in which every key stands once."""

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from cvoting.params.core import ParameterError, build
from cvoting.params.study import Study


def read_parameters(path: Path) -> dict[str, Any]:
    """The mapping that a file holds.

    YAML itself takes the last of several equal keys, so that an edit of the first one would change nothing.

    Raises:
        ParameterError: when the file is not UTF-8, not YAML, not a mapping, or has a key twice; with the line.
    """
    try:
        content = yaml.load(path.read_bytes().decode(), _EachKeyOnce)
    except UnicodeDecodeError as error:
        raise ParameterError([f"{path}: byte {error.start + 1} is not UTF-8: save the file as UTF-8 text"]) from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError([f"{path}{line}: {error.problem}: {_remedy(error)}"]) from error
    except yaml.YAMLError as error:
        raise ParameterError([f"{path}: {' '.join(str(error).split())}: expected YAML"]) from error
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise ParameterError([f"{path}: {found}, expected a mapping of keys to values"])
    return content


def check_parameters(paths: Iterable[str | Path]) -> None:
    """Refuse YAML files that `read_parameters` refuses, for readers that take the last of several equal keys."""
    for path in map(Path, paths):
        if path.suffix in (".yaml", ".yml"):
            read_parameters(path)


def read_study(path: Path) -> Study:
    """The study that a file holds.

    Raises:
        ParameterError: when the file cannot be read, or its parameters cannot be used.
    """
    return build(Study, read_parameters(path))


def merged_study(config: Mapping[str, Any], paths: Iterable[str | Path]) -> Study:
    """The study that Snakemake merged from files and its command line; it takes the last of several equal keys.

    Raises:
        ParameterError: when a file cannot be read or has a key twice, or the parameters cannot be used.
    """
    check_parameters(paths)
    return build(Study, config)


def _remedy(error: yaml.MarkedYAMLError) -> str:
    return "keep one of them" if isinstance(error, _RepeatedKey) else "expected YAML, indented with spaces"


class _RepeatedKey(yaml.MarkedYAMLError):
    """A key that a mapping has already."""


class _EachKeyOnce(yaml.SafeLoader):
    """YAML's safe loader, which refuses a key that a mapping has already."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"the key {key.value!r} again, first in line {seen[key.value]}"
                raise _RepeatedKey(problem=problem, problem_mark=key.start_mark)
            seen[str(key.value)] = line
        return super().construct_mapping(node, deep)
