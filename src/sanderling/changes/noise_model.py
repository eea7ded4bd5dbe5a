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

from sanderling.changes.alternation import (
    get_block_keys,
    has_removed_recent_addition,
    is_alternating,
    update_alternation,
)
from sanderling.changes.fingerprint_diff import ASSET_FIELDS, AssetDelta, BlockAction, BlockChange, FingerprintDiff

TEMPLATE_SHARE = 0.03  # of the visits on which a fragment must be seen
PLACE_SHARE = 0.6  # of the visits at which a place must differ
TEXT_SHARE = 0.5  # the same for what only stands in the text: what some pages say is news of each
MIN_DENSITY = 0.95  # of the visits with other words, from the first that saw it to the last: a template is on all pages
RENAMED_SHARE = 0.1  # of the visits at which links lead elsewhere below the same words, if pages got other names
MIN_PAGES = 5  # pages on which it must be seen at the least
USUAL_SHARE = 0.2  # of the times that a place differs, at which it must grow or shrink, or so many blocks must differ
MIN_STREAK = 3  # visits in a row at which a place of one page must differ
MAX_STREAK = (
    2 * MIN_STREAK
)  # of a streak; each quiet visit takes one away: what takes turns may happen to be the same once
HALVING_VISITS = 2_000  # visits after which old ones count half
MAX_FRAGMENTS = 50_000
MAX_PAGES = 5_000  # pages whose restless places are remembered
MAX_PLACES = 50  # restless places of one page
MAX_NOISE_BLOCKS = 4  # blocks of a place that may be noise; more is news wherever it stands
MAX_NOISE_BLOCK_SIZE = 200  # bytes of such a block
KIND_OFFSET = 1 << 32  # keeps hashes of each kind of asset apart
PLACE_OFFSET = 1 << 40  # and hashes of places from all of them
GROWING_OFFSET = 1 << 41  # and those of places that have more blocks than they had, or fewer
WIDTH_OFFSET = 1 << 42  # and, so many times, those of places in which so many blocks differ
RENAMED_LINKS_KEY = KIND_OFFSET * (1 + len(ASSET_FIELDS))  # stands for links that lead elsewhere, wherever to
BOILERPLATE_OFFSET = RENAMED_LINKS_KEY + KIND_OFFSET  # keeps what came or went beside the text apart
REPEATED_OFFSET = BOILERPLATE_OFFSET + KIND_OFFSET  # and what did so more than once on a page
VISIBLE_ASSETS = ("links", "main_links", "images", "main_images")  # what may be others at every visit, as words may
ASSET_PLACES = {
    kind: PLACE_OFFSET + KIND_OFFSET * number for number, kind in enumerate(VISIBLE_ASSETS, 1)
}  # each is a place of its own


