"""The code a rule tracks is the code its job runs."""

from pathlib import Path

import pytest
import yaml
from loaded_modules import PASSING_ON, children

from cvoting import gathered, recipes
from cvoting.codehash import import_closure
from cvoting.params.core import build
from cvoting.params.study import Study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
#: What names the parts that a verb chooses from.
REGISTRIES = {
    "data": ["cvoting.data.registry"],
    "strata": ["cvoting.data.audit_registry", "cvoting.tasks.registry"],
    "audit": ["cvoting.data.audit_registry", "cvoting.tasks.registry"],
    "train": ["cvoting.models.registry", "cvoting.tasks.registry", "cvoting.training.objective_registry"],
    "rollouts": ["cvoting.models.registry", "cvoting.tasks.registry"],
    "voting": ["cvoting.tasks.registry"],
    "steps": ["cvoting.tasks.registry"],
    "by_difficulty": ["cvoting.tasks.registry"],
    "adaptive": ["cvoting.tasks.registry"],
    "scaling": ["cvoting.flops.registry", "cvoting.tasks.registry"],
    "calibration": ["cvoting.tasks.registry"],
    "discrimination": ["cvoting.tasks.registry"],
    "trajectories": [],
    "solved_board": [],
    "figure": ["cvoting.figures.registry"],
    "table": ["cvoting.paper_tables.registry"],
    "claims": ["cvoting.params.imported"],
    "summary": ["cvoting.params.imported"],  # the command line names its formats; no parameters are read
}
STUDY = build(Study, yaml.safe_load((ROOT / "params/toy.yaml").read_text()))
#: The tables of confidence that a summary is made of.
CONFIDENCE = ("calibration", "discrimination")
#: A job for each task, architecture and kind of input, and every figure and table.
JOBS = [
    *(("data", dataset) for dataset in ("sudoku", "maze_hard")),
    *(("strata", dataset) for dataset in ("sudoku_hard", "maze_hard")),
    *(("audit", dataset) for dataset in ("sudoku", "maze_hard")),
    *(("train", run) for run in ("akorn-sudoku", "hrm-sudoku", "itrsa-maze_hard", "transformer-sudoku")),
    *(
        ("rollouts", bank)
        for bank in ("akorn-maze_hard", "hrm-sudoku_hard", "itrsa-sudoku_hard", "transformer-sudoku_hard")
    ),
    *(("voting", bank) for bank in ("akorn-sudoku_hard", "akorn-maze_hard")),
    *(("by_difficulty", bank) for bank in ("akorn-sudoku_hard", "akorn-maze_hard")),
    *(("scaling", bank) for bank in ("itrsa-sudoku_hard", "itrsa-maze_hard")),
    *(("steps", bank) for bank in ("itrsa-sudoku_hard", "itrsa-maze_hard")),
    *(("adaptive", bank) for bank in ("akorn-sudoku_hard", "akorn-maze_hard")),
    *((kind, bank) for kind in ("calibration", "discrimination") for bank in ("itrsa-sudoku_hard", "itrsa-maze_hard")),
    ("trajectories", "itrsa-maze_hard"),
    ("solved_board", "itrsa-sudoku_hard"),
    *(("figure", figure) for figure in STUDY.figures),
    *(("table", table) for table in STUDY.tables),
    ("summary", STUDY.study),
    ("claims", STUDY.study),
]


