"""From bank files to the voting table and the paired comparison."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cvoting import tally as tally_module
from cvoting.bank import Bank, concatenate
from cvoting.bank_file import read_banks, write_banks
from cvoting.params.voting import VotingParams
from cvoting.shards import ShardsError
from cvoting.statistics import wilson
from cvoting.table_files import PAIRED_COLUMNS, VOTING_COLUMNS, TableError, over_all_seeds, read_csv, read_tables
from cvoting.tables import voting_tables, write_voting
from cvoting.tally import TallyError, outcomes_of, tally
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES, Ballot

MakeBank = Callable[..., Bank]
BankFile = Callable[..., Path]
TASK = Sudoku(name="sudoku", box=(2, 2))
PARAMS = VotingParams(K=(1, 2, 8), votes=tuple(VOTES), subsets=4, resamples=100, level=0.9, seed=0)


def tables(shards: list[Path], params: VotingParams = PARAMS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables."""
    return voting_tables(tally(shards, params, TASK), params, "a-study")


def one(table: pd.DataFrame, **where: object) -> pd.Series:
    """The only row with these values."""
    rows = table[np.logical_and.reduce([table[name] == value for name, value in where.items()])]
    assert len(rows) == 1, where
    return rows.iloc[0]


BOARD = {"estimator": "expected", "metric": "board"}


def test_a_table_has_one_row_for_every_vote_K_estimator_and_metric(bank_file: BankFile) -> None:
    voting, paired = tables([bank_file("bank")])
    assert tuple(voting.columns) == VOTING_COLUMNS
    assert tuple(paired.columns) == PAIRED_COLUMNS
    votes = set(VOTES) - {"latent_residual", "logit_residual", "halting_logit", "confidence_stablemax"}
    assert set(voting["vote"]) == votes, "the bank has no residuals, and none of HRM's scores"
    assert len(voting) == len(votes) * 3 * 2 * 3
    pairs = {("confidence", vote) for vote in votes - {"confidence"}}
    pairs |= {("energy_sum", "energy_last"), ("energy_sum", "random")}
    assert set(zip(paired["vote"], paired["against"], strict=True)) == pairs
    assert len(paired) == len(pairs) * 3 * 2 * 3
    keys = ["vote", "K", "estimator", "metric", "training_seed", "inference_seed"]
    assert not voting.duplicated(keys).any()
    about = {"study": "a-study", "run": "akorn-sudoku", "model": "akorn", "dataset": "sudoku_hard", "split": "test"}
    about |= {"origin": "generated", "T_eval": 32, "puzzles": 12, "candidates": 8, "level": 0.9}
    for table in (voting, paired):
        assert all((table[name] == value).all() for name, value in about.items())


def test_values_are_means_over_puzzles_of_the_selected_candidates(bank_file: BankFile, make_bank: MakeBank) -> None:
    voting, _ = tables([bank_file("bank")])
    bank = make_bank()
    for K in PARAMS.K:
        first = bank.scores["confidence"][:, :K].argmax(1)
        for metric, outcomes in {**bank.correct, "cell_accuracy": bank.cell_accuracy}.items():
            row = one(voting, vote="confidence", K=K, estimator="prefix", metric=metric)
            assert row["value"] == pytest.approx(outcomes[np.arange(12), first].mean(), abs=1e-12)
    assert one(voting, vote="random", K=8, **BOARD)["value"] == pytest.approx(bank.correct["board"].mean(), abs=1e-12)
    any_right = bank.correct["all_cells"].any(1).mean()
    oracle = one(voting, vote="oracle", K=8, estimator="expected", metric="all_cells")
    assert oracle["value"] == pytest.approx(any_right, abs=1e-12)


def test_a_composed_answer_is_judged_as_a_candidates_answer_is(make_bank: MakeBank) -> None:
    bank = make_bank()
    outcomes = outcomes_of(bank, TASK)
    ballot = Ballot.stacked(bank.scores, bank.answer_ids, bank.answers)
    for k in range(bank.candidates):
        np.testing.assert_allclose(
            outcomes.judge(ballot.answers[ballot.answer_ids[:, k]]), outcomes.candidates[:, :, k]
        )


