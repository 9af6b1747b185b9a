"""Read-outs: what a rollout is at a listed step is what a rollout of so many steps ends at."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.params.itrsa import CrossAttentionParams, ItrsaParams, SwiGluParams
from cvoting.params.rollouts import BankParams
from cvoting.params.transformer import TransformerParams
from cvoting.rollouts import roll_out
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "a model", "boards", "test", "generated", "a generator", 6, 0, 5)
BANK = BankParams(run="run", dataset="boards", T_eval=6, candidates=8, inference_seeds=(5,), chunk=16, shards=1)
READ = replace(BANK, read_at=(1, 3, 6))
NETWORKS = {
    "itrsa": ItrsaParams(
        architecture="itrsa",
        channels=16,
        heads=2,
        self_attentions=2,
        input_mixing=CrossAttentionParams(kind="cross_attention"),
        feed_forward=SwiGluParams(kind="swiglu", hidden=16),
        gta="learnable",
        norm_affine=False,
        norm_eps=1e-6,
    ),
    "transformer": TransformerParams(architecture="transformer", channels=16, heads=2, blocks=1, hidden=16),
}

BankOf = Callable[..., Bank]


@pytest.fixture(scope="module")
def models(tiny_akorn) -> dict[str, RecurrentModel]:
    """One of each architecture, with weights."""
    models = {name: MODELS[name].for_task(params, TASK) for name, params in {"akorn": tiny_akorn, **NETWORKS}.items()}
    for model in models.values():
        model.initialise(torch.Generator().manual_seed(0))
    return models


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory) -> Puzzles:
    splits = Splits(train=0, validation=0, test=5)
    source = GeneratedSudoku(kind="generated_sudoku", givens=(5, 8), seed=0, splits=splits)
    return SOURCES["generated_sudoku"]("boards", TASK, source, tmp_path_factory.mktemp("raw"))["test"]


@pytest.fixture
def bank_of(models, puzzles, tmp_path) -> BankOf:
    """Rolls out a model and reads the bank back."""

    def make(architecture: str, params: BankParams) -> Bank:
        path, header = tmp_path / "bank.parquet", replace(HEADER, T_eval=params.T_eval)
        device = torch.device("cpu")
        roll_out(models[architecture], TASK, puzzles, params.plan(), header, path, tmp_path / "partial", device)
        return concatenate(read_banks(path))

    return make


def assert_same(one: Bank, two: Bank, rtol: float = 0) -> None:
    """The same candidates: scores to rounding, judgements exactly."""
    assert one.puzzles == two.puzzles
    assert one.scores.keys() == two.scores.keys()
    for name, scores in one.scores.items():
        np.testing.assert_allclose(scores, two.scores[name], rtol=rtol, err_msg=name)
    np.testing.assert_equal(one.correct, two.correct)
    np.testing.assert_array_equal(one.cell_accuracy, two.cell_accuracy)


def without_residuals(bank: Bank) -> Bank:
    """Residuals are of the last steps: they are known only at the end."""
    return replace(bank, scores={name: s for name, s in bank.scores.items() if not name.endswith("_residual")})


@pytest.mark.parametrize("architecture", ["akorn", "itrsa"])
@pytest.mark.parametrize("step", READ.read_at)
def test_a_reading_is_the_end_of_a_rollout_of_so_many_steps(bank_of: BankOf, architecture: str, step: int) -> None:
    reading = bank_of(architecture, READ).at(step)
    shorter = bank_of(architecture, replace(BANK, T_eval=step))
    assert ("energy_sum" in reading.scores) == (architecture == "akorn")
    assert reading.header == shorter.header
    assert_same(reading, without_residuals(shorter), rtol=1e-5)


@pytest.mark.parametrize("architecture", ["akorn", "itrsa"])
def test_the_reading_at_the_last_step_is_the_end(bank_of: BankOf, architecture: str) -> None:
    bank = bank_of(architecture, READ)
    assert_same(bank.at(bank.header.T_eval), without_residuals(bank))


@pytest.mark.parametrize("architecture", ["akorn", "itrsa"])
@pytest.mark.parametrize("chunk", [3, 16])
@pytest.mark.parametrize("read", [1, 3, 5])
def test_the_first_candidates_are_read_out_wherever_chunks_cut(
    bank_of: BankOf, architecture: str, chunk: int, read: int
) -> None:
    every = bank_of(architecture, replace(READ, chunk=chunk))
    first = bank_of(architecture, replace(READ, chunk=chunk, read_candidates=read))
    assert list(first.steps) == list(READ.read_at)
    for step, reading in first.steps.items():
        assert reading.cell_accuracy.shape == (len(every), read)
        for name, scores in reading.scores.items():
            np.testing.assert_allclose(scores, every.steps[step].scores[name][:, :read], rtol=1e-5)
        for name, correct in reading.correct.items():
            np.testing.assert_array_equal(correct, every.steps[step].correct[name][:, :read])
        np.testing.assert_array_equal(reading.cell_accuracy, every.steps[step].cell_accuracy[:, :read])


@pytest.mark.parametrize("architecture", ["akorn", "itrsa"])
def test_reading_out_changes_nothing_else_of_a_bank(bank_of: BankOf, architecture: str) -> None:
    read, plain = bank_of(architecture, READ), bank_of(architecture, BANK)
    assert plain.steps == {}
    for field in fields(Bank):
        if field.name != "steps":
            np.testing.assert_equal(getattr(read, field.name), getattr(plain, field.name))


@pytest.mark.parametrize(
    ("architecture", "steps"),
    [("akorn", 1), ("akorn", 2), ("akorn", 6), ("itrsa", 1), ("itrsa", 6), ("transformer", 1)],
)
@pytest.mark.parametrize("temperatures", [(), (0.5, 2.0)], ids=["", "temperatures"])
def test_a_bank_has_the_scores_that_its_parameters_promise(
    bank_of: BankOf, models: dict[str, RecurrentModel], architecture: str, steps: int, temperatures: Sequence[float]
) -> None:
    params = replace(BANK, T_eval=steps, read_at=(1,), temperatures=temperatures)
    bank, energy = bank_of(architecture, params), models[architecture].params.has_energy
    assert sorted(bank.scores) == sorted(params.scores(energy))
    assert sorted(bank.steps[1].scores) == sorted(params.step_scores(energy))
