"""What is noise on one site, learned from its own comparisons.

A fragment (the hash of a block, link, image or script that came or went) seen on many pages at once belongs to the
template. A place (the unchanged block before it) whose content differs at every visit, on many pages or again and again
on one, holds a counter, an advertisement or a quotation of the day, if what came goes again. Neither is news of a page,
nor is what comes and goes in turn, as the two versions of a trial do. A block more or less in a place where so far one
took the turn of another is.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from typing import Self

from msgspec import Struct, field, msgpack

from sanderling.changes.alternation import has_turned, is_in_turn, named, turned
from sanderling.changes.diff import ASSETS, Action, Block, Delta, Difference

SHARE = 0.03  # of the visits on which a fragment must be seen
PLACE_SHARE = 0.6  # of the visits at which a place must differ
TEXT_SHARE = 0.5  # the same for what only stands in the text: what some pages say is news of each
DENSE = 0.95  # of the visits with other words, from the first that saw it to the last: a template is on all pages
RENAMED_SHARE = 0.1  # of the visits at which links lead elsewhere below the same words, if pages got other names
FEWEST = 5  # pages on which it must be seen at the least
USUAL_SHARE = 0.2  # of the times that a place differs, at which it must grow or shrink, or so many blocks must differ
STREAK = 3  # visits in a row at which a place of one page must differ
LONGEST = 2 * STREAK  # of a streak; each quiet visit takes one away: what takes turns may happen to be the same once
MEMORY = 2_000  # visits after which old ones count half
MAX_FRAGMENTS = 50_000
MAX_PAGES = 5_000  # pages whose restless places are remembered
MAX_PLACES = 50  # restless places of one page
SMALL = 4  # blocks of a place that may be noise; more is news wherever it stands
SHORT = 200  # bytes of such a block
KIND = 1 << 32  # keeps hashes of each kind of asset apart
PLACE = 1 << 40  # and hashes of places from all of them
GROWING = 1 << 41  # and those of places that have more blocks than they had, or fewer
WIDER = 1 << 42  # and, so many times, those of places in which so many blocks differ
RENAMED = KIND * (1 + len(ASSETS))  # stands for links that lead elsewhere, wherever to
FURNITURE = RENAMED + KIND  # keeps what came or went beside the text apart
TWICE = FURNITURE + KIND  # and what did so more than once on a page
SHOWN = ("links", "main_links", "images", "main_images")  # what may be others at every visit, as words may
SWAPPED = {kind: PLACE + KIND * number for number, kind in enumerate(SHOWN, 1)}  # each is a place of its own


class Noise(Struct):
    """The memory of one site; it is stored as bytes between crawls."""

    visits: float = 0
    seen: dict[int, float] = field(default_factory=dict)  # fragments and places, with the number of pages they were on
    restless: dict[int, dict[int, int]] = field(default_factory=dict)
    """Of a page: places, and at how many visits more they differed than not; below 0 if not at the last one."""
    turns: dict[int, dict[int, int]] = field(default_factory=dict)  # of a page: what came or went lately (turns.py)
    again: dict[int, float] = field(default_factory=dict)  # places, with on how many pages what came to one went again
    worded: int = 0  # visits at which words differed
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)  # of texts: the first of those visits, the last
    pages: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # of texts: the first pages that they came to or left

    @property
    def is_new(self) -> bool:
        """Say whether nothing was learned yet, so that nothing is noise."""
        return not self.seen and not self.restless

    def learn(self, page: int, found: Difference | None, *, is_copy: bool = False) -> None:
        """Take one visit into account; None for a page that was the same to the byte.

        A copy says of itself what never rests, and nothing of the site: one page under many addresses is no template.
        """
        found = found or Difference()
        now = dict((*places(found), *swaps(found)))
        if not is_copy:
            self._count_in(page, found, now)
        self._follow(page, now)
        self._turn(page, found)
        if self.visits > MEMORY or len(self.seen) > MAX_FRAGMENTS:
            self._forget()

    def _count_in(self, page: int, found: Difference, now: Iterable[int]) -> None:
        """Count a visit, with what came or went at it and where."""
        self.visits += 1
        for fragment in {*fragments(found), *now, *_growing(found), *_widths(found)}:
            self.seen[fragment] = self.seen.get(fragment, 0) + 1
        if found.blocks:
            self._date(page, found)
        if self._leads_elsewhere(found):
            self.seen[RENAMED] = self.seen.get(RENAMED, 0) + 1

    def is_everywhere(self, fragment: int) -> bool:
        """Say whether a fragment or place is noise on this site; pages that were all rewritten once are none."""
        if fragment >= PLACE and self.again.get(fragment, 0) < FEWEST:
            return False
        return self._is_on(PLACE_SHARE if fragment >= PLACE else SHARE, fragment)

    def is_template(self, block: Block, around: Container[int]) -> bool:
        """Say whether all of a block is noise on this site, given what else came or went beside the text of its page.

        What the text alone has is noise only if half of the visits saw it.
        """
        if not block.main:
            return all(self._is_on(SHARE, key, FURNITURE + key) for key in block.keys)
        return all(self._is_quiet(key, key in around) for key in block.keys) or self._is_of_list(block)

    def _is_of_list(self, block: Block) -> bool:
        """Say whether a block belongs to a list that many pages have in their text and that changes on all of them.

        It came or went on many pages, below what came so itself, or where most visits find this and at others something
        else: what comes once is no list.
        """
        if not all(map(self._is_shared, block.keys)):
            return False
        place, most = place_of(block), max(map(self._count, block.keys), default=0)
        is_list = self._is_on(PLACE_SHARE, place) and self._count(place) >= 2 * most
        return is_list or self._is_shared(block.context)

    def _is_shared(self, key: int) -> bool:
        """Say whether something came or went in the texts of many pages; on one it may be a notice, again and again."""
        return len(self.pages.get(key, ())) >= FEWEST and self._is_on(SHARE, key)

    def _is_quiet(self, key: int, is_beside: bool) -> bool:
        """Say whether what came or went in a text is noise.

        What stands beside the text of many pages does so on all; but a page that has it once more than others do lists
        it in its text, as contents list what the menu has.
        """
        if self._is_on(SHARE, FURNITURE + key):
            return not is_beside or self._is_on(SHARE, TWICE + key) or self._is_all_over(key)
        return self._is_all_over(key, FURNITURE + key)

    def _is_all_over(self, key: int, *others: int) -> bool:
        """Say whether most visits saw something in the text, and while it came or went nearly all did."""
        first, last = self.spans.get(key, (1, 0))
        return self._is_on(TEXT_SHARE, key, *others) and self._count(key, *others) >= DENSE * (last - first + 1)

    def news(self, kind: str, found: Difference, page: int, noisy: Container[int]) -> Delta:
        """Leave out assets that came or went on many pages at once or in turn, and other targets of renamed pages.

        `noisy`: the places that never rest; links and pictures that are others at every visit are such a place.
        """
        is_renamed = kind == "main_links" and self._is_on(RENAMED_SHARE, RENAMED)
        if is_renamed or _is_hushed(kind, found, noisy):
            return Delta()
        rare, turns = self._rare(kind, found), self.turns.get(page, {})
        added, removed = (
            tuple(key for key in keys if not is_in_turn((asset(kind, key),), turns))
            for keys in (rare.added, rare.removed)
        )
        return Delta(added, removed)

    def _leads_elsewhere(self, found: Difference) -> bool:
        """Say whether links have other targets below the same words; those of a text that was edited may well have."""
        around = beside(found)
        is_edited = any(block.main and not self.is_template(block, around) for block in found.blocks)
        return not is_edited and self._rare("main_links", found).is_swap

    def _rare(self, kind: str, found: Difference) -> Delta:
        delta = found.assets.get(kind, Delta())
        added, removed = (
            tuple(key for key in keys if not self.is_everywhere(asset(kind, key)))
            for keys in (delta.added, delta.removed)
        )
        return Delta(added, removed)

    def _is_on(self, share: float, *fragments: int) -> bool:
        return self._count(*fragments) >= max(FEWEST, share * self.visits)

    def _count(self, *fragments: int) -> float:
        return sum(self.seen.get(fragment, 0) for fragment in fragments)

    def is_restless(self, page: int, place: int) -> bool:
        """Say whether a place of a page differs whenever one looks."""
        return abs(self.restless.get(page, {}).get(place, 0)) >= STREAK

    def _never_rests(self, page: int, place: int) -> bool:
        return self.is_everywhere(place) or self.is_restless(page, place)

    def is_in_turn(self, page: int, block: Block) -> bool:
        """Say whether all that came and went with a block of a page does so in turn."""
        return is_in_turn(named(block), self.turns.get(page, {}))

    def noisy(self, page: int, found: Difference) -> set[int]:
        """Name the places in which what differs is noise: it does so all the time, and in this way."""
        growing = _growing(found)
        shown = {place for place, _ in swaps(found) if self._never_rests(page, place)}
        return shown | {
            place
            for place, blocks in places(found)
            if self._never_rests(page, place)
            and (GROWING + place not in growing or self._is_usual(GROWING, place))
            and (len(blocks) == 1 or self._is_usual(WIDER * len(blocks), place))
        }

    def _is_usual(self, manner: int, place: int) -> bool:
        """Say whether a place differs in this manner all the time, not now and then."""
        return self._count(manner + place) >= max(STREAK, USUAL_SHARE * self._count(place))

    def _date(self, page: int, found: Difference) -> None:
        """Write down when, for the first time and the last, and on which pages something came or went in a text."""
        self.worded += 1
        for key in {key for block in found.blocks if block.main for key in block.keys}:
            self.spans[key] = self.spans.get(key, (self.worded,))[0], self.worded
            known = self.pages.get(key, ())
            if len(known) < FEWEST and page not in known:
                self.pages[key] = (*known, page)

    def _follow(self, page: int, now: dict[int, list[Block]]) -> None:
        before, recent = self.restless.pop(page, {}), self.turns.get(page, {})
        counts = {place: min(abs(count), LONGEST) for place, count in before.items()}  # older ones had no end
        quiet = {place: 1 - count for place, count in counts.items() if place not in now and count > 1}
        places = {
            place: _streak(counts.get(place, 0), has_turned(blocks, recent))
            for place, blocks in sorted(now.items())[:MAX_PLACES]
        }
        for place, count in places.items():
            if before.get(place) == 1 < count:
                self.again[place] = self.again.get(place, 0) + 1
        if places or quiet:
            self.restless[page] = dict(islice((places | quiet).items(), MAX_PLACES))
            _bound(self.restless)

    def _turn(self, page: int, found: Difference) -> None:
        """Write down what came or went on a page."""
        if now := turned(self.turns.pop(page, {}), found.blocks, _assets(found)):
            self.turns[page] = now
            _bound(self.turns)

    def _forget(self) -> None:
        """Halve all counts, so that what was noise long ago may be news again."""
        self.visits /= 2
        kept = sorted(self.seen.items(), key=lambda item: -item[1])[: MAX_FRAGMENTS // 2]
        self.seen = {fragment: count / 2 for fragment, count in kept if count > 1}
        self.worded //= 2
        spans = ((key, span) for key, span in self.spans.items() if key in self.seen)
        self.spans = {key: ((first + 1) // 2, last // 2) for key, (first, last) in spans}  # no longer than half
        self.pages = {key: pages for key, pages in self.pages.items() if key in self.seen}
        self.again = {place: count / 2 for place, count in self.again.items() if count > 1 and place in self.seen}

    def to_bytes(self) -> bytes:
        """Write the memory down."""
        return msgpack.encode(self)

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Read what `to_bytes` wrote; nothing stored is a site not known yet."""
        return msgpack.decode(stored, type=cls) if stored else cls()


