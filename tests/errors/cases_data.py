"""Mistakes in published files and in files of puzzles."""

import hashlib
import json
from dataclasses import replace
from unittest import mock

import numpy as np
from error_bench import DATA, RESUMABLE, Bench, Case, collector

from cvoting.data import sources
from cvoting.data.puzzles import Puzzles

CASES: list[Case] = []
case = collector(CASES)

HEADER = "source,question,answer,rating\n"
ANSWER = "123456789456789123789123456214365897365897214897214365531642978642978531978531642"
QUESTION = "." * 9 + ANSWER[9:]
ROW = f"puzzles0,{QUESTION},{ANSWER},7\n"
TRAIN_FILE, TEST_FILE, ROYLE = "sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard", "royle_17_clues"
SPLITS = {"train": 1, "validation": 1, "test": 1}
NEW = f"{DATA.replace('data/sudoku/train.npz', 'new.npz')} --out new.safetensors --curves new.csv {RESUMABLE}"


def build(bench: Bench, source: dict, files: dict[str, str]) -> None:
    """Build a dataset from files that have the right checksum, whatever they hold."""
    known = {}
    for name, content in files.items():
        bench.write(f"data/raw/{sources.FILES[name].path}", content)
        checksum = hashlib.sha256(content.encode()).hexdigest()
        known[name] = replace(sources.FILES[name], sha256=checksum, bytes=len(content.encode()))
    recipe = {"dataset": "mine", "task": {"name": "sudoku", "box": [3, 3]}, "source": {**source, "seed": 0}}
    bench.write("mine.json", json.dumps(recipe))
    with mock.patch.dict(sources.FILES, known):
        bench.cvoting("data mine.json --raw data/raw --out data/mine")


def read_csv(bench: Bench, content: str) -> None:
    """Build a dataset from a CSV file."""
    source = {"kind": "sudoku_extreme", "train_file": TRAIN_FILE, "test_file": TEST_FILE, "splits": SPLITS}
    build(bench, source, {TRAIN_FILE: content, TEST_FILE: content})


def read_royle(bench: Bench, board: str) -> None:
    """Build a dataset from a list of one board."""
    build(bench, {"kind": "sudoku_hard", "givens": [17, 17], "boards_per_level": 1}, {ROYLE: f"{board}\n"})


@case("A truncated CSV")
def truncated_csv(bench: Bench) -> None:
    """The file ends in the middle of a row."""
    read_csv(bench, HEADER + ROW + ROW[:60])


@case("A CSV with another header")
def mis_headed_csv(bench: Bench) -> None:
    """The columns are not those of the published file."""
    read_csv(bench, "question;answer\n" + ROW)


@case("A CSV without puzzles")
def empty_csv(bench: Bench) -> None:
    """There is a header and nothing else."""
    read_csv(bench, HEADER)


@case("A board of the wrong length")
def wrong_length(bench: Bench) -> None:
    """A question has a cell too few."""
    read_csv(bench, HEADER + ROW + ROW.replace("." * 9, "." * 8))


@case("A board with a foreign character")
def foreign_character(bench: Bench) -> None:
    """A question holds a letter where a digit or a dot belongs."""
    read_csv(bench, HEADER + ROW.replace("." * 9, "." * 8 + "x"))


@case("An answer that contradicts its question")
def contradiction(bench: Bench) -> None:
    """The answer is a right board, but not one of this question."""
    read_csv(bench, HEADER + ROW.replace(QUESTION, "9" + QUESTION[1:]))


@case("An answer that breaks the rules")
def broken_rules(bench: Bench) -> None:
    """The answer holds a digit twice in a row."""
    wrong = "2" + ANSWER[1:]
    read_csv(bench, HEADER + ROW.replace(ANSWER, wrong))


@case("A rating that is no number")
def rating(bench: Bench) -> None:
    """The fourth column is empty."""
    read_csv(bench, HEADER + ROW.replace(",7\n", ",\n"))


@case("A CSV of your own with wrong puzzles", do="`--json` writes the numbers of the first wrong puzzles of each kind.")
def audited_defects(bench: Bench) -> None:
    """A board has several solutions, one has none, and one has the answer of another."""
    several = ROW.replace(QUESTION, ANSWER[:17] + "." * 64)
    none = ROW.replace(QUESTION, "12345678." + "." * 17 + "9" + "." * 54)
    bench.write("mine.csv", HEADER + ROW + several + none + ROW.replace(QUESTION, "9" + QUESTION[1:]))
    bench.cvoting("audit mine.csv", report=True)


@case("A CSV of your own that cannot be read")
def audited_damage(bench: Bench) -> None:
    """The audit of several files goes on after one that is damaged."""
    bench.write("mine.csv", HEADER + ROW + ROW[:60])
    bench.cvoting("audit mine.csv absent.csv", report=True)


