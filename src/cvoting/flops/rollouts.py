"""Floating point operations of rollouts, per puzzle."""

from cvoting.flops.base import NetworkFlops
from cvoting.params.rollouts import RESIDUAL_STEPS, Extent


def rollout_flops(network: NetworkFlops, steps: int, candidates: int) -> int:
    """What a vote needs: K rollouts of T steps, each read out at its end.

    embed + K (start + T step + readout), so linear in K but for the question, embedded once; affine in T.

    Args:
        network: its parts.
        steps: T.
        candidates: K.
    """
    return network.embed + candidates * (network.start + steps * network.step + network.readout)


def bank_flops(network: NetworkFlops, extent: Extent) -> int:
    """What the engine computes for a bank, with everything that is read out on the way.

    The question is embedded once for each slice of its candidates (`chunk`); all candidates are read out at the end and
    at the `RESIDUAL_STEPS` steps before, some at the steps of `read_at`; each state once.

    Args:
        network: its parts.
        extent: the pieces of a bank; those of its plan, as `read_at` concerns the first inference seed only.
    """
    T, K = extent.T_eval, extent.candidates
    slices = -(-K // extent.chunk)
    ending = min(T, RESIDUAL_STEPS + 1)
    listed = sum(step <= T - ending for step in extent.read_at)
    readouts = K * ending + extent.candidates_read * listed
    return slices * network.embed + K * (network.start + T * network.step) + readouts * network.readout
