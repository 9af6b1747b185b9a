"""How floating point operations grow with steps, candidates, slices and batches, for any network."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from cvoting.flops.base import NetworkFlops
from cvoting.flops.registry import network_flops
from cvoting.flops.rollouts import bank_flops, rollout_flops
from cvoting.flops.training import training_flops
from cvoting.params.core import build
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import Study

STUDY = build(Study, yaml.safe_load((Path(__file__).parents[2] / "params/toy.yaml").read_text()))
TASKS = [STUDY.datasets[name].task for name in ("sudoku", "maze_hard")]
networks = st.builds(
    network_flops, st.sampled_from([model.network for model in STUDY.models.values()]), st.sampled_from(TASKS)
)
counts = st.integers(1, 200)


@st.composite
def extents(draw: st.DrawFn) -> dict[str, Any]:
    """Keys of a plan: any steps, candidates, slices and read-outs.  Checking its types in here would draw numbers."""
    T, K = draw(counts), draw(counts)
    read_at = tuple(sorted(draw(st.sets(st.integers(1, T), max_size=8))))
    read = draw(st.none() | st.integers(1, K)) if read_at else None
    return {"T_eval": T, "candidates": K, "chunk": draw(counts), "read_at": read_at, "read_candidates": read}


@given(network=networks, steps=counts, candidates=counts)
def test_rollouts_cost_linearly_in_candidates_and_affinely_in_steps(
    network: NetworkFlops, steps: int, candidates: int
) -> None:
    def rollouts(T: int, K: int) -> int:
        return rollout_flops(network, T, K) - network.embed  # which candidates share

    assert rollouts(steps, candidates) == candidates * rollouts(steps, 1) > 0
    once, further = rollouts(1, candidates), rollouts(2, candidates) - rollouts(1, candidates)
    assert rollouts(steps, candidates) == once + (steps - 1) * further
    assert further > 0


@given(network=networks, extent=extents())
def test_a_bank_costs_its_rollouts_and_what_is_read_out_or_embedded_besides(
    network: NetworkFlops, extent: dict[str, Any]
) -> None:
    plan = RolloutPlan(**extent)
    extra = bank_flops(network, plan) - rollout_flops(network, plan.T_eval, plan.candidates)
    slices = len(range(0, plan.candidates, plan.chunk))
    ends = {t for t in range(1, plan.T_eval) if t >= plan.T_eval - 3}
    read_out = [(candidate, t) for candidate in range(plan.candidates) for t in ends]
    read_out += [(c, t) for c in range(plan.candidates_read) for t in plan.read_at if t < plan.T_eval]
    assert extra == (slices - 1) * network.embed + len(set(read_out)) * network.readout


@given(network=networks, extent=extents())
def test_slices_cost_what_they_cost_as_banks_of_their_own(network: NetworkFlops, extent: dict[str, Any]) -> None:
    plan = RolloutPlan(**extent | {"read_candidates": None})
    sizes = [min(plan.chunk, plan.candidates - start) for start in range(0, plan.candidates, plan.chunk)]
    parts = (bank_flops(network, replace(plan, candidates=size, chunk=size)) for size in sizes)
    assert bank_flops(network, plan) == sum(parts)


@given(network=networks, batch=counts, steps=st.integers(2, 200), data=st.data())
def test_an_update_costs_linearly_in_its_batch_and_less_the_later_the_gradient_begins(
    network: NetworkFlops, batch: int, steps: int, data: st.DataObject
) -> None:
    training = replace(STUDY.models["itrsa"].training, T_train=steps, detach_step=None, batch=1)
    detach_step = data.draw(st.integers(1, steps - 1))
    one, truncated = training_flops(network, training), replace(training, detach_step=detach_step)
    assert training_flops(network, replace(training, batch=batch)) == batch * one
    saved = one - training_flops(network, truncated)
    through_start = 0 if network.starts_at_noise else network.of_state
    assert saved == 2 * detach_step * network.differentiated + through_start
    forward = rollout_flops(network, steps, 1)
    assert forward < one <= 3 * forward
