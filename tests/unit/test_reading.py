"""Parameter files: each key once, and problems with their line."""

import json
from pathlib import Path

import pytest

from cvoting.params.core import ParameterError
from cvoting.params.reading import check_parameters, read_parameters


def test_equal_keys_of_different_mappings_are_fine(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: {x: 1}\nb: {x: 2}\n")
    assert read_parameters(tmp_path / "a.yaml") == {"a": {"x": 1}, "b": {"x": 2}}


def test_merged_keys_may_be_overridden(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: &a {x: 1, y: 1}\nb:\n  <<: *a\n  x: 2\n")
    assert read_parameters(tmp_path / "a.yaml")["b"] == {"x": 2, "y": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: {x: 1,\n  x: 2}\n", r"a\.yaml, line 3: the key 'x' again, first in line 2: keep one of them"),
        (b"a: 1\nb: [\n", r"a\.yaml, line 3: .*: expected YAML"),
        (b"a: \x00", r"a\.yaml: .*: expected YAML"),
        (b"a: \xff", r"a\.yaml: byte 4 is not UTF-8"),
        (b"", r"a\.yaml: nothing, expected a mapping"),
        (b"? [1, 2]\n: 3\n? [1, 2]\n: 4\n", r"a\.yaml, line 1: .*: expected YAML"),
    ],
    ids=["key twice", "open bracket", "control character", "latin-1", "empty", "list as key"],
)
def test_a_problem_names_the_file_and_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(ParameterError, match=message):
        read_parameters(tmp_path / "a.yaml")


def test_only_yaml_files_are_checked_because_json_may_hold_tabs(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"a": 1}, indent="\t"))
    (tmp_path / "a.yaml").write_text("a: 1\na: 2\n")
    check_parameters([tmp_path / "a.json"])
    with pytest.raises(ParameterError, match="the key 'a' again"):
        check_parameters([tmp_path / "a.json", str(tmp_path / "a.yaml")])
