"""Claims about votes in AKOrN, HRM and the Transformer (Sections 6.2 and 6.4, Appendix B)."""

from cvoting.claims.claim import Claim, Part
from cvoting.claims.evidence import WHERE
from cvoting.claims.rules import SIMILAR, Above, Below, Grows, Matches
from cvoting.claims.voting_numbers import (
    DIGIT,
    EXTREME,
    HARD,
    MAZE,
    SUDOKUS,
    accuracy,
    gain,
    gain_over,
    over_energy,
    printed_accuracies,
)
from cvoting.table_files import NO_VOTE

VOTING_CLAIMS = (
    Claim(
        "c1",
        "AKOrN with C-voting on Sudoku-hard at K = 4096",
        printed_accuracies([("c1", "akorn", HARD, "confidence", "AKOrN + C-voting, Sudoku-hard")]),
        "fig2_akorn_voting",
    ),
    Claim(
        "c2",
        "AKOrN with E-voting on Sudoku-hard at K = 4096",
        printed_accuracies([("c2", "akorn", HARD, "energy_sum", "AKOrN + E-voting, Sudoku-hard")]),
        "fig2_akorn_voting",
    ),
    Claim(
        "c3",
        "C-voting is above E-voting in AKOrN on Sudoku-hard",
        (
            Part(
                "C-voting minus E-voting (energy summed)",
                over_energy(HARD),
                Matches(DIGIT, Above()),
                "c3",
                headline="C-voting minus E-voting, AKOrN, Sudoku-hard",
            ),
        ),
        "fig2_akorn_voting",
    ),
    Claim(
        "c5",
        "HRM as published, from its one initial state",
        printed_accuracies(
            [
                ("c5-extreme", "hrm_fixed", EXTREME, NO_VOTE, "HRM, Sudoku-extreme"),
                ("c5-maze", "hrm_fixed", MAZE, NO_VOTE, "HRM, Maze-hard"),
            ]
        ),
        "fig3_itrsa_voting",
    ),
    Claim(
        "c7",
        "AKOrN fails to learn mazes",
        (Part("accuracy on Maze-hard, one candidate", accuracy("akorn", MAZE, NO_VOTE), Below(SIMILAR), "c7"),),
        "fig3_itrsa_voting",
    ),
    Claim(
        "c8",
        "C-voting in HRM gains with the number of candidates, but little",
        (
            Part(
                "gain on Sudoku-extreme",
                gain("hrm", EXTREME),
                Grows(),
                "c8",
                headline="C-voting's gain in HRM, Sudoku-extreme",
            ),
            Part(
                "AKOrN's gain minus HRM's on Sudoku-extreme",
                gain_over(("akorn", EXTREME), ("hrm", EXTREME)),
                Above(),
                "c8",
                headline="AKOrN's gain minus HRM's, Sudoku-extreme",
            ),
            Part(
                "ItrSA++'s gain minus HRM's on Sudoku-extreme",
                gain_over(("itrsa", EXTREME), ("hrm", EXTREME)),
                Above(),
                "c8",
            ),
        ),
        "fig4_hrm_voting",
    ),
    Claim(
        "c17",
        "C-voting is above E-voting in AKOrN on Sudoku-extreme too",
        (
            Part(
                "C-voting minus E-voting (energy summed)",
                over_energy(EXTREME),
                Above(),
                "c17",
                headline="C-voting minus E-voting, AKOrN, Sudoku-extreme",
            ),
        ),
        "fig2_akorn_voting",
    ),
    Claim(
        "c18",
        "the advantage of C-voting over E-voting grows with the number of candidates",
        tuple(
            Part(
                f"advantage on {WHERE[dataset]}",
                over_energy(dataset),
                Grows(),
                "c18",
                headline=f"C-voting minus E-voting grows with K, AKOrN, {WHERE[dataset]}",
            )
            for dataset in SUDOKUS
        ),
        "fig2_akorn_voting",
    ),
    Claim(
        "c19",
        "E-voting gains about 40 points in AKOrN",
        (
            Part(
                "E-voting (energy summed) minus no vote on Sudoku-hard",
                lambda e: e.paired(e.bank("akorn", HARD), NO_VOTE, vote="energy_sum"),
                Matches(0.05, Above()),
                "c19",
                headline="E-voting's gain, AKOrN, Sudoku-hard",
            ),
        ),
        "fig2_akorn_voting",
    ),
    Claim(
        "c25",
        "C-voting in a Transformer gains little on Sudoku-hard",
        (
            Part(
                "gain on Sudoku-hard",
                gain("transformer", HARD),
                Below(SIMILAR),
                "c25",
                headline="C-voting's gain in the Transformer, Sudoku-hard",
            ),
            Part(
                "AKOrN's gain minus the Transformer's on Sudoku-hard",
                gain_over(("akorn", HARD), ("transformer", HARD)),
                Above(),
                "c25",
            ),
        ),
        "fig9_transformer_voting",
    ),
)
