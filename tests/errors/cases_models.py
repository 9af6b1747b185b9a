"""Mistakes with weights of released code, with puzzles to solve, and with models of a fixed start."""

import os
import re

import torch
from error_bench import IMPORT, IMPORT_HRM, ROLLOUTS, SOLVE, Bench, Case, collector

from cvoting.checkpoint import load_tensors, save_tensors

CASES: list[Case] = []
case = collector(CASES)

PUZZLE = "solve --checkpoint model.safetensors --threads 1 --puzzle"


class Harmful:
    """What runs a command when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def change_weights(bench: Bench, file: str = "released.pth", **changes: torch.Tensor | None) -> None:
    """Other weights in the released file; None leaves one out."""
    weights = torch.load(bench.path(file), weights_only=True) | changes
    torch.save({name: weight for name, weight in weights.items() if weight is not None}, bench.path(file))


def fix_start(bench: Bench) -> None:
    """The checkpoint is of a model that starts at a fixed state."""
    tensors, about = load_tensors(bench.path("model.safetensors"))
    save_tensors(bench.path("model.safetensors"), tensors, about | {"initial_state": "fixed"})


@case("Released weights of another model")
def other_names(bench: Bench) -> None:
    """A weight is missing in the file, and there are some that the released AKOrN does not have."""
    change_weights(bench, gamma=None, **{"head.weight": torch.ones(1), "head.bias": torch.ones(1)})
    bench.cvoting(IMPORT)


@case("Weights of another program than was said")
def other_program(bench: Bench) -> None:
    """HRM's file is read as AKOrN's."""
    bench.cvoting(IMPORT_HRM.replace("--format hrm", "--format akorn"))


@case("Released weights with code in them", do="Open such a file nowhere, unless you trust who made it.")
def code_in_weights(bench: Bench) -> None:
    """The file would run a command when it is read as programs usually read it."""
    torch.save({"model_state_dict": {}, "args": Harmful()}, bench.path("released.pth"))
    bench.cvoting(IMPORT)
    assert not bench.path("executed").exists()
    bench.text = bench.text.replace("posix.mkdir", "<system>.mkdir").replace("nt.mkdir", "<system>.mkdir")


@case("A setting that contradicts the weights, and one that does not exist")
def other_settings(bench: Bench) -> None:
    """Another number of heads than the shapes of the weights show, and a misspelt key."""
    bench.cvoting(f"{IMPORT} --set network.heads=8 --set network.omgea=none")


@case("A configuration that contradicts the weights")
def other_configuration(bench: Bench) -> None:
    """The file all_config.yaml beside the weights is of another training."""
    bench.write("all_config.yaml", "ch: 512\nn: 4\n")
    bench.cvoting(IMPORT)


@case("Released HRM weights of another model")
def other_hrm_names(bench: Bench) -> None:
    """A weight is missing, one is no part of the model, and the vocabulary is turned into a vector."""
    strangers = {
        "inner.puzzle_emb.local_weights": torch.zeros(8, 16),
        "inner.embed_tokens.embedding_weight": torch.ones(11),
    }
    change_weights(bench, "hrm/released.pth", **{"inner.q_head.bias": None}, **strangers)
    bench.cvoting(IMPORT_HRM)


@case("Released HRM weights of other shapes", do="`transpose()` them: a linear map is stored as [outputs, inputs].")
def other_hrm_shapes(bench: Bench) -> None:
    """A converter has transposed two matrices."""
    names = ("inner.lm_head.weight", "inner.L_level.layers.0.self_attn.qkv_proj.weight")
    weights = torch.load(bench.path("hrm/released.pth"), weights_only=True)
    change_weights(bench, "hrm/released.pth", **{name: weights[name].T.contiguous() for name in names})
    bench.cvoting(IMPORT_HRM)


@case("A configuration that contradicts HRM's weights")
def other_hrm_configuration(bench: Bench) -> None:
    """The file all_config.yaml beside the weights is of a larger model with learned positions."""
    bench.write("hrm/all_config.yaml", "arch: {hidden_size: 512, num_heads: 8, H_layers: 4, pos_encodings: learned}\n")
    bench.cvoting(IMPORT_HRM)


@case("Random starts in the place of HRM's own")
def other_hrm_start(bench: Bench) -> None:
    """The flag would call a model that was trained from a fixed state one of random starts."""
    bench.cvoting(f"{IMPORT_HRM} --set network.initial_state=per_token")


@case("Released weights of a task that the vocabulary does not tell")
def other_hrm_task(bench: Bench) -> None:
    """The tokens are neither those of 9x9 boards nor those of mazes."""
    tables = ("inner.embed_tokens.embedding_weight", "inner.lm_head.weight")
    change_weights(bench, "hrm/released.pth", **{name: torch.ones(12, 16) for name in tables})
    bench.cvoting(IMPORT_HRM)


@case("Boards of another size than the vocabulary's")
def other_hrm_boards(bench: Bench) -> None:
    """The flag is of 4x4 boards, the weights are of 9x9 boards."""
    bench.cvoting(f"{IMPORT_HRM} --set task.box=[2,2]")


@case("A puzzle embedding that is not in the file")
def other_hrm_identifier(bench: Bench) -> None:
    """The file has embeddings of two sets of puzzles, counted from 0."""
    change_weights(bench, "hrm/released.pth", **{"inner.puzzle_emb.weights": torch.zeros(2, 16)})
    bench.cvoting(f"{IMPORT_HRM} --set puzzle_identifier=2")


@case("A weight that stands twice in a file")
def twice(bench: Bench) -> None:
    """Once with what torch.compile puts before its name, and once without."""
    change_weights(bench, "hrm/released.pth", **{"_orig_mod.model.inner.H_init": torch.zeros(16)})
    bench.cvoting(IMPORT_HRM)


@case("A format of released weights that does not exist")
def unknown_format(bench: Bench) -> None:
    """The format is misspelt."""
    bench.cvoting(IMPORT.replace("akorn", "akron"))


@case("A checkpoint in the place of the file it is imported from")
def import_onto_itself(bench: Bench) -> None:
    """The same name twice."""
    bench.cvoting(IMPORT.replace("new.safetensors", "released.pth"))


@case("Weights of the last update that an imported checkpoint does not have")
def no_raw_weights(bench: Bench) -> None:
    """The recipe asks for raw weights, and the released file held one set."""
    bench.cvoting(IMPORT.replace("new.safetensors", "imported.safetensors"))
    bench.change("rollouts.json", "raw", "plan", "weights")
    bench.cvoting(ROLLOUTS.replace("model.safetensors", "imported.safetensors"))


@case("Several candidates of a model with a fixed start")
def fixed_start(bench: Bench) -> None:
    """Every candidate would be the same rollout."""
    fix_start(bench)
    bench.cvoting(ROLLOUTS)


@case("A puzzle of another size")
def wrong_length(bench: Bench) -> None:
    """A 9x9 board for a model of 4x4 boards."""
    bench.cvoting(f"{PUZZLE} {'53..7....' * 9}")


@case("A row that is too long")
def wrong_row(bench: Bench) -> None:
    """Rows are separated, and one has a character too many."""
    bench.cvoting(f"{PUZZLE} 12../34.../..../4...")


@case("A character that no puzzle has")
def wrong_character(bench: Bench) -> None:
    """A digit that 4x4 boards do not have, in a file of puzzles."""
    bench.write("puzzles.txt", "12..34......4...\n12..34......5...\n")
    bench.cvoting(SOLVE)


@case("A puzzle with equal digits in a row")
def contradictory(bench: Bench) -> None:
    """The givens contradict each other."""
    bench.cvoting(f"{PUZZLE} 1..1............")


@case("A puzzle with a cell that no digit fits")
def no_digit_fits(bench: Bench) -> None:
    """The givens leave nothing for a cell."""
    bench.cvoting(f"{PUZZLE} 12.....3...4....")


@case("A puzzle without a solution")
def no_solution(bench: Bench) -> None:
    """No rule is broken yet, but every way to go on breaks one."""
    bench.cvoting(f"{PUZZLE} 1......2....3.4.")


@case("A file without puzzles")
def no_puzzles(bench: Bench) -> None:
    """Only empty lines."""
    bench.write("puzzles.txt", "\n\n")
    bench.cvoting(SOLVE)


@case("A folder in the place of a file of puzzles")
def folder_of_puzzles(bench: Bench) -> None:
    """The name of the folder where the file lies."""
    bench.cvoting(SOLVE.replace("puzzles.txt", "hrm"))


@case("No number of steps")
def no_steps(bench: Bench) -> None:
    """The checkpoint does not say how it was trained, and the command does not say how many steps to take."""
    tensors, about = load_tensors(bench.path("model.safetensors"))
    save_tensors(bench.path("model.safetensors"), tensors, {n: v for n, v in about.items() if n != "training"})
    bench.cvoting(SOLVE)


@case("Released weights of another checksum")
def other_checksum(bench: Bench) -> None:
    """A run's file of weights is not the one whose checksum the study states."""
    block = {"file": "released.pth", "sha256": "0" * 64, "format": "released"}
    bench.change("params.yaml", block, "runs", "akorn-sudoku", "imported")
    bench.change("params.yaml", {}, "tables")  # of settings that no training had
    bench.cvoting("recipe import_run akorn-sudoku 0")
    bench.write("import.json", bench.printed)
    bench.cvoting("import-run import.json --code 0 --file released.pth --out new.safetensors")
    bench.text = re.sub("SHA-256 [0-9a-f]{64}", "SHA-256 <that of the file>", bench.text)
