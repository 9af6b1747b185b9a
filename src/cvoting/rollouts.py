"""The rollout engine: K candidates x T steps for a trained model on a set of puzzles, streamed.

What is in memory at once are the latent states of a chunk of rollouts, and scores and answers of a few dozen puzzles,
whatever the number of candidates and puzzles.  A candidate's initial state is a function of (inference seed, puzzle,
candidate) alone: the first 16 candidates of a bank of 4096 are the bank of 16.
"""

import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, UInt8
from torch import Tensor

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks, write_banks
from cvoting.bank_from_answers import bank_from_answers, no_answer, reading_from_answers
from cvoting.bank_size import bank_bytes, in_words
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.models.base import RecurrentModel, State
from cvoting.params.rollouts import RESIDUAL_STEPS, RolloutPlan
from cvoting.precision import computing
from cvoting.progress import Progress
from cvoting.scores import change, double, probability_scores, stablemax_confidence
from cvoting.seeding import generator
from cvoting.tasks.base import Task


class FixedStartError(CvotingError):
    """Several candidates of a model that always starts at the same state."""


def initial_noise(
    puzzles: Sequence[str], candidates: range, shape: tuple[int, ...], inference_seed: int
) -> Float32[np.ndarray, "puzzles candidates ..."]:
    """Standard normal noise of some candidates of some puzzles.

    Args:
        puzzles: their hashes.
        candidates: their indices, from 0.
        shape: the model's `noise_shape`.
        inference_seed: seed of the initial states.
    """
    noise = np.empty((len(puzzles), len(candidates), *shape), dtype=np.float32)

    def draw(first: int) -> None:
        for place in range(first, len(puzzles) * len(candidates), threads):
            row, column = divmod(place, len(candidates))
            rng = generator("initial state", inference_seed, puzzles[row], counter=candidates[column])
            rng.standard_normal(dtype=np.float32, out=noise[row, column])

    # A GPU would wait for one thread.
    threads = torch.get_num_threads()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw, range(threads)))
    return noise


def prepare_start(model: RecurrentModel, kind: str, candidates: int, random_start_anyway: bool) -> None:
    """See to it that candidates differ, or that there is one: from a fixed start all would be the same rollout.

    Args:
        model: whose candidates start.
        kind: how the model was trained to start, from its checkpoint: "random" or "fixed".
        candidates: rollouts per puzzle.
        random_start_anyway: start a model of a fixed start at N(0, 1) noise, with a warning to stderr; of another
            kind of start the flag changes nothing, which is said there too.

    Raises:
        FixedStartError: for several candidates of a model with a fixed start, without `random_start_anyway`.
    """
    if kind != "fixed":
        if random_start_anyway:
            print("note: the model starts at random states anyway: nothing changes", file=sys.stderr, flush=True)
        return
    if random_start_anyway:
        warning = "the model was trained from one fixed initial state and now starts at N(0, 1) noise: expect it to be"
        print(f"warning: {warning} much worse than from its own start", file=sys.stderr, flush=True)
        model.start_at_random()
    elif candidates > 1:
        raise FixedStartError(
            f"{candidates} candidates of a model that was trained from one fixed initial state: all would be equal; "
            "take 1 candidate, or start at random noise all the same (`random_start_anyway: true` in a bank or plan, "
            "`--random-start-anyway` of solve)"
        )


def roll_out(
    model: RecurrentModel,
    task: Task,
    puzzles: Puzzles,
    plan: RolloutPlan,
    header: BankHeader,
    path: Path,
    partial: Path,
    device: torch.device,
) -> None:
    """Roll out the puzzles of one shard and write them as a bank.

    Args:
        model: with the weights to use.
        task: positions to predict, and what answers are worth.
        puzzles: the whole set; the plan picks this shard's.
        plan: how much, in which pieces.
        header: what the bank is of; its inference seed keys the initial states.
        path: the bank's file.
        partial: folder of finished parts, from which an interrupted job goes on; removed at the end.
        device: where to compute.
    """
    model.to(device).eval()
    if plan.compile:
        model.compile_steps()
    parts = plan.parts(len(puzzles))
    files = [partial / f"part-{part.start:08}.parquet" for part in parts]
    finished = sum(len(p) for p, f in zip(parts, files, strict=True) if f.exists())
    own = puzzles[plan.own(len(puzzles))]
    asked = int(task.positions_to_predict(own.questions).sum())
    print(f"this shard takes {in_words(bank_bytes(plan, task, model.params, len(own), asked))}", flush=True)
    progress = Progress(f"rollouts {header.run} on {header.dataset}", sum(map(len, parts)), finished, "puzzles")

    def finish(part: range, file: Path) -> Path:
        if not file.exists():
            banks = []
            for start in range(part.start, part.stop, plan.puzzles_at_once):
                some = puzzles[start : min(start + plan.puzzles_at_once, part.stop)]
                banks.append(_roll_out_group(model, task, some, plan, header, device))
                progress.step(len(some))
            write_banks(file, [concatenate(banks)])
        return file

    for part, file in zip(parts, files, strict=True):
        finish(part, file)
    # Once more: the process of a killed run may have gone on, written the same bank, and removed the parts.
    write_banks(path, chain.from_iterable(read_banks(finish(p, f)) for p, f in zip(parts, files, strict=True)))
    shutil.rmtree(partial, ignore_errors=True)


class ReadOut(NamedTuple):
    """What is kept of some candidates of some puzzles at a step."""

    answers: UInt8[np.ndarray, "puzzles candidates cells"]
    scores: dict[str, Float[np.ndarray, "puzzles candidates"]]
    #: One per token, of the first candidates; None where none are kept.
    logits: Float[np.ndarray, "puzzles kept cells tokens"] | None = None


