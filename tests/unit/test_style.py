"""The rules of CONTRIBUTING that no linter checks."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/*.py")])
NAMES = [str(path.relative_to(ROOT)) for path in MODULES]
MODULE_LINES, FUNCTION_LINES = 300, 60


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_module_and_its_functions_are_short_enough_to_read(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MODULE_LINES
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_every_public_class_and_function_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree) is not None or path.name == "__init__.py"
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    # Of what a base class of torch documents, such as `forward` of a function of autograd, there is nothing to add.
    public = [
        node for owner in [tree, *classes] for node in owner.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    undocumented = [node.name for node in public if not node.name.startswith("_") and ast.get_docstring(node) is None]
    assert set(undocumented) <= {"forward", "backward", "construct_mapping"}


def test_nothing_is_put_off_and_no_module_is_for_odds_and_ends() -> None:
    for path in MODULES:
        assert not re.search(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError|from __future__", path.read_text()), path
        assert path.stem not in ("utils", "helpers", "misc", "common"), path
