"""Mistakes with checkpoints, rollouts, tables and figures."""

import shutil
from dataclasses import replace

from error_bench import FIGURE, ROLLOUTS, STEPS, SUMMARY, TABLE, TRAIN, VOTING, Bench, Case, collector

from cvoting.bank_file import read_banks, write_banks
from cvoting.checkpoint import load_tensors, save_tensors

CASES: list[Case] = []
case = collector(CASES)

PUBLISHED = "reference/published.csv"
CLAIMED = ("voting", "paired", "steps", "calibration", "discrimination", "trajectories")
ROLL = ROLLOUTS.replace("shard0", "new")
VOTE = VOTING.replace("table.csv", "new.csv").replace("paired.csv", "new.paired.csv")


def change_checkpoint(bench: Bench, rename: str = "", **about: object) -> None:
    """Another description in the checkpoint, or another name of its weights."""
    tensors, old = load_tensors(bench.path("model.safetensors"))
    new = {rename + name: tensor for name, tensor in tensors.items()}
    save_tensors(bench.path("model.safetensors"), new, old | about)


@case("A checkpoint that is not there")
def missing_checkpoint(bench: Bench) -> None:
    """Rollouts are asked for before the training."""
    bench.path("model.safetensors").unlink()
    bench.cvoting(ROLL)


@case("A damaged checkpoint")
def damaged_checkpoint(bench: Bench) -> None:
    """The file was cut off, for instance by a broken download."""
    bench.cut("model.safetensors", 5000)
    bench.cvoting(ROLL)


@case("A checkpoint of another version")
def another_version(bench: Bench) -> None:
    """The format of the file is not the one this version writes."""
    change_checkpoint(bench, format=0)
    bench.cvoting(ROLL)


@case("A checkpoint of another model")
def another_model(bench: Bench) -> None:
    """The weights do not fit the network that the checkpoint describes, for instance after an edit of the model."""
    network = load_tensors(bench.path("model.safetensors"))[1]["network"]
    change_checkpoint(bench, network=network | {"channels": 64})
    bench.cvoting(ROLL)


@case("A checkpoint of an unknown model")
def unknown_model(bench: Bench) -> None:
    """The checkpoint is of a model that this version does not have."""
    change_checkpoint(bench, network={"architecture": "resnet"})
    bench.cvoting(ROLL)


@case("A checkpoint of an unknown task")
def unknown_task(bench: Bench) -> None:
    """The checkpoint is of a task that this version does not have."""
    change_checkpoint(bench, task={"name": "chess"})
    bench.cvoting(ROLL)


@case("Weights of another program")
def foreign_weights(bench: Bench) -> None:
    """A safetensors file that cvoting did not write."""
    change_checkpoint(bench, rename="model.")
    bench.cvoting(ROLL)


@case("Puzzles the checkpoint was not trained for")
def puzzles_of_another_task(bench: Bench) -> None:
    """A checkpoint of 4x4 boards is to solve 9x9 boards."""
    bench.write("large.json", bench.path("sudoku_hard.json").read_bytes())
    bench.change("large.json", [3, 3], "task", "box")
    bench.change("large.json", [60, 70], "source", "givens")
    bench.change("large.json", {"test": 2}, "source", "splits")
    bench.cvoting("data large.json --raw raw --out large")
    bench.cvoting(ROLL.replace("data/sudoku_hard", "large"))


@case("The damaged state of an interrupted training", kept="everything else; the training starts anew.")
def damaged_state(bench: Bench) -> None:
    """The file from which an interrupted training would go on was cut off."""
    failed = TRAIN.replace("--out model.safetensors", "--out params.yaml/model.safetensors")
    bench.cvoting(failed)  # leaves the state
    [state] = bench.path("partial").glob("*.safetensors")
    state.rename(bench.path("partial/state.safetensors"))  # a name that does not depend on the code
    bench.cut("partial/state.safetensors", 5000)
    state.symlink_to("state.safetensors")
    bench.cvoting(TRAIN.replace("model.", "new."))
    bench.text = bench.text.replace(state.name, "<key of the training>.safetensors")


@case("More shards than puzzles")
def many_shards(bench: Bench) -> None:
    """A shard of the bank would hold no puzzle."""
    bench.change("rollouts.json", 24, "plan", "chunk")
    bench.change("rollouts.json", 99, "plan", "shards")
    bench.cvoting(ROLL)


@case("Rollouts that are not there")
def missing_bank(bench: Bench) -> None:
    """A shard was not rolled out."""
    bench.path("shard1.parquet").unlink()
    bench.cvoting(VOTE)


