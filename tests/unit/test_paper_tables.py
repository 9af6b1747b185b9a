"""The paper's tables: its values beside ours, differences marked, the same files each time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cvoting.paper_tables.hyperparameters import HyperparametersError, read_hyperparameters
from cvoting.paper_tables.registry import PAPER_TABLES
from cvoting.paper_tables.table4_ablation import VARIANTS, prepare
from cvoting.params.paper_tables import AblationTable, PaperTablesParams
from cvoting.params.voting import VotingParams
from cvoting.published import read_published
from cvoting.table_files import read_csv
from cvoting.tables import voting_tables, write_voting
from cvoting.tally import tally
from cvoting.tasks.sudoku import Sudoku

#: A run of the paper's own values but for two.
RECIPE = {
    "title": "a study",
    "params": {"run": "akorn-sudoku"},
    "train_puzzles": 9000,
    "network": {
        "architecture": "akorn",
        "channels": 64,
        "oscillator_dim": 4,
        "heads": 8,
        "layers": 1,
        "step_size": 1.0,
    },
    "training": {
        "T_train": 16,
        "updates": 9000,
        "batch": 100,
        "clip": 1.0,
        "optimizer": {"name": "adam", "lr": 5.0e-4, "betas": [0.9, 0.98], "weight_decay": 0.0},
        "ema": {"decay": 0.995},
    },
}

#: A run of the paper's values of HRM but for one.
HRM = {
    "title": "a study",
    "params": {"run": "hrm-sudoku_extreme"},
    "train_puzzles": 1000,
    "network": {"architecture": "hrm", "channels": 512, "heads": 8, "H_layers": 4, "L_layers": 2},
    "training": {
        "updates": 26042,
        "batch": 768,
        "clip": 1.0,
        "optimizer": {
            "name": "adam_atan2", "lr": 1.0e-4, "betas": [0.9, 0.95], "weight_decay": 1.0, "warmup_updates": 2000,
        },
        "segments": {"exploration": 1.0},
    },
}  # fmt: skip


@pytest.fixture
def hyperparameters(repository: Path) -> Path:
    """The paper's values."""
    return repository / "reference/hyperparameters.csv"


def test_every_table_of_the_parameters_is_a_module() -> None:
    assert set(PAPER_TABLES) == set(PaperTablesParams.__dataclass_fields__)


