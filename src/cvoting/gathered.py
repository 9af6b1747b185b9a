"""What the jobs over a whole study gather: the banks, runs and seeds of which they are made, in their order."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from cvoting.paper_setting import TRAINED_ON
from cvoting.params.bootstrap import Bootstrap
from cvoting.params.core import plain
from cvoting.params.rollouts import BankParams
from cvoting.params.study import Study

#: The kinds of a bank's tables, beside that of votes and of their comparison, that claims are judged by.
CLAIMED_KINDS = ("steps", "calibration", "discrimination", "trajectories")
#: The models whose parameters the paper counts, and the dataset of its ablation.
COUNTED, ABLATED = ("akorn", "hrm_fixed", "itrsa"), "sudoku_extreme"


def summary(study: Study) -> dict[str, list[Any]]:
    """What a summary is made of, in its order: the banks with each kind of table, run and training seed of each log."""
    kinds = ("voting", "calibration", "discrimination")
    banks = {kind: sorted(name for name, block in study.banks.items() if kind in block.tables) for kind in kinds}
    trained = {name: run.training_seeds for name, run in study.runs.items() if not run.imported}
    return {**banks, "training": sorted((name, seed) for name, seeds in trained.items() for seed in seeds)}


def claims(study: Study) -> dict[str, Any]:
    """What claims are judged by, in its order: banks by model and dataset, of each kind of table those that have one.

    Of several banks of a model on a dataset one whose model trained for it is meant, and of these the first by name
    with most candidates, or, of what is said of steps, with most steps; `trained_on` has what the others trained on.
    The variants of Table 4 are those of its block, where they solve the puzzles that the paper's do.
    """
    banks = _of_models(study, lambda bank: (bank.candidates,))
    longest = _of_models(study, lambda bank: ("steps" in bank.tables, bank.T_eval, bank.candidates))
    ablation = study.tables.table4_ablation
    whole = study.banks.get(ablation.full) if ablation else None
    variants = plain(ablation) if whole and whole.dataset == ABLATED else {}
    meant = (bank for of_model in (*banks.values(), *longest.values()) for bank in of_model.values())
    used = sorted({*variants.values(), *meant})
    tables = {kind: [bank for bank in used if kind in study.banks[bank].tables] for kind in ("voting", *CLAIMED_KINDS)}
    return {
        "study": study.study,
        "title": study.title,
        "paper_scale": study.paper_scale,
        "banks": banks,
        "longest": longest,
        "ablation": variants,
        "tables": tables | {"paired": tables["voting"]},
        "trained_on": {bank: _trained_on(study, bank) for bank in used if not _trained_for(study, bank)},
        # The dataset that comes last by its name: Sudoku-hard, where there is one.
        "counted": {m: _first_training(study, banks[m][max(banks[m])]) for m in COUNTED if m in banks},
        "shown": sorted(name for name in (*study.figures, *study.tables) if not name.startswith("extra_")),
        "bootstrap": intervals(study),
    }


def intervals(study: Study) -> dict[str, Any]:
    """The intervals of what is said of confidence."""
    return {field.name: getattr(study.calibration, field.name) for field in fields(Bootstrap)}


def _of_models(study: Study, most: Callable[[BankParams], tuple[int, ...]]) -> dict[str, dict[str, str]]:
    """By model and dataset the first bank by name with the most of something, of those that trained for the dataset.

    Banks that start otherwise than their model was trained to, or have raw weights, are not meant.
    """
    banks: dict[str, dict[str, str]] = {}
    for name in sorted(
        sorted(study.banks), key=lambda n: (_trained_for(study, n), *most(study.banks[n])), reverse=True
    ):
        block = study.banks[name]
        if not block.random_start_anyway and block.weights == "average" and block.split == "test":
            banks.setdefault(study.runs[block.run].model, {}).setdefault(block.dataset, name)
    return banks


def _trained_on(study: Study, bank: str) -> str:
    """The dataset that the model of a bank trained on."""
    return study.runs[study.banks[bank].run].dataset


def _trained_for(study: Study, bank: str) -> bool:
    """Whether that is the bank's dataset, or the one whose boards the paper trains on for it."""
    dataset = study.banks[bank].dataset
    return _trained_on(study, bank) in (dataset, TRAINED_ON.get(dataset))


def _first_training(study: Study, bank: str) -> tuple[str, int]:
    """Run and first training seed of a bank."""
    run = study.banks[bank].run
    return run, study.runs[run].training_seeds[0]
