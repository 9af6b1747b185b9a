"""Mistakes in params.yaml and in recipes."""

from error_bench import Bench, Case, collector

CASES: list[Case] = []
case = collector(CASES)
CHECK = "recipe data sudoku"


@case("A key that does not exist")
def unknown_key(bench: Bench) -> None:
    """A key of params.yaml is misspelt, here `bacth` for `batch`."""
    text = bench.path("params.yaml").read_text()
    bench.write("params.yaml", text.replace("      batch: 20", "      bacth: 20", 1))
    bench.cvoting(CHECK)


@case("A model and a task that do not exist", slow=True)
def unknown_model_and_task(bench: Bench) -> None:
    """Two names are misspelt; all problems are listed at once, with the choices."""
    bench.change("params.yaml", "resnet", "models", "akorn", "network", "architecture")
    bench.change("params.yaml", "chess", "datasets", "sudoku", "task", "name")
    bench.snakemake("--dry-run")


@case("K larger than the bank, a vote and a dataset that do not exist", slow=True)
def inconsistent(bench: Bench) -> None:
    """Blocks that are right by themselves, but do not fit together."""
    bench.change("params.yaml", [1, 16], "voting", "K")
    bench.change("params.yaml", ["confidence", "best"], "voting", "votes")
    bench.change("params.yaml", "sudoku_harder", "banks", "akorn-sudoku_hard", "dataset")
    bench.snakemake("--dry-run")


@case("A batch in more parts than puzzles")
def too_many_parts(bench: Bench) -> None:
    """To save memory a batch is to be computed in parts, of which some would be empty."""
    bench.change("params.yaml", 1000, "models", "akorn", "training", "accumulate")
    bench.cvoting(CHECK)


@case("A figure that does not exist")
def unknown_figure(bench: Bench) -> None:
    """params.yaml asks for a figure that there is not."""
    bench.change("params.yaml", {"banks": []}, "figures", "fig99")
    bench.cvoting(CHECK)


@case("A figure of votes that a bank cannot hold")
def votes_without_scores(bench: Bench) -> None:
    """A model without energies is to be shown by E-voting; a figure of steps names votes over answers."""
    bench.change("params.yaml", ["energy_sum"], "figures", "fig9_transformer_voting", "votes")
    bench.change("params.yaml", ["majority_cell"], "figures", "fig8_itrsa_test_time_scaling", "votes")
    bench.cvoting(CHECK)


@case("A figure of steps of a bank without them")
def figure_without_steps(bench: Bench) -> None:
    """Accuracy against steps is to be shown of a bank that is read out at its end only."""
    bench.change("params.yaml", ["akorn-maze_hard"], "figures", "fig8_itrsa_test_time_scaling", "banks")
    bench.cvoting(CHECK)


@case("A figure of confidence of a bank that does not keep what it shows")
def figure_without_logits(bench: Bench) -> None:
    """Banks keep no logits, are read out at no steps, have one candidate or no boards, or a temperature is missing."""
    for figure, bank in {
        "fig5_calibration": "akorn-sudoku_hard",
        "fig7_confidence_steps": "akorn-maze_hard",
        "extra_confidence_discrimination": "hrm_fixed-sudoku_hard",
        "extra_adaptive_voting": "hrm_fixed-maze_hard",
        "extra_solved_board": "itrsa-maze_hard",
    }.items():
        bench.change("params.yaml", [bank], "figures", figure, "banks")
    bench.change("params.yaml", [0.7], "figures", "fig5_calibration", "temperatures")
    bench.cvoting(CHECK)


@case("Temperatures without 1")
def no_temperature_of_1(bench: Bench) -> None:
    """The model's own probabilities are to be left out of the calibration."""
    bench.change("params.yaml", [0.5, 2.0], "calibration", "temperatures")
    bench.cvoting(CHECK)


@case("Numbers of candidates that adaptive voting cannot draw")
def undrawable(bench: Bench) -> None:
    """More candidates may be drawn than there are to draw from."""
    bench.change("params.yaml", 16, "adaptive", "K_max")
    bench.cvoting(CHECK)


@case("Steps and candidates beyond those of the bank")
def unreachable_steps(bench: Bench) -> None:
    """Candidates are to be read out after the last step, and more of them than there are, as with kept logits."""
    bench.change("params.yaml", 16, "banks", "itrsa-sudoku_hard", "logit_candidates")
    bench.change("params.yaml", [2, 8], "banks", "itrsa-sudoku_hard", "read_at")
    bench.change("params.yaml", 16, "banks", "itrsa-sudoku_hard", "read_candidates")
    bench.cvoting(CHECK)


@case("A table that does not fit the study")
def inconsistent_tables(bench: Bench) -> None:
    """Tables name a run and a bank that do not exist, and votes that they show are not among those of the study."""
    bench.change("params.yaml", {}, "figures")
    bench.change("params.yaml", ["log_probability", "random"], "voting", "votes")
    bench.change("params.yaml", ["akorn-sudoku_hard"], "tables", "extra_selection_rules", "banks")
    bench.change("params.yaml", "itrsa", "tables", "table1_itrsa", "run")
    bench.change("params.yaml", "itrsa_gelu", "tables", "table4_ablation", "ffn")
    bench.cvoting(CHECK)


@case("A number that YAML reads as text")
def text_for_number(bench: Bench) -> None:
    """YAML 1.1 takes 1e-3 for text."""
    bench.change("params.yaml", "1e-3", "models", "akorn", "training", "optimizer", "lr")
    bench.cvoting(CHECK)


@case("A study name that is no name")
def study_name(bench: Bench) -> None:
    """The name of the study becomes part of paths, so it may not hold any character."""
    bench.change("params.yaml", "my study/2", "study")
    bench.cvoting(CHECK)