@case("A damaged rollout file")
def damaged_bank(bench: Bench) -> None:
    """The file was cut off; a changed bit inside is noticed too, every page has a checksum."""
    bench.cut("shard1.parquet")
    bench.cvoting(VOTE)


@case("A file that holds no rollouts")
def no_bank(bench: Bench) -> None:
    """A Parquet file of something else."""
    import pandas as pd

    pd.DataFrame({"a": [1]}).to_parquet(bench.path("shard1.parquet"))
    bench.cvoting(VOTE)


@case("A shard of another bank")
def another_bank(bench: Bench) -> None:
    """Rollouts on another dataset are among the files."""
    shutil.copyfile(bench.path("data/sudoku/validation.npz"), bench.path("data/sudoku_hard/test.npz"))
    bench.change("shard1.json", "sudoku", "dataset")
    bench.cvoting(ROLLOUTS.replace("rollouts.json", "shard1.json").replace("shard0", "shard1"))
    bench.cvoting(VOTE)


@case("A shard that was left out")
def shard_left_out(bench: Bench) -> None:
    """Only one of the two files is given."""
    bench.cvoting(VOTE.replace(" shard1.parquet", ""))


@case("A shard twice")
def shard_twice(bench: Bench) -> None:
    """A file is given twice."""
    bench.cvoting(VOTE.replace("shard1.parquet", "shard1.parquet shard0.parquet"))


@case("K larger than the bank")
def large_K(bench: Bench) -> None:
    """More candidates are to vote than were rolled out."""
    bench.change("voting.json", [1, 16], "voting", "K")
    bench.cvoting(VOTE)


@case("A step that was not read out")
def unread_step(bench: Bench) -> None:
    """Votes are to be held at a step at which the bank was not read out."""
    bench.change("steps.json", [2, 3], "read_at")
    bench.cvoting(STEPS.replace("steps.csv", "new.csv"))


@case("Results by difficulty with the strata of other puzzles")
def other_strata(bench: Bench) -> None:
    """The table of difficulty is that of another dataset."""
    bench.write("strata.csv", "puzzle,measure,value,stratum\n0123456789abcdef,givens,6,6\n")
    bench.cvoting("by-difficulty by_difficulty.json --strata strata.csv shard0.parquet shard1.parquet --out new.csv")


@case("Adaptive voting in a bank of too few candidates")
def few_to_draw(bench: Bench) -> None:
    """The recipe draws from more candidates than were rolled out."""
    bench.change("adaptive.json", 16, "plan", "candidates")
    bench.cvoting("adaptive adaptive.json shard0.parquet shard1.parquet --out new.csv")


@case("Calibration of rollouts that keep no logits")
def no_logits(bench: Bench) -> None:
    """The rollouts are of a bank without `logit_candidates`."""
    bench.cvoting(
        "calibration calibration.json shard0.parquet shard1.parquet "
        "--out new.csv --reliability new.reliability.csv --risk new.risk.csv"
    )


@case("Training seeds with different puzzles")
def different_puzzles(bench: Bench) -> None:
    """The files of two training seeds are given, and the second was rolled out on other puzzles."""
    for number in (0, 1):
        (bank,) = read_banks(bench.path(f"shard{number}.parquet"))
        header = replace(bank.header, training_seed=number, shards=1, shard=0)
        write_banks(bench.path(f"seed{number}.parquet"), [replace(bank, header=header)])
    bench.cvoting("discrimination discrimination.json seed0.parquet seed1.parquet --out new.csv")


@case("Trajectories of rollouts that were not read out")
def no_trajectories(bench: Bench) -> None:
    """The rollouts were read out at fewer steps than the recipe lists."""
    bench.cvoting("trajectories trajectories.json shard0.parquet shard1.parquet --out new.csv")


@case("Trajectories of more candidates than were read out")
def few_trajectories(bench: Bench) -> None:
    """The recipe lists more candidates than the bank has."""
    bench.change("trajectories.json", [2, 4], "plan", "steps")
    bench.change("trajectories.json", 16, "plan", "candidates")
    bench.cvoting("trajectories trajectories.json shard0.parquet shard1.parquet --out new.csv")


@case("What made a file that no rule has made")
def unknown_origin(bench: Bench) -> None:
    """The file is not an output of a study, or the study was never run here."""
    bench.cvoting("provenance reference/published.csv")


@case("A vote that does not exist")
def unknown_vote(bench: Bench) -> None:
    """A vote is misspelt in the recipe."""
    bench.change("voting.json", ["confidence", "best"], "voting", "votes")
    bench.cvoting(VOTE)