def test_a_table_of_hyperparameters_marks_what_differs_from_the_paper(hyperparameters: Path, tmp_path: Path) -> None:
    PAPER_TABLES["table3_akorn"].write(RECIPE, [], hyperparameters, tmp_path)
    table = pd.read_csv(tmp_path / "table3_akorn.csv", dtype=str)
    assert table.loc[table["same"] == "False", "parameter"].tolist() == ["β for Adam", "Embedding dimension"]
    assert len(table) == 14, "the rows of Table 3"
    assert table.set_index("parameter").loc["Epochs", ["published", "ours"]].tolist() == ["100", "100.0"]
    text = (tmp_path / "table3_akorn.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    assert ["Embedding dimension", "512", "64 ≠"] in rows
    assert ["β for Adam", "(0.9, 0.999)", "(0.9, 0.98) ≠"] in rows
    assert ["Optimizer", "Adam", "Adam"] in rows
    assert "a study" in text
    latex = (tmp_path / "table3_akorn.tex").read_text(encoding="utf-8")
    assert r"\# of heads & 8 & 8 \\" in latex
    assert r"$\neq$" in latex


def test_the_table_of_hrm_has_the_papers_thirteen_rows_in_its_order(hyperparameters: Path, tmp_path: Path) -> None:
    PAPER_TABLES["table2_hrm"].write(HRM, [], hyperparameters, tmp_path)
    text = (tmp_path / "table2_hrm.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[4:]]
    assert rows == [
        ["Optimizer", "Adam-atan2", "Adam-atan2"],
        ["β for Adam", "(0.9, 0.95)", "(0.9, 0.95)"],
        ["Weight decay", "1", "1"],
        ["Gradient clipping threshold", "1", "1"],
        ["Learning rate", "0.0001", "0.0001"],
        ["Warm-up steps", "2000", "2000"],
        ["Batch size", "768", "768"],
        ["# of heads", "8", "8"],
        ["Embedding dimension", "512", "512"],
        ["Epochs", "20000", "20000"],  # 26042 updates x 768 / 1000 puzzles = 20000.256, and 26041 give 19999.488
        ["# of H layers", "4", "4"],
        ["# of L layers", "4", "2 ≠"],
        ["Halt exploration prob.", "1", "1"],
    ]


def test_a_run_of_another_model_than_the_tables_is_refused(hyperparameters: Path, tmp_path: Path) -> None:
    with pytest.raises(HyperparametersError, match=r"'akorn-sudoku' has no .*self_attentions, which table1"):
        PAPER_TABLES["table1_itrsa"].write(RECIPE, [], hyperparameters, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace("parameter,", "", 1), "expected table, parameter, key, published, source"),
        (lambda text: "", r"bad\.csv: not a table of hyper-parameters: restore it with git"),
        (lambda text: text.replace("0.01", "about 0.01", 1), r"line 4: published = 'about 0.01': expected JSON"),
    ],
)
def test_a_bad_file_of_hyperparameters_is_refused(
    hyperparameters: Path, tmp_path: Path, damage: Callable[[str], str], message: str
) -> None:
    (tmp_path / "bad.csv").write_text(damage(hyperparameters.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(HyperparametersError, match=message):
        read_hyperparameters(tmp_path / "bad.csv")


def test_the_ablation_table_has_ours_without_and_with_the_vote_beside_the_papers(
    bank_file: Callable[..., Path], repository: Path, tmp_path: Path
) -> None:
    params = VotingParams(K=(1, 2, 8), votes=("confidence", "random"), subsets=4, resamples=100, level=0.95, seed=0)
    files = []
    for place, variant in enumerate(VARIANTS):
        files.append(tmp_path / f"{variant}.csv")
        shards = [bank_file(variant, first=15 * place)]
        write_voting(shards, params, Sudoku(name="sudoku", box=(2, 2)), "a-study", files[-1], tmp_path / "paired.csv")
    recipe = {"title": "a study", "paper_scale": False, "params": {variant: variant for variant in VARIANTS}}
    for folder in ("one", "two"):
        PAPER_TABLES["table4_ablation"].write(recipe, files, repository / "reference/published.csv", tmp_path / folder)
    for suffix in ("csv", "md", "tex"):
        name = f"table4_ablation.{suffix}"
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    table = pd.read_csv(tmp_path / "one/table4_ablation.csv")
    assert table["variant"].tolist() == list(VARIANTS)
    assert table["published"].tolist() == [0.0, 0.0, 0.592, 0.62, 0.632]
    source = read_csv(files[3])
    same = (source["estimator"] == "expected") & (source["metric"] == "board") & (source["vote"] == "confidence")
    for K, column in ((1, "value"), (8, "voted_value")):
        assert table.loc[3, column] == source.loc[same & (source["K"] == K), "value"].item()
    text = (tmp_path / "one/table4_ablation.md").read_text(encoding="utf-8")
    assert "C-voting, K = 8" in text
    assert "n = 12 puzzles" in text
    assert f"{100 * table.loc[4, 'value']:.1f} [" in text
    assert "paper's scale" in text


def test_variants_of_different_numbers_of_candidates_are_compared_at_the_largest_that_all_have(
    bank_file: Callable[..., Path], repository: Path
) -> None:
    K = (1, 2, 4, 8)
    params = VotingParams(K=K, votes=("confidence",), subsets=4, resamples=100, level=0.95, seed=0)
    task, tables = Sudoku(name="sudoku", box=(2, 2)), {}
    for variant in VARIANTS:
        few = variant == "ffn"
        counted = tally([bank_file(variant, candidates=4 if few else 8)], replace(params, K=K[: 3 if few else 4]), task)
        tables[variant] = voting_tables(counted, params, "a-study")[0]
    banks = AblationTable(**dict(zip(VARIANTS, VARIANTS, strict=True)))
    data = prepare(tables, banks, read_published(repository / "reference/published.csv"))
    assert set(data["K"]) == {4}
    full = tables["full"]
    same = (full["estimator"] == "expected") & (full["metric"] == "board") & (full["K"] == 4)
    assert data.set_index("variant").loc["full", "voted_value"] == full.loc[same, "value"].item()


def test_published_values_of_the_ablations_are_those_of_the_variants(repository: Path) -> None:
    published = read_published(repository / "reference/published.csv").set_index("id")
    claims = [claim for _, claim in VARIANTS.values()]
    assert (published.loc[claims, "figure_or_section"] == "Table 4").all()
