"""The audit on sets made by hand, 4x4 boards for the most part; and its verb."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from cvoting.data.audit import audit
from cvoting.data.audit_files import read_set, read_sets
from cvoting.data.audit_registry import AUDITORS
from cvoting.data.audit_report import text, write_csv, write_json
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.source_file import sha256_of
from cvoting.data.sources import FILES
from cvoting.tasks.registry import TASKS
from cvoting.tasks.sudoku import Sudoku

SMALL = Sudoku(name="sudoku", box=(2, 2))
TASK = '{"name": "sudoku", "box": [2, 2]}'
AUDITOR = AUDITORS["sudoku"](SMALL)
ANSWER = "1234341221434321"
#: Enough to have one solution.
QUESTION = "12..3.....4....1"
#: The answer without 1 and 2 in its first and third row: in the first two columns they can change places.
AMBIGUOUS = "..343412..434321"
#: The fourth cell of the first row must be 4, and its box has one.
IMPOSSIBLE = "123....4........"
#: Transposed, which makes 13.. / 2... / ..4. / ...1 of the question, and then 2, 3, 4, 1 in the place of 1, 2, 3, 4.
TWIN, TWIN_ANSWER = "24..3.....1....2", "2431312442131342"


def puzzles(*pairs, ratings=None):
    """A set of 4x4 boards, (question, answer) each."""
    questions, answers = (np.stack([SMALL.parse(board) for board in boards]) for boards in zip(*pairs, strict=True))
    return Puzzles(questions, answers, "generated", "made by hand", None if ratings is None else np.array(ratings))


def counts(found):
    """The defects and facts of a set, without those that no puzzle has."""
    masks = {**found.defects, **found.facts}
    return {name: int(mask.sum()) for name, mask in masks.items() if mask.any()}


GOOD = (QUESTION, ANSWER)
SHIFTED = "".join(str(int(digit) % 4 + 1) for digit in ANSWER)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (GOOD, {"one_solution": 1}),
        ((TWIN, TWIN_ANSWER), {"one_solution": 1}),
        ((AMBIGUOUS, ANSWER), {"several_solutions": 1, "answer_not_the_only_solution": 1}),
        (
            (IMPOSSIBLE, ANSWER),
            {"no_solution": 1, "answer_contradicts_question": 1, "answer_not_the_only_solution": 1},
        ),
        (
            (QUESTION, SHIFTED),
            {"one_solution": 1, "answer_contradicts_question": 1, "answer_not_the_only_solution": 1},
        ),
        (
            (QUESTION, ANSWER[:2] + "43" + ANSWER[4:]),
            {"one_solution": 1, "answer_breaks_rules": 1, "answer_not_the_only_solution": 1},
        ),
        ((QUESTION, QUESTION), {"one_solution": 1, "answer_breaks_rules": 1, "answer_not_the_only_solution": 1}),
    ],
    ids=["good", "transposed", "two solutions", "none", "contradiction", "broken rules", "blanks in the answer"],
)
def test_each_defect_is_counted(pair, expected):
    (audited,) = audit(AUDITOR, {"set": puzzles(pair)}).sets
    assert counts(audited.found) == expected


def test_a_token_that_no_answer_has_is_a_defect_and_no_error():
    odd = puzzles(GOOD)
    found = AUDITOR.examine(odd.questions, np.full_like(odd.answers, 200))
    assert found.defects["answer_breaks_rules"].all()


def test_repeated_puzzles_are_counted_exactly_and_up_to_symmetry():
    (audited,) = audit(AUDITOR, {"set": puzzles(GOOD, (TWIN, TWIN_ANSWER), GOOD, (ANSWER, ANSWER))}).sets
    assert audited.found.defects["duplicate"].tolist() == [False, False, True, False]
    assert audited.found.facts["duplicate_up_to_symmetry"].tolist() == [False, True, True, False]


def test_overlap_is_counted_for_each_set_and_each_pair():
    first = puzzles(GOOD, (ANSWER, ANSWER))
    second = puzzles((TWIN, TWIN_ANSWER), GOOD, (AMBIGUOUS, ANSWER))
    third = puzzles((AMBIGUOUS, ANSWER))
    found = audit(AUDITOR, {"first": first, "second": second, "third": third})
    exact = [audited.found.defects["in_another_set"].tolist() for audited in found.sets]
    assert exact == [[True, False], [False, True, True], [True]]
    similar = [audited.found.facts["in_another_set_up_to_symmetry"].tolist() for audited in found.sets]
    assert similar == [[True, False], [True, True, True], [True]]
    assert [(o.sets, o.exact, o.up_to_symmetry) for o in found.overlaps] == [
        (("first", "second"), (1, 1), (1, 2)),
        (("first", "third"), (0, 0), (0, 0)),
        (("second", "third"), (1, 1), (1, 1)),
    ]


def test_a_set_to_compare_with_is_not_audited_itself():
    bad = puzzles((QUESTION, SHIFTED), (QUESTION, SHIFTED))
    found = audit(AUDITOR, {"test": puzzles(GOOD)}, against={"train": bad, "other": bad})
    assert [audited.name for audited in found.sets] == ["test"]
    assert [o.sets for o in found.overlaps] == [("test", "train"), ("test", "other")]
    assert found.defects() == ["test: 1 puzzle with in_another_set, the first is number 1"]


def test_equality_up_to_symmetry_is_a_defect_of_a_strict_audit_only():
    found = audit(AUDITOR, {"set": puzzles(GOOD, (TWIN, TWIN_ANSWER))})
    assert found.defects() == []
    assert found.defects(strict=True) == ["set: 1 puzzle with duplicate_up_to_symmetry, the first is number 2"]
    assert text(found).endswith("Defects: none")
    assert "duplicate_up_to_symmetry               1 finding" in text(found)
    assert "duplicate_up_to_symmetry               1 DEFECT" in text(found, strict=True)
    assert "Defects: 1" in text(found, strict=True)


def test_nothing_that_can_be_read_is_an_audit_too():
    found = audit(AUDITOR, {}, refused={"file": "damaged"})
    assert (found.sets, found.overlaps) == ((), ())
    assert found.defects() == ["refused: damaged"]


def test_the_text_says_what_was_found():
    first = puzzles(GOOD, (AMBIGUOUS, ANSWER), ratings=[3, 10])
    found = audit(AUDITOR, {"a.npz": first, "b.npz": puzzles(GOOD)}, refused={"c.csv": "c.csv is damaged"})
    assert text(found).splitlines()[:12] == [
        "a.npz: 2 puzzles, generated: made by hand",
        "  givens: 5 to 12, mean 8.50",
        "    number of puzzles: 5: 1, 12: 1",
        "  rating: 3 to 10, mean 6.50",
        "    number of puzzles: 3: 1, 10: 1",
        "  one_solution                           1",
        "  duplicate_up_to_symmetry               0",
        "  in_another_set_up_to_symmetry          1 finding",
        "  no_solution                            0",
        "  several_solutions                      1 DEFECT",
        "  answer_contradicts_question            0",
        "  answer_breaks_rules                    0",
    ]
    assert "  a.npz: 1 / 1\n  b.npz: 1 / 1\n" in text(found)
    assert text(found).endswith(
        "Defects: 5\n  refused: c.csv is damaged\n"
        "  a.npz: 1 puzzle with several_solutions, the first is number 2\n"
        "  a.npz: 1 puzzle with answer_not_the_only_solution, the first is number 2\n"
        "  a.npz: 1 puzzle with in_another_set, the first is number 1\n"
        "  b.npz: 1 puzzle with in_another_set, the first is number 1"
    )


def test_the_table_has_a_row_per_set(tmp_path):
    found = audit(AUDITOR, {"a": puzzles(GOOD, GOOD, ratings=[3, 10]), "b": puzzles((AMBIGUOUS, ANSWER))})
    write_csv(found, tmp_path / "audit.csv")
    with open(tmp_path / "audit.csv") as file:
        first, second = csv.DictReader(file)
    assert (first["set"], first["puzzles"], first["origin"], first["source"]) == ("a", "2", "generated", "made by hand")
    assert (first["givens_min"], first["givens_mean"], first["givens_max"]) == ("5", "5.0", "5")
    assert (first["rating_min"], first["rating_mean"], first["rating_max"]) == ("3", "6.5", "10")
    assert (first["one_solution"], first["duplicate"], first["several_solutions"]) == ("2", "1", "0")
    assert (second["rating_min"], second["one_solution"], second["several_solutions"]) == ("", "0", "1")


def test_json_has_histograms_the_first_puzzles_of_a_defect_and_every_pair(tmp_path):
    found = audit(AUDITOR, {"a": puzzles(*[GOOD] * 8), "b": puzzles((TWIN, TWIN_ANSWER))}, refused={"c": "damaged"})
    write_json(found, tmp_path / "audit.json")
    content = json.loads((tmp_path / "audit.json").read_text())
    assert content["sets"][0]["measures"]["givens"] == {"min": 5, "mean": 5.0, "max": 5, "histogram": {"5": 8}}
    assert content["sets"][0]["defects"]["duplicate"] == {"puzzles": 7, "first": [2, 3, 4, 5, 6]}
    assert content["sets"][1]["facts"]["in_another_set_up_to_symmetry"] == 1
    assert content["overlaps"] == [{"sets": ["a", "b"], "exact": [0, 0], "up_to_symmetry": [8, 1]}]
    assert content["refused"] == {"c": "damaged"}
    assert content["defects"] == found.defects()


def test_every_task_has_an_auditor():
    assert set(AUDITORS) == set(TASKS)


@pytest.fixture
def hugging_face(tmp_path):
    """Writes 4x4 puzzles in the layout of HRM's authors."""

    def write(name, *pairs):
        rows = ["source,question,answer,rating", *(f"hand,{question},{answer},7" for question, answer in pairs)]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
        return tmp_path / name

    return write