def test_the_tables_do_not_depend_on_shards_their_order_or_the_size_of_parts(
    bank_file: BankFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [bank_file("whole")]
    sharded = [bank_file("end", puzzles=3, first=9), bank_file("start", puzzles=9)]
    for name, shards in {"a": whole, "b": sharded, "c": whole}.items():
        if name == "c":
            monkeypatch.setattr(tally_module, "CANDIDATES_AT_ONCE", 1)
        write_voting(shards, PARAMS, TASK, "a-study", tmp_path / f"{name}.csv", tmp_path / f"{name}.paired.csv")
    for kind in ("csv", "paired.csv"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"c.{kind}").read_bytes()


def test_the_tables_do_not_depend_on_the_size_of_row_groups(make_bank: MakeBank, tmp_path: Path) -> None:
    bank = make_bank()
    for size in (1, 5, len(bank)):
        parts = (make_bank(min(size, len(bank) - start), first=start) for start in range(0, len(bank), size))
        write_banks(tmp_path / f"{size}.parquet", parts)
        files = tmp_path / f"{size}.csv", tmp_path / f"{size}.paired.csv"
        write_voting([tmp_path / f"{size}.parquet"], PARAMS, TASK, "a-study", *files)
    assert len({(tmp_path / f"{size}.csv").read_bytes() for size in (1, 5, 12)}) == 1
    assert len({(tmp_path / f"{size}.paired.csv").read_bytes() for size in (1, 5, 12)}) == 1


def test_a_table_is_read_from_its_file_as_it_was(bank_file: BankFile, tmp_path: Path) -> None:
    shards = [bank_file("bank"), bank_file("other", inference_seed=1)]
    write_voting(shards, PARAMS, TASK, "a-study", tmp_path / "voting.csv", tmp_path / "paired.csv")
    for name, table in zip(("voting.csv", "paired.csv"), tables(shards), strict=True):
        pd.testing.assert_frame_equal(read_csv(tmp_path / name), table, check_dtype=False, rtol=1e-14)
        assert "-0.0," not in (tmp_path / name).read_text()


def test_a_table_that_was_cut_off_or_of_another_kind_is_refused(bank_file: BankFile, tmp_path: Path) -> None:
    voting, paired = tmp_path / "v.csv", tmp_path / "p.csv"
    write_voting([bank_file("bank")], PARAMS, TASK, "s", voting, paired)
    assert list(read_tables("voting table", ["a", "b"], [voting, voting])) == ["a", "b"]
    with pytest.raises(TableError, match=r"p\.csv: a paired comparison, expected the voting table"):
        read_tables("voting table", ["a"], [paired])
    with pytest.raises(TableError, match="1 files, expected 2: the voting table of a, b"):
        read_tables("voting table", ["a", "b"], [voting])
    whole = voting.read_bytes()
    for content in (whole[:-1], whole[:300], whole[: whole.index(b"\n") + 1]):
        voting.write_bytes(content)
        with pytest.raises(TableError, match=r"v\.csv: not a table of results \(it was cut off\)"):
            read_tables("voting table", ["a"], [voting])


def test_one_pair_of_seeds_has_intervals_over_puzzles_only(bank_file: BankFile) -> None:
    voting, paired = tables([bank_file("bank")])
    first = (voting["K"] == 1) & (voting["estimator"] == "prefix") & (voting["metric"] != "cell_accuracy")
    assert set(voting.loc[first, "interval"]) == {"Wilson, puzzles only"}
    assert set(voting.loc[~first, "interval"]) == {"puzzles only"}
    assert set(paired["interval"]) == {"puzzles only"}
    assert (voting["low"] <= voting["value"] + 1e-9).all()
    assert (voting["value"] <= voting["high"] + 1e-9).all()
    row = one(voting, vote="oracle", K=1, estimator="prefix", metric="board")
    assert (row["low"], row["high"]) == pytest.approx(wilson(round(12 * row["value"]), 12, 0.9), abs=1e-12)


def test_several_seeds_have_rows_of_their_own_and_rows_over_all(bank_file: BankFile) -> None:
    seeds = [(t, i) for t in (0, 3) for i in (0, 1)]
    voting, paired = tables([bank_file(f"{t}{i}", training_seed=t, inference_seed=i) for t, i in seeds])
    found = list(dict.fromkeys(zip(voting["training_seed"], voting["inference_seed"], strict=True)))
    own = [("0", "0"), ("0", "1"), ("3", "0"), ("3", "1")]
    assert found == [*own, ("0", "all"), ("3", "all"), ("all", "all")]
    where = {"vote": "energy_sum", "K": 2, **BOARD}
    by_pair = [one(voting, training_seed=t, inference_seed=i, **where)["value"] for t, i in own]
    pooled = one(over_all_seeds(voting), **where)
    assert pooled["value"] == pytest.approx(np.mean(by_pair), abs=1e-12)
    assert pooled["interval"] == "training seeds and puzzles"
    assert one(voting, training_seed="3", inference_seed="all", **where)["interval"] == "puzzles only"
    pooled = one(over_all_seeds(paired), vote="confidence", against="energy_sum", K=2, **BOARD)
    assert pooled["interval"] == "training seeds and puzzles"
    wilson_rows = voting[voting["interval"].str.startswith("Wilson")]
    assert not (wilson_rows[["training_seed", "inference_seed"]] == "all").any(axis=None)


def test_seeds_of_one_kind_are_pooled_over_that_kind(bank_file: BankFile) -> None:
    voting, _ = tables([bank_file("a"), bank_file("b", training_seed=1)])
    assert set(zip(voting["training_seed"], voting["inference_seed"], strict=True)) == {
        ("0", "0"), ("1", "0"), ("all", "0"),
    }  # fmt: skip
    voting, _ = tables([bank_file("a"), bank_file("c", inference_seed=1)])
    assert set(zip(voting["training_seed"], voting["inference_seed"], strict=True)) == {
        ("0", "0"), ("0", "1"), ("0", "all"),
    }  # fmt: skip
    assert set(over_all_seeds(voting)["interval"]) == {"puzzles only"}


def test_differences_are_those_of_the_voting_table_and_of_the_same_puzzles(bank_file: BankFile) -> None:
    voting, paired = tables([bank_file("bank")])
    for _, row in paired.iterrows():
        where = {name: row[name] for name in ("K", "estimator", "metric")}
        vote, other = (one(voting, vote=vote, **where)["value"] for vote in (row["vote"], row["against"]))
        assert row["difference"] == pytest.approx(vote - other, abs=1e-9)
        assert row["low"] - 1e-9 <= row["difference"] <= row["high"] + 1e-9
        assert row["better"] + row["worse"] <= 12
    alone = paired[paired["K"] == 1]
    same = alone[(alone["estimator"] == "expected") | (alone["against"] != "oracle")]
    assert (same[["difference", "low", "high", "better", "worse"]] == 0).all(axis=None), "one candidate is every vote"
    assert (same["p"] == 1).all()
    assert (paired[paired["against"] == "oracle"]["better"] == 0).all()


def test_better_and_worse_count_puzzles(bank_file: BankFile, make_bank: MakeBank) -> None:
    _, paired = tables([bank_file("bank")])
    bank = make_bank()
    picks = [bank.scores[name].argmax(1) for name in ("confidence", "energy_last")]
    c, e = (bank.correct["board"][np.arange(12), pick] for pick in picks)
    row = one(paired, vote="confidence", against="energy_last", K=8, estimator="prefix", metric="board")
    assert (row["better"], row["worse"]) == ((c & ~e).sum(), (e & ~c).sum())


def test_ties_at_the_top_and_distinct_answers_are_those_of_the_candidates_that_vote(
    bank_file: BankFile, make_bank: MakeBank
) -> None:
    voting, _ = tables([bank_file("bank")])
    bank = make_bank()
    for K in PARAMS.K:
        scores, answers = bank.scores["confidence"][:, :K].tolist(), bank.answer_ids[:, :K].tolist()
        first = one(voting, vote="confidence", K=K, estimator="prefix", metric="board")
        assert first["tie_share"] == pytest.approx(np.mean([row.count(max(row)) > 1 for row in scores]), abs=1e-12)
        assert first["distinct_answers"] == pytest.approx(np.mean([len(set(row)) for row in answers]), abs=1e-12)
    where = {"estimator": "expected", "metric": "board"}
    pairs = [list(chosen) for row in bank.scores["confidence"].tolist() for chosen in combinations(row, 2)]
    tied = one(voting, vote="confidence", K=2, **where)["tie_share"]
    assert tied == pytest.approx(np.mean([a == b for a, b in pairs]), abs=1e-12)
    assert 0 < tied < 1
    assert one(voting, vote="confidence", K=1, **where)["tie_share"] == 0
    pairs = [len(set(chosen)) for row in bank.answer_ids.tolist() for chosen in combinations(row, 2)]
    distinct = one(voting, vote="oracle", K=2, **where)["distinct_answers"]
    assert distinct == pytest.approx(np.mean(pairs), abs=1e-12)
    assert (voting.groupby(["K", "estimator"])["distinct_answers"].nunique() == 1).all(), "the same whatever the vote"
    others = voting["vote"].isin(["majority_answer", "majority_cell", "majority_confidence", "random", "oracle"])
    assert voting.loc[others, "tie_share"].isna().all()
    assert voting.loc[~others, "tie_share"].notna().all()


def test_ties_and_distinct_answers_of_several_seeds_are_means_over_them(bank_file: BankFile) -> None:
    voting, _ = tables([bank_file("a"), bank_file("b", inference_seed=1)])
    where = {"vote": "confidence", "K": 2, "estimator": "expected", "metric": "board"}
    for name in ("tie_share", "distinct_answers"):
        own = [one(voting, inference_seed=seed, **where)[name] for seed in ("0", "1")]
        assert one(voting, inference_seed="all", **where)[name] == pytest.approx(np.mean(own), abs=1e-12)


def test_the_number_of_subsets_is_stated_where_a_mean_is_not_exact(bank_file: BankFile) -> None:
    voting, _ = tables([bank_file("bank")])
    stated = voting[voting["subsets"].notna()]
    assert set(stated["vote"]) == {"majority_answer", "majority_cell", "majority_confidence"}
    assert set(stated["estimator"]) == {"expected"}
    assert set(stated["K"]) == {2}, "at K = 1 and K = M the mean is exact"
    assert set(stated["subsets"]) == {4}


def test_without_c_voting_there_is_nothing_to_compare(bank_file: BankFile) -> None:
    voting, paired = tables([bank_file("bank")], replace(PARAMS, votes=("energy_sum", "oracle")))
    assert set(voting["vote"]) == {"energy_sum", "oracle"}
    assert len(paired) == 0
    assert tuple(paired.columns) == PAIRED_COLUMNS


def test_a_bank_without_energies_has_no_e_voting(bank_file: BankFile) -> None:
    voting, _ = tables([bank_file("bank", energies=False)])
    assert not voting["vote"].str.startswith("energy").any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"T_eval": 16}, "T_eval = 16, expected 32"),
        ({"candidates": 9}, "candidates = 9, expected 8"),
        ({"energies": False}, "scores = .*expected .*energy_last"),
    ],
)
def test_files_of_different_banks_are_refused(bank_file: BankFile, change: dict[str, object], message: str) -> None:
    with pytest.raises(ShardsError, match=message):
        tally([bank_file("bank"), bank_file("other", first=12, **change)], PARAMS, TASK)


