"""Whatever file is given where another is needed, there is a message and nothing is lost."""

import shutil
from pathlib import Path

import pytest
from error_bench import FIGURE, IMPORT, ROLLOUTS, SOLVE, STEPS, SUMMARY, TABLE, TRAIN, VOTING, Bench

#: Input that a verb reads -> the command that reads it.
INPUTS = {
    "sudoku.json": "data sudoku.json --raw raw --out new",
    "train.json": TRAIN,
    "data/sudoku/train.npz": TRAIN,
    "data/sudoku/validation.npz": TRAIN,
    "rollouts.json": ROLLOUTS,
    "model.safetensors": ROLLOUTS,
    "data/sudoku_hard/test.npz": ROLLOUTS,
    "voting.json": VOTING,
    "shard1.parquet": VOTING,
    "steps.json": STEPS,
    "figure.json": FIGURE,
    "table.json": TABLE,
    "table.csv": FIGURE,
    "summary.json": SUMMARY,
    "model.csv": SUMMARY,
    "reference/published.csv": FIGURE,
    "reference/hyperparameters.csv": TABLE,
    "released.pth": IMPORT,
    "puzzles.txt": SOLVE,
    "params.yaml": "recipe data sudoku",
}
WRONG = {
    "empty": b"",
    "text": b"hello\n",
    "bytes": bytes(range(256)) * 8,
    "list": b"[1, 2]\n",
    "number": b"3\n",
    "zip": b"PK\x03\x04" + bytes(64),
    "parquet": b"PAR1" + bytes(64) + b"PAR1",
    "safetensors": (8).to_bytes(8, "little") + b"[1]     ",
}
OTHERS = ["data/sudoku/train.npz", "model.safetensors", "shard0.parquet", "model.csv"]


@pytest.mark.parametrize("kind", ["absent", "folder", "cut", *WRONG, *OTHERS])
@pytest.mark.parametrize("name", INPUTS)
def test_a_wrong_file_is_a_message_and_loses_nothing(stock: Path, tmp_path: Path, name: str, kind: str) -> None:
    if Path(kind).suffix == Path(name).suffix:
        pytest.skip("the right kind of file")
    shutil.copytree(stock, tmp_path / "bench")
    bench = Bench(tmp_path / "bench")
    if kind == "cut":
        bench.cut(name, bench.path(name).stat().st_size // 2)
    else:
        content = (
            WRONG[kind] if kind in WRONG else b"" if kind in ("absent", "folder") else bench.path(kind).read_bytes()
        )
        bench.path(name).unlink()
        if kind == "folder":
            bench.path(name).mkdir()
        elif kind != "absent":
            bench.write(name, content)
    bench.cvoting(INPUTS[name])
    bench.check()
