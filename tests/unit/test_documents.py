"""What the documents name is there: files, headings, targets, verbs, phases, and what examples import."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cvoting.__main__ import parser

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FOLDERS = "src|tests|workflow|params|docs|benchmarks|profiles|reference"
MAKEFILE = (ROOT / "Makefile").read_text()
EXAMPLES = (ROOT / "docs/worked-examples.md").read_text()

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def fenced(text: str) -> list[tuple[str, str, str]]:
    """Language, file name (or nothing) and content of every fenced code block."""
    return re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def code(document: Path) -> str:
    """All code of a document: blocks, fenced or indented, and words in backticks; one line per piece."""
    text = document.read_text()
    blocks = [content for _, _, content in fenced(text)]
    indented = re.findall(r"^    .*$", text, flags=re.MULTILINE)
    return "\n".join([*blocks, *indented, *re.findall(r"`([^`\n]+)`", text)])


def anchors(document: Path) -> set[str]:
    """The headings, as links name them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S), flags=re.M
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def targets() -> list[str]:
    """The targets of the Makefile that a user may ask for."""
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    return phony.split()


def made_up_files() -> set[str]:
    """The files that the worked examples would add."""
    return {name for _, name, _ in fenced(EXAMPLES) if name} | {"workflow/report/extra_ties.rst"}


def imports(content: str) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a piece of Python imports from this package."""
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "cvoting":
            yield from ((str(node.module), alias.name) for alias in node.names)


@every_document
def test_every_relative_link_leads_to_a_file_and_a_heading_of_it(document: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@every_document
def test_every_make_command_has_its_target(document: Path) -> None:
    for words in re.findall(r"^[ $]*(?:\w+=\S+ )?make((?: [a-z-]+(?=\s|$))+)", code(document), flags=re.MULTILINE):
        assert [word for word in words.split() if word not in targets()] == [], f"make{words}"


@every_document
def test_every_verb_of_the_command_line_exists(document: Path) -> None:
    (verbs,) = [action.choices for action in parser()._actions if action.dest == "verb"]
    named = set(re.findall(r"python3? -m cvoting ([a-z][\w-]*)", code(document)))
    assert named <= set(verbs), named - set(verbs)


@every_document
def test_every_phase_of_the_workflow_exists(document: Path) -> None:
    rules = "\n".join(path.read_text() for path in ROOT.glob("workflow/rules/*.smk"))
    for phase in set(re.findall(r"\bstage_\w+", code(document))):
        assert re.search(rf"^rule {phase}:", rules, flags=re.MULTILINE), phase


@every_document
def test_every_file_of_the_project_that_is_named_exists(document: Path) -> None:
    named = re.findall(rf"(?:^|[\s=])((?:{FOLDERS})/[\w./-]*\w)(?=$|[\s:,)])", code(document), flags=re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists() and name not in made_up_files()] == []


@every_document
def test_what_examples_import_exists(document: Path) -> None:
    ours = {name.removeprefix("src/").removesuffix(".py").replace("/", ".") for name in made_up_files()}
    pieces = [content for language, name, content in fenced(document.read_text()) if language == "python" and name]
    for module, name in {found for piece in pieces for found in imports(piece)} if pieces else ():
        if module not in ours and (module, name) != ("cvoting.params.figures", "TiesFigure"):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_make_help_lists_every_target() -> None:
    described = re.findall(r"^([a-z-]+):.*?  ## \S", MAKEFILE, flags=re.MULTILINE)
    assert sorted(described) == sorted(targets())


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text()
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    for page in [*ROOT.glob("docs/*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]:
        assert f"({page.relative_to(ROOT)}" in readme + contributing, page.name
