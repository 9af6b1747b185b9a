"""What a study will take, from its parameters alone."""

import pandas as pd

from cvoting.bank_size import bank_bytes
from cvoting.params.study import Study


def bank_sizes(study: Study) -> pd.DataFrame:
    """How many puzzles and candidates each bank is of, and at most how many megabytes it takes as plain numbers.

    Logits are those of every cell, as before the data are built no one knows how many are given; they are kept with one
    inference seed, everything else with all.
    """
    rows = []
    for name, bank in study.banks.items():
        dataset, run = study.datasets[bank.dataset], study.runs[bank.run]
        puzzles = getattr(dataset.source.splits, bank.split)
        network = study.models[run.model].network
        trainings, seeds = len(run.training_seeds), len(bank.inference_seeds)
        asked = puzzles * dataset.task.cells
        parts = bank_bytes(bank, dataset.task, network, puzzles, asked)
        sizes = {part: size * trainings * (1 if part == "logits" else seeds) / 1e6 for part, size in parts.items()}
        counts = f"{puzzles:,} puzzles x {bank.candidates:,} candidates x {trainings} trainings x {seeds} seeds"
        rows.append({"bank": name, "rollouts": counts, **sizes, "all": sum(sizes.values())})
    table = pd.DataFrame(rows).set_index(["bank", "rollouts"])
    table.loc[("all banks", ""), :] = table.sum()
    return table.add_suffix(" (MB)").reset_index()
