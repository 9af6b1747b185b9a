"""The JSON schema of a study, made from the parameter classes: for editors, for readers, and for a test."""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import yaml

from cvoting.params.core import Bounds, is_union
from cvoting.params.study import Study

BOUNDS = {"minimum": "minimum", "above": "exclusiveMinimum", "maximum": "maximum", "below": "exclusiveMaximum"}
SCALARS: dict[type, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    object: {},
    type(None): {"type": "null"},
}


def study_schema() -> str:
    """The schema of params.yaml as YAML."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_of(Study, {})}
    header = "# Made from the classes in src/cvoting/params by `python -m cvoting schema`: do not edit.\n"
    return header + yaml.safe_dump(schema, sort_keys=False, width=120, allow_unicode=True)


def _of(hint: Any, bounds: Bounds) -> dict[str, Any]:
    """The schema of one type; bounds are those of a number, or of each number of a list."""
    if is_union(hint):
        return {"anyOf": [_of(member, bounds) for member in get_args(hint)]}
    if dataclasses.is_dataclass(hint):
        return _of_class(typing.cast(type, hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": [*arguments, *([False] if "off" in arguments else [])]}  # as `build` takes a bare `off`
    if origin is tuple:
        fixed = {} if arguments[-1] is Ellipsis else {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "items": _of(arguments[0], bounds), **fixed}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], {})}
    return SCALARS[hint] | ({BOUNDS[name]: value for name, value in bounds.items()} if hint in (int, float) else {})


def _of_class(cls: type) -> dict[str, Any]:
    hints, properties, required = typing.get_type_hints(cls), {}, []
    for field in dataclasses.fields(cls):
        about: dict[str, Any] = {"description": field.metadata["doc"]}
        if field.metadata["affects"]:
            about["x-affects"] = list(field.metadata["affects"])
        properties[field.name] = about | _of(hints[field.name], field.metadata["bounds"])
        if field.default is dataclasses.MISSING:
            required.append(field.name)
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": required}