@case("A figure that does not exist, in a recipe")
def unknown_figure(bench: Bench) -> None:
    """A figure is misspelt in the recipe."""
    bench.change("figure.json", "fig99", "figure")
    bench.cvoting(FIGURE)


@case("A voting table that was cut off")
def cut_table(bench: Bench) -> None:
    """The table ends in the middle of a row: the figure would lack points."""
    bench.cut("table.csv")
    bench.cvoting(FIGURE)


@case("A file that is no voting table")
def no_table(bench: Bench) -> None:
    """Another CSV file is given."""
    bench.cvoting(FIGURE.replace("table.csv", "model.csv"))


@case("A paired comparison in place of a voting table")
def paired_table(bench: Bench) -> None:
    """The wrong one of the two tables of a bank is given."""
    bench.cvoting(FIGURE.replace("table.csv table.csv", "table.csv paired.csv"))


@case("A table too few")
def table_missing(bench: Bench) -> None:
    """The figure has two panels, and one table is given."""
    bench.cvoting(FIGURE.replace("table.csv table.csv", "table.csv"))


@case("A training log that was cut off")
def cut_log(bench: Bench) -> None:
    """The log ends in the middle of a number: the summary of the study would have a wrong one."""
    bench.cut("model.csv", -10)
    bench.cvoting(SUMMARY)


@case("Published numbers that cannot be read")
def no_published(bench: Bench) -> None:
    """The file of published numbers is empty."""
    bench.write("reference/published.csv", "")
    bench.cvoting(FIGURE)


@case("A table of another model's parameters")
def parameters_of_another_model(bench: Bench) -> None:
    """The table of ItrSA++ names a run of AKOrN."""
    bench.change("table.json", "table1_itrsa", "table")
    bench.cvoting(TABLE)


@case("The paper's hyper-parameters cannot be read")
def no_hyperparameters(bench: Bench) -> None:
    """A value in the file of the paper's hyper-parameters is not JSON."""
    text = bench.path("reference/hyperparameters.csv").read_text()
    bench.write("reference/hyperparameters.csv", text.replace(",512,", ",five hundred,"))
    bench.cvoting(TABLE)


@case("Claims without the tables that they are judged by")
def claims_without_tables(bench: Bench) -> None:
    """The checkpoints, whose parameters are counted, and the tables are left out."""
    bench.cvoting(f"claims claims.json --published {PUBLISHED} --field reference/field.csv --out-dir claims")


@case("Parameters of a file that is no checkpoint")
def no_counted_checkpoint(bench: Bench) -> None:
    """Tables are given in place of the checkpoints."""
    bench.change("claims.json", {"akorn": ["akorn-sudoku", 0]}, "counted")
    bench.cvoting(
        f"claims claims.json --published {PUBLISHED} --field reference/field.csv --out-dir claims "
        "--checkpoints table.csv"
    )


@case("A damaged list of the field")
def damaged_field(bench: Bench) -> None:
    """A number does not say whether it is known first or second hand."""
    field = bench.path("reference/field.csv")
    bench.write("reference/field.csv", field.read_text().replace(",read\n", ",\n", 1))
    bench.change("claims.json", {}, "counted")
    bench.change("claims.json", {kind: [] for kind in CLAIMED}, "tables")
    bench.cvoting(f"claims claims.json --published {PUBLISHED} --field reference/field.csv --out-dir claims")


@case("README's table of another file than one of claims")
def no_claims(bench: Bench) -> None:
    """The file that README's table is made from is another table."""
    bench.cvoting("headline --claims table.csv --file page.md")


@case("No benchmark files of a study")
def no_benchmarks(bench: Bench) -> None:
    """Measured hours are asked for, and the study was not made here."""
    bench.cvoting("estimate --benchmarks absent")


@case("A damaged benchmark file")
def damaged_benchmark(bench: Bench) -> None:
    """Snakemake was killed while it wrote what a job took."""
    bench.write("measured/train/akorn-sudoku/seed0.tsv", "s\th:m:s\n")
    bench.cvoting("estimate --benchmarks measured")


@case("The page about costs without what jobs took")
def no_record(bench: Bench) -> None:
    """The file of what the jobs of the laptop study took is another."""
    bench.write("kept/laptop/jobs.json", bench.path("table.csv").read_text())
    bench.cvoting("cost --records kept")


@case("The page about costs with measured jobs and no rate")
def no_rate(bench: Bench) -> None:
    """What to expect of the machine is left out, and with it what the measured times are compared with."""
    bench.cvoting("cost --benchmarks measured")
