"""Parts of pages that are made from data: what stands between two marks."""

from pathlib import Path

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError

END = "<!-- end -->"


def update(path: Path, begin: str, content: str, check: bool, stale: str) -> None:
    """Write what stands between the marks of a page, or only check that it is there.

    Args:
        path: the page.
        begin: the mark that it follows; `END` ends it.
        content: what stands between.
        check: whether other content is an error, and nothing is written.
        stale: what is said then after the name of the page.

    Raises:
        CvotingError: for a page without the marks; with `check`, for one with other content.
    """
    page = path.read_text(encoding="utf-8")
    before, mark, rest = page.partition(begin)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise CvotingError(f"{path} has no place for what is made: expected the lines {begin} and {END}")
    updated = "\n\n".join([before + begin, content, END + after])
    if check and page != updated:
        raise CvotingError(f"{path} {stale}")
    if page != updated:
        with atomic_path(path) as temporary:
            temporary.write_text(updated, encoding="utf-8")
