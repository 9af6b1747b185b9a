"""The data cards: what docs/data.md says of each published file, made from the table the code uses."""

from pathlib import Path

from cvoting.atomic import atomic_path
from cvoting.data.source_file import SourceFile
from cvoting.data.sources import FILES
from cvoting.errors import CvotingError

BEGIN = "<!-- made by `python -m cvoting sources` from cvoting.data.sources: do not edit -->"
END = "<!-- end -->"


def update(path: Path, check: bool) -> None:
    """Write the cards into a page, or only check that they are there.

    Args:
        path: the page.
        check: whether other cards are an error, and nothing is written.

    Raises:
        CvotingError: for a page without a place for them; with `check`, for one with other cards.
    """
    page = path.read_text(encoding="utf-8")
    updated = with_cards(page)
    if check and page != updated:
        raise CvotingError(f"{path} has other cards than cvoting.data.sources: run `python -m cvoting sources`")
    if page != updated:
        with atomic_path(path) as temporary:
            temporary.write_text(updated, encoding="utf-8")


def with_cards(page: str) -> str:
    """A page with the cards of all files between its two marks.

    Raises:
        CvotingError: when the page has no such marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise CvotingError(f"the page has no place for the cards: expected the lines {BEGIN} and {END}")
    return "\n\n".join([before + BEGIN, *map(card, FILES.values()), END + after])


def card(file: SourceFile) -> str:
    """What there is to say of a file, as Markdown."""
    checksum = file.sha256 and f"SHA-256 `{file.sha256}`{', of the re-export' if file.reexport else ''}"
    members = ", ".join(f"`{name}` has git blob id `{blob}`" for name, blob in file.members.items())
    lines = {
        "what": file.about,
        "page": f"<{file.page}>",
        "downloaded from": ", then ".join(f"<{url}>" for url in file.urls),
        "place in a mirror folder": f"`{file.path}`",
        "size": file.size,
        "checksum": checksum or members,
        "format": file.format,
        "licence": file.licence,
    }
    return f"### `{file.name}`\n\n" + "\n".join(f"- **{name}**: {text}" for name, text in lines.items())
