"""Memory and disk of the jobs that train and roll out, in bytes, from parameters alone.

Counted is what a job asks for at its peak, not what Python and torch take before it starts, nor what an allocator
keeps in reserve.
"""

from cvoting.bank_size import bank_bytes
from cvoting.memory.base import NetworkMemory
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RESIDUAL_STEPS, RolloutPlan
from cvoting.params.training import TrainingParams
from cvoting.tasks.base import Task

#: Bytes of a float32 number.
NUMBER = 4
#: Weights, moving average, gradients, two moments, and what a forward pass derives from weights.
COPIES = 6
#: Weights, and what a forward pass derives from them.
ROLLED_OUT = 2
#: float64 arrays of the size of the logits, each two numbers, while candidates are scored or a segment's loss is made.
SCORING = 2 * 5
#: States of a segment's rows besides those that the last one left: with halted rows replaced, and as it leaves them.
CARRIED = 2


def training_memory(
    memory: NetworkMemory, training: TrainingParams, validation: int, accumulate: int | None = None
) -> int:
    """The peak of a training: an update's backward pass, or a validation.

        always      6 weights + (batch + validation) noise
        update      rows (condition + kept_once + steps kept + logits + working)
        validation  batch (condition + 2 state + working)

    with rows = batch / accumulate and steps those that a gradient flows through.  Trained by segments, all rows keep
    their state between updates, one step is differentiated, and the loss is made of more than the logits.

    Args:
        memory: what the network keeps.
        training: objective, steps, gradient truncation, batch.
        validation: puzzles of the validation set.
        accumulate: in how many parts a batch is computed, one after another; None: in as many as `training` says.
    """
    batch = training.batch
    parts = training.accumulate if accumulate is None else accumulate
    rows = -(-batch // parts)
    if training.segments:
        steps, carried = 1, memory.state
        of_loss = SCORING * memory.logits + CARRIED * memory.state
    else:
        steps, of_loss, carried = training.T_train - (training.detach_step or 0), memory.logits, 0
    stays = COPIES * memory.weights + (batch + validation) * memory.noise + batch * carried
    update = memory.condition + memory.kept_once + steps * memory.kept + of_loss + memory.working
    watched = memory.condition + 2 * memory.state + memory.working
    return NUMBER * (stays + max(rows * update, min(batch, validation) * watched))


def fitting_accumulate(memory: NetworkMemory, training: TrainingParams, validation: int, limit: int) -> int | None:
    """The fewest parts of a batch with which a training needs at most `limit` bytes.

    None: no number of parts does, for what the batch's rows hold between updates and the validation are not divided.
    """
    parts = range(1, training.batch + 1)
    return next((number for number in parts if training_memory(memory, training, validation, number) <= limit), None)


def puzzles_of(plan: RolloutPlan, puzzles: int) -> int:
    """How many of `puzzles` puzzles are those of a shard."""
    return len(range(puzzles)[plan.own(puzzles)])


def rollout_memory(memory: NetworkMemory, plan: RolloutPlan, task: Task, network: NetworkParams, puzzles: int) -> int:
    """The peak of a rollout job: a chunk in the model, and the puzzles of a part as a bank, also as a table.

        2 weights + rows (2 noise + condition + state + working + E latent + (E + 10) logits) + 2 bank

    with E = min(T, 4) states that are kept for residuals, with their logits, and rows those of a chunk.

    Args:
        memory: what the network keeps.
        plan: steps, candidates and chunk.
        task: cells and tokens.
        network: its scores and classes.
        puzzles: of the whole set.
    """
    at_once = min(plan.puzzles_at_once, puzzles_of(plan, puzzles))
    rows = at_once * min(plan.candidates, plan.chunk)
    ending = min(plan.T_eval, RESIDUAL_STEPS + 1)
    row = 2 * memory.noise + memory.condition + memory.state + memory.working
    row += ending * memory.latent + (ending + SCORING) * memory.logits
    return NUMBER * (ROLLED_OUT * memory.weights + rows * row) + _part(plan, task, network, puzzles)


def rollout_host_memory(
    memory: NetworkMemory, plan: RolloutPlan, task: Task, network: NetworkParams, puzzles: int
) -> int:
    """What of a rollout job is in the memory of the machine where a GPU computes: weights, noise, a part as a bank.

    Args:
        memory, plan, task, network, puzzles: as of `rollout_memory`.
    """
    rows = min(plan.puzzles_at_once, puzzles_of(plan, puzzles)) * min(plan.candidates, plan.chunk)
    return NUMBER * (2 * memory.weights + rows * memory.noise) + _part(plan, task, network, puzzles)


def _part(plan: RolloutPlan, task: Task, network: NetworkParams, puzzles: int) -> int:
    """The largest part of a shard, as a bank and as a table."""
    part = max(map(len, plan.parts(puzzles)), default=0)
    return 2 * sum(bank_bytes(plan, task, network, part, part * task.cells).values())


def checkpoint_disk(memory: NetworkMemory) -> int:
    """A checkpoint: raw and averaged weights."""
    return NUMBER * 2 * memory.weights


def resume_disk(memory: NetworkMemory, training: TrainingParams) -> int:
    """What a training goes on from, there while it runs: weights, average, two moments, and states between segments."""
    return NUMBER * (4 * memory.weights + (training.batch * memory.state if training.segments else 0))