@case("A key twice", slow=True)
def twice(bench: Bench) -> None:
    """A key stands in params.yaml twice: YAML takes the last one, and an edit of the first would change nothing."""
    bench.write("params.yaml", bench.path("params.yaml").read_text() + "threads: 2\n")
    bench.snakemake("--dry-run")


@case("A tab in params.yaml")
def tab(bench: Bench) -> None:
    """A line is indented with a tab."""
    text = bench.path("params.yaml").read_text()
    bench.write("params.yaml", text.replace("      channels: 32", "\tchannels: 32", 1))
    bench.cvoting(CHECK)


@case("A tab in params.yaml, seen by Snakemake", do="`python -m cvoting recipe data sudoku` names the line.", slow=True)
def tab_in_snakemake(bench: Bench) -> None:
    """The same, but Snakemake reads the file first."""
    text = bench.path("params.yaml").read_text()
    bench.write("params.yaml", text.replace("      channels: 32", "\tchannels: 32", 1))
    bench.snakemake("--dry-run")


@case("params.yaml is empty")
def empty(bench: Bench) -> None:
    """There is nothing in the file."""
    bench.write("params.yaml", "")
    bench.cvoting(CHECK)


@case("params.yaml is a list")
def a_list(bench: Bench) -> None:
    """The file is YAML, but no mapping."""
    bench.write("params.yaml", "- study: toy\n- title: toy study\n")
    bench.cvoting(CHECK)


@case("params.yaml is not UTF-8")
def not_utf8(bench: Bench) -> None:
    """An editor saved the file in another encoding."""
    bench.write("params.yaml", "title: étude\n".encode("latin-1"))
    bench.cvoting(CHECK)


@case("No params.yaml", do="run the command in the folder of the study, or name the file with `--configfile`.")
def missing(bench: Bench) -> None:
    """The command is run in another folder."""
    bench.path("params.yaml").unlink()
    bench.cvoting(CHECK)


@case(
    "No params.yaml, seen by Snakemake",
    do="run the command in the folder of the study, or name a file with `--configfile`.",
    slow=True,
)
def missing_in_snakemake(bench: Bench) -> None:
    """The command is run in another folder."""
    bench.path("params.yaml").unlink()
    bench.snakemake("--dry-run")


@case("A folder in place of params.yaml", do="name the file itself.")
def folder(bench: Bench) -> None:
    """A folder is named where a file is needed."""
    bench.cvoting(f"{CHECK} --configfile reference")


@case("A target of another study", slow=True, do="`snakemake --summary` lists the files of the study.")
def other_target(bench: Bench) -> None:
    """A file is asked for that the study does not make."""
    bench.snakemake("--dry-run results/toy/voting/other.csv")


@case("Released weights of an architecture that has none")
def nothing_released(bench: Bench) -> None:
    """An imported run is of a Transformer, whose released files nothing here can read."""
    block = {"file": "weights.pth", "sha256": "0" * 64, "format": "released"}
    bench.change("params.yaml", block, "runs", "transformer-sudoku", "imported")
    bench.cvoting(CHECK)


@case("Weights of an unstated checksum")
def checksum_unstated(bench: Bench) -> None:
    """The place of an imported file's checksum still holds what the example in docs/evaluate.md says there."""
    bench.change(
        "params.yaml", {"file": "released.pth", "sha256": "<64 hex digits>"}, "runs", "akorn-sudoku", "imported"
    )
    bench.cvoting(CHECK)


@case("Figures of a study other than params.yaml's", slow=True)
def figures_of_another_study(bench: Bench) -> None:
    """figures/ is the place of the study in params.yaml alone."""
    text = bench.path("params.yaml").read_text()
    bench.write("other.yaml", text.replace("study: toy", "study: other", 1))
    bench.snakemake("--dry-run figures/fig2_akorn_voting.pdf --configfile other.yaml")


@case("A damaged lock file of the provenance", slow=True)
def lock_file(bench: Bench) -> None:
    """A merge left its marks in provenance/<study>.lock.json, so what made the outputs cannot be known."""
    bench.write("provenance/toy.lock.json", "<<<<<<< HEAD\n{}\n")
    bench.snakemake("--dry-run")


@case("A recipe that is not JSON")
def recipe_not_json(bench: Bench) -> None:
    """The recipe is neither JSON nor the name of a file that holds it."""
    bench.cvoting("data sudoku.yaml --raw raw --out new")


@case("A recipe that is a list")
def recipe_list(bench: Bench) -> None:
    """JSON, but not an object."""
    bench.write("list.json", "[1]")
    bench.cvoting("data list.json --raw raw --out new")


@case("The recipe of another job")
def another_recipe(bench: Bench) -> None:
    """The recipe of a training is given to `voting`."""
    bench.cvoting("voting train.json shard0.parquet --out new.csv --paired new.paired.csv")


@case("A stage that does not exist")
def unknown_stage(bench: Bench) -> None:
    """The recipe of a stage is asked for that there is not."""
    bench.cvoting("recipe fit akorn-sudoku 0")


@case("A run that does not exist")
def unknown_run(bench: Bench) -> None:
    """The recipe of a run is asked for that params.yaml does not have."""
    bench.cvoting("recipe train akorn 0")


@case("A number too few")
def number_missing(bench: Bench) -> None:
    """A rollout job has an inference seed and a shard."""
    bench.cvoting("recipe rollouts akorn-sudoku_hard 0")


@case("No threads")
def no_threads(bench: Bench) -> None:
    """A job is to run on no thread."""
    bench.cvoting(
        "rollouts rollouts.json --checkpoint model.safetensors --puzzles data/sudoku_hard/test.npz "
        "--out new.parquet --partial partial --code 0 --threads 0"
    )