def arguments(folder: Path, verb: str, name: str, out: Path) -> list[str]:
    """What a job of the toy study is told after its recipe, as its rule tells it."""
    data, results = folder / "data/toy", folder / "results/toy"
    resumable = [f"--partial={out}", "--code=x", "--threads=1"]
    match verb:
        case "data":
            return ["--raw=raw", f"--out={out}"]
        case "strata":
            return [f"--out={out}/s", str(data / name / "test.npz")]
        case "train":
            puzzles = data / STUDY.runs[name].dataset
            inputs = [f"--{split}={puzzles}/{split}.npz" for split in ("train", "validation")]
            return [*inputs, f"--out={out}/c", f"--curves={out}/l", *resumable]
        case "rollouts":
            bank = STUDY.banks[name]
            checkpoint = results / f"checkpoints/{bank.run}/seed0.safetensors"
            puzzles = data / f"{bank.dataset}/{bank.split}.npz"
            return [f"--checkpoint={checkpoint}", f"--puzzles={puzzles}", f"--out={out}/r", *resumable]
        case "voting":
            shards = map(str, sorted((results / f"rollouts/{name}").rglob("*.parquet")))
            return [f"--out={out}/v", f"--paired={out}/p", *shards]
        case "by_difficulty":
            shards = map(str, sorted((results / f"rollouts/{name}").rglob("*.parquet")))
            return [f"--strata={results}/strata/{STUDY.banks[name].dataset}.csv", f"--out={out}/d", *shards]
        case "steps" | "scaling" | "adaptive" | "calibration" | "discrimination" | "trajectories" | "solved_board":
            shards = map(str, sorted((results / f"rollouts/{name}/train0-infer0").glob("*.parquet")))
            others = [f"--reliability={out}/b", f"--risk={out}/r"] if verb == "calibration" else []
            return [f"--out={out}/a", *others, *shards]
        case "figure":
            figure = getattr(STUDY.figures, name)
            of_votes = ("strata", "steps", "scaling", "adaptive")
            files = {"voting": "voting/{}.csv"} | {kind: f"voting/{{}}.{kind}.csv" for kind in of_votes}
            patterns = [files.get(kind, f"calibration/{{}}.{kind}.csv") for kind in figure.tables]
            tables = [str(results / pattern.format(bank)) for pattern in patterns for bank in figure.banks]
            return [f"--published={ROOT}/reference/published.csv", f"--out-dir={out}", *tables]
        case "table":
            table = getattr(STUDY.tables, name)
            suffixes = ["" if kind == "voting" else f".{kind}" for kind in table.tables]
            voting = [str(results / f"voting/{bank}{suffix}.csv") for suffix in suffixes for bank in table.banks]
            return [f"--published={ROOT / table.published}", f"--out-dir={out}", "--voting", *voting]
        case "summary":
            of = gathered.summary(STUDY)
            files = {kind: [f"calibration/{bank}.{kind}.csv" for bank in of[kind]] for kind in CONFIDENCE}
            files["voting"] = [f"voting/{bank}.csv" for bank in of["voting"]]
            files["training"] = [f"checkpoints/{run}/seed{seed}.log.csv" for run, seed in of["training"]]
            words = [(f"--{kind}", *(str(results / name) for name in names)) for kind, names in files.items()]
            return [f"--out-dir={out}", *(word for option in words for word in option)]
        case "claims":
            of, files = gathered.claims(STUDY), {"paired": "voting/{}.paired.csv", "steps": "voting/{}.steps.csv"}
            words = [
                "--checkpoints",
                *(f"{results}/checkpoints/{r}/seed{s}.safetensors" for r, s in of["counted"].values()),
            ]
            for kind, banks in of["tables"].items():
                pattern = "voting/{}.csv" if kind == "voting" else files.get(kind, f"calibration/{{}}.{kind}.csv")
                words += [f"--{kind}", *(str(results / pattern.format(bank)) for bank in banks)]
            references = [f"--{name}={ROOT}/reference/{name}.csv" for name in ("published", "field")]
            return [f"--out-dir={out}", *references, *words]
    raise AssertionError(verb)


def command(folder: Path, verb: str, name: str, out: Path) -> list[str]:
    """The words of a job's command after the verb."""
    if verb == "audit":  # takes files and a task in place of a recipe
        files = map(str, sorted((folder / f"data/toy/{name}").glob("*.npz")))
        return [*files, f"--task={recipes.audit(STUDY, name)}", f"--json={out}/a"]
    of = {"train": (name, 0), "rollouts": (name, 0, 0), "summary": (), "claims": ()}.get(verb, (name,))
    return [getattr(recipes, verb)(STUDY, *of), *arguments(folder, verb, name, out)]


def modules(verb: str, name: str) -> tuple[str, ...]:
    """The modules whose closure the job's rule tracks."""
    if verb in ("figure", "table"):
        return getattr(recipes, f"{verb}_modules")(name)
    if verb in ("summary", "claims"):
        return getattr(recipes, f"{verb}_modules")()
    return getattr(recipes, f"{'voting' if verb == 'steps' else verb}_modules")(STUDY, name)


def test_every_kind_of_job_is_tried() -> None:
    kinds = {name.removesuffix("_modules") for name in vars(recipes) if name.endswith("_modules")}
    tried_elsewhere = {"import_run"}  # in test_imported_run: the toy study has no file of weights
    assert {verb for verb, _ in JOBS} == REGISTRIES.keys() == {*kinds, "steps"} - tried_elsewhere


@pytest.fixture(scope="module")
def loaded_by():
    """Runs a command, and says which of our modules it loaded."""
    with children() as run:
        yield run


@pytest.mark.parametrize(("verb", "name"), JOBS)
def test_every_module_a_job_runs_is_in_the_closure_its_rule_tracks(built, loaded_by, tmp_path, verb, name):
    loaded = loaded_by([verb.replace("_", "-"), *command(built.folder, verb, name, tmp_path)]) - {*PASSING_ON}
    closure = import_closure(ROOT / "src", modules(verb, name))
    # A registry names everything of its kind; what was not asked for ran nothing.
    unused = import_closure(ROOT / "src", REGISTRIES[verb]) - closure
    assert loaded - unused <= closure
    assert closure <= loaded
