"""Read-outs: what a rollout is at a listed step is what a rollout of so many steps ends at."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.bank_from_answers import no_answer
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.params.rollouts import BankParams
from cvoting.rollouts import initial_noise, roll_out
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "a model", "boards", "test", "generated", "a generator", 6, 0, 5)
BANK = BankParams(run="run", dataset="boards", T_eval=6, candidates=8, inference_seeds=(5,), chunk=16, shards=1)
READ = replace(BANK, read_at=(1, 3, 6))
BankOf = Callable[..., Bank]


@pytest.fixture(scope="module")
def models(tiny_networks) -> dict[str, RecurrentModel]:
    """One of each architecture, with weights."""
    models = {name: MODELS[name].for_task(params, TASK) for name, params in tiny_networks.items()}
    for model in models.values():
        model.initialise(torch.Generator().manual_seed(0))
    torch.nn.init.normal_(models["hrm"].halting.weight, generator=torch.Generator().manual_seed(0))  # 0 at first
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


@pytest.mark.parametrize("architecture", ["akorn", "hrm", "itrsa"])
@pytest.mark.parametrize("step", READ.read_at)
def test_a_reading_is_the_end_of_a_rollout_of_so_many_steps(bank_of: BankOf, architecture: str, step: int) -> None:
    reading = bank_of(architecture, READ).at(step)
    shorter = bank_of(architecture, replace(BANK, T_eval=step))
    assert ("energy_sum" in reading.scores) == (architecture == "akorn")
    assert reading.header == shorter.header
    assert_same(reading, without_residuals(shorter), rtol=1e-5)


@pytest.mark.parametrize("architecture", ["akorn", "hrm", "itrsa"])
def test_the_reading_at_the_last_step_is_the_end(bank_of: BankOf, architecture: str) -> None:
    bank = bank_of(architecture, READ)
    assert_same(bank.at(bank.header.T_eval), without_residuals(bank))


@pytest.mark.parametrize("architecture", ["akorn", "hrm", "itrsa"])
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


@pytest.mark.parametrize("architecture", ["akorn", "hrm", "itrsa"])
def test_reading_out_changes_nothing_else_of_a_bank(bank_of: BankOf, architecture: str) -> None:
    read, plain = bank_of(architecture, READ), bank_of(architecture, BANK)
    assert plain.steps == {}
    for field in fields(Bank):
        if field.name != "steps":
            np.testing.assert_equal(getattr(read, field.name), getattr(plain, field.name))


@pytest.mark.parametrize(
    ("architecture", "steps"),
    [("akorn", 1), ("akorn", 2), ("akorn", 6), ("hrm", 1), ("hrm", 6), ("itrsa", 1), ("itrsa", 6), ("transformer", 1)],
)
@pytest.mark.parametrize("temperatures", [(), (0.5, 2.0)], ids=["", "temperatures"])
def test_a_bank_has_the_scores_that_its_parameters_promise(
    bank_of: BankOf, models: dict[str, RecurrentModel], architecture: str, steps: int, temperatures: Sequence[float]
) -> None:
    params = replace(BANK, T_eval=steps, read_at=(1,), temperatures=temperatures)
    bank, extra = bank_of(architecture, params), models[architecture].params.extra_scores
    assert sorted(bank.scores) == sorted(params.scores(extra))
    assert sorted(bank.steps[1].scores) == sorted(params.step_scores(extra))


def test_a_bank_holds_the_halting_logits_and_the_confidence_of_stablemax(models, puzzles, bank_of: BankOf) -> None:
    together = BANK.candidates * len(puzzles.hashes)  # as below: other batches round otherwise
    bank, model = bank_of("hrm", replace(BANK, read_at=(2,), chunk=together)), models["hrm"]
    noise = initial_noise(puzzles.hashes, range(BANK.candidates), model.noise_shape, HEADER.inference_seed)
    condition = model.embed(torch.from_numpy(puzzles.questions.astype(np.int64)))
    with torch.inference_mode():
        states = list(model.trajectory(condition, model.initial_state(condition, torch.from_numpy(noise)), 6))
        logits = [model.readout(state).double().numpy() for state in states]
    for found, state, scores in ((bank.at(2), states[1], logits[1]), (bank, states[5], logits[5])):
        np.testing.assert_allclose(found.scores["halting_logit"], state.halting[..., 0].numpy(), rtol=1e-6)
        s = np.where(scores >= 0, scores + 1, 1 / (1 - np.minimum(scores, 0)))
        largest = (s / s.sum(-1, keepdims=True)).max(-1)
        blank = (puzzles.questions == 0)[:, None] * np.ones_like(largest)
        expected = (largest * blank).sum(-1) / blank.sum(-1)
        np.testing.assert_allclose(found.scores["confidence_stablemax"], expected, rtol=1e-6)


def test_an_answer_that_is_none_is_wrong(models, puzzles, bank_of: BankOf) -> None:
    model = models["hrm"]
    with torch.no_grad():
        for token in (0, TASK.vocabulary):  # the blank, and padding
            before = model.classifier.weight.clone()
            model.classifier.weight[token] = 100 * model.classifier.weight[1 + token % 4]
            answers = bank_of("hrm", BANK)
            model.classifier.weight.copy_(before)
            cells = np.concatenate([table.ravel() for table in answers.answers])
            assert set(cells) <= {*range(1, 5), no_answer(TASK)}
            assert no_answer(TASK) in cells
            assert not answers.correct["board"].any()