def fragments(found: Difference) -> Iterator[int]:
    """Name everything that came or went: blocks as they are, assets apart by their kind."""
    yield from (key for block in found.blocks if block.main for key in block.keys)
    for key, times in beside(found).items():
        yield FURNITURE + key
        if times > 1:
            yield TWICE + key
    yield from _assets(found)


def _assets(found: Difference) -> Iterator[int]:
    for kind, delta in found.assets.items():
        yield from (asset(kind, key) for key in (*delta.added, *delta.removed))


def beside(found: Difference) -> Counter[int]:
    """Count what came or went beside the text of a page."""
    return Counter(key for block in found.blocks if not block.main for key in block.keys)


def asset(kind: str, key: int) -> int:
    """Keep hashes of different kinds of assets apart."""
    return key + KIND * (1 + ASSETS.index(kind))


def places(found: Difference) -> Iterator[tuple[int, list[Block]]]:
    """Name the places where little enough differs to be noise, with what does."""
    for place, blocks in _by_context(found.blocks):
        if len(blocks) <= SMALL and max(block.size for block in blocks) <= SHORT:
            yield place, blocks


def swaps(found: Difference) -> Iterator[tuple[int, list[Block]]]:
    """Name the kinds of links and pictures of which some are others now, each as a place, with what stands for what."""
    for kind, place in SWAPPED.items():
        delta = found.assets.get(kind, Delta())
        if delta.is_swap:
            keys = (
                (asset(kind, gone), asset(kind, came)) for gone, came in zip(delta.removed, delta.added, strict=False)
            )
            yield place, [Block(Action.CHANGED, 0, False, keys=pair) for pair in keys]


