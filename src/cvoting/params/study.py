"""A whole study: the mirror of params.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass

from cvoting.params.adaptive import AdaptiveParams
from cvoting.params.akorn import AkornParams
from cvoting.params.calibration import CalibrationParams
from cvoting.params.consistency import problems
from cvoting.params.core import ParameterError, build, key, plain
from cvoting.params.datasets import DatasetParams
from cvoting.params.figures import FiguresParams
from cvoting.params.hrm import HrmParams
from cvoting.params.imported import ImportedParams
from cvoting.params.itrsa import ItrsaParams
from cvoting.params.paper_tables import PaperTablesParams
from cvoting.params.rollouts import BankParams
from cvoting.params.training import TrainingParams
from cvoting.params.transformer import TransformerParams
from cvoting.params.voting import VotingParams
from cvoting.tasks.sudoku import Sudoku

#: The stages of dvc.yaml, in their order; the audits of datasets know which runs are tested on them, and strata which
#: splits are.
STAGES = ("data", "audit", "strata", "train", "rollouts", "voting", "calibration", "figures")


@dataclass(frozen=True, kw_only=True)
class ModelParams:
    """A named model: its network and how it is trained."""

    network: AkornParams | HrmParams | ItrsaParams | TransformerParams = key("architecture and sizes")
    training: TrainingParams = key("how every run of this model is trained")


@dataclass(frozen=True, kw_only=True)
class RunParams:
    """A model trained on a dataset, once per training seed; or one whose weights are imported."""

    model: str = key("name of a model")
    dataset: str = key("name of a dataset with a train and a validation split")
    training_seeds: tuple[int, ...] = key("one training per seed", minimum=0)
    training: Mapping[str, object] | None = key("keys that differ from the model's training block", default=None)
    imported: ImportedParams | None = key(
        "a file of weights in the place of the training: the model's blocks say what it is of, the dataset's task what "
        "it is for, and the one training seed is a name",
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything that decides what is computed."""

    study: str = key("name of the study; its products lie under results/<study>/", affects=STAGES)
    title: str = key("how figures and tables name the study", affects=("figures",))
    paper_scale: bool = key(
        "whether sizes, data and K are the paper's, so that published values may stand beside ours",
        affects=("figures",),
    )
    mirrors: tuple[str, ...] = key("folders searched for source files before their addresses", default=())
    threads: int = key("CPU threads of a training or rollout job, or of each of its processes", minimum=1)
    gpus: int = key(
        "GPUs of a training, with a process for each; a rollout job asks for one at most.  0: none is asked for, and "
        "jobs compute on what is there",
        default=0,
        minimum=0,
    )
    datasets: Mapping[str, DatasetParams] = key("puzzle sets", affects=STAGES)
    models: Mapping[str, ModelParams] = key("models", affects=("train", "rollouts", "voting", "calibration", "figures"))
    runs: Mapping[str, RunParams] = key("trainings", affects=("audit", *STAGES[3:]))
    banks: Mapping[str, BankParams] = key("rollouts", affects=("audit", "strata", *STAGES[4:]))
    voting: VotingParams = key("voting tables", affects=("voting", "figures"))
    adaptive: AdaptiveParams = key(
        "votes that draw candidates until a rule to stop holds", affects=("voting", "figures")
    )
    calibration: CalibrationParams = key("what is said of confidence", affects=("calibration", "figures"))
    figures: FiguresParams = key("figures", affects=("figures",))
    tables: PaperTablesParams = key("the paper's tables", affects=("figures",), default=PaperTablesParams())

    def training_of(self, run: str) -> TrainingParams:
        """The training block of a run: its model's, with the run's own keys in their place."""
        block = self.runs[run]
        merged = _merge(plain(self.models[block.model].training), block.training or {})
        return build(TrainingParams, merged, f"runs.{run}.training")

    def tables_of(self, bank: str) -> tuple[str, ...]:
        """The kinds of tables that are made of a bank: of Sudoku boards read out at steps a solved one too."""
        block = self.banks[bank]
        others = [name for name, dataset in self.datasets.items() if not isinstance(dataset.task, Sudoku)]
        solved = ("solved_board",) if block.read_at and block.boards and block.dataset not in others else ()
        return *block.tables, *solved

    def __post_init__(self) -> None:
        found = list(problems(self))
        if found:
            raise ParameterError(found)


def _merge(base: Mapping, changes: Mapping) -> dict:
    """`base` with the keys of `changes` in their place, block by block."""
    merged = dict(base)
    for name, value in changes.items():
        inner = merged.get(name)
        merged[name] = _merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged
