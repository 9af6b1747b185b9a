"""Clones, DVC and git: what is known of files that were made elsewhere or at another time."""

import re

from rerun_parameters import AKORN_BANKS
from rerun_rows import IDLE, TOY, Row, assert_clean, assert_jobs, collector
from rerun_site import Site

from cvoting.params.study import STAGES

ROWS: list[Row] = []
row = collector(ROWS)
FIGURE = "results/toy/figures/fig2_akorn_voting.pdf"
TRAINING = "models.akorn_n2.training.optimizer.lr=0.02"


def linked_clone(link: str) -> None:
    """A row: a clone whose files DVC links to its cache in some way."""

    @row(
        f"a clone, everything pulled, `cache.type {link}`",
        f"git clone …\ndvc config --local cache.type {link}\ndvc pull\nsnakemake -n\ndvc status",
        "nothing to be done",
    )
    def clone(site: Site) -> str:
        clone = site.clone(link=link)
        assert clone.outputs() == site.built.outputs()
        return assert_clean(clone)


for link in ("copy", "hardlink", "symlink"):
    linked_clone(link)


@row("a run, then DVC", "snakemake\ndvc repro", "DVC runs its stages, and none of them a job")
def snakemake_then_dvc(site: Site) -> str:
    """As the study was built: no file was written by `dvc repro`."""
    clean = assert_clean(site.built)
    stages = re.findall(r"Running stage '(\w+)'", site.first_repro)
    assert stages == list(STAGES)
    return f"{len(stages)} stages, {clean}"


@row(
    "another width of one model, run by DVC; then back to the earlier commit, and forth",
    "edit models.akorn_n2.network.channels\ndvc repro\nsnakemake\ngit commit -a\n"
    "git checkout v1 && dvc checkout\ngit checkout - && dvc checkout",
    "only that model's trainings and what follows; clean at either commit",
)
def repro_and_checkout(site: Site) -> str:
    """DVC runs it, so that Snakemake finds nothing to do afterwards."""
    clone = site.clone()
    first = clone.outputs()
    clone.edit_params(16, "models", "akorn_n2", "network", "channels")
    planned = clone.plan()
    clone.dvc("repro", "--quiet")
    assert "Nothing to be done" in clone.snakemake()
    second = clone.outputs()
    changed = {name for name, digest in second.items() if first[name] != digest}
    assert {name.split("/")[3] for name in changed if "/checkpoints/" in name} == {"akorn_n2-sudoku"}
    clone.git("commit", "--quiet", "--all", "--message", "v2")
    for commit, outputs in (("v1", first), ("-", second)):
        clone.git("checkout", "--quiet", commit)
        clone.dvc("checkout", "--quiet")
        assert clone.outputs() == outputs
        assert_clean(clone)
    runs = TOY.runs_of("akorn_n2")
    banks = TOY.banks_of(runs)
    expected = [*TOY.training(runs), *TOY.rollouts(banks), *TOY.from_banks(banks), *TOY.tables([], runs)]
    return f"{assert_jobs(planned, expected)}; afterwards {IDLE} at either commit"


@row("one parameter, by DVC", "dvc exp run -S voting.level=0.9", "only the jobs concerned; both clean afterwards")
def experiment(site: Site) -> str:
    """In the working directory."""
    clone = site.clone()
    before = clone.times()
    said = clone.dvc("exp", "run", "--set-param", "voting.level=0.9")
    stages = re.findall(r"Running stage '(\w+)'", said)
    assert stages == ["voting", "figures"]
    written = {
        name.split("/")[2]
        for name, time in clone.times().items()
        if before[name] != time and name.startswith("results/")
    }
    assert written == {"voting", "figures", "tables", "plots"}
    assert "Nothing to be done" in clone.snakemake("--dry-run")
    assert clone.dvc("status").strip() == "Data and pipelines are up to date."
    return f"{len(stages)} stages, which write voting tables, figures, tables of the paper and the summary; then {IDLE}"


