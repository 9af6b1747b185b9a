"""A hash of the code that importing some modules runs, blind to comments, docstrings and layout.

The workflow tracks it as a parameter of each rule, so that an edit runs exactly those jobs again whose code it touched.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


class CodeHashError(ValueError):
    """Code whose imports cannot be followed."""


def code_hash(src: str | Path, modules: Iterable[str]) -> str:
    """16 hex digits that change with the meaning of the code, whatever the Python version that computes them.

    Args:
        src: the folder that packages are imported from.
        modules: dotted names of the modules whose code counts, with everything below `src` that they import.

    Raises:
        CodeHashError: when a module is not below `src`, or imports relatively.
    """
    digest = hashlib.sha256()
    for name in sorted(import_closure(src, modules)):
        path = _find(Path(src), name)
        assert path is not None
        digest.update(f"{name}\0{_meaning(path)}\0".encode())
    return digest.hexdigest()[:16]


def import_closure(src: str | Path, modules: Iterable[str]) -> set[str]:
    """The modules below `src` that importing `modules` runs: themselves, what they import anywhere in their text
    (inside functions too), and the packages that hold them.

    Raises:
        CodeHashError: as `code_hash`.
    """
    todo = list(modules)
    for name in todo:
        if _find(Path(src), name) is None:
            raise CodeHashError(f"no module {name} below {src}")
    closure: set[str] = set()
    while todo:
        name = todo.pop()
        path = _find(Path(src), name)
        if name in closure or path is None:
            continue
        closure.add(name)
        todo.extend(_imports(path))
        if "." in name:
            todo.append(name.rpartition(".")[0])
    return closure


@cache
def _find(src: Path, module: str) -> Path | None:
    """The file of a module; None when it comes from elsewhere, or is a name inside a module."""
    base = src.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Every dotted name that may be a module: of `from a import b` both `a` and `a.b`."""
    names: list[str] = []
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                raise CodeHashError(f"{path}:{node.lineno}: relative import: write the module's whole name")
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(names)


@cache
def _meaning(path: Path) -> str:
    return "".join(_tokens(_parse(path)))


def _tokens(node: object) -> Iterator[str]:
    """The syntax tree as text.

    `ast.dump` prints empty fields in some Python versions and not in others; here they are never printed.
    """
    if isinstance(node, list):
        yield "["
        for item in node:
            if not _is_unused_string(item):
                yield from _tokens(item)
        yield "]"
    elif isinstance(node, ast.AST):
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.JoinedStr):
                value = [part for part in value if getattr(part, "value", None) != ""]  # Python 3.12 adds empty parts
            if value is not None and value != [] and name not in ("kind", "type_comment"):
                yield f"{name}="
                yield from _tokens(value)
        yield ")"
    else:
        yield f"{node!r},"


def _is_unused_string(node: object) -> bool:
    """Whether a statement is a docstring, or any other string that nothing uses."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
