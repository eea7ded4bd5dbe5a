"""What is seen of the lines of a text: which are links, headings and known phrases, and the parts they stand in."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress, count
from operator import mul, not_

from msgspec import Struct

from sanderling.content.main_region import Box
from sanderling.content.phrases import KNOWN, LONGEST, STARTS, letters_of, sort_of_links
from sanderling.content.side_content import Lines

PROSE = 40  # characters from which a line counts as prose
LONG = 200  # characters from which a line is no title of another page
DENSE = 3  # letters of an alphabet say as much as one of a script that writes a word in one or two
dense_letters = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]").findall  # kana, Han, Hangul


def size_of(words: str) -> int:
    """Measure how much some words say, in letters of an alphabet."""
    return len(words) if words.isascii() else len(words) + (DENSE - 1) * len(dense_letters(words))


def sizes_of(lines: Sequence[str]) -> list[int]:
    """Measure how much each of some lines says; most are written in an alphabet."""
    sizes = list(map(len, lines))
    for place in compress(count(), map(not_, map(str.isascii, lines))):
        sizes[place] = size_of(lines[place])
    return sizes


class Page(Struct, frozen=True):
    """The lines of a page, and where its elements are."""

    lines: list[str]
    lengths: list[int]
    ends: list[int]  # of each line, with the line feed
    main: bytes | bytearray  # which of them may be text
    linked: dict[int, int]  # lines with links and buttons
    bare: set[int]  # lines that are nothing but that
    boxes: Sequence[Box]
    headings: Sequence[Lines] = ()
    titles: Sequence[Lines] = ()  # headings of the first level
    buttons: Sequence[Lines] = ()
    asking: Sequence[Lines] = ()  # what has fields to fill in
    sharers: Sequence[Lines] = ()  # links by which a page is shared
    named: Sequence[Lines] = ()  # what has a telling name
    beside: Sequence[Lines] = ()  # what the page says stands beside its text


class Sight:
    """The lines of a text, seen as furniture may be inside of it."""

    def __init__(self, page: Page) -> None:
        self.page, self.lines = page, page.lines
        sizes, main = page.lengths, page.main
        self.shown = list(compress(count(), map(mul, main, sizes)))  # lines of the text that have words
        self.bare = {n for n in page.bare if main[n] and sizes[n] < LONG}
        self.headings = {first for first, _ in page.headings if first < len(sizes) and main[first]}
        self.sharers = {first for first, _ in page.sharers} & self.bare
        self.keys = self._keys()
        self.sorts = self._sorts()
        self.weighed = {*self.headings, *self.sorts}  # lines whose words decide; those with links always do

    def _keys(self) -> dict[int, bytes]:
        """Read the letters of the short lines."""
        sizes = self.page.lengths
        short = [n for n in self.shown if sizes[n] <= LONGEST]
        return dict(zip(short, letters_of([self.lines[n] for n in short]), strict=True))

    def _sorts(self) -> dict[int, str]:
        """Say of the lines that tell what they are, what that is."""
        keys, sorts = self.keys, {}
        if not KNOWN.keys().isdisjoint(keys.values()):
            sorts = {n: KNOWN[key] for n, key in keys.items() if key in KNOWN}
        for place in keys.keys() & self.page.linked.keys():
            if (key := keys[place])[:2] in STARTS and place not in sorts:
                sort = sort_of_links(key, place in self.bare)
                sorts |= {place: sort} if sort else {}
        return sorts

    @cached_property
    def titles(self) -> list[int]:
        """The lines of titles of the first level."""
        return sorted(first for first, _ in self.page.titles)

    @cached_property
    def controls(self) -> list[int]:
        """The lines at which something begins that can be pressed or filled in."""
        return sorted(first for first, _ in (*self.page.buttons, *self.page.asking))

    def told(self, *sorts: str) -> list[int]:
        """Number the lines of some sorts."""
        return sorted(n for n, sort in self.sorts.items() if sort in sorts)

    def inside(self, part: Lines) -> list[int]:
        """Number the lines of a part that have words."""
        return self.shown[bisect_left(self.shown, part[0]) : bisect_left(self.shown, part[1])]

    def around(self, place: int, most: int) -> Iterator[tuple[Lines, list[int]]]:
        """Go through the parts around a line that have at most so many lines, from the inside out, with their lines."""
        ends = self.page.ends
        at = (ends[place] - 1 + (ends[place - 1] if place else 0)) // 2
        for start, end in [box for box in self.page.boxes if box[0] <= at < box[1]]:
            part = bisect_right(ends, start), min(bisect_left(ends, end) + 1, len(ends))
            inside = self.inside(part)
            if len(inside) > most:
                return
            self.weighed.update(inside)
            if inside:
                yield part, inside

    def words(self, places: Sequence[int]) -> str:
        """Read some lines, in small letters."""
        return "\n".join([self.lines[n] for n in places]).lower()

    def is_prose(self, place: int) -> bool:
        """Say whether a line is prose, and more than a link."""
        return self.page.lengths[place] >= PROSE and place not in self.bare

    def has_title(self, part: Lines) -> bool:
        """Say whether a title of the first level is in a part."""
        return _has(self.titles, part)

    def has_controls(self, part: Lines) -> bool:
        """Say whether something in a part can be pressed or filled in."""
        return _has(self.controls, part)


def _has(starts: list[int], part: Lines) -> bool:
    return bisect_left(starts, part[1]) > bisect_left(starts, part[0])
