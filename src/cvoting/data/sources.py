"""The third-party files datasets are made from.

The project ships none of them, because their redistribution licence is not stated.
"""

from pathlib import Path

from cvoting.data.source_file import SourceError, SourceFile

HUB = "https://huggingface.co/datasets"
EXTREME, EXTREME_REVISION = f"{HUB}/sapientinc/sudoku-extreme", "58942f96baeb572ca3127e2a9e9c70f330783d6b"
EXTREME_1K = f"{HUB}/sapientinc/sudoku-extreme-1k"
MAZES, MAZES_REVISION = f"{HUB}/sapientinc/maze-30x30-hard-1k", "549754de3d67eebe57b6b22c7d226b9412d55b07"
SUDOKU_CSV = "CSV with the header source,question,answer,rating; 81 characters a board, '.' blank"
MAZE_CSV = (
    "CSV with the header source,question,answer,rating; 900 characters a maze of '# SGo', 'o' (the path) in answers"
)

_FILES = (
    SourceFile(
        name="sudoku_extreme_1k_train",
        path="sudoku-extreme-1k/train.csv",
        page=EXTREME_1K,
        urls=(f"{EXTREME_1K}/resolve/main/train.csv",),
        bytes=188_495,
        sha256="887dea10daba811d3a6a565bb138e31ef60a95fdb57045633e4762fc46357cbb",
        reexport=True,
        about="Sudoku-extreme-1k, 1,000 training puzzles; a re-export, the hub's own checksum is unknown",
        format=SUDOKU_CSV,
    ),
    SourceFile(
        name="sudoku_extreme_1k_test_hard",
        path="sudoku-extreme-1k/test_hard.csv",
        page=EXTREME_1K,
        urls=(f"{EXTREME_1K}/resolve/main/test_hard.csv",),
        bytes=3_774_470,
        sha256="5f9549fb2f38e2cbcb9a515733fdfb19d10c599f21d5c9e82ec20bca28e78c2c",
        reexport=True,
        about="Sudoku-extreme-1k, 20,000 test puzzles, some easy (rating 0); a re-export like its training file",
        format=SUDOKU_CSV,
    ),
    SourceFile(
        name="sudoku_extreme_train",
        path="sudoku-extreme/train.csv",
        page=EXTREME,
        urls=(f"{EXTREME}/resolve/{EXTREME_REVISION}/train.csv",),
        bytes=719_000_000,
        exact_bytes=False,
        sha256="64b46674db0148e0d73a16346dadeb2b1c00824d3fca3f85b2ae7037f6b4b38e",
        about="Sudoku-extreme, 3,831,994 training puzzles",
        format=SUDOKU_CSV,
    ),
    SourceFile(
        name="sudoku_extreme_test",
        path="sudoku-extreme/test.csv",
        page=EXTREME,
        urls=(f"{EXTREME}/resolve/{EXTREME_REVISION}/test.csv",),
        bytes=79_400_000,
        exact_bytes=False,
        sha256="a2fd52aea23d331d5b4ee723c856236e838a9fb9a70e66f4e0e0cf26c338c6a8",
        about="Sudoku-extreme, 422,786 test puzzles",
        format=SUDOKU_CSV,
    ),
    SourceFile(
        name="maze_hard_train",
        path="maze-30x30-hard-1k/train.csv",
        page=MAZES,
        urls=(f"{MAZES}/resolve/{MAZES_REVISION}/train.csv",),
        bytes=1_807_030,
        sha256="25f9e39b5aee16967da41ba63b2d1d75cf608c2360d8a1419d827f9859dbafa0",
        about="Maze-hard, 1,000 training mazes of 30x30 cells",
        format=MAZE_CSV,
    ),
    SourceFile(
        name="maze_hard_test",
        path="maze-30x30-hard-1k/test.csv",
        page=MAZES,
        urls=(f"{MAZES}/resolve/{MAZES_REVISION}/test.csv",),
        bytes=1_807_030,
        sha256="5120d52088fb3f8036e62e90103808a79ba58847d8601f9451f40991b0903a62",
        about="Maze-hard, 1,000 test mazes of 30x30 cells",
        format=MAZE_CSV,
    ),
    SourceFile(
        name="satnet_sudoku",
        path="satnet/sudoku.zip",
        page="https://github.com/locuslab/SATNet",
        urls=("https://powei.tw/sudoku.zip",),
        bytes=142_000_000,
        exact_bytes=False,
        sha256=None,
        members={
            "features.pt": "062d585938d183ab090cd31daae3d6621f9b22ea",
            "labels.pt": "68e2bae4e8c4aa389a7e608cc104dadd0f01fde3",
        },
        about="SATNet's Sudoku, 10,000 puzzles with 31 to 42 givens; no checksum of the archive is published",
        format="zip; features.pt and labels.pt: one-hot float tensors [10000, 9, 9, 9], all zero for a blank",
    ),
    SourceFile(
        name="rrn_sudoku_hard",
        path="rrn/sudoku-hard.zip",
        page="https://github.com/rasmusbergpalm/recurrent-relational-networks",
        urls=(
            "https://data.dgl.ai/dataset/sudoku-hard.zip",
            "https://www.dropbox.com/s/rp3hbjs91xiqdgc/sudoku-hard.zip?dl=1",
        ),
        bytes=14_000_000,
        exact_bytes=False,
        sha256="99f5c1f3f9a7c26e2e52d087dba2b312a816c9a54c638811455db72b8d3aa30d",
        about="RRN's Sudoku-hard, 180,000 training, 18,000 validation and 18,000 test puzzles with 17 to 34 givens",
        format="zip; train.csv, valid.csv and test.csv: question,answer without a header, 81 digits a board, '0' blank",
    ),
    SourceFile(
        name="royle_17_clues",
        path="rrn/sudoku17.txt",
        page="https://staffhome.ecm.uwa.edu.au/~00013890/sudoku17",
        urls=("https://staffhome.ecm.uwa.edu.au/~00013890/sudoku17",),
        bytes=4_030_384,
        sha256="d85a960fd45b7f52303b79f30744495620303943a34f81c949d8ae941ac6f22d",
        about="Gordon Royle's list of 49,151 Sudoku puzzles with 17 clues",
        format="text; a board of 81 digits a line, '0' blank, line 18 with a stray '--' at its end",
    ),
)
FILES = {file.name: file for file in _FILES}


def source_file(name: str) -> SourceFile:
    """The file of that name.

    Raises:
        SourceError: with the known names.
    """
    if name not in FILES:
        raise SourceError(f"unknown source file {name!r}: expected one of {', '.join(FILES)}")
    return FILES[name]


def verified(source: SourceFile, raw: str | Path) -> Path:
    """The path of a fetched file, after its checksum has been compared.

    Args:
        source: the file.
        raw: the folder of fetched files.

    Raises:
        SourceError: when it is missing or another.
    """
    path = Path(raw) / source.path
    if not path.is_file():
        raise SourceError(f"{path}: no such file, expected {source.about}: fetch it first")
    if problem := source.problem(path):
        raise SourceError(f"{path}: {problem}: the file is damaged or another; delete it and fetch it again")
    return path
