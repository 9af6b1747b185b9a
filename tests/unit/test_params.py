"""Parameters: strict, in step with their schema, refused with the key, the value and what is allowed."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema
import pytest
import yaml

from cvoting.params.core import ParameterError, build, canonical, key, plain
from cvoting.params.schema import study_schema
from cvoting.params.study import Study

STUDIES = ["params.yaml", "params/toy.yaml", "params/real.yaml", "params/paper.yaml"]


@pytest.fixture
def laptop(repository) -> dict[str, Any]:
    return yaml.safe_load((repository / "params.yaml").read_text())


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(yaml.safe_load(study_schema()))


def change(mapping: dict[str, Any], dotted: str, value: Any) -> dict[str, Any]:
    """A copy with the value at a dotted key replaced."""
    changed = copy.deepcopy(mapping)
    *path, last = dotted.split(".")
    inner = changed
    for name in path:
        inner = inner[name]
    inner[last] = value
    return changed


def leaves(mapping: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every dotted key whose value is not a mapping, but for a run's `training`, which is checked when it is merged."""
    for name, value in mapping.items():
        if (prefix.split(".")[0], name) == ("runs", "training"):
            continue
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_satisfies_classes_and_schema(repository, name):
    mapping = yaml.safe_load((repository / name).read_text())
    jsonschema.validate(mapping, yaml.safe_load(study_schema()))
    study = build(Study, mapping)
    assert build(Study, plain(study)) == study


def test_the_schema_file_is_that_of_the_classes(repository):
    assert (repository / "workflow/schemas/params.schema.yaml").read_text() == study_schema()


def test_a_stranger_in_any_block_is_refused_by_classes_and_schema(laptop, schema):
    for block in {dotted.rpartition(".")[0] for dotted, _ in leaves(laptop)}:
        changed = change(laptop, f"{block}.stranger" if block else "stranger", 1)
        with pytest.raises(ParameterError, match=r"stranger: unknown key; known here: \w+"):
            build(Study, changed)
        assert not schema.is_valid(changed), block


@pytest.mark.slow
def test_a_value_of_a_wrong_type_is_refused_at_every_leaf(laptop, schema):
    for dotted, value in leaves(laptop):
        wrong = 3.5 if isinstance(value, str) else {"a": 1}
        changed = change(laptop, dotted, wrong)
        with pytest.raises(ParameterError) as caught:
            build(Study, changed)
        assert dotted in str(caught.value)
        assert repr(wrong) in str(caught.value)
        assert not schema.is_valid(changed), dotted


@pytest.mark.parametrize(
    ("dotted", "value", "message"),
    [
        ("models.akorn.training.optimizer.lr", "2e-3", r"lr = '2e-3': expected a number \(YAML reads 1e-3 as text"),
        ("models.akorn.training.optimizer.lr", 0.0, r"lr = 0.0: expected more than 0"),
        ("models.akorn.training.batch", True, r"batch = True: expected a whole number"),
        ("models.akorn.training.batch", 9001, r"batch = 9001: expected at most 9000, the training puzzles of sudoku"),
        ("models.akorn.training.augmentation", "rotations", r"augmentation = 'rotations': .* none, digits, shuffles"),
        ("models.akorn.network.heads", 5, r"heads = 5: expected channels / heads to be an even number, got 64 / 5"),
        ("models.akorn.network.oscillator_dim", 3, r"oscillator_dim = 3: expected a divisor of channels = 64"),
        ("models.akorn.network.architecture", "akron", r"architecture = 'akron': expected one of akorn, hrm"),
        ("datasets.sudoku.source.kind", "satnet", r"kind = 'satnet': expected one of generated_sudoku, sudoku_extreme"),
        ("datasets.sudoku.source.givens", [18, 12], r"givens = \[18, 12\]: expected the smaller number first"),
        ("datasets.sudoku.source.givens", [12, 36], r"givens = \[12, 36\]: expected at most 35"),
        ("datasets.sudoku.task.box", [3], r"box = \[3\]: expected a list of 2 values"),
        ("voting.K", [1, 999], r"voting.K = \[1, 999\]: expected at most \d+, the most candidates that a bank has"),
        ("voting.K", [128], r"banks\.\S+\.candidates = \d+: expected at least 128, the least K"),
        ("banks.akorn-sudoku_hard.shards", 501, r"shards = 501: expected at most 500, a chunk of 500 puzzles each"),
        ("banks.akorn-sudoku_hard.run", "akorn", r"run = 'akorn': expected one of akorn-sudoku, akorn-sudoku_extreme"),
        ("banks.akorn-sudoku_hard.split", "validation", r"split = 'validation': sudoku_hard has no such split"),
        (
            "runs.akorn-sudoku.dataset",
            "sudoku_hard",
            r"dataset = 'sudoku_hard': it has no train and no validation split",
        ),
        ("runs.akorn-sudoku.model", "cnn", r"model = 'cnn': expected one of akorn"),
        (
            "runs.akorn-sudoku.training",
            {"optimizer": {"lrr": 1.0}},
            r"runs.akorn-sudoku.training.optimizer.lrr: unknown",
        ),
        ("voting.votes", ["confidense"], r"votes = 'confidense': expected one of confidence, "),
        ("voting.K", [1, 1, 2], r"K = \[1, 1, 2\]: expected different values"),
        ("figures.fig2_akorn_voting.banks", ["akorn"], r"banks = 'akorn': expected one of akorn-sudoku_hard"),
        (
            "figures.fig2_akorn_voting.votes",
            ["energy"],
            r"votes = 'energy': expected one of confidence",
        ),
        ("study", "../etc", r"study = '../etc': expected letters, digits"),
    ],
)
def test_the_error_names_key_value_and_what_is_allowed(laptop, dotted, value, message):
    with pytest.raises(ParameterError, match=message):
        build(Study, change(laptop, dotted, value))


