"""Verbs that make pages and parts of pages, and check that they are up to date; and that copy what is published.

Imports wait until they are needed, as in `__main__`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from cvoting.errors import CvotingError

#: Where published results lie.
RESULTS = Path("docs/results")


def add_page_verbs(verb: Callable[..., argparse.ArgumentParser]) -> None:
    """Add them to the command line.

    Args:
        verb: adds the verb of a function.
    """
    pages = {
        sources: Path("docs/data.md"),
        headline: Path("README.md"),
        findings: Path("docs/findings.md"),
        schema: Path("workflow/schemas/params.schema.yaml"),
    }
    subs = {run: verb(run) for run in pages}
    for run, sub in subs.items():
        sub.add_argument("--file", type=Path, default=pages[run])
        sub.add_argument("--check", action="store_true", help="fail when the file is not up to date")
    tables = sorted(RESULTS.glob("*/claims.csv"))
    subs[headline].add_argument("--claims", type=Path, nargs="+", default=tables, help="of each study that is shown")
    subs[findings].add_argument("--template", type=Path, default=Path("docs/findings.template.md"))
    subs[findings].add_argument("--results", type=Path, default=RESULTS)
    verb(publish, "title", results=Path, out_dir=Path).add_argument("files", type=Path, nargs="+")


def sources(args: argparse.Namespace) -> None:
    """Write the cards of the source files into the page about data, or check that they are up to date."""
    from cvoting.data.source_cards import update

    update(args.file, args.check)


def headline(args: argparse.Namespace) -> None:
    """Write the headline tables of README from tables of claims, or check that they are up to date."""
    from cvoting.claims.headline import write_headline

    for claims in args.claims:
        write_headline(claims, args.file, args.check)


def findings(args: argparse.Namespace) -> None:
    """Write the page of findings from its template and the published tables, or check that it is up to date."""
    from cvoting.findings import write_findings

    write_findings(args.template, args.results, args.file, args.check)


def schema(args: argparse.Namespace) -> None:
    """Write the schema of params.yaml, or check that it is up to date."""
    from cvoting.atomic import atomic_path
    from cvoting.params.schema import study_schema

    text = study_schema()
    if not args.check:
        with atomic_path(args.file) as temporary:
            temporary.write_text(text)
    elif args.file.read_bytes() != text.encode():
        raise CvotingError(f"{args.file} is not that of the classes in cvoting.params: run `python -m cvoting schema`")


def publish(args: argparse.Namespace) -> None:
    """Copy a study's small results to where the project keeps them, with a page that shows them."""
    from cvoting.publish import publish as copy_results

    copy_results(args.title, args.files, args.results, args.out_dir)
