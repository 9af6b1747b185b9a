"""Models in bfloat16 and compiled: the same network, to the rounding that was asked for; the same noise everywhere."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from cvoting.models.registry import MODELS
from cvoting.params.reading import read_study
from cvoting.precision import computing, precise, widened
from cvoting.rollouts import initial_noise
from cvoting.training.batches import Batch
from cvoting.training.objective_registry import OBJECTIVES

TOY = read_study(Path(__file__).parents[2] / "params/toy.yaml")
CPU = torch.device("cpu")
#: In a process of its own: what reads annotations in tests is nothing that torch could compile.
COMPILED = """
import sys
import warnings
from pathlib import Path

import torch

from cvoting.models.registry import MODELS
from cvoting.params.reading import read_study

study = read_study(Path(sys.argv[1]))
for name in sys.argv[2:]:
    task, network = study.datasets["sudoku"].task, study.models[name].network
    model = MODELS[network.architecture].for_task(network, task)
    model.initialise(torch.Generator().manual_seed(0))
    questions, noise = torch.zeros(3, task.cells, dtype=torch.long), torch.ones(3, 2, *model.noise_shape)
    steps = 1 if network.step_problems(2) else 2

    def trained(model):
        logits = model(questions, noise, steps)
        gradients = torch.autograd.grad(logits.square().mean(), list(model.parameters()), allow_unused=True)
        return [logits, *(gradient for gradient in gradients if gradient is not None)]

    exact = trained(model)
    model.compile_steps()
    for one, other in zip(exact, trained(model), strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-5)
    print(name)
"""


def batch_of(model, task, rows: int = 6) -> Batch:
    rng = torch.Generator().manual_seed(1)
    questions = torch.randint(0, task.vocabulary, (rows, task.cells), generator=rng)
    noise = torch.randn(rows, 1, *model.noise_shape, generator=rng)
    return Batch(questions, torch.zeros_like(questions), torch.ones_like(questions, dtype=torch.bool), noise)


@pytest.mark.parametrize("name", TOY.models)
def test_bfloat16_rounds_products_and_leaves_states_scores_and_gradients_in_float32(name: str) -> None:
    task, block = TOY.datasets["sudoku"].task, TOY.models[name]
    model = MODELS[block.network.architecture].for_task(block.network, task)
    model.initialise(torch.Generator().manual_seed(0))
    objective, batch = OBJECTIVES[block.training.objective](model, block.training, 0), batch_of(model, task)
    found = {}
    for precision in ("float32", "bfloat16"):
        with computing(CPU, precision):
            condition = model.embed(batch.questions)
            (state,) = model.trajectory(condition, model.initial_state(condition, batch.noise), 1)
            logits = model.readout(state)
        model.zero_grad()
        objective.restore({})
        with computing(CPU, precision):
            loss = objective.minimised(batch, range(6), 0).loss
        loss.backward()
        assert state.latent.dtype == torch.float32
        assert {p.grad.dtype for p in model.parameters() if p.grad is not None} == {torch.float32}
        found[precision] = (state.latent, widened(logits), loss)
    (exact, _, exact_loss), (rounded, _, rounded_loss) = found["float32"], found["bfloat16"]
    assert not torch.equal(exact, rounded)
    assert (exact - rounded).norm() < 0.05 * exact.norm()
    assert rounded_loss.item() == pytest.approx(exact_loss.item(), rel=0.05)


def test_what_is_measured_is_widened() -> None:
    assert widened(torch.ones(1, dtype=torch.bfloat16)).dtype == torch.float32
    assert widened(torch.ones(1, dtype=torch.float64)).dtype == torch.float64
    assert precise(torch.ones(1)).dtype == torch.float64


@pytest.mark.slow
def test_compiled_steps_give_the_same_logits_and_gradients() -> None:
    study = Path(__file__).parents[2] / "params/toy.yaml"
    names = ["akorn", "hrm"]  # the matrices of GTA, and the rotations of RoPE
    done = subprocess.run([sys.executable, "-c", COMPILED, study, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == names


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_noise_does_not_depend_on_threads_or_on_what_is_drawn_beside_it(threads: int) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        noise = initial_noise(["a", "b", "c"], range(4, 11), (3, 2), 7)
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(noise[1:2, 2:3], initial_noise(["b"], range(6, 7), (3, 2), 7))
    assert np.unique(noise).size == noise.size
