"""Floating point operations of a training.

Backpropagation costs two products for each one of the forward pass, the gradients of its two factors: of the weights
and the input of a linear map, of queries and keys, of attention weights and values.  Autograd leaves out the gradient
of a constant.  Optimiser, clipping and moving average act on each weight alone and count nothing.
"""

from cvoting.flops.base import NetworkFlops
from cvoting.flops.rollouts import rollout_flops
from cvoting.params.training import TrainingParams


def training_flops(network: NetworkFlops, training: TrainingParams) -> int:
    """One update: forward and backward pass of the whole batch.

    Args:
        network: its parts.
        training: objective, steps, gradient truncation and batch.
    """
    one = _segment(network) if training.segments else _unrolled(network, training.T_train, training.detach_step)
    return training.batch * one


def run_flops(network: NetworkFlops, training: TrainingParams, validation: int) -> int:
    """A whole training: its updates, and one rollout of T_train steps per validation puzzle, time and again.

    Args:
        network: its parts.
        training: all of it; validations are after every `validate_every` updates and at the end.
        validation: puzzles of the validation set.
    """
    validations = -(-training.updates // training.validate_every)
    watched = validations * validation * rollout_flops(network, training.T_train, 1)
    return training.updates * training_flops(network, training) + watched


def _unrolled(network: NetworkFlops, steps: int, detach_step: int | None) -> int:
    """Training on the answers after T steps, for one puzzle: see `training.unrolled`.

    No gradient flows through the steps up to `detach_step`.
    """
    carried = steps - (detach_step or 0)
    differentiated = network.embed + network.start + carried * network.differentiated + network.readout
    constant = network.starts_at_noise or detach_step is not None
    return rollout_flops(network, steps, 1) + 2 * differentiated - constant * network.of_state


def _segment(network: NetworkFlops) -> int:
    """Training by segments, for one row of the batch: see `training.act`.

    A segment that is read out and differentiated, and one more without either, for the target of the halting logits.
    Two puzzles are embedded: the one offered and the one in work.
    """
    differentiated = network.embed + network.differentiated + network.readout
    return 2 * (network.embed + network.step) + network.readout + 2 * differentiated
