"""Ranking by links (IPC-2..4): value of a page, three lists by rank, and an allocator that starves none of them."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

PATTERN = (4, 2, 1)  # IPC 3.1: four from the first list, two from the second, one from the third


def pvalue(forward: int, back: int) -> int:
    """Value a page by its links out less the stored pages that link to it: new hubs first."""
    return forward - back


def forward_links(counted: int | None, in_sitemap: int | None = None, host_median: int | None = None) -> int:
    """Guess the links on a page nobody has parsed yet; the paper leaves this open. None means not known."""
    return next((guess for guess in (counted, in_sitemap, host_median) if guess is not None), 0)


def rank(valued: Iterable[tuple[T, int]]) -> list[tuple[T, int]]:
    """Sort by value, largest first; equals keep the order of arrival."""
    return sorted(valued, key=lambda pair: -pair[1])


def split(ranked: Sequence[T], parts: int = len(PATTERN)) -> list[Sequence[T]]:
    """Cut into almost equal lists; what is left over goes to the first ones."""
    size, extra = divmod(len(ranked), parts)
    ends = [size * part + min(part, extra) for part in range(parts + 1)]
    return [ranked[start:end] for start, end in pairwise(ends)]


def allocate(lists: Sequence[Iterable[T]], pattern: Sequence[int] = PATTERN) -> Iterator[T]:
    """Hand out 4, 2 and 1 from the three lists in turn, skipping empty ones, until all are empty."""
    queues = [deque(items) for items in lists]
    while any(queues):
        for queue, share in zip(queues, pattern, strict=True):
            for _ in range(min(share, len(queue))):
                yield queue.popleft()
