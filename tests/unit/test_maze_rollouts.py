"""Mazes through training, rollouts, bank and voting table, with the same code as Sudoku."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from cvoting.bank import BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.command_inputs import make_model
from cvoting.data.generated_maze import build
from cvoting.data.puzzles import Puzzles
from cvoting.models.akorn import AKOrN
from cvoting.params.akorn import AkornParams
from cvoting.params.core import plain
from cvoting.params.mazes import GeneratedMaze
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.splits import Splits
from cvoting.params.training import EmaParams, OptimizerParams, TrainingParams
from cvoting.params.voting import VotingParams
from cvoting.rollouts import roll_out
from cvoting.table_files import read_csv
from cvoting.tables import write_steps, write_voting
from cvoting.tally import TallyError, tally
from cvoting.tasks.maze import FREE, Maze
from cvoting.tasks.sudoku import Sudoku
from cvoting.training.batches import make_batch
from cvoting.training.loop import Trained, train
from cvoting.training.processes import Processes
from cvoting.training.unrolled import Unrolled

TASK = Maze(name="maze", grid=(5, 5), positions="free")
HEADER = BankHeader("akorn-maze", "akorn", "mazes", "test", "generated", "a generator", 4, 0, 0)
STEPS = (1, 4)
VOTING = VotingParams(
    K=(1, 4, 8), votes=("confidence", "majority_cell", "random", "oracle"), subsets=3, resamples=50, level=0.95, seed=0
)


@pytest.fixture(scope="module")
def splits() -> dict[str, Puzzles]:
    ranges = {"wall_fraction": (0.2, 0.4), "path_cells": (5, 25)}
    counts = Splits(train=200, validation=20, test=6)
    return build("mazes", TASK, GeneratedMaze(kind="generated_maze", **ranges, seed=0, splits=counts), Path("unused"))


@pytest.fixture(scope="module")
def trained(splits, tiny_akorn, tmp_path_factory) -> Trained:
    """A tiny AKOrN after a few updates."""
    optimizer = OptimizerParams(name="adamw", lr=1e-2, betas=(0.9, 0.99), weight_decay=0.0, warmup_updates=5)
    params = TrainingParams(
        T_train=4,
        updates=120,
        batch=20,
        optimizer=optimizer,
        clip=1.0,
        loss_positions="all",
        augmentation="none",
        ema=EmaParams(decay=0.9, after=5, every=1),
        validate_every=120,
        checkpoint_every=120,
    )
    model, resume = AKOrN.for_task(tiny_akorn, TASK), tmp_path_factory.mktemp("maze") / "resume"
    objective = Unrolled(model, params, 0)
    return train(objective, TASK, splits["train"], splits["validation"], resume, Processes(torch.device("cpu")))


@pytest.fixture(scope="module")
def bank_file(trained, splits, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bank")
    path, plan = folder / "bank.parquet", RolloutPlan(T_eval=4, candidates=8, chunk=3, read_at=STEPS, read_candidates=4)
    roll_out(trained.average, TASK, splits["test"], plan, HEADER, path, folder / "partial", torch.device("cpu"))
    return path


def test_targets_are_classes_of_the_label_and_free_cells_are_predicted(splits):
    puzzles = splits["test"]
    batch = make_batch(
        TASK, puzzles.questions, puzzles.answers, np.zeros((6, 1, 25, 4), np.float32), TASK.first_answer_token
    )
    assert torch.equal(batch.targets, torch.from_numpy(puzzles.answers.astype(np.int64)))
    assert torch.equal(batch.to_predict, torch.from_numpy(puzzles.questions == FREE))


def test_a_tiny_model_learns_something_of_mazes(trained, splits):
    questions, answers = splits["validation"].questions, splits["validation"].answers
    copied = np.mean((questions == answers)[TASK.positions_to_predict(questions)])
    assert trained.log[-1]["validation_cell"] > copied + 0.05, "better than the question, which shows no path"


def test_a_bank_of_mazes_is_judged_by_its_own_metrics(bank_file, splits):
    bank = concatenate(read_banks(bank_file))
    assert set(bank.correct) == {"board", "label", "optimal", "valid"}
    puzzles = splits["test"]
    for row in range(len(bank)):
        answers = bank.answers[row][bank.answer_ids[row]]
        rows = (np.broadcast_to(tokens, answers.shape) for tokens in (puzzles.questions[row], puzzles.answers[row]))
        for metric, right in TASK.judge(answers, *rows).items():
            np.testing.assert_array_equal(bank.correct[metric][row], right)
    assert (bank.correct["label"] <= bank.correct["optimal"]).all()
    assert (bank.correct["optimal"] <= bank.correct["valid"]).all()


def test_the_voting_table_of_mazes_has_their_metrics(bank_file, tmp_path):
    write_voting([bank_file], VOTING, TASK, "test", tmp_path / "voting.csv", tmp_path / "paired.csv")
    table, paired = read_csv(tmp_path / "voting.csv"), read_csv(tmp_path / "paired.csv")
    metrics = {"board", "label", "optimal", "valid", "cell_accuracy"}
    assert set(table["metric"]) == set(paired["metric"]) == metrics
    assert table.groupby(["vote", "K", "estimator"])["metric"].nunique().eq(5).all()
    wide = table[table["vote"] != "oracle"].pivot_table("value", ["vote", "K", "estimator"], "metric")
    assert (wide["label"] <= wide["optimal"]).all()
    assert (wide["optimal"] <= wide["valid"]).all()
    # Wilson's interval belongs to every 0/1 outcome of one draw, and to no share.
    first = table[(table["K"] == 1) & (table["estimator"] == "prefix")]
    assert set(first["metric"][first["interval"].str.startswith("Wilson")]) == metrics - {"cell_accuracy"}


def test_mazes_are_judged_by_their_metrics_at_every_step(bank_file, tmp_path):
    write_steps([bank_file], dataclasses.replace(VOTING, K=(1, 4)), TASK, "test", STEPS, tmp_path / "steps.csv")
    write_voting([bank_file], VOTING, TASK, "test", tmp_path / "voting.csv", tmp_path / "paired.csv")
    steps, end = read_csv(tmp_path / "steps.csv"), read_csv(tmp_path / "voting.csv")
    assert set(steps["vote"]) == {"confidence", "random", "oracle"}
    for _, rows in steps.groupby("T_eval"):
        assert set(rows["metric"]) == {"board", "label", "optimal", "valid", "cell_accuracy"}
    # The first four candidates at the last step are the first four of the bank.
    columns = ["vote", "K", "metric", "value"]
    last, first_four = (
        table[(table["estimator"] == "prefix") & (table["T_eval"] == 4)][columns] for table in (steps, end)
    )
    both = last.merge(first_four, on=["vote", "K", "metric"])
    assert len(both) == len(last)
    np.testing.assert_allclose(both["value_x"], both["value_y"], rtol=1e-14)


def test_a_bank_judged_by_other_metrics_is_refused(bank_file):
    with pytest.raises(TallyError, match="answers judged by board, label, optimal, valid: expected all_cells too"):
        tally([bank_file], VOTING, Sudoku(name="sudoku", box=(2, 2)))


def noise_of_rollouts(params: AkornParams, question: np.ndarray) -> np.ndarray:
    """Which cells start at another state when the noise is another."""
    model = AKOrN.for_task(params, TASK)
    model.initialise(torch.Generator().manual_seed(0))
    condition = model.embed(torch.from_numpy(question.astype(np.int64))[None])
    noise = torch.randn(1, 2, *model.noise_shape, generator=torch.Generator().manual_seed(1))
    start = model.initial_state(condition, noise).latent
    return (start[0, 0] != start[0, 1]).any(-1).numpy()


def test_free_cells_of_a_maze_start_at_noise_or_all_cells_do(tiny_akorn, splits):
    question = splits["test"].questions[0]
    np.testing.assert_array_equal(noise_of_rollouts(tiny_akorn, question), question == FREE)
    everything = dataclasses.replace(tiny_akorn, random_cells="all")
    assert noise_of_rollouts(everything, question).all()


def test_the_command_line_makes_models_that_know_the_blank_of_their_task(tiny_akorn):
    assert make_model(plain(tiny_akorn), plain(TASK)).blank == FREE
