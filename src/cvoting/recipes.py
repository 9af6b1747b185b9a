"""What each job needs: its recipe and its code.

A recipe is the canonical JSON of exactly the parameter blocks a job uses.  The rule that runs the job tracks it, and
the job receives nothing else, so a parameter that is not in a recipe cannot change the job's result.
"""

from dataclasses import replace

from cvoting import gathered
from cvoting.params.calibration import CalibrationPlan, DiscriminationPlan, SolvedBoardPlan, TrajectoriesPlan
from cvoting.params.core import canonical, plain
from cvoting.params.study import Study
from cvoting.params.voting import BY_DIFFICULTY


def data(study: Study, dataset: str) -> str:
    """Build a dataset."""
    return canonical({"dataset": dataset, **plain(study.datasets[dataset])})


def data_modules(study: Study, dataset: str) -> tuple[str, ...]:
    """The modules whose import closure is the code that builds a dataset."""
    block = study.datasets[dataset]
    return f"cvoting.data.{block.source.kind}", f"cvoting.tasks.{block.task.name}"


def audit(study: Study, dataset: str) -> str:
    """Audit a dataset."""
    return canonical(study.datasets[dataset].task)


def audit_against(study: Study, dataset: str) -> list[str]:
    """The other datasets that models tested on this one were trained on: none of their puzzles may be in it."""
    runs = {bank.run for bank in study.banks.values() if bank.dataset == dataset}
    return sorted({study.runs[run].dataset for run in runs} - {dataset})


