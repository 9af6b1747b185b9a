"""Source files: found in mirrors, checked, copied whole or not at all."""

import hashlib
import os
import re
import subprocess
import sys

import pytest

from cvoting.data.sources import FILES, MIRROR_VARIABLE, SourceError, SourceFile, fetch, source_file, verified

CONTENT = b"source,question,answer,rating\r\n"
SOURCE = SourceFile(
    path="set/train.csv",
    url="https://example.org/set",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    about="a test file",
)


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch):
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)


@pytest.fixture
def mirror(tmp_path):
    """Makes a mirror folder that holds the given content."""

    def make(name, content=CONTENT):
        file = tmp_path / name / SOURCE.path
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        return tmp_path / name

    return make


def test_the_table_of_files_is_complete_and_consistent():
    assert {"sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard", "royle_17_clues"} <= set(FILES)
    assert len({f.path for f in FILES.values()}) == len({f.sha256 for f in FILES.values()}) == len(FILES)
    for file in FILES.values():
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.url.startswith("https://")
        assert file.bytes > 0
        assert not file.path.startswith("/")


@pytest.mark.skipif(MIRROR_VARIABLE not in os.environ, reason=f"{MIRROR_VARIABLE} names no mirror")
@pytest.mark.parametrize("name", FILES)
def test_the_real_files_are_those_of_the_table(name, tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, MIRROR)
    fetch(FILES[name], [], tmp_path / FILES[name].path)
    assert verified(FILES[name], tmp_path).stat().st_size == FILES[name].bytes


MIRROR = os.environ.get(MIRROR_VARIABLE, "")


def test_a_file_is_copied_from_the_first_mirror_that_has_it(mirror, tmp_path):
    fetch(SOURCE, [tmp_path / "absent", mirror("second")], tmp_path / "raw" / SOURCE.path)
    assert verified(SOURCE, tmp_path / "raw").read_bytes() == CONTENT


def test_mirrors_of_the_environment_come_after_those_of_the_parameters(mirror, tmp_path, monkeypatch):
    damaged = mirror("damaged", b"damaged")
    monkeypatch.setenv(MIRROR_VARIABLE, os.pathsep.join([str(damaged), "", str(mirror("good"))]))
    fetch(SOURCE, [], tmp_path / "first")
    fetch(SOURCE, [mirror("parameter")], tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes() == CONTENT


def test_a_wrong_file_is_named_with_both_checksums_and_leaves_nothing(mirror, tmp_path):
    damaged = mirror("damaged", CONTENT[:-1])
    found = hashlib.sha256(CONTENT[:-1]).hexdigest()
    with pytest.raises(SourceError) as caught:
        fetch(SOURCE, [damaged], tmp_path / "raw" / SOURCE.path)
    message = str(caught.value)
    assert f"{damaged / SOURCE.path}: SHA-256 {found} (30 bytes), expected {SOURCE.sha256} (31 bytes)" in message
    assert "delete it and fetch it again" in message
    assert os.listdir((tmp_path / "raw" / SOURCE.path).parent) == []


@pytest.mark.parametrize("existing", [CONTENT, b"something else"])
def test_a_wrong_file_never_replaces_what_is_there(mirror, tmp_path, existing):
    target = tmp_path / "train.csv"
    target.write_bytes(existing)
    damaged = mirror("damaged", b"damaged")
    if existing == CONTENT:
        fetch(SOURCE, [damaged], target)
    else:
        with pytest.raises(SourceError, match="no right copy found"):
            fetch(SOURCE, [damaged], target)
    assert target.read_bytes() == existing


def test_a_right_file_replaces_a_wrong_one(mirror, tmp_path):
    (tmp_path / "train.csv").write_bytes(b"something else")
    fetch(SOURCE, [mirror("good")], tmp_path / "train.csv")
    assert (tmp_path / "train.csv").read_bytes() == CONTENT


def test_a_file_found_nowhere_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "b"))
    with pytest.raises(SourceError) as caught:
        fetch(SOURCE, [tmp_path / "a"], tmp_path / "raw" / "train.csv")
    message = str(caught.value)
    for folder in ("a", "b"):
        assert f"searched {tmp_path / folder / SOURCE.path}: no such file" in message
    assert "Get it from https://example.org/set and put it at <folder>/set/train.csv" in message
    assert MIRROR_VARIABLE in message


def test_without_any_mirror_the_error_says_that_none_is_named(tmp_path):
    with pytest.raises(SourceError, match="searched no folder: no mirrors given, CVOTING_MIRROR not set"):
        fetch(SOURCE, [], tmp_path / "train.csv")


def test_a_fetched_file_that_is_missing_or_changed_is_not_read(mirror, tmp_path):
    with pytest.raises(SourceError, match=r"train.csv: no such file, expected a test file: fetch it first"):
        verified(SOURCE, tmp_path)
    with pytest.raises(SourceError, match=r"expected .* bytes\): the file is damaged or another"):
        verified(SOURCE, mirror("raw", b"edited"))


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SourceError, match=r"source file 'royle': expected one of sudoku_extreme_1k_train, "):
        source_file("royle")


def test_knowing_names_and_files_imports_neither_numba_nor_torch():
    code = (
        "import sys; import cvoting.data.registry, cvoting.data.sources; "
        "print(sorted({'numba', 'torch', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
