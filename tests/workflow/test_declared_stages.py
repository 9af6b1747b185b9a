"""Which stages a parameter concerns: what its block declares, and what the recipes of the jobs say."""

import contextlib
import copy
import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from cvoting import recipes
from cvoting.params.core import ParameterError, build
from cvoting.params.study import STAGES, Study

ROOT = Path(__file__).parents[2]
DVC = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
DECLARED = {field.name: set(field.metadata["affects"]) for field in dataclasses.fields(Study)}
#: What runs again when the outputs of a stage change.
FOLLOWING = {
    "data": ("audit", "strata", "train", "rollouts"),
    "strata": ("voting",),
    "train": ("rollouts", "figures"),
    "rollouts": ("voting", "calibration"),
    "voting": ("figures",),
    "calibration": ("figures",),
}
#: What some blocks can only change together with something else: HRM its objective with its optimizer.
TOGETHER = {"decayed", "detach_step", "name", "read_candidates", "segments"}
#: Blocks by name: a leaf that names one of them names another one instead.
NAMED = {"run": "runs", "model": "models", "dataset": "datasets"}

Leaf = tuple[str | int, ...]


@cache
def toy() -> Study:
    """The toy study, which has every kind of block."""
    return build(Study, yaml.safe_load((ROOT / "params/toy.yaml").read_text()))


def jobs(study: Study) -> dict[str, dict[tuple, object]]:
    """What every job of a stage is given, by stage."""
    found: dict[str, dict[tuple, object]] = defaultdict(dict)
    for name in study.datasets:
        found["data"][name,] = recipes.data(study, name)
        found["audit"][name,] = recipes.audit(study, name), recipes.audit_against(study, name)
    for name in recipes.tested(study):
        found["strata"][name,] = recipes.strata(study, name)
    for name, run in study.runs.items():
        for seed in run.training_seeds:
            found["train"][name, seed] = recipes.train(study, name, seed)
    for name, bank in study.banks.items():
        for seed in bank.inference_seeds:
            for shard in range(bank.shards):
                found["rollouts"][name, seed, shard] = bank.run, recipes.rollouts(study, name, seed, shard)
        found["voting"][name,] = recipes.voting(study, name), recipes.by_difficulty(study, name)
        of_votes = {"steps", "scaling", "adaptive"}
        of_confidence = {"calibration", "discrimination", "trajectories", "solved_board"}
        for kind in set(study.tables_of(name)) & {*of_votes, *of_confidence}:
            stage = "voting" if kind in of_votes else "calibration"
            found[stage][name, kind] = getattr(recipes, kind)(study, name)
    for kind, blocks in (("figure", study.figures), ("table", study.tables)):
        for name in blocks:
            found["figures"][kind, name] = getattr(recipes, kind)(study, name)
    found["figures"]["summary",] = recipes.summary(study)
    found["figures"]["claims",] = recipes.claims(study)
    return found


@cache
def unchanged_jobs() -> dict[str, dict[tuple, object]]:
    """Those of the toy study."""
    return jobs(toy())


def concerned(study: Study) -> set[str]:
    """The stages whose jobs are not those of the toy study, and what follows from them."""
    before, after = unchanged_jobs(), jobs(study)
    todo = [stage for stage in STAGES if before[stage] != after[stage]]
    for stage in todo:
        todo += [following for following in FOLLOWING.get(stage, ()) if following not in todo]
    return set(todo)


def places(value: Any, path: Leaf = ()) -> Iterator[Leaf]:
    """The place of every value and block."""
    yield path
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from places(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, Mapping):
        for key in value:
            yield from places(value[key], (*path, key))


def leaves(study: Study) -> list[Leaf]:
    """The place of every value that is no block."""
    return [path for path in places(study) if not _is_block(at(study, path))]


def _is_block(value: Any) -> bool:
    return dataclasses.is_dataclass(value) or isinstance(value, Mapping)


def at(value: Any, path: Leaf) -> Any:
    """What stands at a place."""
    for key in path:
        value = value[key] if isinstance(value, Mapping) else getattr(value, str(key))
    return value


def others(study: Study, path: Leaf) -> list[Any]:
    """Other values for a leaf, of which one at least is possible."""
    old, key = at(study, path), str(path[-1])
    same_key = [at(study, place) for place in places(study) if place and str(place[-1]) == key]
    if key in NAMED:
        return [name for name in getattr(study, NAMED[key]) if name != old]
    if isinstance(old, bool):
        return [not old]
    if isinstance(old, int):
        return [old + 1, max(old - 1, 0), 2 * old]
    if isinstance(old, float):
        return [1.01 * old + 1e-9, 0.99 * old]
    if isinstance(old, str):
        return [*sorted({value for value in same_key if isinstance(value, str)} - {old}), f"{old}x"]
    if isinstance(old, tuple):
        return [
            *(part for part in (old[:-1], old[1:]) if part),
            tuple(0.99 * v if isinstance(v, float) else v for v in old),
            *same_key,
            (1,),
        ]
    return [*(value for value in same_key if value is not None), 1, 1.0, True, "x"]


def changed(path: Leaf, value: Any) -> Study:
    """The toy study with another value at a place: the checks of a whole study would refuse many."""
    study = copy.deepcopy(toy())
    block = at(study, path[:-1])
    if isinstance(block, Mapping):
        block[path[-1]] = value  # type: ignore[index]
    else:
        object.__setattr__(block, str(path[-1]), value)
    return study


def concerned_by(path: Leaf) -> set[str] | None:
    """The stages that another value of a leaf concerns; None where no other value is possible by itself."""
    old = at(toy(), path)
    for value in others(toy(), path):
        with contextlib.suppress(ParameterError, KeyError, AttributeError, TypeError):
            if value != old:
                return concerned(changed(path, value))
    return None


@pytest.mark.slow
def test_every_leaf_of_a_study_concerns_the_stages_that_its_block_declares() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    tried, stuck = 0, set()
    for block, *rest in leaves(toy()):
        if block == "study":
            continue  # it is part of every path
        stages = concerned_by((block, *rest))
        if stages is None:
            stuck.add([block, *rest][-1])
            continue
        assert stages <= DECLARED[str(block)], (block, *rest)
        found[str(block)] |= stages
        tried += 1
    assert tried > 500
    assert stuck <= TOGETHER
    assert found == {block: declared for block, declared in DECLARED.items() if block != "study"}


def test_the_order_of_blocks_concerns_no_job() -> None:
    blocks = ("datasets", "models", "runs", "banks")
    reverse = {name: dict(reversed(getattr(toy(), name).items())) for name in blocks}
    assert jobs(dataclasses.replace(toy(), **reverse)) == unchanged_jobs()


def test_dvc_looks_at_the_blocks_that_declare_its_stage() -> None:
    assert list(DVC) == list(STAGES)
    for name, stage in DVC.items():
        assert set(stage["params"]) == {block for block, declared in DECLARED.items() if name in declared}, name
