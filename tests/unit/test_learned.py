"""Whether a model has learned its task: what one candidate solves, by hand."""

import math

import pandas as pd
import pytest

from cvoting.table_files import LEARNED, one_candidate, unlearned

ROW = {
    "K": 1, "estimator": "expected", "metric": "board", "T_eval": 16, "training_seed": "0", "inference_seed": "0",
    "value": 0.5,
}  # fmt: skip


def table(*rows: dict[str, object]) -> pd.DataFrame:
    """A table of votes."""
    return pd.DataFrame([ROW | row for row in rows])


@pytest.mark.parametrize(
    ("rows", "solved"),
    [
        ([{"value": 0.002}, {"K": 8, "value": 0.9}, {"estimator": "prefix", "value": 0.9}], 0.002),
        ([{"value": 0.9, "T_eval": 4}, {"value": 0.002}], 0.002),  # at the last step
        ([{"value": 0.9}, {"value": 0.1}, {"value": 0.002, "inference_seed": "all"}], 0.002),
        ([{"value": 0.002}, {"value": 0.4, "metric": "optimal"}], 0.4),  # it solves mazes in other ways than the label
        ([{"value": 0.002}, {"value": 0.4, "metric": "cell_accuracy"}], 0.002),
    ],
)
def test_one_candidate_counts_over_all_seeds_at_the_last_step_by_any_way_of_solving(rows, solved):
    assert one_candidate(table(*rows)) == solved


def test_a_bank_has_learned_its_task_from_one_percent_or_where_nothing_is_known():
    assert unlearned(table({"value": LEARNED})) is None
    assert unlearned(table({"value": 0.0})) == "one candidate: 0.0% of puzzles; no votes drawn below 1%"
    unknown = table({"K": 2, "value": 0.0})
    assert math.isnan(one_candidate(unknown))
    assert unlearned(unknown) is None


def test_a_table_without_seeds_is_over_all_of_them():
    assert one_candidate(table({"value": 0.3}).drop(columns=["training_seed", "inference_seed"])) == 0.3
