"""Records are right for the files that are there, however they came: made here, pulled, checked out, edited."""

import json
import os
import shutil

import pytest
from snakemake import persistence
from snakemake.persistence.file import FilePersistence

from cvoting.provenance import DOUBT, RECORD_FORMAT, Checksums, LockFileError, Provenance, read_lock

CHECKPOINT, ROLLOUTS, FIGURE = "results/s/checkpoint", "results/s/rollouts", "results/s/figures/a.pdf"
VERSIONS = {"python": "3.12.1", "torch": "2.13.0"}
CHAIN = {CHECKPOINT: [], ROLLOUTS: [CHECKPOINT], FIGURE: [ROLLOUTS]}


class Project:
    """A working directory in which jobs have run, as Snakemake leaves it."""

    def __init__(self, folder, outputs=CHAIN):
        self.folder, self.outputs = folder, outputs
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        self.snakemake = FilePersistence()
        self.provenance = Provenance(folder / "provenance/s.lock.json", outputs, VERSIONS)

    def make(self, output, content, params=("'{}'",)):
        """Run the job of an output."""
        path = self.folder / output
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        inputs = CHAIN.get(output, [])
        record = persistence.MetadataRecord(
            rule="rule",
            code="shell {input}",
            input=inputs,
            params=list(params),
            input_checksums={i: f"sha256:{Checksums(self.folder / 'none').of(i)}" for i in inputs},
            endtime=path.stat().st_mtime,
            starttime=1.0,
            record_format_version=RECORD_FORMAT,
        )
        self.snakemake._write_record(output, record)
        self.snakemake._clear_cache()

    def make_all(self, version="1"):
        for output in CHAIN:
            self.make(output, f"{output} {version}", params=[f"'version {version}'"])
        self.provenance.export()

    def params(self, output):
        """What Snakemake takes for the parameters that an output was made with; None without a record."""
        self.provenance.restore()
        self.snakemake._clear_cache()
        record = self.snakemake._read_record(output)
        return record and record.params

    def doubts(self, output):
        return [p.removeprefix(DOUBT) for p in self.params(output) if p.startswith(DOUBT)]

    @property
    def lock(self):
        return json.loads(self.provenance.lock.read_text())["outputs"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path / "here")
    made.make_all()
    return made


@pytest.fixture
def clone(project, tmp_path):
    """The same lock file, and the same results with new times, in a fresh checkout."""
    for folder in ("provenance", "results"):
        shutil.copytree(project.folder / folder, tmp_path / "clone" / folder, copy_function=shutil.copyfile)
    return Project(tmp_path / "clone")


def test_record_format_is_that_of_the_installed_snakemake():
    assert RECORD_FORMAT == persistence.RECORD_FORMAT_VERSION


def test_a_clone_knows_what_made_its_files(project, clone):
    for output in CHAIN:
        assert clone.params(output) == ["'version 1'"]
        record = clone.snakemake._read_record(output)
        assert (record.rule, record.code, record.input) == ("rule", "shell {input}", CHAIN[output])
        assert record.record_format_version == RECORD_FORMAT


def test_paths_longer_than_a_file_name_find_their_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = "results/" + "/".join(["long" * 30] * 4)
    project = Project(tmp_path, [output])
    project.make(output, "x")
    project.provenance.export()
    shutil.rmtree(tmp_path / ".snakemake/metadata")
    assert project.params(output) == ["'{}'"]


def test_the_lock_file_tells_neither_time_nor_machine(project):
    assert set(project.lock[ROLLOUTS]) == {"sha256", "rule", "code", "params", "inputs", "versions"}
    before = project.provenance.lock.read_bytes()
    project.make_all()
    assert project.provenance.lock.read_bytes() == before


def test_a_file_that_nothing_describes_is_to_be_made_again(clone):
    clone.provenance.lock.unlink()
    assert clone.doubts(ROLLOUTS) == [f"{ROLLOUTS} is not described in {clone.provenance.lock}"]


def test_a_file_that_differs_from_the_lock_file_is_to_be_made_again_until_the_right_one_is_back(clone):
    right = (clone.folder / ROLLOUTS).read_text()
    (clone.folder / ROLLOUTS).write_text("of another study")
    assert clone.doubts(ROLLOUTS) == [f"{ROLLOUTS} differs from the one described in {clone.provenance.lock}"]
    assert clone.doubts(FIGURE) == [f"made from another {ROLLOUTS}"]
    (clone.folder / ROLLOUTS).write_text(right)
    assert clone.doubts(ROLLOUTS) == clone.doubts(FIGURE) == []


