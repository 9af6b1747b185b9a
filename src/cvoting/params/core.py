"""Frozen dataclasses from mappings, strictly: unknown keys, wrong types and values out of range are errors.

A parameter class declares each key once, with `key`; `build` makes an instance from what YAML or JSON holds, `plain`
turns it back, and `canonical` is the text that stands for it in a recipe.  Everything wrong with a mapping is reported
in one error, each problem with the key, the value found and what is allowed.
"""

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from cvoting.errors import CvotingError

T = TypeVar("T")
ABSENT = object()
#: Limits of a number, by the names `key` gives them.
Bounds = Mapping[str, int | float]


class ParameterError(CvotingError, ValueError):
    """Parameters that cannot be used; the message has one line per problem."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__("bad parameters:\n" + "\n".join(f"  - {p}" for p in problems))


def key(
    doc: str,
    *,
    default: Any = ABSENT,
    minimum: int | float | None = None,
    above: int | float | None = None,
    maximum: int | float | None = None,
    below: int | float | None = None,
    affects: tuple[str, ...] = (),
) -> Any:
    """A field of a parameter class.

    Args:
        doc: what the value is, with its unit and its place in the paper.
        default: the value of an absent key; without one the key is required.
        minimum, above, maximum, below: bounds of a number, or of each number of a list.
        affects: the stages that must run again when anything in this block changes.
    """
    bounds = {"minimum": minimum, "above": above, "maximum": maximum, "below": below}
    metadata = {"doc": doc, "bounds": {k: v for k, v in bounds.items() if v is not None}, "affects": affects}
    if default is ABSENT:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def build(cls: type[T], value: object, where: str = "") -> T:
    """An instance of the parameter class `cls` from a mapping.

    Args:
        cls: a frozen dataclass whose fields were declared with `key`.
        value: what a YAML or JSON file holds.
        where: the dotted key under which the mapping stands, for error messages.

    Raises:
        ParameterError: with every problem found.
    """
    problems: list[str] = []
    result = _convert(cls, value, where, {}, problems)
    if problems:
        raise ParameterError(problems)
    return typing.cast(T, result)


def plain(value: Any) -> Any:
    """Parameters as the dicts, lists and scalars that JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value


