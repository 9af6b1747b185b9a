"""Accuracy against cost: by hand, against plain loops, and against the table of votes at steps."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from cvoting import recipes
from cvoting.bank import Bank, Reading
from cvoting.bank_file import BankFileError, read_at, write_banks
from cvoting.command_inputs import count_flops
from cvoting.errors import CvotingError
from cvoting.flops.base import NetworkFlops
from cvoting.flops.registry import network_flops
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.study import Study
from cvoting.params.voting import VotingParams
from cvoting.scaling import GAINS, Grid, best_so_far, cross_judged, front, shares_of_the_gain
from cvoting.scaling_table import write_scaling
from cvoting.seeding import generator
from cvoting.shards import ShardsError
from cvoting.statistics import bootstrap_means, percentile_interval
from cvoting.table_files import SCALING_COLUMNS, read_csv
from cvoting.tables import write_steps
from cvoting.tally import TallyError
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
NETWORK = NetworkFlops(embed=50, start=7, step=100, readout=30, differentiated=100, of_state=0)
PARAMS = VotingParams(K=(1, 2, 5), votes=("confidence", "oracle"), subsets=4, resamples=100, level=0.9, seed=0)
STEPS = (4, 8, 32)
#: Of how many candidates the first are wrong at each step.
WRONG = dict(zip(STEPS, (5, 2, 0), strict=True))

ReadFile = Callable[..., Path]


@pytest.fixture
def read_file(make_bank: Callable[..., Bank], tmp_path: Path) -> ReadFile:
    """Writes a bank of five candidates, some of which are wrong at early steps."""

    def write(name: str, wrong: dict[int, int] = WRONG, **options: object) -> Path:
        end, steps = make_bank(candidates=5, **options), {}
        for step, first in wrong.items():
            right = {metric: values & (np.arange(5) >= first) for metric, values in end.correct.items()}
            steps[step] = Reading(end.scores, right, end.cell_accuracy)
        write_banks(tmp_path / name, [replace(end, steps=steps)])
        return tmp_path / name

    return write


def scaling(shards: Sequence[Path], params: VotingParams = PARAMS, from_step: int = 8) -> pd.DataFrame:
    """The table, from its file."""
    path = shards[0].with_suffix(".scaling.csv")
    write_scaling(shards, params, TASK, "a-study", NETWORK, STEPS, from_step, path)
    table = read_csv(path)
    assert tuple(table.columns) == SCALING_COLUMNS
    return table


def of(table: pd.DataFrame, **where: object) -> pd.DataFrame:
    """Some rows."""
    for name, value in where.items():
        table = table[table[name] == value]
    return table


def toy(repository: Path) -> Study:
    """The toy study."""
    return build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))


def grid_of(cost: Sequence[int]) -> Grid:
    """Cells of one candidate with ever more steps."""
    return Grid(np.ones(len(cost), dtype=int), np.arange(len(cost)), np.array(cost))


def gains_of(*corners: float) -> dict[str, float]:
    """The gains of one grid, by name."""
    return dict(zip(GAINS, shares_of_the_gain(*(np.array([corner]) for corner in corners))[0], strict=True))


def test_the_gain_of_a_grid_of_two_by_two_is_divided_by_hand() -> None:
    # One candidate: 20 % with few steps and 50 % with many.  Many candidates: 30 % and 70 %.
    numbers = gains_of(0.2, 0.5, 0.3, 0.7)
    expected = {
        "gain": 0.5,  # 70 - 20
        "depth_alone": 0.3,  # 50 - 20
        "breadth_alone": 0.1,  # 30 - 20
        "interaction": 0.1,  # 50 - 30 - 10
        "depth": 0.35,  # steps first 50 - 20 = 30, steps last 70 - 30 = 40
        "breadth": 0.15,  # candidates first 30 - 20 = 10, candidates last 70 - 50 = 20
        "depth_share": 0.7,  # 35 / 50
        "breadth_share": 0.3,  # 15 / 50
    }
    assert numbers == pytest.approx(expected)


@pytest.mark.parametrize("both", [0.2, 0.1, 0.2 + 1e-14], ids=["the same", "a loss", "a rounding error"])
def test_nothing_has_no_shares(both: float) -> None:
    numbers = gains_of(0.2, 0.3, 0.1, both)
    assert numbers["gain"] == pytest.approx(both - 0.2)
    assert np.isnan([numbers["depth_share"], numbers["breadth_share"]]).all()


def test_the_front_leaves_out_what_is_no_better_than_something_cheaper() -> None:
    accuracy = np.array([0.1, 0.3, 0.2, 0.3 + 1e-14, 0.4, 0.35])
    assert best_so_far(accuracy).tolist() == [0, 1, 1, 1, 4, 4]
    assert front(grid_of([1, 2, 3, 4, 5, 6]), accuracy).tolist() == [0, 1, 4]


def test_of_cells_that_cost_the_same_the_front_has_the_better_one_alone() -> None:
    accuracy = np.array([0.1, 0.3, 0.4, 0.35])
    assert front(grid_of([1, 2, 2, 2]), accuracy).tolist() == [0, 2]
    assert front(grid_of([2, 2, 2, 2]), accuracy).tolist() == [2]


def test_each_half_answers_with_the_choice_of_the_other_by_hand() -> None:
    # Of one half the second cell is the best, of the other the first.
    one, other = np.array([0.1, 0.4, 0.2]), np.array([0.3, 0.0, 0.2])
    # So the one answers with the first (0.1), and the other with the second (0.0).  Who can pay for no more than the
    # first has no choice (0.1 + 0.3).
    np.testing.assert_allclose(cross_judged(one, other, np.array([0, 1, 2])), [0.4, 0.1, 0.1])


def test_accuracies_are_those_of_the_table_of_steps_and_cost_what_their_rollouts_do(read_file: ReadFile) -> None:
    shards = [read_file(f"{t}-{i}", training_seed=t, inference_seed=i) for t in (0, 1) for i in (3, 4)]
    table = of(scaling(shards), measure="accuracy")
    write_steps(shards, PARAMS, TASK, "a-study", STEPS, shards[0].with_suffix(".steps.csv"))
    steps = of(read_csv(shards[0].with_suffix(".steps.csv")), estimator="expected", metric="board")
    keys = ["training_seed", "inference_seed", "vote", "T_eval", "K"]
    columns = [*keys, "puzzles", "candidates", "run", "value", "low", "high", "level", "interval"]
    one, two = (rows[columns].sort_values(keys, ignore_index=True) for rows in (table, steps))
    assert len(one) == (4 + 2 + 1) * 2 * len(STEPS) * 3
    pd.testing.assert_frame_equal(one, two, rtol=1e-11)
    cost = 50 + table["K"] * (7 + 100 * table["T_eval"] + 30)
    assert table["flops"].tolist() == cost.tolist()


def by_puzzle(path: Path, K: int, T: int) -> np.ndarray:
    """The mean outcome of C-voting over all subsets of candidates, for each puzzle, by a loop."""
    outcomes = {}
    for bank in read_at(path, T):
        for p, puzzle in enumerate(bank.puzzles):
            subsets = [s for s in product(range(5), repeat=K) if list(s) == sorted(set(s))]
            picks = [max(s, key=lambda k: (bank.scores["confidence"][p, k], -k)) for s in subsets]
            outcomes[puzzle] = np.mean([bank.correct["board"][p, pick] for pick in picks])
    return np.array([outcomes[puzzle] for puzzle in sorted(outcomes)])


def test_gains_and_fronts_are_those_of_plain_loops_with_intervals_of_the_same_resamples(read_file: ReadFile) -> None:
    shards = [read_file("bank", puzzles=13)]
    table = of(scaling(shards), vote="confidence", metric="board")
    cells = sorted(product(PARAMS.K, STEPS), key=lambda cell: 50 + cell[0] * (37 + 100 * cell[1]))
    outcomes = np.stack([by_puzzle(shards[0], *cell) for cell in cells], axis=1)
    assert of(table, measure="accuracy")[["K", "T_eval"]].values.tolist() == [list(cell) for cell in cells]
    halves = [outcomes * (np.arange(13)[:, None] % 2 == half) for half in (0, 1)]
    rng = generator("bootstrap", PARAMS.seed)
    draws = bootstrap_means(np.concatenate(halves, axis=1)[None], PARAMS.resamples, rng)
    one, other = np.split(draws, 2, axis=1)
    sample = [outcomes[half::2].sum(axis=0) / 13 for half in (0, 1)]
    at = {cell: place for place, cell in enumerate(cells)}

    def depth(accuracy: np.ndarray) -> float:
        first = accuracy[at[1, 32]] - accuracy[at[1, 8]]
        last = accuracy[at[5, 32]] - accuracy[at[5, 8]]
        return (first + last) / 2

    row = of(table, measure="depth").squeeze()
    assert row["value"] == pytest.approx(depth(sum(sample)))
    interval = percentile_interval(np.array([depth(a + b) for a, b in zip(one, other, strict=True)]), 0.9)
    assert [row["low"], row["high"]] == pytest.approx(interval.tolist())
    gain = sum(sample)[at[5, 32]] - sum(sample)[at[1, 8]]
    share = of(table, measure="depth_share").squeeze()
    assert share["value"] == pytest.approx(depth(sum(sample)) / gain)
    accuracy = sum(sample)
    on_front = [c for c in range(len(cells)) if all(accuracy[c] > accuracy[d] + 1e-12 for d in range(c))]
    assert of(table, measure="front")[["K", "T_eval"]].values.tolist() == [list(cells[c]) for c in on_front]

    def judged(a: np.ndarray, b: np.ndarray, last: int) -> float:
        by_b, by_a = (max(range(last + 1), key=lambda c: (round(half[c], 12), -c)) for half in (b, a))
        return a[by_b] + b[by_a]

    for (_, row), cell in zip(of(table, measure="front_held_out").iterrows(), on_front, strict=True):
        assert row["value"] == pytest.approx(judged(*sample, cell))
        resampled = [judged(*parts, cell) for parts in zip(one, other, strict=True)]
        interval = percentile_interval(np.array(resampled), 0.9)
        assert [row["low"], row["high"]] == pytest.approx(interval.tolist())


def test_gains_say_what_they_reach_and_what_it_costs(read_file: ReadFile) -> None:
    table = of(scaling([read_file("bank")]), vote="confidence")
    cells = {name: tuple(of(table, measure=name)[["K", "T_eval", "flops"]].squeeze()) for name in GAINS}
    both = (5, 32, 50 + 5 * 3237)
    alone = {"depth_alone": (1, 32, 50 + 3237), "breadth_alone": (5, 8, 50 + 5 * 837)}
    assert cells == {name: alone.get(name, both) for name in GAINS}
    assert set(table["from_step"]) == {8}


def test_shares_of_several_trainings_are_those_of_their_mean_gain(read_file: ReadFile) -> None:
    shards = [read_file("a", training_seed=0), read_file("b", training_seed=1, wrong={4: 5, 8: 5, 32: 0})]
    table = of(scaling(shards), vote="confidence")
    for seed in ("0", "1", "all"):
        numbers = of(table, training_seed=seed).set_index("measure")["value"]
        for name in ("depth", "breadth"):
            assert numbers[f"{name}_share"] == pytest.approx(numbers[name] / numbers["gain"])
    gains = of(table, measure="gain").set_index("training_seed")["value"]
    assert gains["all"] == pytest.approx((gains["0"] + gains["1"]) / 2)
    assert set(of(table, training_seed="all")["interval"]) == {"training seeds and puzzles"}


def test_there_are_no_shares_where_the_gain_may_be_none(read_file: ReadFile) -> None:
    table = of(scaling([read_file("bank", wrong=dict.fromkeys(STEPS, 0))]), vote="confidence")
    numbers = table.set_index("measure")[["value", "low", "high"]]
    assert numbers.loc["gain", "low"] <= 0 < numbers.loc["gain", "high"]
    assert numbers.loc[["depth_share", "breadth_share"]].isna().all(axis=None)
    assert numbers.loc["depth"].tolist() == [0, 0, 0], "all steps are alike"


def test_shards_in_any_order_give_the_same_bytes(read_file: ReadFile) -> None:
    shards = [read_file("a", puzzles=7, shards=2), read_file("b", puzzles=5, first=7, shards=2, shard=1)]
    scaling(shards), scaling(shards[::-1])
    one, two = (shard.with_suffix(".scaling.csv").read_bytes() for shard in shards)
    assert one == two


def test_what_cannot_be_made_is_refused(read_file: ReadFile, bank_file: Callable[..., Path]) -> None:
    with pytest.raises(BankFileError, match="not read out at step 4: roll out again"):
        scaling([bank_file("plain")])
    with pytest.raises(ShardsError, match=r"shards \[0\] of 2 missing"):
        scaling([read_file("half", shards=2, shard=1)])
    with pytest.raises(TallyError, match="K = 8: expected at most 5"):
        scaling([read_file("bank")], replace(PARAMS, K=(1, 8)))
    with pytest.raises(ParameterError, match=r"voting.votes = 'best': expected one of confidence"):
        scaling([read_file("bank")], replace(PARAMS, votes=("best",)))


@pytest.mark.parametrize(
    ("changes", "K", "from_step"),
    [
        ({}, [1, 2, 4, 5], 4),  # trained with 4 steps, five candidates of eight read
        ({"read_candidates": None}, [1, 2, 4, 8], 4),
        ({"read_at": (1, 2, 6)}, [1, 2, 4, 5], 1),
        ({"read_at": (2, 4)}, [1, 2, 4, 5], 2),  # the last is that of training
        ({"read_at": (6,), "read_candidates": 1}, [1], 6),
    ],
    ids=["toy", "all read", "training not listed", "training last", "one of each"],
)
def test_gains_start_at_the_steps_of_training_where_more_are_listed(
    repository: Path, changes: dict[str, object], K: list[int], from_step: int
) -> None:
    study = toy(repository)
    training = replace(study.models["itrsa"].training, T_train=4, detach_step=None)
    itrsa = replace(study.models["itrsa"], training=training)
    bank = replace(study.banks["itrsa-sudoku_hard"], **changes)
    study = replace(study, models={**study.models, "itrsa": itrsa}, banks={**study.banks, "mine": bank})
    recipe = json.loads(recipes.scaling(study, "mine"))
    assert (recipe["voting"]["K"], recipe["from_step"]) == (K, from_step)
    assert recipe["read_at"] == list(bank.read_at)


def test_a_network_of_a_recipe_costs_what_its_parameters_do(repository: Path) -> None:
    study = toy(repository)
    task = study.datasets["sudoku"].task
    for model in study.models.values():
        assert count_flops(plain(model.network), task) == network_flops(model.network, task)
    with pytest.raises(CvotingError, match=r"unknown network 'perceptron': expected one of akorn, hrm"):
        count_flops({"architecture": "perceptron"}, task)
    with pytest.raises(ParameterError, match=r"network\.heads: missing"):
        count_flops({name: v for name, v in plain(study.models["akorn"].network).items() if name != "heads"}, task)


def test_a_table_of_scaling_is_made_without_torch(read_file: ReadFile, repository: Path, tmp_path: Path) -> None:
    recipe = recipes.scaling(toy(repository), "itrsa-sudoku_hard")
    recipe = json.dumps({**json.loads(recipe), "read_at": list(STEPS), "from_step": 8})
    program = "import runpy, sys; sys.argv = ['cvoting', *sys.argv[1:]]\n"
    program += "runpy.run_module('cvoting', run_name='__main__', alter_sys=True)\n"
    program = f"import atexit, sys; atexit.register(lambda: print('torch' in sys.modules))\n{program}"
    words = ["scaling", recipe, "--out", str(tmp_path / "table.csv"), str(read_file("bank"))]
    ran = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "False"
    assert (tmp_path / "table.csv").is_file()
