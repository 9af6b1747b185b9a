"""Names in a study that must be known."""

from collections.abc import Collection, Iterator


def unknown(key: str, value: str, choices: Collection[str]) -> Iterator[str]:
    """The problem of a name that is not among the choices."""
    if value not in choices:
        yield f"{key} = {value!r}: expected one of {', '.join(choices) or '(there are none)'}"
