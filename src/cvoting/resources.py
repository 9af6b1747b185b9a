"""What training and rollout jobs ask a scheduler for: GPUs, memory and time, from what is estimated of them.

Nothing here is part of a recipe: what a job asks for changes no result.
"""

from dataclasses import dataclass

from cvoting.assumed_gpu import RATE
from cvoting.estimate_jobs import Counts
from cvoting.flops.rollouts import bank_flops
from cvoting.flops.training import run_flops
from cvoting.memory.jobs import puzzles_of, resume_disk, rollout_host_memory, rollout_memory, training_memory
from cvoting.params.study import Study

#: Operations per second of one CPU thread: about what AKOrN of 64 channels reaches, the slowest row of docs/cost.md.
THREAD_RATE = 3e10
#: MB of Python, torch and the Snakemake processes beside them; on GPUs also of CUDA's libraries and its context.
FLOOR_MB, GPU_FLOOR_MB = 2000, 6000
#: Minutes until a job computes: imports, reading, and file systems that others use too.
FLOOR_MINUTES = 15
#: What is asked for above the floor, as a multiple of the estimate; each attempt asks for as much again.
MEMORY_MARGIN, TIME_MARGIN = 1.5, 2


@dataclass(frozen=True)
class Need:
    """What a job asks for at its first attempt; n times the memory and time at the n-th.

    Attributes:
        gpu: GPUs.
        threads: CPU threads of all its processes together.
        mem_mb: memory of the machine, in MB; that of a GPU is not shared, so nobody asks for it.
        runtime: minutes.
    """

    gpu: int
    threads: int
    mem_mb: int
    runtime: int


def of_trainings(study: Study, counts: Counts) -> dict[str, Need]:
    """What each training of a run asks for, by the run; nothing for runs that are imported.

    Args:
        study: all parameters.
        counts: how networks are counted, on the study's devices.
    """
    return {name: _of_training(study, name, counts) for name, run in study.runs.items() if not run.imported}


def of_rollouts(study: Study, counts: Counts) -> dict[str, Need]:
    """What each job of a bank asks for, by the bank: the largest shard, with the first inference seed.

    Args:
        study: all parameters.
        counts: how networks are counted, on the study's devices.
    """
    return {name: _of_bank(study, name, counts) for name in study.banks}


def _of_training(study: Study, run: str, counts: Counts) -> Need:
    block, training = study.runs[run], study.training_of(run)
    network, dataset = study.models[block.model].network, study.datasets[block.dataset]
    splits, memory = dataset.source.splits, counts.memory(network, dataset.task)
    needed = resume_disk(memory, training) if study.gpus else training_memory(memory, training, splits.validation)
    # Each process reads the puzzles.
    puzzles = 2 * dataset.task.cells * (splits.train + splits.validation)
    flops = run_flops(counts.flops(network, dataset.task), training, splits.validation)
    return _need(study, study.gpus, needed + puzzles, flops)


def _of_bank(study: Study, bank: str, counts: Counts) -> Need:
    block, run = study.banks[bank], study.runs[study.banks[bank].run]
    network, dataset = study.models[run.model].network, study.datasets[block.dataset]
    puzzles, task = getattr(dataset.source.splits, block.split), dataset.task
    plan = max((block.plan(shard) for shard in range(block.shards)), key=lambda plan: puzzles_of(plan, puzzles))
    of_job = rollout_host_memory if study.gpus else rollout_memory
    needed = of_job(counts.memory(network, task), plan, task, network, puzzles)
    flops = puzzles_of(plan, puzzles) * bank_flops(counts.flops(network, task), plan)
    # One process: of more GPUs, shards make use.
    return _need(study, min(study.gpus, 1), needed + 2 * task.cells * puzzles, flops)


def _need(study: Study, gpus: int, memory: int, flops: int) -> Need:
    """A job's: `memory` is that of one process in bytes, `flops` those of all together."""
    processes = max(1, gpus)
    threads = study.threads * processes
    rate = RATE * gpus if gpus else THREAD_RATE * threads
    floor = GPU_FLOOR_MB if gpus else FLOOR_MB
    mem_mb = processes * (floor + round(MEMORY_MARGIN * memory / 1e6))
    return Need(gpus, threads, mem_mb, FLOOR_MINUTES + round(TIME_MARGIN * flops / rate / 60))
