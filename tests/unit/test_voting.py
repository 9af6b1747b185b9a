"""Votes on a few candidates by hand."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from cvoting import voting
from cvoting.bank import Bank
from cvoting.estimators import Outcomes, Subsets, expected, prefix, rank_weights
from cvoting.voting import VOTES, Ballot, Composing, Reference, Selecting, available


def ballot(ids: list[int], answers: list[str] | None = None, **scores: list[float]) -> Ballot:
    """One puzzle; answers are written as digits."""
    table = np.array([[int(c) for c in a] for a in answers or "0123456789"], dtype=np.uint8)
    return Ballot({name: np.array([s]) for name, s in scores.items()}, np.array([ids]), table)


def selected(vote: str, votes: Ballot) -> int:
    """The index of the candidate."""
    return int(VOTES[vote].select(votes)[0])


def composed(votes: Ballot) -> str:
    """The cell-wise majority, as digits."""
    return "".join(map(str, VOTES["majority_cell"].compose(votes)[0]))


def test_c_voting_selects_the_most_confident_and_e_voting_the_lowest_energy() -> None:
    votes = ballot([0, 1, 2, 3], confidence=[0.7, 0.9, 0.8, 0.6], energy_last=[5.0, -1.0, 2.0, 7.0])
    assert selected("confidence", votes) == 1
    assert selected("energy_last", votes) == 3, "the scores are minus the energies -5, 1, -2 and -7: the last is lowest"


def test_ties_of_scores_go_to_the_lowest_index() -> None:
    assert selected("confidence", ballot([0, 1, 2, 3], confidence=[0.5, 0.9, 0.9, 0.9])) == 1


def test_one_candidate_wins_every_vote() -> None:
    votes = ballot([0], ["34"], **{name: [0.1] for vote in VOTES.values() for name in vote.needs})
    for name, vote in VOTES.items():
        if isinstance(vote, Selecting):
            assert selected(name, votes) == 0
    assert composed(votes) == "34"


def test_the_majority_answer_is_the_most_frequent_one_whatever_the_scores() -> None:
    assert selected("majority_answer", ballot([2, 0, 1, 0], confidence=[0.9, 0.1, 0.9, 0.1])) == 1


def test_of_equally_frequent_answers_the_one_that_appears_first_wins() -> None:
    assert selected("majority_answer", ballot([3, 0, 1, 1, 0])) == 1, "answers 0 and 1 twice each; 0 appears first"
    assert selected("majority_answer", ballot([3, 2, 1, 0])) == 0


def test_confidence_weighs_whole_answers() -> None:
    # Answer 0 has 0.4 + 0.3 = 0.7, answer 1 has 0.6; with 0.2 for the 0.3, answer 0 has 0.6 too and appears first.
    assert selected("majority_confidence", ballot([1, 0, 0], confidence=[0.6, 0.4, 0.3])) == 1
    assert selected("majority_confidence", ballot([1, 0, 0], confidence=[0.75, 0.4, 0.3])) == 0
    assert selected("majority_confidence", ballot([0, 1, 0], confidence=[0.25, 0.5, 0.25])) == 0


def test_the_cell_wise_majority_may_be_an_answer_that_no_candidate_gave() -> None:
    # Cells: 1 of {1, 1, 2}; 3 of {3, 4, 3}; 6 of {5, 6, 6}.
    assert composed(ballot([0, 1, 2], ["135", "146", "236"])) == "136"


def test_the_cell_wise_majority_counts_candidates_and_not_distinct_answers() -> None:
    assert composed(ballot([0, 1, 2, 0, 0], ["11", "22", "22"])) == "11"


def test_a_tied_cell_goes_to_the_digit_that_a_candidate_gave_first() -> None:
    assert composed(ballot([1, 0, 0, 1], ["15", "24"])) == "24", "2:2 in both cells, candidate 1 answered 24"
    assert composed(ballot([2, 1, 0], ["17", "28", "99"])) == "99", "all differ"
    # 3 once, then 5 and 4 twice each: 5 is the first of the two, though 3 came before and 4 is smaller.
    assert composed(ballot([0, 1, 2, 2, 1], ["3", "5", "4"])) == "5"


def test_puzzles_vote_by_themselves() -> None:
    answers = [np.array([[1], [2]], dtype=np.uint8), np.array([[2], [3]], dtype=np.uint8)]
    votes = Ballot.stacked({}, np.array([[0, 1, 1], [0, 1, 0]]), answers)
    assert votes.answers[votes.answer_ids].squeeze(-1).tolist() == [[1, 2, 2], [2, 3, 2]]
    assert list(VOTES["majority_answer"].select(votes)) == [1, 0]
    assert VOTES["majority_cell"].compose(votes).tolist() == [[2], [2]]


def test_the_cell_wise_majority_does_not_depend_on_how_many_puzzles_are_counted_at_once(
    make_bank: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = make_bank(puzzles=7)
    votes = Ballot.stacked(bank.scores, bank.answer_ids, bank.answers)
    at_once = VOTES["majority_cell"].compose(votes)
    for cells in (1, 300):
        monkeypatch.setattr(voting, "CELLS_AT_ONCE", cells)
        np.testing.assert_array_equal(VOTES["majority_cell"].compose(votes), at_once)


def test_rules_see_nothing_but_scores_and_answers() -> None:
    assert {field.name for field in fields(Ballot)} == {"scores", "answer_ids", "answers"}
    for name, vote in VOTES.items():
        rule = getattr(vote, "select", getattr(vote, "compose", None))
        assert (rule is None) == isinstance(vote, Reference)
        if rule is not None:
            assert list(inspect.signature(rule).parameters) == ["ballot"], name


def test_permuted_labels_change_no_selection(make_bank: Callable[..., Bank]) -> None:
    bank = make_bank(puzzles=9)
    order = np.roll(np.arange(9), 4)
    permuted = replace(bank, labels=bank.labels[order], correct={m: c[order] for m, c in bank.correct.items()})
    for vote in available(VOTES, bank.scores).values():
        if isinstance(vote, Reference):
            continue
        rule = vote.compose if isinstance(vote, Composing) else vote.select
        before, after = (rule(Ballot.stacked(b.scores, b.answer_ids, b.answers)) for b in (bank, permuted))
        np.testing.assert_array_equal(before, after)


def test_a_vote_whose_scores_a_bank_lacks_is_left_out() -> None:
    names = ("energy_sum", "confidence", "majority_confidence", "random", "logit_residual")
    assert list(available(names, {"confidence": 0, "energy_last": 0})) == [
        "confidence",
        "majority_confidence",
        "random",
    ]


def test_where_answers_are_unknown_scores_and_references_remain() -> None:
    scores = {name for vote in VOTES.values() for name in vote.needs}
    assert list(available(VOTES, scores)) == list(VOTES)
    known = available(VOTES, scores, answers=False)
    assert list(known) == [name for name in VOTES if not name.startswith("majority")]
    assert list(available(VOTES, {"confidence"}, answers=False)) == ["confidence", "random", "oracle"]


def test_two_estimators_of_a_vote_of_two_among_three() -> None:
    # Confidences 0.2, 0.9, 0.5; right, wrong, right.  Candidates 1 and 2: the second wins, wrong.
    # Pairs {1,2}: wrong, {1,3}: right, {2,3}: wrong, so 1/3.  Any right: all pairs.  Mean of candidates: 2/3.
    votes = ballot([0, 1, 0], confidence=[0.2, 0.9, 0.5])
    outcomes = Outcomes(np.array([[[1.0, 0.0, 1.0]]]), lambda answers: np.zeros((1, len(answers))))
    for name, by_prefix, by_mean in (("confidence", 0, 1 / 3), ("oracle", 1, 1), ("random", 1 / 2, 2 / 3)):
        assert prefix(VOTES[name], votes, outcomes, [2]).item() == by_prefix
        assert expected(VOTES[name], votes, outcomes, [2], Subsets(1, 0)).item() == pytest.approx(by_mean, abs=1e-15)


def test_rank_weights_of_two_among_four() -> None:
    # Of the 6 pairs the best of all is in 3, the second is the best in 2, the third in 1.
    np.testing.assert_allclose(rank_weights(4, [2])[:, 0], [3 / 6, 2 / 6, 1 / 6, 0], atol=1e-15)


def test_subsets_are_ascending_different_and_the_same_for_the_same_seed() -> None:
    drawn = list(Subsets(20, 3).draw(128, 16))
    assert len(drawn) == 20
    assert len({tuple(s) for s in drawn}) == 20
    for subset, again in zip(drawn, Subsets(20, 3).draw(128, 16), strict=True):
        assert len(set(subset)) == 16
        assert list(subset) == sorted(subset)
        np.testing.assert_array_equal(subset, again)
    assert not np.array_equal(drawn[0], next(Subsets(20, 4).draw(128, 16)))


def test_all_subsets_are_taken_where_there_are_few() -> None:
    assert [tuple(s) for s in Subsets(6, 0).draw(4, 2)] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [tuple(s) for s in Subsets(1, 0).draw(4, 4)] == [(0, 1, 2, 3)]
    assert len(list(Subsets(5, 0).draw(4, 2))) == 5


def test_parameters_can_read_the_votes_with_numpy_alone(repository: Path) -> None:
    code = (
        "import sys, cvoting.voting; heavy = {'torch', 'scipy', 'pandas', 'pyarrow', 'matplotlib', 'numba'}; "
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository / "src", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
