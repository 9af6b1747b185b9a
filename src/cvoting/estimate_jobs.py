"""What each training and rollout job of a study costs, from its parameters alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cvoting.bank_size import bank_bytes
from cvoting.flops.base import NetworkFlops
from cvoting.flops.rollouts import bank_flops
from cvoting.flops.training import run_flops
from cvoting.memory.base import NetworkMemory
from cvoting.memory.jobs import checkpoint_disk, resume_disk, rollout_memory, training_memory
from cvoting.params.study import Study
from cvoting.tasks.base import Task


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job.

    Attributes:
        stage: train, import or rollouts.
        name: of its run or bank.
        file: its benchmark file in the folder of the study, without the suffix.
        flops: floating point operations.
        memory: bytes at its peak.
        disk: bytes by what they are.
    """

    stage: str
    name: str
    file: str
    flops: int
    memory: int
    disk: dict[str, int]


@dataclass(frozen=True)
class Counts:
    """How networks are counted, which the registries know.

    Attributes:
        flops: the operations of a network on a task.
        memory: what it keeps there.
    """

    flops: Callable[[Any, Task], NetworkFlops]
    memory: Callable[[Any, Task], NetworkMemory]


def of_run(study: Study, run: str, counts: Counts) -> Iterator[Job]:
    """A training for each training seed; or the import of a file of weights, which computes nothing.

    Args:
        study: all parameters.
        run: the name of a run.
        counts: how networks are counted.
    """
    block, training = study.runs[run], study.training_of(run)
    network, dataset = study.models[block.model].network, study.datasets[block.dataset]
    validation, memory = dataset.source.splits.validation, counts.memory(network, dataset.task)
    stage, flops, most, disk = "import", 0, checkpoint_disk(memory), {"checkpoint": checkpoint_disk(memory)}
    if not block.imported:
        stage, flops = "train", run_flops(counts.flops(network, dataset.task), training, validation)
        most = training_memory(memory, training, validation)
        disk |= {"resume": resume_disk(memory, training)}
    for seed in block.training_seeds:
        yield Job(stage=stage, name=run, file=f"{stage}/{run}/seed{seed}", flops=flops, memory=most, disk=disk)


def of_bank(study: Study, bank: str, counts: Counts) -> Iterator[Job]:
    """A job for each training seed, inference seed and shard.

    Bytes of a bank are at most those of its plain numbers before compression; logits are those of every cell, as before
    the data are built no one knows how many are given.

    Args:
        study: all parameters.
        bank: the name of a bank.
        counts: how networks are counted.
    """
    block, run = study.banks[bank], study.runs[study.banks[bank].run]
    network, dataset = study.models[run.model].network, study.datasets[block.dataset]
    puzzles, task = getattr(dataset.source.splits, block.split), dataset.task
    flops, memory = counts.flops(network, task), counts.memory(network, task)
    for inference_seed in block.inference_seeds:
        for shard in range(block.shards):
            plan = block.plan(shard, inference_seed)
            own = len(range(puzzles)[plan.own(puzzles)])
            cost = own * bank_flops(flops, plan)
            most = rollout_memory(memory, plan, task, network, puzzles)
            disk = bank_bytes(plan, task, network, own, asked=own * task.cells)
            for seed in run.training_seeds:
                file = f"rollouts/{bank}/train{seed}-infer{inference_seed}/shard{shard}"
                yield Job(stage="rollouts", name=bank, file=file, flops=cost, memory=most, disk=disk)