def audit_modules(study: Study, dataset: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of an audit."""
    parts = ("audit", "audit_files", "audit_report", f"{study.datasets[dataset].task.name}_audit")
    return tuple(f"cvoting.data.{part}" for part in parts)


def strata(study: Study, dataset: str) -> str:
    """Say how difficult each puzzle of a dataset's tested splits is."""
    return canonical({"dataset": dataset, "splits": tested(study)[dataset], "task": study.datasets[dataset].task})


def strata_modules(study: Study, dataset: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of that."""
    return "cvoting.data.strata", f"cvoting.data.{study.datasets[dataset].task.name}_audit"


def tested(study: Study) -> dict[str, list[str]]:
    """The splits of each dataset that models are tested on."""
    pairs = sorted({(bank.dataset, bank.split) for bank in study.banks.values()})
    return {dataset: [split for of, split in pairs if of == dataset] for dataset, _ in pairs}


def train(study: Study, run: str, training_seed: int) -> str:
    """Train a run with one seed."""
    return canonical({**_about(study, run, training_seed), "training": study.training_of(run)})


def import_run(study: Study, run: str, training_seed: int) -> str:
    """Import a run's weights: what they are of, and the file's contents and format, wherever it lies."""
    about, block = _about(study, run, training_seed), study.runs[run].imported
    if block and block.format == "released":
        about["T_train"] = study.training_of(run).T_train  # a checkpoint of ours says that itself
    stated = {name: value for name, value in plain(block).items() if name != "file" and value is not None}
    return canonical({**about, "imported": stated})


def import_run_modules(study: Study, run: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of an import."""
    network, block = study.models[study.runs[run].model].network, study.runs[run].imported
    released = (f"cvoting.models.{network.architecture}_released",) if block and block.format == "released" else ()
    return ("cvoting.import_run", *released, *_model_and_task(study, run))


def train_modules(study: Study, run: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a training: the loop, its objective, its model, its task."""
    training = ("cvoting.training.loop", f"cvoting.training.{study.training_of(run).objective}")
    return (*training, "cvoting.checkpoint", "cvoting.devices", *_model_and_task(study, run))


def rollouts(study: Study, bank: str, inference_seed: int, shard: int) -> str:
    """Roll out one shard of a bank."""
    block = study.banks[bank]
    about = {"dataset": block.dataset, "split": block.split, "inference_seed": inference_seed}
    return canonical({**about, "plan": block.plan(shard, inference_seed)})


def rollouts_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a rollout job."""
    return ("cvoting.rollouts", "cvoting.checkpoint", "cvoting.devices", *_model_and_task(study, study.banks[bank].run))


def voting(study: Study, bank: str) -> str:
    """Compute the voting tables of a bank."""
    task, candidates = study.datasets[study.banks[bank].dataset].task, study.banks[bank].candidates
    params = replace(study.voting, K=tuple(k for k in study.voting.K if k <= candidates))
    return canonical({"study": study.study, "bank": bank, "task": task, "voting": params})


def by_difficulty(study: Study, bank: str) -> str:
    """Compute what single candidates and the most of a bank achieve on puzzles of each stratum."""
    task, candidates = study.datasets[study.banks[bank].dataset].task, study.banks[bank].candidates
    K = tuple(sorted({1, max(k for k in study.voting.K if k <= candidates)}))
    votes = tuple(vote for vote in study.voting.votes if vote in BY_DIFFICULTY)
    params = replace(study.voting, K=K, votes=votes)
    return canonical({"study": study.study, "bank": bank, "task": task, "voting": params})


def by_difficulty_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of that."""
    return "cvoting.strata_table", _task(study, bank)


def steps(study: Study, bank: str) -> str:
    """Compute the voting table of a bank at its listed steps: of all candidates that are read out there."""
    task, plan = study.datasets[study.banks[bank].dataset].task, study.banks[bank].plan()
    params = replace(study.voting, K=tuple(sorted({1, plan.candidates_read})))
    return canonical({"study": study.study, "bank": bank, "task": task, "read_at": plan.read_at, "voting": params})


def scaling(study: Study, bank: str) -> str:
    """Compute a bank's accuracy and its cost for every number of candidates at its listed steps."""
    block, run = study.banks[bank], study.runs[study.banks[bank].run]
    read, steps = block.plan().candidates_read, block.read_at
    trained = study.training_of(block.run).T_train
    return canonical({
        "study": study.study,
        "bank": bank,
        "task": study.datasets[block.dataset].task,
        "network": study.models[run.model].network,
        "read_at": steps,
        # What is gained over the steps of training, where more than these are listed.
        "from_step": trained if trained in steps[:-1] else steps[0],
        "voting": replace(study.voting, K=tuple(sorted({1, *(k for k in study.voting.K if k < read), read}))),
    })  # fmt: skip


def scaling_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a job that says what accuracy costs."""
    network = study.models[study.runs[study.banks[bank].run].model].network
    return "cvoting.scaling_table", f"cvoting.flops.{network.architecture}", _task(study, bank)


def voting_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a voting job, at the end or at listed steps."""
    return "cvoting.tables", _task(study, bank)


def adaptive(study: Study, bank: str) -> str:
    """Vote adaptively in a bank, beside the numbers of candidates that its voting table has."""
    block, voting = study.banks[bank], study.voting
    plan = study.adaptive.plan(study.study, block.candidates, voting.K, voting.subsets)
    return canonical({"bank": bank, "task": study.datasets[block.dataset].task, "plan": plan})


def adaptive_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a job that votes adaptively."""
    return "cvoting.adaptive_table", _task(study, bank)


def calibration(study: Study, bank: str) -> str:
    """Compare the confidence of a bank's kept predictions with their correctness."""
    block, params = study.banks[bank], study.calibration
    plan = CalibrationPlan(
        study=study.study, temperatures=params.temperatures, bins=params.bins, **gathered.intervals(study)
    )
    return canonical({"bank": bank, "task": study.datasets[block.dataset].task, "plan": plan})


def calibration_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a calibration job."""
    return "cvoting.calibration_tables", _task(study, bank)


def discrimination(study: Study, bank: str) -> str:
    """Say how well a bank's confidence tells right candidates from wrong ones."""
    block = study.banks[bank]
    plan = DiscriminationPlan(
        study=study.study, K=min(study.calibration.candidates, block.candidates), **gathered.intervals(study)
    )
    return canonical({"bank": bank, "task": study.datasets[block.dataset].task, "plan": plan})


def discrimination_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a discrimination job."""
    return "cvoting.discrimination_table", _task(study, bank)


def trajectories(study: Study, bank: str) -> str:
    """List the confidence of a few puzzles' candidates at every step that a bank was read out at."""
    block, params = study.banks[bank], study.calibration
    plan = TrajectoriesPlan(
        study=study.study,
        steps=block.read_at,
        puzzles=params.shown_puzzles,
        candidates=min(params.shown_candidates, block.plan().candidates_read),
    )
    return canonical({"bank": bank, "plan": plan})


def trajectories_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a job that lists trajectories."""
    return ("cvoting.trajectories",)


def solved_board(study: Study, bank: str) -> str:
    """List the candidates of one board that a bank solves, at every step that it was read out at."""
    block = study.banks[bank]
    plan = SolvedBoardPlan(study=study.study, steps=block.read_at, candidates=block.candidates_read)
    return canonical({"bank": bank, "task": study.datasets[block.dataset].task, "plan": plan})


def solved_board_modules(study: Study, bank: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a job that shows how a board is solved."""
    return ("cvoting.solved_board",)


def figure(study: Study, name: str) -> str:
    """Draw a figure."""
    about = {"study": study.study, "title": study.title, "paper_scale": study.paper_scale}
    return canonical({"figure": name, **about, "params": getattr(study.figures, name)})


def figure_modules(name: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a figure job."""
    return (f"cvoting.figures.{name}",)


def table(study: Study, name: str) -> str:
    """Make a table of the paper."""
    block = getattr(study.tables, name)
    about = {"table": name, "study": study.study, "title": study.title, "paper_scale": study.paper_scale}
    return canonical({**about, "params": block, **(_settings(study, block.run) if hasattr(block, "run") else {})})


def table_modules(name: str) -> tuple[str, ...]:
    """The modules whose import closure is the code of a table job."""
    return (f"cvoting.paper_tables.{name}",)


def summary(study: Study) -> str:
    """Say what a study says in few numbers, and in curves."""
    return canonical(gathered.summary(study))


def summary_modules() -> tuple[str, ...]:
    """The modules whose import closure is the code of the job that summarises a study."""
    return ("cvoting.summary",)


def claims(study: Study) -> str:
    """Judge the claims of the paper."""
    return canonical(gathered.claims(study))


def claims_modules() -> tuple[str, ...]:
    """The modules whose import closure is the code of the job that judges claims."""
    return ("cvoting.claims.table",)


def _about(study: Study, run: str, training_seed: int) -> dict[str, object]:
    """What a checkpoint is of."""
    block = study.runs[run]
    return {
        "run": run,
        "model": block.model,
        "dataset": block.dataset,
        "task": study.datasets[block.dataset].task,
        "network": study.models[block.model].network,
        "training_seed": training_seed,
    }


def _settings(study: Study, run: str) -> dict[str, object]:
    """The hyper-parameters of a run."""
    block = study.runs[run]
    return {
        "network": study.models[block.model].network,
        "training": study.training_of(run),
        "train_puzzles": study.datasets[block.dataset].source.splits.train,
    }


def _task(study: Study, bank: str) -> str:
    """The module of a bank's task."""
    return f"cvoting.tasks.{study.datasets[study.banks[bank].dataset].task.name}"


def _model_and_task(study: Study, run: str) -> tuple[str, str]:
    block = study.runs[run]
    network, task = study.models[block.model].network, study.datasets[block.dataset].task
    return f"cvoting.models.{network.architecture}", f"cvoting.tasks.{task.name}"
