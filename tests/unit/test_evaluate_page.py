"""docs/evaluate.md does what it says: its files are written and its commands are run, section by section."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/evaluate.md").read_text()
#: Parts of a clone that the section with Snakemake runs in.
CLONE = ("Snakefile", "environment.yml", "profiles", "reference", "src", "workflow")


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Language, file name (or nothing) and content of every code block."""
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_section(number: int, folder: Path) -> str:
    """What the commands of a section print, in a folder with the files of the page."""
    for _, name, content in blocks(PAGE):
        if name:
            (folder / name).write_text(content)
    (section,) = re.findall(rf"^## {number}\. (.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    script = "\n".join(content for language, _, content in blocks(section) if language == "bash")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "CVOTING_DEVICE": "cpu"}
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_code_block_is_a_file_or_commands() -> None:
    assert len(blocks(PAGE)) == PAGE.count("```") / 2
    assert all(language == "bash" or name for language, name, _ in blocks(PAGE))


def test_the_audit_of_the_csv_file_finds_clean_boards(tmp_path: Path) -> None:
    assert "Defects: none" in run_section(1, tmp_path)
    assert pd.read_csv(tmp_path / "audit.csv")["puzzles"].tolist() == [8]


@pytest.mark.slow
def test_a_checkpoint_is_tested_on_the_csv_file(tmp_path: Path) -> None:
    for part in CLONE:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, tmp_path / part)
    study = yaml.safe_load((ROOT / "params.yaml").read_text())
    study["models"]["akorn"]["network"]["channels"] = 16
    training = {"updates": 4, "batch": 10, "T_train": 2, "validate_every": 4, "checkpoint_every": 4}
    study["models"]["akorn"]["training"] |= training
    study["models"]["akorn"]["training"]["optimizer"]["warmup_updates"] = 1
    study["datasets"]["sudoku"]["source"]["splits"] = {"train": 20, "validation": 5}
    # The other runs would not fit these few boards, and the page needs none of them.
    others = {"banks": {"akorn-sudoku_hard": study["banks"]["akorn-sudoku_hard"]}, "figures": {}, "tables": {}}
    study |= {"runs": {"akorn-sudoku": study["runs"]["akorn-sudoku"]}, **others}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study))
    run_section(2, tmp_path)
    for table in (tmp_path / "results/laptop/voting/akorn-mine.csv", tmp_path / "mine/voting.csv"):
        assert pd.read_csv(table)["puzzles"].unique().tolist() == [8]
    assert (tmp_path / "results/laptop/voting/akorn-mine.paired.csv").exists()


def test_released_weights_are_imported_and_solve_a_puzzle(tmp_path: Path) -> None:
    (tmp_path / "hrm").mkdir()
    (tmp_path / "hrm/all_config.yaml").write_text("arch: {num_heads: 4}")
    for name, path in {"akorn_tiny": "akorn.pth", "hrm_tiny": "hrm/checkpoint"}.items():
        with np.load(ROOT / f"tests/reference/data/{name}.npz") as file:
            found = {
                n.removeprefix("weight/"): torch.from_numpy(file[n]) for n in file.files if n.startswith("weight/")
            }
        torch.save(found, tmp_path / path)
    printed = run_section(5, tmp_path)
    assert "network.heads = 4 (the weights)" in printed
    assert "network.heads = 4 (all_config.yaml)" in printed
    solved = run_section(6, tmp_path)
    assert solved.startswith("steps: 32, twice as many as in training; --steps changes them\n\n5 3 ")
    assert "\ncandidates: 64, distinct answers: " in solved


@pytest.mark.parametrize(("number", "bank"), [(3, "my_model"), (4, "my_answers")])
def test_votes_of_another_model_are_counted(number: int, bank: str, tmp_path: Path) -> None:
    printed = run_section(number, tmp_path)
    table = pd.read_csv(tmp_path / f"{bank}.csv").query("estimator == 'expected' and metric == 'cell_accuracy'")
    values = table.pivot(index="K", columns="vote", values="value")
    assert values.notna().all(axis=None)
    assert values.loc[1].nunique() == 1, "with one candidate every vote selects it"
    assert (values["oracle"] >= values["confidence"]).all()
    assert "majority_answer" in printed