def test_an_input_that_came_back_with_an_old_time_is_noticed(project):
    project.make(CHECKPOINT, "made later", params=["'version 2'"])
    project.make(ROLLOUTS, "made from it")
    (project.folder / CHECKPOINT).write_text(f"{CHECKPOINT} 1")  # what the lock file describes
    os.utime(project.folder / CHECKPOINT, (1, 1))
    assert project.doubts(CHECKPOINT) == []
    assert project.doubts(ROLLOUTS) == [f"made from another {CHECKPOINT}"]


def test_what_was_made_here_counts_more_than_the_lock_file(project):
    project.make(CHECKPOINT, "made later", params=["'version 2'"])
    assert project.params(CHECKPOINT) == ["'version 2'"]


def test_of_two_versions_that_gave_the_same_contents_the_one_checked_out_last_counts(project):
    first = project.provenance.lock.read_text()
    project.make(CHECKPOINT, f"{CHECKPOINT} 1", params=["'version 2'"])  # the same contents
    project.provenance.export()
    assert project.params(CHECKPOINT) == ["'version 2'"]
    project.provenance.lock.write_text(first)  # git checkout; DVC finds nothing to change
    assert project.params(CHECKPOINT) == ["'version 1'"]
    os.utime(project.provenance.lock, (1, 1))
    project.make(CHECKPOINT, f"{CHECKPOINT} 1", params=["'version 3'"])  # not exported: the run was killed
    assert project.params(CHECKPOINT) == ["'version 3'"]


def test_records_of_files_that_were_not_pulled_are_restored_too(clone):
    (clone.folder / ROLLOUTS).unlink()
    assert clone.params(ROLLOUTS) == ["'version 1'"]
    assert clone.doubts(FIGURE) == []


def test_an_output_in_doubt_is_never_exported(clone):
    before = clone.lock
    (clone.folder / CHECKPOINT).write_text("of another study")
    assert clone.doubts(CHECKPOINT)
    clone.provenance.export()
    assert clone.lock == {name: entry for name, entry in before.items() if name != CHECKPOINT}


def test_export_keeps_what_it_knows_of_files_that_are_not_here(clone):
    (clone.folder / CHECKPOINT).unlink()
    before = clone.lock
    clone.provenance.export()
    assert clone.lock == before


def test_outputs_the_study_no_longer_has_stay_as_long_as_the_file(project):
    fewer = Provenance(project.provenance.lock, [CHECKPOINT, ROLLOUTS], VERSIONS)
    fewer.export()
    assert FIGURE in project.lock
    (project.folder / FIGURE).unlink()
    fewer.export()
    assert FIGURE not in project.lock


def test_another_study_has_its_own_lock_file(project):
    before = project.provenance.lock.read_bytes()
    other = Provenance(project.folder / "provenance/other.lock.json", ["results/other/checkpoint"], VERSIONS)
    project.make("results/other/checkpoint", "x")
    other.export()
    assert project.provenance.lock.read_bytes() == before
    assert list(json.loads(other.lock.read_text())["outputs"]) == ["results/other/checkpoint"]


def test_unchanged_files_are_not_read_again(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("abc")
    memory = Checksums(tmp_path / "memory")
    expected = memory.of(str(file))
    memory.save()
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))
    assert Checksums(tmp_path / "memory").of(str(file)) == expected
    file.write_text("abcd")
    with pytest.raises(pytest.fail.Exception, match="read again"):
        Checksums(tmp_path / "memory").of(str(file))


def test_each_file_is_known_with_the_versions_it_was_made_with(project):
    assert project.provenance.foreign() == ""
    project.provenance.versions["torch"] = "2.14.0"
    assert project.params(FIGURE) == ["'version 1'"]
    assert project.provenance.foreign() == "made with torch 2.13.0 (3); here is torch 2.14.0"
    project.make(FIGURE, "drawn with the other torch")
    project.provenance.export()
    assert project.lock[CHECKPOINT]["versions"] != project.lock[FIGURE]["versions"]
    project.provenance.restore()
    assert project.provenance.foreign() == "made with torch 2.13.0 (2); here is torch 2.14.0"
    project.provenance.export()
    assert read_lock(project.provenance.lock)[CHECKPOINT]["versions"] == VERSIONS


def test_a_clone_with_other_packages_leaves_the_files_their_versions(clone):
    clone.provenance.versions = {"python": "3.12.1", "numpy": "2.0"}
    assert clone.doubts(FIGURE) == []
    assert clone.provenance.foreign() == "made with torch 2.13.0 (3); here is torch none"
    before = clone.provenance.lock.read_text()
    clone.provenance.export()
    assert clone.provenance.lock.read_text() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [("<<<<<<< HEAD", "settle the merge"), ('{"format": 0, "outputs": {}}', "format 0, expected 2: delete it")],
)
def test_a_lock_file_that_cannot_be_read_says_what_to_do(project, text, message):
    project.provenance.lock.write_text(text)
    with pytest.raises(LockFileError, match=message):
        project.provenance.restore()