def test_a_csv_file_is_read_with_its_wrong_answers(hugging_face):
    read = read_set(hugging_face("a.csv", GOOD, (QUESTION, SHIFTED)), SMALL)
    assert read.ratings.tolist() == [7, 7]
    assert SMALL.answers_question(read.answers, read.questions).tolist() == [True, False]


def test_a_csv_file_that_the_project_knows_is_called_by_its_name(hugging_face, monkeypatch):
    path = hugging_face("a.csv", GOOD)
    unknown = read_set(path, SMALL)
    assert (unknown.origin, unknown.source.split(" (")[0]) == ("own", "none of the files the project knows")
    file = replace(FILES["royle_17_clues"], path="x/y.csv", sha256=sha256_of(path))
    monkeypatch.setitem(FILES, "royle_17_clues", file)
    known = read_set(path, SMALL)
    assert (known.origin, known.source) == ("original", f"x/y.csv (SHA-256 {sha256_of(path)})")


@pytest.mark.parametrize(
    "text",
    [
        f"{QUESTION},{ANSWER}\n{QUESTION.replace('.', '0')},{SHIFTED}\n",
        f"answer,question\n{ANSWER},{QUESTION}\n{SHIFTED},{QUESTION}\n",
    ],
    ids=["RRN", "own"],
)
def test_other_layouts_are_told_by_their_first_line(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    read = read_set(tmp_path / "a.csv", SMALL)
    assert read.hashes[0] == read.hashes[1]
    assert SMALL.answers_question(read.answers, read.questions).tolist() == [True, False]


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        (np.zeros((0, 16), np.uint8), "0 puzzles x 16 cells, expected at least 1 x 16"),
        (np.zeros((1, 81), np.uint8), "1 puzzles x 81 cells, expected at least 1 x 16"),
        (np.full((1, 16), 9, np.uint8), "token 9 in a question, expected at most 4"),
    ],
    ids=["empty", "other boards", "other tokens"],
)
def test_built_puzzles_of_another_task_are_refused(tmp_path, boards, message):
    replace(puzzles(GOOD), questions=boards, answers=boards).save(tmp_path / "a.npz")
    with pytest.raises(DataError, match=message):
        read_set(tmp_path / "a.npz", SMALL)


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_it(tmp_path, hugging_face):
    good, cut = hugging_face("good.csv", GOOD), hugging_face("cut.csv", (QUESTION, ANSWER[:7]))
    sets, refused = read_sets([cut, tmp_path / "absent.npz", good, good], SMALL)
    assert list(sets) == [str(good)]
    assert "cut.csv, line 2: answer: 7 characters, expected 16" in refused[str(cut)]
    assert "absent.npz" in refused[str(tmp_path / "absent.npz")]


