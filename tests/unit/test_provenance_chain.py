"""What made a file, as a lock file tells it, and whether it is still so."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cvoting.provenance import LOCK_FORMAT
from cvoting.provenance_chain import ProvenanceError, chain, described, verify

CONTENTS = {
    "figure.pdf": "a figure",
    "table.csv": "a table",
    "seed7.safetensors": "weights",
    "published.csv": "numbers",
}
#: Of each file that a rule makes: the rule, its parameters, and what it is made from.
RULES: dict[str, tuple[str, dict, list[str]]] = {
    "figure.pdf": ("fig", {"figure": "fig", "params": {"votes": ["confidence"]}}, ["published.csv", "table.csv"]),
    "table.csv": ("voting", {"voting": {"K": [1, 8]}}, ["seed7.safetensors"]),
    "seed7.safetensors": ("train", {"run": "akorn-sudoku", "training_seed": 7}, []),
}
ENVIRONMENTS = {"here": {"python": "3.12.1", "torch": "2.13.0"}}


def sha256(name: str) -> str:
    return hashlib.sha256(CONTENTS[name].encode()).hexdigest()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files and their lock file, and with one of another study."""
    for name, content in CONTENTS.items():
        (tmp_path / name).write_text(content)
    outputs = {
        name: {
            "rule": rule,
            "code": "python3 -m cvoting",
            "params": sorted(map(repr, (f"code of {rule}", json.dumps(recipe)))),
            "inputs": {other: sha256(other) for other in inputs},
            "sha256": sha256(name),
            "versions": "here",
        }
        for name, (rule, recipe, inputs) in RULES.items()
    }
    (tmp_path / "provenance").mkdir()
    for study, described_files in {"another": {}, "laptop": outputs}.items():
        text = json.dumps({"format": LOCK_FORMAT, "environments": ENVIRONMENTS, "outputs": described_files})
        (tmp_path / f"provenance/{study}.lock.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_chain_goes_from_the_file_to_what_no_rule_makes(project: Path) -> None:
    links = chain("figure.pdf")
    assert [link.path for link in links] == ["figure.pdf", "published.csv", "table.csv", "seed7.safetensors"]
    assert [link.sha256 for link in links] == [sha256(link.path) for link in links]
    assert {link.path: link.recipe for link in links if link.made} == {name: rule[1] for name, rule in RULES.items()}
    assert [link.code for link in links] == ["code of fig", None, "code of voting", "code of train"]


def test_a_file_that_two_are_made_from_comes_once(project: Path) -> None:
    lock = project / "provenance/laptop.lock.json"
    content = json.loads(lock.read_text())
    content["outputs"]["figure.pdf"]["inputs"]["seed7.safetensors"] = sha256("seed7.safetensors")
    lock.write_text(json.dumps(content))
    paths = [link.path for link in chain("figure.pdf")]
    assert sorted(paths) == sorted(CONTENTS)


def test_a_chain_in_words_names_rules_parameters_seeds_and_sources(project: Path) -> None:
    text = described(chain("figure.pdf"))
    for words in (
        "made by: train, code code of train",
        "training_seed: 7",
        "K: [1, 8]",
        "with: python 3.12.1, torch 2.13.0",
    ):
        assert words in text
    assert f"published.csv\n  sha256: {sha256('published.csv')}\n  no rule makes it" in text


def test_files_as_the_lock_file_says_have_no_problem(project: Path) -> None:
    assert verify(chain("figure.pdf")) == []


@pytest.mark.parametrize("name", CONTENTS)
def test_another_content_anywhere_in_the_chain_is_named_whatever_its_time(project: Path, name: str) -> None:
    before = (project / name).stat()
    (project / name).write_text(CONTENTS[name].swapcase())
    os.utime(project / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    (problem,) = verify(chain("figure.pdf"))
    assert problem.startswith(f"{name}: its SHA-256 is ")
    assert problem.endswith(f"expected {sha256(name)}")


def test_what_a_rule_can_make_may_be_absent_and_a_source_may_not(project: Path) -> None:
    (project / "seed7.safetensors").unlink()
    assert verify(chain("figure.pdf")) == []
    (project / "published.csv").unlink()
    assert verify(chain("figure.pdf")) == ["published.csv: it is not here, and no rule makes it"]


def test_a_file_made_from_another_version_of_its_input_is_noticed(project: Path) -> None:
    lock = project / "provenance/laptop.lock.json"
    content = json.loads(lock.read_text())
    content["outputs"]["figure.pdf"]["inputs"]["table.csv"] = "0" * 64
    lock.write_text(json.dumps(content))
    assert verify(chain("figure.pdf")) == ["table.csv: what follows was made from another version of it"]


def test_a_file_that_no_lock_file_describes_is_refused(project: Path) -> None:
    with pytest.raises(ProvenanceError, match=r"published\.csv: no lock file in provenance describes it"):
        chain("published.csv")


def test_the_command_fails_where_something_differs(project: Path, repository: Path) -> None:
    def run() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "cvoting", "provenance", "figure.pdf", "--verify"]
        environment = os.environ | {"PYTHONPATH": str(repository / "src")}
        return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True)

    assert run().stdout.endswith("verified: 4 of 4 files are here, with the contents that the lock file says\n")
    (project / "table.csv").write_text("edited")
    changed = run()
    assert changed.returncode == 1
    assert "not as the lock file says:\n  table.csv: its SHA-256 is " in changed.stderr
