"""What the paper leaves open, as questions that are answered yes or no."""

import math
from dataclasses import replace

from scipy.special import ndtr

from cvoting.claims.claim import Claim, Part
from cvoting.claims.estimates import Estimate, minus
from cvoting.claims.evidence import C_VOTING, WHERE, Evidence
from cvoting.claims.rules import Above, Differs
from cvoting.statistics import wilson
from cvoting.table_files import ESTIMATOR, NO_VOTE, over_all_seeds

HARD, EXTREME, MAZE = WHERE
STABLEMAX = "confidence_stablemax"
#: Level of intervals of published shares.
LEVEL = 0.95


def akorn_minus_itrsa(evidence: Evidence) -> Estimate:
    """C-voting in AKOrN minus C-voting in ItrSA++, at the K that both have."""
    K = evidence.largest_K(("akorn", HARD), ("itrsa", HARD))
    akorn, itrsa = (evidence.accuracy(evidence.bank(model, HARD), K=K) for model in ("akorn", "itrsa"))
    return minus(akorn, itrsa)


def published_shares(evidence: Evidence, more: str, less: str) -> Estimate:
    """The difference of two published shares of puzzles, by their Wilson intervals; in the note the test of equality.

    z = (p - q) / sqrt(r (1 - r) (1/n + 1/m)), r the share of both together.
    Source: Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.

    Args:
        evidence: the study, for its published numbers.
        more, less: ids of them.
    """
    rows = [evidence.printed(id) for id in (more, less)]
    (p, n), (q, m) = ((float(row["value"]), int(row["n"])) for row in rows)
    shares = [
        Estimate(value, *wilson(round(value * size), size, LEVEL), LEVEL, "Wilson, published shares")
        for value, size in ((p, n), (q, m))
    ]
    both = (p * n + q * m) / (n + m)
    z = (p - q) / math.sqrt(both * (1 - both) * (1 / n + 1 / m))
    note = f"published numbers alone, n = {n:,} and {m:,}; z = {z:.2f}, two-sided p = {2 * ndtr(-abs(z)):.3f}"
    return replace(minus(*shares), note=note)


def itrsa_above_hrm(evidence: Evidence) -> Estimate:
    """The same difference in the study."""
    voted, fixed = evidence.bank("itrsa", MAZE), evidence.bank("hrm_fixed", MAZE)
    return evidence.above(evidence.accuracy(voted), evidence.accuracy(fixed, NO_VOTE))


def sum_minus_last(dataset: str) -> Part:
    """E-voting by the energy summed over the steps minus by that of the last step."""
    about = f"E-voting by the summed energy minus by the last step's on {WHERE[dataset]}"
    return Part(about, lambda e: e.paired(e.bank("akorn", dataset), "energy_last", vote="energy_sum"), Differs(), "q3")


def shortest_among_wrong(evidence: Evidence) -> Estimate:
    """Of the candidates whose path is not the label's, the share with a path as short."""
    bank = evidence.bank("itrsa", MAZE)
    found = evidence.measure("discrimination", bank, metric="board", measure="wrong_but_optimal")
    label, any_path = (evidence.accuracy(bank, metric=metric) for metric in ("board", "optimal"))
    note = f"C-voting: {label.value:.1%} by the label, {any_path.value:.1%} by any shortest path"
    return replace(found, note=note)


def ties(evidence: Evidence) -> Estimate:
    """The share of puzzles whose highest confidence is tied, by softmax minus by stablemax."""
    bank = evidence.bank("hrm", EXTREME)
    softmax, stablemax = (_tied(evidence, bank, vote) for vote in (C_VOTING, STABLEMAX))
    same = evidence.paired(bank, STABLEMAX)
    note = f"tied: {softmax.value:.1%} by softmax, {stablemax.value:.1%} by stablemax; accuracy by softmax minus by "
    note += f"stablemax {100 * same.value:+.1f} [{100 * same.low:+.1f}, {100 * same.high:+.1f}] points"
    return replace(minus(softmax, stablemax), note=note)


def _tied(evidence: Evidence, bank: str, vote: str) -> Estimate:
    """The share of puzzles whose highest score is tied among all candidates, with Wilson's interval."""
    evidence.accuracy(bank, vote)  # which says what is missing
    table = evidence.table("voting", bank)
    of = (table["vote"] == vote) & (table["estimator"] == ESTIMATOR) & (table["metric"] == "board")
    rows = over_all_seeds(table[of])
    row = rows.iloc[int(rows["K"].argmax())]
    tied, puzzles, level = float(row["tie_share"]), int(row["puzzles"]), float(row["level"])
    low, high = wilson(round(tied * puzzles), puzzles, level)
    return Estimate(tied, low, high, level, "Wilson, puzzles only", (evidence.source(bank),), int(row["K"]))


OPEN_QUESTIONS = (
    Claim(
        "q1",
        "94.4 % is given for AKOrN and for ItrSA++ with C-voting on Sudoku-hard: do they differ?",
        (Part("C-voting in AKOrN minus in ItrSA++ on Sudoku-hard", akorn_minus_itrsa, Differs(), "q1"),),
        "fig3_itrsa_voting",
    ),
    Claim(
        "q2",
        "is 78.6 % against 74.5 % of 1,000 mazes more than chance?",
        (
            Part("published difference", lambda e: published_shares(e, "c4-maze", "c5-maze"), Differs(), "q2"),
            Part("ItrSA++ with C-voting minus HRM on Maze-hard, here", itrsa_above_hrm, Differs(), "q2"),
        ),
        "fig3_itrsa_voting",
    ),
    Claim(
        "q3",
        "does it matter whether E-voting takes the energy summed over the steps or the last step's?",
        (sum_minus_last(HARD), sum_minus_last(EXTREME)),
        "fig2_akorn_voting",
    ),
    Claim(
        "q4",
        "does counting only the label's path call shortest paths wrong?",
        (
            Part(
                "of candidates without the label's path on Maze-hard, those with a path as short",
                shortest_among_wrong,
                Above(),
                "q4",
            ),
        ),
    ),
    Claim(
        "q5",
        "does HRM's confidence tie more often by softmax than by the stablemax it is trained with?",
        (Part("share of puzzles with a tie at the top: softmax minus stablemax", ties, Above(), "q5"),),
        "fig4_hrm_voting",
    ),
)