def run(*arguments):
    command = [sys.executable, "-m", "cvoting", "audit", "--task", TASK, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_verb_ends_with_0_for_clean_sets_and_writes_what_is_asked_for(tmp_path):
    puzzles(GOOD, (TWIN, TWIN_ANSWER)).save(tmp_path / "a.npz")
    done = run(tmp_path / "a.npz", "--csv", tmp_path / "a.csv", "--json", tmp_path / "a.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Defects: none\n")
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", "a.csv", "a.json", "a.json.run.json"}


def test_the_verb_ends_with_1_for_defects_after_it_wrote_everything(tmp_path, hugging_face):
    bad, cut = hugging_face("bad.csv", GOOD, (QUESTION, SHIFTED)), hugging_face("cut.csv", (QUESTION, ANSWER[:7]))
    done = run(cut, bad, "--json", tmp_path / "a.json")
    assert done.returncode == 1
    assert "2 puzzles" in done.stdout
    assert done.stderr.splitlines() == [
        "cvoting audit: defects, of which the report says more:",
        f"  refused: {cut}, line 2: answer: 7 characters, expected 16 (4 x 4 cells); the file is damaged or another: "
        "fetch it again",
        f"  {bad}: 1 puzzle with answer_contradicts_question, the first is number 2",
        f"  {bad}: 1 puzzle with answer_not_the_only_solution, the first is number 2",
        f"  {bad}: 1 puzzle with duplicate, the first is number 2",
    ]
    assert list(json.loads((tmp_path / "a.json").read_text())["refused"]) == [str(cut)]
    assert not (tmp_path / "a.json.run.json").exists()


def test_a_strict_audit_by_the_verb_refuses_equality_up_to_symmetry(tmp_path):
    puzzles(GOOD).save(tmp_path / "train.npz")
    puzzles((TWIN, TWIN_ANSWER)).save(tmp_path / "test.npz")
    sets = tmp_path / "test.npz", "--against", tmp_path / "train.npz"
    assert run(*sets).returncode == 0
    assert run(*sets, "--strict").returncode == 1


def test_the_paper_s_boards_are_the_default_task(tmp_path):
    puzzles(GOOD).save(tmp_path / "a.npz")
    command = [sys.executable, "-m", "cvoting", "audit", str(tmp_path / "a.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "1 puzzles x 16 cells, expected at least 1 x 81" in done.stdout