def test_a_missing_shard_of_one_seed_is_noticed(bank_file: BankFile) -> None:
    with pytest.raises(ShardsError, match=r"seed \(0, 1\): 3 of the 12 puzzles of seeds \(0, 0\) are missing"):
        tally([bank_file("a"), bank_file("b", puzzles=9, inference_seed=1)], PARAMS, TASK)


def test_a_missing_shard_of_the_only_seeds_is_noticed(bank_file: BankFile) -> None:
    with pytest.raises(ShardsError, match=r"seed \(0, 0\): shards \[0, 2\] of 3 missing"):
        tally([bank_file("a", shards=3, shard=1)], PARAMS, TASK)


def test_a_file_given_twice_is_refused(bank_file: BankFile) -> None:
    with pytest.raises(ShardsError, match="a puzzle comes twice: give every file once"):
        tally([bank_file("a"), bank_file("a")], PARAMS, TASK)


def test_a_bank_without_the_scores_of_any_vote_is_refused(bank_file: BankFile) -> None:
    with pytest.raises(TallyError, match="expected those of one of latent_residual"):
        tally([bank_file("a")], replace(PARAMS, votes=("latent_residual",)), TASK)


def test_a_missing_pair_of_seeds_is_noticed(bank_file: BankFile) -> None:
    seeds = [(0, 0), (0, 1), (1, 0)]
    shards = [bank_file(f"{t}{i}", training_seed=t, inference_seed=i) for t, i in seeds]
    with pytest.raises(ShardsError, match=r"seed \(1, 1\): 12 of the 12 puzzles"):
        tally(shards, PARAMS, TASK)


