"""URL ordering by coverage (MIG-2): the page with most links not yet covered goes first, again and again.

The thesis re-sorts the whole queue after every step, stable on the order before. The same order comes from a heap
that corrects an entry only when it surfaces, and an index from link to pages that touches only what shrinks. A page
that just fell to a weight was ahead of those that had it already, so the later fall wins a tie.
"""

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import TypeVar

T = TypeVar("T")

_Place = tuple[int, int, int]  # minus weight, minus step of the last fall, place among those that fell together


def order(links: Mapping[T, Iterable[str]]) -> Iterator[tuple[T, list[str]]]:
    """Give pages in order of coverage, each with the links it is the first to cover: every link exactly once."""
    names = list(links)
    held = [list(dict.fromkeys(links[name])) for name in names]
    holders = _invert(held)
    places: list[_Place] = [(-len(found), 0, page) for page, found in enumerate(held)]
    heap = [(place, page) for page, place in enumerate(places)]
    heapify(heap)
    step = 0
    while heap:
        place, page = heappop(heap)
        if place != places[page]:
            heappush(heap, (places[page], page))
            continue
        step += 1
        fresh = [link for link in held[page] if link in holders]
        held[page] = []
        yield names[page], fresh
        _shrink(places, _losses(holders, fresh, page), step)


def _invert(held: list[list[str]]) -> dict[str, list[int]]:
    """Say for every link which pages hold it."""
    holders: dict[str, list[int]] = {}
    for page, found in enumerate(held):
        for link in found:
            holders.setdefault(link, []).append(page)
    return holders


def _losses(holders: dict[str, list[int]], covered: list[str], taken: int) -> dict[int, int]:
    """Strike covered links off the index; say how many each other page lost."""
    lost: dict[int, int] = {}
    for link in covered:
        for page in holders.pop(link):
            lost[page] = lost.get(page, 0) + 1
    lost.pop(taken, None)
    return lost


def _shrink(places: list[_Place], lost: dict[int, int], step: int) -> None:
    """Move pages back by what they lost, those that fall together in the order they had."""
    for place, page in enumerate(sorted(lost, key=places.__getitem__)):
        places[page] = (places[page][0] + lost[page], -step, place)
