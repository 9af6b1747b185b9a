"""How large the banks of a study will be, from its parameters alone."""

import pandas as pd

from cvoting.bank_size import bank_bytes
from cvoting.params.study import Study

ABOUT = ("bank", "rollouts", "training x inference seeds")


def bank_sizes(study: Study) -> pd.DataFrame:
    """How many puzzles and candidates each bank is of, and at most how many megabytes it takes as plain numbers.

    Logits are those of every cell, as before the data are built no one knows how many are given.  They and the steps
    are kept with one inference seed, everything else with all.
    """
    rows = []
    for name, bank in study.banks.items():
        dataset, run = study.datasets[bank.dataset], study.runs[bank.run]
        puzzles = getattr(dataset.source.splits, bank.split)
        network = study.models[run.model].network
        trainings, seeds = len(run.training_seeds), len(bank.inference_seeds)
        parts = bank_bytes(bank, dataset.task, network, puzzles, asked=puzzles * dataset.task.cells)
        times = dict.fromkeys(parts, trainings * seeds) | dict.fromkeys(("steps", "logits"), trainings)
        sizes = {part: size * times[part] / 1e6 for part, size in parts.items()}
        about = (name, f"{puzzles:,} puzzles x {bank.candidates:,} candidates", f"{trainings} x {seeds}")
        rows.append({**dict(zip(ABOUT, about, strict=True)), **sizes, "all": sum(sizes.values())})
    table = pd.DataFrame(rows).set_index(list(ABOUT))
    table.loc[("all banks", "", ""), :] = table.sum()
    return table.add_suffix(" (MB)").reset_index()