def _roll_out_group(
    model: RecurrentModel, task: Task, puzzles: Puzzles, plan: RolloutPlan, header: BankHeader, device: torch.device
) -> Bank:
    """All candidates of a few puzzles, judged."""
    end, steps = roll_out_candidates(model, task, puzzles, plan, header.inference_seed, device)
    readings = {
        t: reading_from_answers(task, puzzles, read.answers, read.scores, unanswered=True) for t, read in steps.items()
    }
    bank = bank_from_answers(
        header, task, puzzles, end.answers, end.scores, readings, unanswered=True, logits=end.logits
    )
    return bank if plan.boards else bank.without_boards()


def roll_out_candidates(
    model: RecurrentModel,
    task: Task,
    puzzles: Puzzles,
    plan: RolloutPlan,
    inference_seed: int,
    device: torch.device,
) -> tuple[ReadOut, dict[int, ReadOut]]:
    """All candidates of a few puzzles at their end, and those that are read out at the steps of `plan.read_at`.

    Args:
        model: with the weights to use, on the device, in evaluation mode.
        task: positions to predict.
        puzzles: few enough to be in memory with all their candidates' answers; nothing reads their labels.
        plan: steps, candidates and chunk.
        inference_seed: keys the initial states.
        device: where to compute.
    """
    ends, steps = [], []
    for start in range(0, plan.candidates, plan.chunk):
        candidates = range(start, min(start + plan.chunk, plan.candidates))
        noise = initial_noise(puzzles.hashes, candidates, model.noise_shape, inference_seed)
        read, kept = (
            max(0, min(number - start, len(candidates))) for number in (plan.candidates_read, plan.logit_candidates)
        )
        with computing(device, plan.precision):
            end, earlier = _roll_out_slice(model, task, puzzles.questions, noise, plan, read, kept, device)
        ends.append(end)
        if earlier:
            steps.append(earlier)
    return _joined(ends), {t: _joined([at[t] for at in steps]) for t in plan.read_at}


@torch.inference_mode()
def _roll_out_slice(
    model: RecurrentModel,
    task: Task,
    questions: UInt8[np.ndarray, "puzzles cells"],
    noise: Float32[np.ndarray, "puzzles candidates ..."],
    plan: RolloutPlan,
    read: int,
    kept: int,
    device: torch.device,
) -> tuple[ReadOut, dict[int, ReadOut]]:
    """One chunk through the model: its end, of `kept` candidates with logits, and `read` ones at the listed steps."""
    asked = torch.from_numpy(task.positions_to_predict(questions)).to(device)
    condition = model.embed(torch.from_numpy(questions.astype(np.int64)).to(device))
    start = model.initial_state(condition, torch.from_numpy(noise).to(device))
    energies: list[Tensor] = []
    last: list[tuple[Tensor, Tensor]] = []
    steps: dict[int, ReadOut] = {}
    for t, state in enumerate(model.trajectory(condition, start, plan.T_eval), start=1):
        if state.energy is not None:
            energies.append(double(state.energy))
        ending, listed = t >= plan.T_eval - RESIDUAL_STEPS, read > 0 and t in plan.read_at
        if ending:
            last.append((state.latent, model.readout(state)))
        if listed:
            part = state.first(read)
            logits = last[-1][1][:, :read] if ending else model.readout(part)
            steps[t] = _read_out(model, task, part, logits, asked, [energy[:, :read] for energy in energies])
    end = _read_out(model, task, state, last[-1][1], asked, energies, plan.temperatures)
    if kept:
        of_tokens = torch.nn.functional.pad(last[-1][1][:, :kept], (model.first_token(task), 0), value=-torch.inf)
        end = end._replace(logits=of_tokens.float().cpu().numpy())
    if plan.T_eval > 1:
        changes = [[change(a, b, asked) for a, b in zip(*pair, strict=True)] for pair in pairwise(last)]
        latent, readout = (torch.stack(c).mean(0) for c in zip(*changes, strict=True))
        end.scores.update(latent_residual=-latent.cpu().numpy(), logit_residual=-readout.cpu().numpy())
    return end, steps


def _read_out(
    model: RecurrentModel,
    task: Task,
    state: State,
    logits: Float[Tensor, "puzzles candidates cells classes"],
    asked: Bool[Tensor, "puzzles cells"],
    energies: Sequence[Tensor],
    temperatures: Sequence[float] = (),
) -> ReadOut:
    """Answers and scores of a state and its logits; `energies` are those recorded so far."""
    scores = probability_scores(logits, asked, temperatures)
    if energies:
        scores |= {"energy_last": -energies[-1], "energy_sum": -torch.stack(list(energies)).sum(0)}
    if state.halting is not None:
        scores["halting_logit"] = double(state.halting[..., 0])
    if model.stablemax:
        scores["confidence_stablemax"] = stablemax_confidence(logits, asked)
    answers = logits.argmax(-1) + model.first_token(task)
    first, last = task.first_answer_token, task.first_answer_token + task.classes - 1
    answers = torch.where((answers < first) | (answers > last), no_answer(task), answers)
    return ReadOut(answers.to(torch.uint8).cpu().numpy(), {name: s.cpu().numpy() for name, s in scores.items()})


def _joined(parts: Sequence[ReadOut]) -> ReadOut:
    """Slices of the candidates of the same puzzles, together."""
    scores = {name: np.concatenate([part.scores[name] for part in parts], axis=1) for name in parts[0].scores}
    kept = [part.logits for part in parts if part.logits is not None]
    return ReadOut(
        answers=np.concatenate([part.answers for part in parts], axis=1),
        scores=scores,
        logits=np.concatenate(kept, axis=1) if kept else None,
    )