@row(
    "the same of a training, in a folder of its own; then its results here",
    f"dvc exp run --temp -S {TRAINING} --name faster\ndvc exp apply faster\nsnakemake -n",
    "only the jobs concerned; nothing here changes before it is applied, and nothing is to be done after",
)
def experiment_elsewhere(site: Site) -> str:
    """The lock file comes and goes with the experiment's commit."""
    clone = site.clone()
    before = clone.outputs()
    said = clone.dvc("exp", "run", "--temp", "--set-param", TRAINING, "--name", "faster")
    stages = re.findall(r"Running stage '(\w+)'", said)
    assert stages == ["train", "rollouts", "voting", "calibration", "figures"]
    assert clone.outputs() == before
    assert_clean(clone)
    clone.dvc("exp", "apply", "faster")
    after = clone.outputs()
    changed = {name for name, digest in after.items() if before[name] != digest}
    assert {name.split("/")[3] for name in changed if "/checkpoints/" in name} == {"akorn_n2-sudoku"}
    assert "Nothing to be done" in clone.snakemake("--dry-run")
    return f"{len(stages)} stages, of the checkpoints only akorn_n2-sudoku is another; then {IDLE}"


@row(
    "only one figure pulled, then an edit of what it is made from",
    f"git clone …\ndvc pull {FIGURE}\nsnakemake -n {FIGURE}\nedit voting.level\nsnakemake -n {FIGURE}",
    "nothing to be done; after the edit it is to be drawn anew",
)
def one_figure(site: Site) -> str:
    """What is not here is known from the lock file."""
    clone = site.clone(FIGURE)
    assert [name for name in clone.outputs() if name.startswith("results/")] == [FIGURE]
    assert clone.plan(FIGURE) == []
    clone.edit_params(0.9, "voting", "level")
    assert "drawing fig2_akorn_voting" in clone.plan(FIGURE)
    return f"{IDLE}; after the edit the figure, and all that is missing for it"


@row(
    "older checkpoints beside newer rollouts",
    "edit models.akorn.training.optimizer.lr\nsnakemake stage_rollouts\ngit checkout v1 -- .\n"
    "dvc checkout results/toy/checkpoints\nsnakemake -n",
    "the rollouts and what follows, although their times are right",
)
def older_beside_newer(site: Site) -> str:
    """Contents are compared, not times."""
    clone = site.clone()
    clone.edit_params(0.004, "models", "akorn", "training", "optimizer", "lr")
    clone.snakemake("stage_rollouts")
    clone.git("checkout", "--quiet", "v1", "--", ".")
    clone.dvc("checkout", "--quiet", "--force", "results/toy/checkpoints")
    return assert_jobs(clone.plan(), [*TOY.rollouts(AKORN_BANKS), *TOY.from_banks(AKORN_BANKS)])


@row(
    "an unpacked archive, without git",
    "dvc config --local core.no_scm true\ndvc pull\nsnakemake -n\ndvc status",
    "nothing to be done",
)
def without_git(site: Site) -> str:
    """As with a release's tarball."""
    unpacked = site.built.unpack(site.new_folder())
    unpacked.dvc("config", "--local", "core.no_scm", "true")
    unpacked.dvc("pull", "--quiet")
    assert "Nothing to be done" in unpacked.snakemake("--dry-run")
    assert unpacked.dvc("status").strip() == "Data and pipelines are up to date."
    return f"{IDLE}, `dvc status` clean"


@row(
    "all that is made of rollouts, in a clone",
    "git clone …\ndvc pull\nmake figures",
    "every table and figure again, the same bytes, without a training or a rollout",
)
def figures_again(site: Site) -> str:
    """Puzzles and all that is to be made are not even here."""
    clone = site.clone("results/toy/rollouts", "results/toy/strata", "results/toy/checkpoints")
    said = clone.command("make", "--assume-old=.venv/ready", "figures")  # the environment is the one that runs this
    expected = {n: d for n, d in site.built.outputs().items() if not re.match(r"data/|results/toy/audit/", n)}
    others = {name for name, _ in clone.outputs().items() ^ expected.items()}
    assert not others, f"not as it was: {sorted(others)}"
    return assert_jobs(clone.jobs(said), {*TOY.from_banks(), *TOY.tables()})
