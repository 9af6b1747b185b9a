"""Work done in a thread while its last result is used."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items in their order, each made while the one before is used: numpy's generators let go of the interpreter.

    An error in the making of an item is raised where the item would have come.
    """
    source, end = iter(items), object()
    with ThreadPoolExecutor(max_workers=1) as maker:
        coming = maker.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = maker.submit(next, source, end)
            yield item  # type: ignore[misc]