def test_more_voters_than_candidates_are_refused(bank_file: BankFile) -> None:
    with pytest.raises(TallyError, match="K = 9: expected at most 8"):
        tally([bank_file("bank")], replace(PARAMS, K=(1, 9)), TASK)


def test_a_score_that_is_not_a_number_is_refused_by_name(bank_file: BankFile, tmp_path: Path) -> None:
    bank = concatenate(read_banks(bank_file("bank")))
    scores = bank.scores["energy_sum"].copy()
    scores[3, 5] = np.nan
    write_banks(tmp_path / "nan", [replace(bank, scores=bank.scores | {"energy_sum": scores})])
    with pytest.raises(TallyError, match="energy_sum of candidate 6 of puzzle 0000000000000003 is not a number"):
        tally([tmp_path / "nan"], PARAMS, TASK)


def test_no_files_are_refused() -> None:
    with pytest.raises(ShardsError, match="no puzzles in the bank files"):
        tally([], PARAMS, TASK)


def test_voting_statistics_tables_and_figures_never_import_torch(repository: Path) -> None:
    code = (
        "import sys, cvoting.voting, cvoting.estimators, cvoting.statistics, cvoting.tables, cvoting.published\n"
        "import pkgutil, importlib, cvoting.figures\n"
        "for module in pkgutil.iter_modules(cvoting.figures.__path__, 'cvoting.figures.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert 'cvoting.figures.registry' in sys.modules\n"
        "sys.exit(' '.join({'torch', 'numba', 'snakemake', 'dvc', 'matplotlib.pyplot'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository / "src", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
