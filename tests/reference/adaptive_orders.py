"""Rules to stop, as one would run them: candidate after candidate, for every order of a puzzle's candidates."""

from collections.abc import Callable, Sequence
from itertools import permutations

#: Drawn candidates, the last one last -> whether to stop with its answer.
Rule = Callable[[Sequence[int]], bool]


def confident(scores: Sequence[float], threshold: float) -> Rule:
    """Stop at a candidate that reaches the threshold."""
    return lambda drawn: scores[drawn[-1]] >= threshold


def agreed(ids: Sequence[int], m: int) -> Rule:
    """Stop where the last candidate's answer has been given m times."""
    return lambda drawn: [ids[k] for k in drawn].count(ids[drawn[-1]]) >= m


def mean_over_orders(
    rule: Rule, scores: Sequence[float], outcomes: Sequence[float], K: int
) -> tuple[float, float, float, float]:
    """Means of the number drawn, of whether the rule stops, of the outcome, and of the outcome where it stops."""
    totals, orders = [0.0] * 4, 0
    for order in permutations(range(len(scores))):
        drawn: list[int] = []
        while len(drawn) < K and not (drawn and rule(drawn)):
            drawn.append(order[len(drawn)])
        stops = rule(drawn)
        # Of equal scores max takes the first, which is the candidate of the lowest index.
        answer = drawn[-1] if stops else max(sorted(drawn), key=lambda k: scores[k])
        found = len(drawn), stops, outcomes[answer], stops * outcomes[answer]
        totals, orders = [total + number for total, number in zip(totals, found, strict=True)], orders + 1
    drawn_, stopped, right, right_stopped = (total / orders for total in totals)
    return drawn_, stopped, right, right_stopped


def threshold_of(puzzles: Sequence[Sequence[float]], target: float, K: int) -> float:
    """The highest of the puzzles' scores at which no more than `target` candidates are drawn on average."""

    def drawn(threshold: float) -> float:
        each = [mean_over_orders(confident(s, threshold), s, [0.0] * len(s), K)[0] for s in puzzles]
        return sum(each) / len(each)

    return max(t for scores in puzzles for t in scores if drawn(t) <= target + 1e-9)
