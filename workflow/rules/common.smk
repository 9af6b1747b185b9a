# The study, and the paths of everything made from it.
#
# REQUIRED INPUTS: config (a whole study, see workflow/schemas/params.schema.yaml), src/
# OUTPUTS:         study, S, the path patterns, counts (of networks), OUTPUTS, and the functions below
import os
import sys
from functools import cache, partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

SRC = str(Path(workflow.basedir) / "src")
sys.path.insert(0, SRC)

from cvoting import gathered, recipes
from cvoting.codehash import code_hash
from cvoting.errors import CvotingError
from cvoting.estimate_jobs import Counts
from cvoting.flops.registry import network_flops
from cvoting.memory.registry import network_memory
from cvoting.params.reading import merged_study, read_parameters

try:
    study = merged_study(config, workflow.configfiles)
except CvotingError as error:
    raise WorkflowError(str(error))

# Jobs run this interpreter and this package.  Mirrors and processes are no arguments: no file is another one for them.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    PYTHONPATH=SRC,
    CVOTING_PROCESSES=str(max(1, study.gpus)),
    CVOTING_MIRROR=os.pathsep.join([*study.mirrors, os.environ.get("CVOTING_MIRROR", "")]),
)
# Where SIGTERM goes to every process of a job, a training saves its state: its shell and tee wait for it.
shell.prefix("set -euo pipefail; trap '' TERM; ")

S, RAW, COPY = study.study, "data/raw", "figures/{figure}.{format}"
PUZZLES, SEED = f"data/{S}/{{dataset}}/{{split}}.npz", f"results/{S}/checkpoints/{{run}}/seed{{training_seed}}"
AUDIT, STRATA = (f"results/{S}/{kind}/{{dataset}}.{{format}}" for kind in ("audit", "strata"))
CHECKPOINT, TRAINING_LOG = f"{SEED}.safetensors", f"{SEED}.log.csv"
SHARD = f"results/{S}/rollouts/{{bank}}/train{{training_seed}}-infer{{inference_seed}}/shard{{shard}}.parquet"
VOTING, VOTES = f"results/{S}/voting/{{bank}}.csv", ("steps", "scaling", "adaptive")
CONFIDENCE = ("calibration", "reliability", "risk", "discrimination", "trajectories", "solved_board")
OF_BANK = {"voting": VOTING} | {k: f"results/{S}/voting/{{bank}}.{k}.csv" for k in ("paired", "strata", *VOTES)}
OF_BANK |= {k: f"results/{S}/calibration/{{bank}}.{k}.csv" for k in CONFIDENCE}
FIGURE, TABLE = (f"results/{S}/{kind}s/{{{kind}}}.{{format}}" for kind in ("figure", "table"))
PARTIAL, METRICS, CURVES = (f"results/{S}/{name}" for name in (".partial", "metrics.json", "plots/{curves}.csv"))
LOG, BENCHMARK, ENVIRONMENT = f"logs/{S}", f"benchmarks/{S}", "../../environment.yml"
code = cache(partial(code_hash, SRC))
counts = Counts(network_flops, partial(network_memory, device="gpu" if study.gpus else "cpu"))


def choices(values):
    """A regular expression that matches these values and nothing else."""
    return "|".join(sorted({str(value) for value in values})) or "(?!)"


wildcard_constraints:
    run=choices(study.runs),
    training_seed=choices(seed for run in study.runs.values() for seed in run.training_seeds),
    bank=choices(study.banks),
    inference_seed=choices(seed for bank in study.banks.values() for seed in bank.inference_seeds),
    shard=choices(shard for bank in study.banks.values() for shard in range(bank.shards)),
    figure=choices(study.figures),
    table=choices(study.tables),
    format=choices(["pdf", "png", "csv", "md", "tex"]),


def puzzles(dataset):
    """The files of a dataset."""
    return collect(PUZZLES, dataset=dataset, split=study.datasets[dataset].source.splits.names)


def trainings(run):
    """The files of a run's trainings; an imported one has no log."""
    files = [CHECKPOINT] + [TRAINING_LOG] * (not study.runs[run].imported)
    return collect(files, run=run, training_seed=study.runs[run].training_seeds)


def banks_with(table):
    """The banks of which tables of a kind are made."""
    return [bank for bank in study.banks if table in study.tables_of(bank)]


def shards(bank, first=()):
    """The files of a bank: for each training seed, each inference seed, each shard; of some, the first seed only."""
    block = study.banks[bank]
    seeds = {"training_seed": study.runs[block.run].training_seeds, "inference_seed": block.inference_seeds}
    seeds |= {kind: seeds[kind][:1] for kind in first}
    return collect(SHARD, bank=bank, **seeds, shard=range(block.shards))


# figures/ is the place of the study in params.yaml only.
OWN = Path("params.yaml").exists() and read_parameters(Path("params.yaml")).get("study") == S
COPIES = collect(COPY, figure=study.figures, format=["pdf", "png"]) if OWN else []


def figures_to_copy(w):
    """The files that figures/ has copies of; asked for another study's, say where those are."""
    if not OWN:
        there = f"ask for results/{S}/figures/{w.figure}.pdf, or leave out --configfile"
        raise WorkflowError(f"figures/ is of the study in params.yaml, and this is the study {S!r}: {there}")
    return collect(FIGURE, figure=w.figure, format=["pdf", "png"])


OUTPUTS = {
    "data": [file for dataset in study.datasets for file in puzzles(dataset)],
    "audit": collect(AUDIT, dataset=study.datasets, format=["csv", "json"]),
    "strata": collect(STRATA, dataset=recipes.tested(study), format="csv"),
    "train": [file for run in study.runs for file in trainings(run)],
    "rollouts": [file for bank in study.banks for file in shards(bank)],
    "voting": collect([VOTING, OF_BANK["paired"], OF_BANK["strata"]], bank=study.banks)
    + [file for kind in VOTES for file in collect(OF_BANK[kind], bank=banks_with(kind))],
    "calibration": [file for kind in CONFIDENCE for file in collect(OF_BANK[kind], bank=banks_with(kind))],
    "figures": collect(FIGURE, figure=study.figures, format=["pdf", "png", "csv"]) + COPIES,
    "tables": collect(TABLE, table=study.tables, format=["csv", "md", "tex"]),
    "summary": [METRICS, *collect(CURVES, curves=["training", "voting", "calibration"])],
    "claims": collect(f"results/{S}/claims.{{format}}", format=["csv", "md"]),
}