class NoiseModel(Struct):
    """The memory of one site; it is stored as bytes between crawls."""

    visits: float = 0
    fragment_counts: dict[int, float] = field(
        default_factory=dict
    )  # fragments and places, with the number of pages they were on
    streaks: dict[int, dict[int, int]] = field(default_factory=dict)
    """Of a page: places, and at how many visits more they differed than not; below 0 if not at the last one."""
    alternations: dict[int, dict[int, int]] = field(
        default_factory=dict
    )  # of a page: what came or went lately (turns.py)
    reversal_counts: dict[int, float] = field(
        default_factory=dict
    )  # places, with on how many pages what came to one went again
    text_visits: int = 0  # visits at which words differed
    visit_spans: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # of texts: the first of those visits, the last
    first_pages: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # of texts: the first pages that they came to or left

    @property
    def is_empty(self) -> bool:
        """Say whether nothing was learned yet, so that nothing is noise."""
        return not self.fragment_counts and not self.streaks

    def learn(self, page_id: int, diff: FingerprintDiff | None, *, is_copy: bool = False) -> None:
        """Take one visit into account; None for a page that was the same to the byte.

        A copy says of itself what never rests, and nothing of the site: one page under many addresses is no template.
        """
        diff = diff or FingerprintDiff()
        now = dict((*list_changed_places(diff), *list_replaced_assets(diff)))
        if not is_copy:
            self._count_visit(page_id, diff, now)
        self._update_streaks(page_id, now)
        self._update_alternations(page_id, diff)
        if self.visits > HALVING_VISITS or len(self.fragment_counts) > MAX_FRAGMENTS:
            self._decay_counts()

    def _count_visit(self, page_id: int, diff: FingerprintDiff, changed_places: Iterable[int]) -> None:
        """Count a visit, with what came or went at it and where."""
        self.visits += 1
        for fragment in {
            *list_fragments(diff),
            *changed_places,
            *_find_growing_places(diff),
            *_list_place_widths(diff),
        }:
            self.fragment_counts[fragment] = self.fragment_counts.get(fragment, 0) + 1
        if diff.blocks:
            self._record_spans(page_id, diff)
        if self._has_retargeted_links(diff):
            self.fragment_counts[RENAMED_LINKS_KEY] = self.fragment_counts.get(RENAMED_LINKS_KEY, 0) + 1

    def is_template_fragment(self, fragment: int) -> bool:
        """Say whether a fragment or place is noise on this site; pages that were all rewritten once are none."""
        if fragment >= PLACE_OFFSET and self.reversal_counts.get(fragment, 0) < MIN_PAGES:
            return False
        return self._is_frequent(PLACE_SHARE if fragment >= PLACE_OFFSET else TEMPLATE_SHARE, fragment)

    def is_template_block(self, block: BlockChange, boilerplate_keys: Container[int]) -> bool:
        """Say whether all of a block is noise on this site, given what else came or went beside the text of its page.

        What the text alone has is noise only if half of the visits saw it.
        """
        if not block.main:
            return all(self._is_frequent(TEMPLATE_SHARE, key, BOILERPLATE_OFFSET + key) for key in block.keys)
        return all(
            self._is_text_noise(key, key in boilerplate_keys) for key in block.keys
        ) or self._is_shared_list_item(block)

    def _is_shared_list_item(self, block: BlockChange) -> bool:
        """Say whether a block belongs to a list that many pages have in their text and that changes on all of them.

        It came or went on many pages, below what came so itself, or where most visits find this and at others something
        else: what comes once is no list.
        """
        if not all(map(self._is_shared_text, block.keys)):
            return False
        place, most = get_place(block), max(map(self._count_pages, block.keys), default=0)
        is_list = self._is_frequent(PLACE_SHARE, place) and self._count_pages(place) >= 2 * most
        return is_list or self._is_shared_text(block.context)

    def _is_shared_text(self, key: int) -> bool:
        """Say whether something came or went in the texts of many pages; on one it may be a notice, again and again."""
        return len(self.first_pages.get(key, ())) >= MIN_PAGES and self._is_frequent(TEMPLATE_SHARE, key)

    def _is_text_noise(self, key: int, is_in_boilerplate: bool) -> bool:
        """Say whether what came or went in a text is noise.

        What stands beside the text of many pages does so on all; but a page that has it once more than others do lists
        it in its text, as contents list what the menu has.
        """
        if self._is_frequent(TEMPLATE_SHARE, BOILERPLATE_OFFSET + key):
            return (
                not is_in_boilerplate
                or self._is_frequent(TEMPLATE_SHARE, REPEATED_OFFSET + key)
                or self._is_persistent(key)
            )
        return self._is_persistent(key, BOILERPLATE_OFFSET + key)

    def _is_persistent(self, key: int, *other_keys: int) -> bool:
        """Say whether most visits saw something in the text, and while it came or went nearly all did."""
        first, last = self.visit_spans.get(key, (1, 0))
        return self._is_frequent(TEXT_SHARE, key, *other_keys) and self._count_pages(
            key, *other_keys
        ) >= MIN_DENSITY * (last - first + 1)

    def select_significant_assets(
        self, kind: str, diff: FingerprintDiff, page_id: int, noisy_places: Container[int]
    ) -> AssetDelta:
        """Leave out assets that came or went on many pages at once or in turn, and other targets of renamed pages.

        `noisy`: the places that never rest; links and pictures that are others at every visit are such a place.
        """
        is_renamed = kind == "main_links" and self._is_frequent(RENAMED_SHARE, RENAMED_LINKS_KEY)
        if is_renamed or _is_suppressed(kind, diff, noisy_places):
            return AssetDelta()
        rare, turns = self._drop_template_assets(kind, diff), self.alternations.get(page_id, {})
        added, removed = (
            tuple(key for key in keys if not is_alternating((build_asset_fragment(kind, key),), turns))
            for keys in (rare.added, rare.removed)
        )
        return AssetDelta(added, removed)

    def _has_retargeted_links(self, diff: FingerprintDiff) -> bool:
        """Say whether links have other targets below the same words; those of a text that was edited may well have."""
        around = count_boilerplate_keys(diff)
        is_edited = any(block.main and not self.is_template_block(block, around) for block in diff.blocks)
        return not is_edited and self._drop_template_assets("main_links", diff).is_replacement

    def _drop_template_assets(self, kind: str, diff: FingerprintDiff) -> AssetDelta:
        delta = diff.assets.get(kind, AssetDelta())
        added, removed = (
            tuple(key for key in keys if not self.is_template_fragment(build_asset_fragment(kind, key)))
            for keys in (delta.added, delta.removed)
        )
        return AssetDelta(added, removed)

    def _is_frequent(self, share: float, *fragments: int) -> bool:
        return self._count_pages(*fragments) >= max(MIN_PAGES, share * self.visits)

    def _count_pages(self, *fragments: int) -> float:
        return sum(self.fragment_counts.get(fragment, 0) for fragment in fragments)

    def is_always_changing(self, page_id: int, place: int) -> bool:
        """Say whether a place of a page differs whenever one looks."""
        return abs(self.streaks.get(page_id, {}).get(place, 0)) >= MIN_STREAK

    def _is_noisy_place(self, page_id: int, place: int) -> bool:
        return self.is_template_fragment(place) or self.is_always_changing(page_id, place)

    def is_alternating(self, page_id: int, block: BlockChange) -> bool:
        """Say whether all that came and went with a block of a page does so in turn."""
        return is_alternating(get_block_keys(block), self.alternations.get(page_id, {}))

    def find_noisy_places(self, page_id: int, diff: FingerprintDiff) -> set[int]:
        """Name the places in which what differs is noise: it does so all the time, and in this way."""
        growing = _find_growing_places(diff)
        shown = {place for place, _ in list_replaced_assets(diff) if self._is_noisy_place(page_id, place)}
        return shown | {
            place
            for place, blocks in list_changed_places(diff)
            if self._is_noisy_place(page_id, place)
            and (GROWING_OFFSET + place not in growing or self._is_usual_change(GROWING_OFFSET, place))
            and (len(blocks) == 1 or self._is_usual_change(WIDTH_OFFSET * len(blocks), place))
        }

    def _is_usual_change(self, offset: int, place: int) -> bool:
        """Say whether a place differs in this manner all the time, not now and then."""
        return self._count_pages(offset + place) >= max(MIN_STREAK, USUAL_SHARE * self._count_pages(place))

    def _record_spans(self, page_id: int, diff: FingerprintDiff) -> None:
        """Write down when, for the first time and the last, and on which pages something came or went in a text."""
        self.text_visits += 1
        for key in {key for block in diff.blocks if block.main for key in block.keys}:
            self.visit_spans[key] = self.visit_spans.get(key, (self.text_visits,))[0], self.text_visits
            known = self.first_pages.get(key, ())
            if len(known) < MIN_PAGES and page_id not in known:
                self.first_pages[key] = (*known, page_id)

    def _update_streaks(self, page_id: int, changed_places: dict[int, list[BlockChange]]) -> None:
        before, recent = self.streaks.pop(page_id, {}), self.alternations.get(page_id, {})
        counts = {place: min(abs(count), MAX_STREAK) for place, count in before.items()}  # older ones had no end
        quiet = {place: 1 - count for place, count in counts.items() if place not in changed_places and count > 1}
        places = {
            place: _extend_streak(counts.get(place, 0), has_removed_recent_addition(blocks, recent))
            for place, blocks in sorted(changed_places.items())[:MAX_PLACES]
        }
        for place, count in places.items():
            if before.get(place) == 1 < count:
                self.reversal_counts[place] = self.reversal_counts.get(place, 0) + 1
        if places or quiet:
            self.streaks[page_id] = dict(islice((places | quiet).items(), MAX_PLACES))
            _limit_pages(self.streaks)

    def _update_alternations(self, page_id: int, diff: FingerprintDiff) -> None:
        """Write down what came or went on a page."""
        if now := update_alternation(self.alternations.pop(page_id, {}), diff.blocks, _list_asset_fragments(diff)):
            self.alternations[page_id] = now
            _limit_pages(self.alternations)

    def _decay_counts(self) -> None:
        """Halve all counts, so that what was noise long ago may be news again."""
        self.visits /= 2
        kept = sorted(self.fragment_counts.items(), key=lambda item: -item[1])[: MAX_FRAGMENTS // 2]
        self.fragment_counts = {fragment: count / 2 for fragment, count in kept if count > 1}
        self.text_visits //= 2
        spans = ((key, span) for key, span in self.visit_spans.items() if key in self.fragment_counts)
        self.visit_spans = {key: ((first + 1) // 2, last // 2) for key, (first, last) in spans}  # no longer than half
        self.first_pages = {key: pages for key, pages in self.first_pages.items() if key in self.fragment_counts}
        self.reversal_counts = {
            place: count / 2
            for place, count in self.reversal_counts.items()
            if count > 1 and place in self.fragment_counts
        }

    def to_bytes(self) -> bytes:
        """Write the memory down."""
        return msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; nothing stored is a site not known yet."""
        return msgpack.decode(data, type=cls) if data else cls()


def list_fragments(diff: FingerprintDiff) -> Iterator[int]:
    """Name everything that came or went: blocks as they are, assets apart by their kind."""
    yield from (key for block in diff.blocks if block.main for key in block.keys)
    for key, times in count_boilerplate_keys(diff).items():
        yield BOILERPLATE_OFFSET + key
        if times > 1:
            yield REPEATED_OFFSET + key
    yield from _list_asset_fragments(diff)


def _list_asset_fragments(diff: FingerprintDiff) -> Iterator[int]:
    for kind, delta in diff.assets.items():
        yield from (build_asset_fragment(kind, key) for key in (*delta.added, *delta.removed))


def count_boilerplate_keys(diff: FingerprintDiff) -> Counter[int]:
    """Count what came or went beside the text of a page."""
    return Counter(key for block in diff.blocks if not block.main for key in block.keys)


def build_asset_fragment(kind: str, key: int) -> int:
    """Keep hashes of different kinds of assets apart."""
    return key + KIND_OFFSET * (1 + ASSET_FIELDS.index(kind))


def list_changed_places(diff: FingerprintDiff) -> Iterator[tuple[int, list[BlockChange]]]:
    """Name the places where little enough differs to be noise, with what does."""
    for place, blocks in _group_by_place(diff.blocks):
        if len(blocks) <= MAX_NOISE_BLOCKS and max(block.size for block in blocks) <= MAX_NOISE_BLOCK_SIZE:
            yield place, blocks


def list_replaced_assets(diff: FingerprintDiff) -> Iterator[tuple[int, list[BlockChange]]]:
    """Name the kinds of links and pictures of which some are others now, each as a place, with what stands for what."""
    for kind, place in ASSET_PLACES.items():
        delta = diff.assets.get(kind, AssetDelta())
        if delta.is_replacement:
            keys = (
                (build_asset_fragment(kind, gone), build_asset_fragment(kind, came))
                for gone, came in zip(delta.removed, delta.added, strict=False)
            )
            yield place, [BlockChange(BlockAction.CHANGED, 0, False, keys=pair) for pair in keys]


def _extend_streak(count: int, is_replacement: bool) -> int:
    """Count one more visit at which a place differs; where what came stays, that never makes it restless."""
    return min(count + 1, MAX_STREAK) if is_replacement else max(count, 1)


def _limit_pages(pages: dict[int, dict[int, int]]) -> None:
    while len(pages) > MAX_PAGES:
        pages.pop(next(iter(pages)))


def _find_growing_places(diff: FingerprintDiff) -> set[int]:
    """Name the places that have more blocks than they had, or fewer."""
    return {
        GROWING_OFFSET + place
        for place, blocks in _group_by_place(diff.blocks)
        if sum((block.action is BlockAction.ADDED) - (block.action is BlockAction.REMOVED) for block in blocks)
    }


def _list_place_widths(diff: FingerprintDiff) -> Iterator[int]:
    """Name the places in which two blocks differ or more, those in which three do or more, and so on."""
    for place, blocks in list_changed_places(diff):
        yield from (WIDTH_OFFSET * width + place for width in range(2, len(blocks) + 1))


def _is_suppressed(kind: str, diff: FingerprintDiff, noisy_places: Container[int]) -> bool:
    """Say whether assets are others at every visit; those of a page are told beside those of its text that are not."""
    if ASSET_PLACES.get(kind) not in noisy_places:
        return False
    of_text = f"main_{kind}"
    return of_text not in diff.assets or ASSET_PLACES[of_text] in noisy_places


def get_place(block: BlockChange) -> int:
    """Name the place of a block."""
    return PLACE_OFFSET + block.context


def _group_by_place(blocks: Iterable[BlockChange]) -> Iterator[tuple[int, list[BlockChange]]]:
    found: dict[int, list[BlockChange]] = {}
    for block in blocks:
        found.setdefault(get_place(block), []).append(block)
    yield from found.items()
