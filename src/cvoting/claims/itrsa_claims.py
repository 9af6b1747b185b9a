"""Claims about votes and steps in ItrSA++ (Sections 2.1 and 6.3, Appendices A, D and E)."""

from functools import partial

from cvoting.claims.claim import Claim, Part
from cvoting.claims.evidence import WHERE
from cvoting.claims.rules import SIMILAR, Above, Grows, Matches, Near
from cvoting.claims.seed_numbers import deviation_difference, growth_of_medians, seed_range
from cvoting.claims.step_numbers import gain_where_steps_end, growth_with_steps
from cvoting.claims.voting_numbers import (
    EXTREME,
    HARD,
    MAZE,
    SUDOKUS,
    against_score,
    gain,
    gain_over,
    over_model,
    printed_accuracies,
)
from cvoting.table_files import NO_VOTE

ITRSA_CLAIMS = (
    Claim(
        "c4",
        "ItrSA++ with C-voting is the best on all three tasks",
        (
            *printed_accuracies(
                [
                    ("c4-hard", "itrsa", HARD, "confidence", "ItrSA++ + C-voting, Sudoku-hard"),
                    ("c4-extreme", "itrsa", EXTREME, "confidence", "ItrSA++ + C-voting, Sudoku-extreme"),
                    ("c4-maze", "itrsa", MAZE, "confidence", "ItrSA++ + C-voting, Maze-hard"),
                ]
            ),
            Part(
                "above AKOrN with E-voting on Sudoku-hard",
                over_model(HARD, "akorn", "confidence", "energy_sum"),
                Above(),
                "c4-over-akorn",
            ),
            Part(
                "above HRM on Sudoku-extreme",
                over_model(EXTREME, "hrm_fixed", "confidence"),
                Above(),
                "c4-over-hrm-extreme",
            ),
            Part("above HRM on Maze-hard", over_model(MAZE, "hrm_fixed", "confidence"), Above(), "c4-over-hrm-maze"),
        ),
        "fig1_overview",
    ),
    Claim(
        "c6",
        "ItrSA++ without voting is above AKOrN and HRM on all tasks",
        tuple(
            Part(
                f"above {name} on {WHERE[dataset]}",
                over_model(dataset, other, NO_VOTE),
                Above(),
                "c6",
                headline=f"ItrSA++ minus {name} without voting, {WHERE[dataset]}",
            )
            for other, name in (("akorn", "AKOrN"), ("hrm_fixed", "HRM"))
            for dataset in WHERE
        ),
        "fig3_itrsa_voting",
    ),
    Claim(
        "c13",
        "top-1, negative entropy and log probability vote almost alike",
        tuple(
            Part(f"C-voting minus {name} on {WHERE[dataset]}", against_score(dataset, score), Near(), f"c13-{short}")
            for short, dataset in (("extreme", EXTREME), ("maze", MAZE))
            for score, name in (("negative_entropy", "negative entropy"), ("log_probability", "log probability"))
        ),
        "fig10_voting_metrics",
    ),
    Claim(
        "c14",
        "inference seeds differ by about a point on Maze-hard, more than on Sudoku-extreme, and medians grow with K",
        (
            Part(
                "range over inference seeds on Maze-hard",
                partial(seed_range, model="itrsa", dataset=MAZE),
                Matches(0.005),
                "c14",
            ),
            Part(
                "standard deviation over inference seeds: on Maze-hard minus on Sudoku-extreme",
                partial(deviation_difference, model="itrsa", more=MAZE, less=EXTREME),
                Above(),
                "c14-shape",
            ),
            *(
                Part(
                    f"rank correlation of the median with K on {WHERE[dataset]}",
                    partial(growth_of_medians, model="itrsa", dataset=dataset),
                    Above(),
                    "c14-shape",
                    unit="",
                )
                for dataset in (EXTREME, MAZE)
            ),
        ),
        "fig11_seed_dependency",
    ),
    Claim(
        "c20",
        "ItrSA++ gains from candidates like AKOrN",
        (
            *(
                Part(
                    f"gain on {WHERE[dataset]}",
                    gain("itrsa", dataset),
                    Grows(),
                    "c20",
                    headline=f"C-voting's gain grows with K, ItrSA++, {WHERE[dataset]}",
                )
                for dataset in SUDOKUS
            ),
            Part(
                "gain minus AKOrN's on Sudoku-hard", gain_over(("itrsa", HARD), ("akorn", HARD)), Near(SIMILAR), "c20"
            ),
            Part(
                "gain on Sudoku-extreme minus that on Sudoku-hard",
                gain_over(("itrsa", EXTREME), ("itrsa", HARD)),
                Near(SIMILAR),
                "c20",
            ),
        ),
        "fig3_itrsa_voting",
    ),
    Claim(
        "c21",
        "voting gains ItrSA++ less on Maze-hard than on the Sudoku tasks, yet it stays above HRM",
        (
            *(
                Part(
                    f"gain on {WHERE[dataset]} minus that on Maze-hard",
                    gain_over(("itrsa", dataset), ("itrsa", MAZE)),
                    Above(),
                    "c21",
                    headline=f"ItrSA++'s gain on {WHERE[dataset]} minus that on Maze-hard",
                )
                for dataset in SUDOKUS
            ),
            Part("above HRM on Maze-hard", over_model(MAZE, "hrm_fixed", "confidence"), Above(), "c21"),
        ),
        "fig3_itrsa_voting",
    ),
    Claim(
        "c24",
        "voting helps where more steps no longer do",
        tuple(
            Part(
                f"gain on {WHERE[dataset]}, where the accuracy rises no more with the steps",
                partial(gain_where_steps_end, model="itrsa", dataset=dataset),
                Above(),
                "c24",
                headline=f"C-voting's gain where more steps give none, ItrSA++, {WHERE[dataset]}",
            )
            for dataset in WHERE
        ),
        "fig8_itrsa_test_time_scaling",
    ),
    Claim(
        "c26",
        "more iteration steps raise ItrSA++'s accuracy on all three tasks",
        tuple(
            Part(
                f"accuracy at the last step minus that at the first, {WHERE[dataset]}",
                partial(growth_with_steps, model="itrsa", dataset=dataset),
                Grows(),
                "c26",
            )
            for dataset in WHERE
        ),
        "fig8_itrsa_test_time_scaling",
    ),
)