def _streak(count: int, is_turn: bool) -> int:
    """Count one more visit at which a place differs; where what came stays, that never makes it restless."""
    return min(count + 1, LONGEST) if is_turn else max(count, 1)


def _bound(pages: dict[int, dict[int, int]]) -> None:
    while len(pages) > MAX_PAGES:
        pages.pop(next(iter(pages)))


def _growing(found: Difference) -> set[int]:
    """Name the places that have more blocks than they had, or fewer."""
    return {
        GROWING + place
        for place, blocks in _by_context(found.blocks)
        if sum((block.action is Action.ADDED) - (block.action is Action.REMOVED) for block in blocks)
    }


def _widths(found: Difference) -> Iterator[int]:
    """Name the places in which two blocks differ or more, those in which three do or more, and so on."""
    for place, blocks in places(found):
        yield from (WIDER * width + place for width in range(2, len(blocks) + 1))


def _is_hushed(kind: str, found: Difference, noisy: Container[int]) -> bool:
    """Say whether assets are others at every visit; those of a page are told beside those of its text that are not."""
    if SWAPPED.get(kind) not in noisy:
        return False
    of_text = f"main_{kind}"
    return of_text not in found.assets or SWAPPED[of_text] in noisy


def place_of(block: Block) -> int:
    """Name the place of a block."""
    return PLACE + block.context


def _by_context(blocks: Iterable[Block]) -> Iterator[tuple[int, list[Block]]]:
    found: dict[int, list[Block]] = {}
    for block in blocks:
        found.setdefault(place_of(block), []).append(block)
    yield from found.items()