def canonical(value: Any) -> str:
    """One text per meaning: neither the order of keys nor a comment or layout of the file counts."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def tag_of(cls: type) -> tuple[str, str]:
    """(key, value) by which the members of a union of parameter classes are told apart."""
    for name, hint in typing.get_type_hints(cls).items():
        if get_origin(hint) is Literal and len(get_args(hint)) == 1:
            return name, get_args(hint)[0]
    raise TypeError(f"{cls.__name__} has no key of one literal value")


def is_union(hint: Any) -> bool:
    """Whether a type is `A | B`."""
    return get_origin(hint) in (Union, types.UnionType)


def _convert(hint: Any, value: object, where: str, bounds: Bounds, problems: list[str]) -> Any:
    """`value` as `hint` asks; problems are appended, and then the result means nothing."""
    if hint is object:
        return value
    if is_union(hint):
        return _convert_union(get_args(hint), value, where, bounds, problems)
    if dataclasses.is_dataclass(hint):
        return _convert_class(typing.cast(type, hint), value, where, problems)
    if get_origin(hint) is Literal:
        if value is False and "off" in get_args(hint):
            return "off"  # what a bare `off` in YAML 1.1 means here
        if value not in get_args(hint):
            problems.append(f"{where} = {value!r}: expected one of {', '.join(map(repr, get_args(hint)))}")
        return value
    if get_origin(hint) is tuple:
        return _convert_list(get_args(hint), value, where, bounds, problems)
    if get_origin(hint) is not None and issubclass(typing.cast(type, get_origin(hint)), Mapping):
        if not isinstance(value, Mapping):
            problems.append(f"{where} = {value!r}: expected a mapping of names to blocks")
            return value
        item = get_args(hint)[1]
        return {str(k): _convert(item, v, f"{where}.{k}", bounds, problems) for k, v in value.items()}
    return _convert_scalar(hint, value, where, bounds, problems)


def _convert_union(hints: tuple, value: object, where: str, bounds: Bounds, problems: list[str]) -> Any:
    if type(None) in hints and value is None:
        return None
    members = [h for h in hints if h is not type(None)]
    if len(members) == 1:
        return _convert(members[0], value, where, bounds, problems)
    if not all(dataclasses.is_dataclass(m) for m in members):
        return _convert_scalar(members, value, where, bounds, problems)
    name = tag_of(members[0])[0]
    choices = {tag_of(m)[1]: m for m in members}
    if not isinstance(value, Mapping):
        problems.append(f"{where} = {value!r}: expected a mapping with the key {name!r}, one of {', '.join(choices)}")
        return value
    if value.get(name) not in list(choices):
        problems.append(f"{where}.{name} = {value.get(name)!r}: expected one of {', '.join(choices)}")
        return value
    return _convert(choices[value[name]], value, where, bounds, problems)


def _convert_class(cls: type, value: object, where: str, problems: list[str]) -> Any:
    prefix = f"{where}." if where else ""
    if not isinstance(value, Mapping):
        known = ", ".join(f.name for f in dataclasses.fields(cls))
        problems.append(f"{where or cls.__name__} = {value!r}: expected a mapping with the keys {known}")
        return value
    before = len(problems)
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls)}
    problems += [f"{prefix}{k}: unknown key; known here: {', '.join(fields)}" for k in value if k not in fields]
    arguments = {}
    for name, field in fields.items():
        if name in value:
            limits = field.metadata["bounds"]
            arguments[name] = _convert(hints[name], value[name], f"{prefix}{name}", limits, problems)
        elif field.default is dataclasses.MISSING:
            problems.append(f"{prefix}{name}: missing; it is {field.metadata['doc']}")
    if len(problems) > before:
        return value
    try:
        return cls(**arguments)
    except ParameterError as error:
        problems += [f"{prefix}{p}" for p in error.problems]
        return value


def _convert_list(items: tuple, value: object, where: str, bounds: Bounds, problems: list[str]) -> Any:
    if not isinstance(value, (list, tuple)):
        problems.append(f"{where} = {value!r}: expected a list")
        return value
    if items[-1] is not Ellipsis and len(items) != len(value):
        problems.append(f"{where} = {value!r}: expected a list of {len(items)} values")
        return value
    if items[-1] is Ellipsis and any(v in value[:i] for i, v in enumerate(value)):
        problems.append(f"{where} = {value!r}: expected different values")
    hints = items if items[-1] is not Ellipsis else (items[0],) * len(value)
    return tuple(
        _convert(h, v, f"{where}[{i}]", bounds, problems) for i, (h, v) in enumerate(zip(hints, value, strict=True))
    )


def _convert_scalar(hint: Any, value: object, where: str, bounds: Bounds, problems: list[str]) -> Any:
    allowed: list[type] = hint if isinstance(hint, list) else [hint]
    # YAML's true is an int for Python, and 1 is a fine float: neither is what isinstance says.
    if type(value) is int and float in allowed and int not in allowed:
        value = float(value)
    if type(value) not in allowed:
        names = " or ".join(
            {float: "a number", int: "a whole number", str: "text", bool: "true or false"}[h] for h in allowed
        )
        hint_text = (
            " (YAML reads 1e-3 as text: write 1.0e-3)" if isinstance(value, str) and _looks_like_number(value) else ""
        )
        problems.append(f"{where} = {value!r}: expected {names}{hint_text}")
        return value
    checks = {
        "minimum": ("at least", lambda v, b: v >= b),
        "above": ("more than", lambda v, b: v > b),
        "maximum": ("at most", lambda v, b: v <= b),
        "below": ("less than", lambda v, b: v < b),
    }
    if isinstance(value, float) and not math.isfinite(value):
        problems.append(f"{where} = {value!r}: expected a finite number")
    elif isinstance(value, (int, float)) and not all(checks[k][1](value, b) for k, b in bounds.items()):
        problems.append(
            f"{where} = {value!r}: expected {' and '.join(f'{checks[k][0]} {b}' for k, b in bounds.items())}"
        )
    return value


def _looks_like_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
