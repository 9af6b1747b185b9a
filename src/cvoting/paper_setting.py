"""What the paper does and no study chooses."""

#: The dataset that models train on for one without puzzles to train on (Section 6.1).
TRAINED_ON = {"sudoku_hard": "sudoku"}