def test_a_bank_of_another_board_size_is_refused(laptop):
    laptop["datasets"]["sudoku_hard"]["task"]["box"] = [2, 2]
    laptop["datasets"]["sudoku_hard"]["source"]["givens"] = [5, 7]
    with pytest.raises(
        ParameterError, match=r"banks.akorn-sudoku_hard.dataset = 'sudoku_hard': expected the task of sudoku"
    ):
        build(Study, laptop)


def test_all_problems_are_reported_at_once(laptop):
    changed = change(change(laptop, "threads", 0), "voting.level", 1.0)
    with pytest.raises(ParameterError) as caught:
        build(Study, changed)
    assert caught.value.problems == [
        "threads = 0: expected at least 1",
        "voting.level = 1.0: expected more than 0 and less than 1",
    ]


def test_a_missing_key_is_named_with_its_meaning(laptop):
    del laptop["models"]["akorn"]["training"]["batch"]
    with pytest.raises(ParameterError, match=r"models.akorn.training.batch: missing; it is puzzles per update"):
        build(Study, laptop)


def test_a_run_replaces_single_keys_of_its_models_training(laptop):
    laptop["runs"]["akorn-sudoku"]["training"] = {"optimizer": {"lr": 0.5}}
    study = build(Study, laptop)
    ours, theirs = study.training_of("akorn-sudoku"), study.models["akorn"].training
    assert ours.optimizer.lr == 0.5
    assert ours.optimizer.betas == theirs.optimizer.betas
    assert ours.updates == theirs.updates


def test_canonical_text_does_not_depend_on_the_order_of_keys():
    assert canonical({"b": 1, "a": (2, 3)}) == canonical({"a": [2, 3], "b": 1}) == '{"a":[2,3],"b":1}'


def test_a_whole_number_is_a_fine_float_but_not_the_reverse():
    @dataclass(frozen=True, kw_only=True)
    class Block:
        ratio: float = key("a ratio")
        mode: Literal["a", "b"] = key("a mode", default="a")

    assert build(Block, {"ratio": 1}) == Block(ratio=1.0)
    assert type(build(Block, {"ratio": 1}).ratio) is float
    with pytest.raises(ParameterError, match=r"mode = 'c': expected one of 'a', 'b'"):
        build(Block, {"ratio": 1, "mode": "c"})


def test_a_bare_off_in_yaml_is_the_choice_off():
    @dataclass(frozen=True, kw_only=True)
    class Block:
        act: Literal["off", "explore"] = key("a switch")

    assert build(Block, yaml.safe_load("act: off")) == build(Block, {"act": "off"}) == Block(act="off")
    with pytest.raises(ParameterError, match=r"act = True: expected one of 'off', 'explore'"):
        build(Block, yaml.safe_load("act: on"))


@pytest.mark.parametrize(
    ("dotted", "value", "message"),
    [
        ("runs.akorn-sudoku.training_seeds", [0, 0], r"training_seeds = \[0, 0\]: expected different values"),
        ("runs.akorn-sudoku.training_seeds", [], r"runs.akorn-sudoku.training_seeds = \[\]: expected at least one"),
        ("banks.akorn-sudoku_hard.inference_seeds", [], r"inference_seeds = \[\]: expected at least one"),
        ("figures.fig2_akorn_voting.banks", [], r"fig2_akorn_voting.banks = \[\]: expected at least one"),
        ("models.akorn.training.optimizer.lr", float("inf"), r"lr = inf: expected a finite number"),
        ("models.akorn.network.omega_initial", float("nan"), r"omega_initial = nan: expected a finite number"),
        ("study", "raw", r"study = 'raw': expected another name"),
    ],
)
def test_what_would_fail_or_mislead_later_is_refused_early(laptop, dotted, value, message):
    with pytest.raises(ParameterError, match=message):
        build(Study, change(laptop, dotted, value))


def test_source_files_and_their_limits_are_checked_early(repository):
    real = yaml.safe_load((repository / "params/real.yaml").read_text())
    with pytest.raises(ParameterError, match=r"train_file = 'nope': expected one of 'sudoku_extreme_1k_train'"):
        build(Study, change(real, "datasets.sudoku_extreme.source.train_file", "nope"))
    with pytest.raises(ParameterError, match=r"boards_per_level = 2731: expected at most 2730"):
        build(Study, change(real, "datasets.sudoku_hard.source.boards_per_level", 2731))
