"""The table of published files, and how a copy is checked."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from cvoting.data.archives import git_blob_id
from cvoting.data.download import MIRROR_VARIABLE, fetch
from cvoting.data.source_cards import BEGIN, update
from cvoting.data.source_file import SourceError, SourceFile
from cvoting.data.sources import FILES, source_file, verified
from cvoting.errors import CvotingError
from cvoting.marked_page import END
from cvoting.params.sudoku_extreme import FILE_ROWS, REEXPORTS

MIRROR = os.environ.get(MIRROR_VARIABLE, "")
CONTENT = b"source,question,answer,rating\r\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SOURCE = SourceFile(
    name="train",
    path="set/train.csv",
    page="https://example.org/set",
    bytes=len(CONTENT),
    sha256=SHA256,
    about="a test file",
)
ARCHIVE = replace(SOURCE, path="a.zip", sha256=None, members={"a.pt": git_blob_id(b"a"), "b.pt": git_blob_id(b"b")})


def write_archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"sudoku/{name}.pt", content)
            archive.writestr(f"__MACOSX/sudoku/._{name}.pt", b"resource fork")
    return path


def test_the_table_of_files_is_complete_and_consistent():
    assert set(FILES) == {
        "sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard", "sudoku_extreme_train", "sudoku_extreme_test",
        "maze_hard_train", "maze_hard_test", "satnet_sudoku", "rrn_sudoku_hard", "royle_17_clues",
    }  # fmt: skip
    assert len({f.path for f in FILES.values()}) == len({f.identity for f in FILES.values()}) == len(FILES)
    for file in FILES.values():
        assert (file.sha256 is None) == bool(file.members)
        assert re.fullmatch("[0-9a-f]{64}", file.sha256 or "0" * 64)
        assert all(re.fullmatch("[0-9a-f]{40}", blob) for blob in file.members.values())
        assert file.urls
        assert all(address.startswith("https://") for address in (file.page, *file.urls))
        assert file.bytes > 0
        assert not file.path.startswith("/")


def test_addresses_name_the_revision_where_it_is_known():
    for name, revision in (("sudoku_extreme_train", "58942f96b"), ("maze_hard_test", "549754de3")):
        assert f"/resolve/{revision}" in FILES[name].urls[0]


def test_parameters_know_which_files_are_re_exports():
    assert {name for name, file in FILES.items() if file.reexport} == set(REEXPORTS)
    for name, rows in FILE_ROWS.items():
        assert f"{rows:,} " in FILES[name].about


@pytest.mark.skipif(not MIRROR, reason=f"{MIRROR_VARIABLE} names no mirror")
@pytest.mark.parametrize("name", FILES)
def test_the_real_files_are_those_of_the_table(name, tmp_path):
    file = FILES[name]
    if not any((Path(folder) / file.path).exists() for folder in MIRROR.split(os.pathsep)):
        pytest.skip(f"the mirror has no {file.path}")
    fetch(replace(file, urls=()), [], tmp_path / file.path)
    path = verified(file, tmp_path)
    assert not file.exact_bytes or path.stat().st_size == file.bytes


def test_git_blob_ids_are_those_of_git():
    assert git_blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_fetched_file_that_is_missing_or_changed_is_not_read(tmp_path):
    with pytest.raises(SourceError, match=r"train.csv: no such file, expected a test file: fetch it first"):
        verified(SOURCE, tmp_path)
    (tmp_path / "set").mkdir()
    (tmp_path / SOURCE.path).write_bytes(b"edited")
    message = rf"SHA-256 \w+ \(6 bytes\), expected {SHA256} \(31 bytes\): the file is damaged or another; delete it"
    with pytest.raises(SourceError, match=message):
        verified(SOURCE, tmp_path)


def test_a_re_export_that_differs_names_the_parameter_that_accepts_it(tmp_path):
    (tmp_path / "train.csv").write_bytes(b"another export")
    found = hashlib.sha256(b"another export").hexdigest()
    reexport = replace(SOURCE, path="train.csv", reexport=True)
    trust = f"if you trust this file, say so in the dataset: `checksums: {{train: {found}}}`"
    with pytest.raises(SourceError, match=trust):
        verified(reexport, tmp_path)
    accepted = reexport.accepting(found)
    assert verified(accepted, tmp_path).is_file()
    assert accepted.citation == f"train.csv (SHA-256 {found}, accepted by a parameter in place of {SHA256})"
    with pytest.raises(SourceError, match=rf"expected {'0' * 64} \(accepted by a parameter\); {trust}"):
        verified(reexport.accepting("0" * 64), tmp_path)


@pytest.mark.parametrize(
    ("source", "checksum", "message"),
    [
        (SOURCE, "0" * 64, "train: no other checksum is accepted, the published one is known"),
        (replace(SOURCE, reexport=True), "0" * 63, "checksum '0+', expected the 64 hex digits of a SHA-256"),
    ],
)
def test_a_checksum_is_accepted_for_re_exports_only(source, checksum, message):
    assert source.accepting(None) is source.accepting(SHA256) is source
    with pytest.raises(SourceError, match=message):
        source.accepting(checksum)


def test_an_archive_without_checksum_is_known_by_its_members(tmp_path):
    write_archive(tmp_path / "a.zip", a=b"a", b=b"b", other=b"anything")
    assert verified(ARCHIVE, tmp_path) == tmp_path / "a.zip"
    assert f"a.pt with git blob id {git_blob_id(b'a')}" in ARCHIVE.citation


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"a": b"a", "b": b"c"},
            f"a.zip: member b.pt has git blob id {git_blob_id(b'c')}, expected {git_blob_id(b'b')}",
        ),
        ({"a": b"a"}, "a.zip: 0 members b.pt, expected one; the archive holds ._a.pt, a.pt"),
    ],
)
def test_a_wrong_member_is_named(tmp_path, members, message):
    write_archive(tmp_path / "a.zip", **members)
    with pytest.raises(SourceError, match=re.escape(message)):
        verified(ARCHIVE, tmp_path)


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"<html>moved</html>")
    with pytest.raises(
        SourceError, match=r"not a readable zip archive \(File is not a zip file\): the file is damaged"
    ):
        verified(ARCHIVE, tmp_path)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SourceError, match=r"source file 'royle': expected one of sudoku_extreme_1k_train, "):
        source_file("royle")


def test_the_page_about_data_has_the_cards_of_the_table(repository):
    update(repository / "docs/data.md", check=True)
    page = (repository / "docs/data.md").read_text()
    for file in FILES.values():
        assert f"### `{file.name}`" in page
        assert file.licence in page


def test_a_page_is_brought_up_to_date_or_refused(tmp_path):
    page = tmp_path / "data.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    with pytest.raises(CvotingError, match=r"data.md has other cards .* run `python -m cvoting sources`"):
        update(page, check=True)
    assert page.read_text() == f"{BEGIN}\n{END}\n"
    update(page, check=False)
    update(page, check=True)


def test_cards_are_written_between_their_marks_only(tmp_path):
    page = tmp_path / "data.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    update(page, check=False)
    written = page.read_text()
    assert written.startswith(f"before\n\n{BEGIN}\n\n### `sudoku_extreme_1k_train`")
    assert written.endswith(f"\n\n{END}\n\nafter\n")
    update(page, check=False)
    assert page.read_text() == written
    page.write_text("nothing")
    with pytest.raises(CvotingError, match=r"data\.md has no place for what is made: expected the lines"):
        update(page, check=False)


def test_knowing_names_and_files_imports_neither_numba_nor_torch():
    code = (
        "import sys; import cvoting.data.registry, cvoting.data.download; "
        "print(sorted({'numba', 'torch', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
