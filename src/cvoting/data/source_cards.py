"""The data cards: what docs/data.md says of each published file, made from the table the code uses."""

from pathlib import Path

from cvoting import marked_page
from cvoting.data.source_file import SourceFile
from cvoting.data.sources import FILES

BEGIN = "<!-- made by `python -m cvoting sources` from cvoting.data.sources: do not edit -->"


def update(path: Path, check: bool) -> None:
    """Write the cards into a page, or only check that they are there.

    Args:
        path: the page.
        check: whether other cards are an error, and nothing is written.

    Raises:
        CvotingError: for a page without a place for them; with `check`, for one with other cards.
    """
    cards = "\n\n".join(map(card, FILES.values()))
    stale = "has other cards than cvoting.data.sources: run `python -m cvoting sources`"
    marked_page.update(path, BEGIN, cards, check, stale)


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
