"""What the verbs of the command line take: recipes, and the objects that recipes name.

Imports wait until they are needed, as in `__main__`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from cvoting.errors import CvotingError


def choose(what: str, name: Any, choices: dict[str, Any]) -> Any:
    """An entry of a registry.

    Raises:
        CvotingError: with the choices, for an unknown name.
    """
    if name not in list(choices):
        raise CvotingError(f"unknown {what} {name!r}: expected one of {', '.join(choices)}")
    return choices[name]


def choose_by(key: str, block: Any, what: str, choices: dict[str, Any]) -> Any:
    """The entry of a registry that a parameter block names.

    Raises:
        CvotingError: with the choices, for an unknown name or something that is no block.
    """
    if not isinstance(block, dict):
        raise CvotingError(f"{what} = {block!r}: expected a mapping with the key {key!r}, one of {', '.join(choices)}")
    return choose(what, block.get(key), choices)


def make_task(block: dict[str, Any]) -> Any:
    """The task of a parameter block."""
    from cvoting.params.core import build
    from cvoting.tasks.registry import TASKS

    return build(choose_by("name", block, "task", TASKS), block, "task")


def make_model(network: dict[str, Any], task: dict[str, Any]) -> Any:
    """The untrained model of a parameter block, sized for a task."""
    from cvoting.models.registry import MODELS
    from cvoting.params.core import build

    model, sized = choose_by("architecture", network, "model", MODELS), make_task(task)
    return model.for_task(build(model.Params, network, "network"), sized)


def count_flops(network: dict[str, Any], task: Any) -> Any:
    """What the parts of the model of a parameter block cost on a task; no model is made of it."""
    from typing import get_type_hints

    from cvoting.flops.registry import FLOPS
    from cvoting.params.core import build

    count = choose_by("architecture", network, "network", FLOPS)
    return count(build(get_type_hints(count)["params"], network, "network"), task)


def read_puzzles(path: Path, task: Any) -> Any:
    """The puzzles of a file.

    Raises:
        DataError: when they are not of the task.
    """
    from cvoting.data.puzzles import Puzzles

    puzzles = Puzzles.load(path)
    puzzles.check(task, path)
    return puzzles


def read_setting(text: str) -> tuple[str, Any]:
    """Key and value of `key=value`, the value as in YAML."""
    import yaml

    key, equals, value = text.partition("=")
    try:
        if key and equals:
            return key, yaml.safe_load(value)
    except yaml.YAMLError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r}, expected key=value with the value as in YAML")


def positive(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number, at least 1")
    return int(text)


class Recipe(dict[str, Any]):
    """A job's parameters; a missing one is the user's mistake."""

    def __missing__(self, name: str) -> Any:
        raise CvotingError(f"the recipe has no {name!r}, only {', '.join(self) or 'nothing'}: see `cvoting recipe`")


def read_recipe(text: str) -> Recipe:
    """A recipe from JSON text, or from a JSON file where the text is a file's name."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).read_bytes().decode()
        found = json.loads(content, object_hook=Recipe)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"expected JSON or the name of a JSON file: {error}") from error
    if not isinstance(found, Recipe):
        raise argparse.ArgumentTypeError(f"a JSON {type(found).__name__}, expected an object: see `cvoting recipe`")
    return found