@case("A board with several solutions", do="take the published list; `audit` finds such boards in your own.")
def several_solutions(bench: Bench) -> None:
    """A puzzle of a list with 17 clues does not determine its solution."""
    read_royle(bench, ANSWER[:17] + "0" * 64)


@case("A board without a solution", do="take the published list; `audit` finds such boards in your own.")
def no_solution(bench: Bench) -> None:
    """A puzzle whose clues leave no digit for a cell."""
    read_royle(bench, "123456780" + "0" * 17 + "9" + "0" * 27 + ANSWER[54:62] + "0" * 19)


@case("A checksum that is not right")
def checksum(bench: Bench) -> None:
    """A fetched file is damaged, or another version of the published one."""
    name = sources.FILES[ROYLE].path
    bench.write(f"data/raw/{name}", "damaged\n")
    recipe = {"kind": "sudoku_hard", "givens": [17, 17], "boards_per_level": 1, "seed": 0}
    task = {"name": "sudoku", "box": [3, 3]}
    bench.write("mine.json", json.dumps({"dataset": "mine", "task": task, "source": recipe}))
    bench.cvoting("data mine.json --raw data/raw --out data/mine")


@case("A mirror with a damaged file", kept="everything: the file that is there already stays as it is.")
def damaged_mirror(bench: Bench) -> None:
    """The mirror's file does not have the published checksum."""
    name = sources.FILES[ROYLE].path
    bench.write(f"mirror/{name}", "damaged\n")
    bench.write(f"data/raw/{name}", "what was there\n")
    bench.cvoting(f"fetch {ROYLE} --mirror mirror --out data/raw/{name}")


@case("A missing mirror")
def missing_mirror(bench: Bench) -> None:
    """No mirror was named, or the folder is not there."""
    bench.cvoting(f"fetch {ROYLE} --mirror absent --out data/raw/{sources.FILES[ROYLE].path}")


@case("A published file that does not exist")
def unknown_file(bench: Bench) -> None:
    """A file is asked for that the project does not know."""
    bench.cvoting("fetch sudoku_extreme --out data/raw/sudoku_extreme.csv")


@case("A published file that was not fetched")
def not_fetched(bench: Bench) -> None:
    """A dataset is built before its file is there; the pipeline fetches it by itself."""
    source = {"kind": "sudoku_hard", "givens": [17, 17], "boards_per_level": 1}
    build(bench, source, {})


@case("Givens out of reach")
def few_givens(bench: Bench) -> None:
    """Generated boards are to have fewer givens than any board with one solution."""
    bench.change("sudoku.json", [0, 2], "source", "givens")
    bench.cvoting("data sudoku.json --raw raw --out data/new")


@case("Puzzles that are not there")
def no_puzzles_file(bench: Bench) -> None:
    """The file of puzzles was not built."""
    bench.cvoting(f"train train.json {NEW}")


@case("A damaged file of puzzles")
def damaged_puzzles(bench: Bench) -> None:
    """The file was cut off, or is no file of puzzles."""
    bench.write("new.npz", bench.path("data/sudoku/train.npz").read_bytes()[:-100])
    bench.cvoting(f"train train.json {NEW}")


@case("Puzzles of another size")
def another_size(bench: Bench) -> None:
    """A model of 4x4 boards is to be trained on 9x9 boards."""
    boards = np.array([[int(c) for c in ANSWER]], np.uint8)
    save(bench, np.where(np.arange(81) < 40, 0, boards), boards)
    bench.cvoting(f"train train.json {NEW}")


@case("Puzzles of another task")
def another_task(bench: Bench) -> None:
    """The number of cells is right, but they hold what the task does not know."""
    save(bench, np.zeros((2, 16)), np.full((2, 16), 9))
    bench.cvoting(f"train train.json {NEW}")


@case("Puzzles with nothing to predict")
def nothing_to_predict(bench: Bench) -> None:
    """A question has no blank cell."""
    save(bench, np.ones((1, 16)), np.ones((1, 16)))
    bench.cvoting(f"train train.json {NEW}")


@case("A file of no puzzles")
def no_puzzles(bench: Bench) -> None:
    """A split of no puzzles was saved."""
    save(bench, np.ones((0, 16)), np.ones((0, 16)))
    bench.cvoting(f"train train.json {NEW}")


@case("Questions without answers")
def unequal(bench: Bench) -> None:
    """A file made by hand has more questions than answers."""
    about = np.array('{"origin": "original", "source": "mine"}')
    with open(bench.path("new.npz"), "wb") as file:
        np.savez(file, questions=np.zeros((2, 16), np.uint8), answers=np.ones((1, 16), np.uint8), about=about)
    bench.cvoting(f"train train.json {NEW}")


def save(bench: Bench, questions: np.ndarray, answers: np.ndarray) -> None:
    """Write a file of puzzles."""
    Puzzles(questions.astype(np.uint8), answers.astype(np.uint8), "original", "mine").save(bench.path("new.npz"))
