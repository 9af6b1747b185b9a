"""Numbers of accuracy against steps."""

import pandas as pd

from cvoting.claims.estimates import Estimate, minus, rank_correlation, read_row
from cvoting.claims.evidence import BOARD, Evidence, NotRunError
from cvoting.claims.rules import NEARLY
from cvoting.table_files import ESTIMATOR, over_all_seeds, without_vote


def growth_with_steps(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """The accuracy without a vote at the last step minus that at the first, with its growth between them."""
    bank = evidence.longest_bank(model, dataset)
    rows = _without_vote(evidence, bank)
    found = evidence.learned(minus(read_row(rows.iloc[-1]), read_row(rows.iloc[0])), bank)
    steps = f"from step {rows['T_eval'].iloc[0]} to {rows['T_eval'].iloc[-1]}"
    return found.over(evidence.source(bank), trend=rank_correlation(rows["value"]), note=steps)


def gain_where_steps_end(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """What C-voting gains at the last step.

    It says nothing of steps where the accuracy without a vote still rises by more than a point in their last quarter.
    """
    bank = evidence.longest_bank(model, dataset)
    rows = _without_vote(evidence, bank)
    best, last = rows.iloc[int(rows["value"].argmax())], rows.iloc[-1]
    quarter = rows[rows["T_eval"] <= 0.75 * last["T_eval"]]
    if quarter.empty:
        raise NotRunError(f"no step before the last quarter in {bank}")
    found, rise = evidence.gain_in(bank), last["value"] - quarter["value"].iloc[-1]
    voted = evidence.accuracy(bank, kind="steps")
    most = minus(voted, read_row(best))
    note = (
        f"{100 * rise:+.1f} points without a vote in the last quarter of the steps; C-voting of {voted.K} at step "
        f"{last['T_eval']} minus the best step without a vote, {best['T_eval']}: {100 * most.value:+.1f} "
        f"[{100 * most.low:+.1f}, {100 * most.high:+.1f}]"
    )
    why = found.incomparable or ("accuracy still rises with the steps" if rise > NEARLY else None)
    return found.over(*found.sources, trend=None, incomparable=why, note=note)


def _without_vote(evidence: Evidence, bank: str) -> pd.DataFrame:
    """The rows of a table of steps without a vote, in the order of the steps."""
    table = evidence.table("steps", bank)
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == BOARD)])
    return without_vote(rows).sort_values("T_eval")
