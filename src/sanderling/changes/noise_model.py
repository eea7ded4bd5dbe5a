"""Learns the noise of a site from its changes.

- Template: a fragment that changes on many pages at once.
- Always changing: a place that differs at every visit, such as a counter or a quotation of the day.
- Alternating: content shown in turn, such as the variants of an A/B test.

An unusual change in an always changing place, such as an additional block, is still significant.
"""

from collections.abc import Container, Iterable
from itertools import islice
from typing import Self

from msgspec import Struct, field, msgpack

from sanderling.changes.alternation import (
    AlternationScores,
    Rotations,
    get_block_keys,
    has_removed_recent_addition,
    is_alternating,
    is_rotating_asset,
    is_rotating_block,
    update_alternation,
    update_rotations,
)
from sanderling.changes.fingerprint_diff import AssetDelta, BlockChange, FingerprintDiff
from sanderling.changes.noise_fragments import (
    BOILERPLATE_OFFSET,
    GROWING_OFFSET,
    PLACE_OFFSET,
    RENAMED_LINKS_KEY,
    REPEATED_OFFSET,
    WIDTH_OFFSET,
    build_asset_fragment,
    collect_visible_assets,
    count_boilerplate_keys,
    find_growing_places,
    get_place,
    is_kind_noisy,
    list_asset_fragments,
    list_changed_places,
    list_fragments,
    list_place_widths,
    list_replaced_assets,
)

TEMPLATE_SHARE = 0.03  # of visits that must see a fragment
PLACE_SHARE = 0.6  # of visits at which a place must change
TEXT_SHARE = 0.5  # as TEMPLATE_SHARE, for fragments in main content only: some pages may share real content
MIN_DENSITY = 0.95  # of visits with changed text between the first and last sighting: a template is on all pages
RENAMED_SHARE = 0.1  # of visits with new targets for the same text: the linked pages were renamed
MIN_PAGES = 5  # for anything shared by pages
USUAL_SHARE = 0.2  # of the changes of a place that must have the same form to be usual
MIN_STREAK = 3  # consecutive visits at which a place of a page must change
MAX_STREAK = 2 * MIN_STREAK  # each unchanged visit subtracts one: rotating content may repeat by chance
HALVING_VISITS = 2_000  # visits after which all counts are halved
MAX_FRAGMENTS = 50_000
MAX_PAGES = 5_000  # with streaks or alternations
MAX_PLACES = 50  # with streaks, per page


class NoiseModel(Struct):
    """The noise model of a site. Stored: `name` keeps the keys of existing collections."""

    visits: float = 0
    fragment_counts: dict[int, float] = field(default_factory=dict)  # visits by fragment or place
    streaks: dict[int, dict[int, int]] = field(default_factory=dict)
    """By page and place: visits with a change minus visits without; negative if the last had none."""
    alternations: dict[int, AlternationScores] = field(default_factory=dict)  # by page
    reversal_counts: dict[int, float] = field(default_factory=dict)
    """By place: pages on which an addition was removed again."""
    text_visits: int = 0  # visits with changed text
    visit_spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By text key: numbers of the first and last text visit that saw it."""
    first_pages: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By text key: the first `MIN_PAGES` pages on which it changed."""
    rotations: Rotations = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.fragment_counts and not self.streaks and not self.rotations

    def without_templates(self) -> Self:
        """Return a copy that suppresses content that pages always change or show in turn, but no templates."""
        places = {key: count for key, count in self.fragment_counts.items() if key >= PLACE_OFFSET}
        return type(self)(
            self.visits, places, self.streaks, self.alternations, self.reversal_counts, rotations=self.rotations
        )

    def learn(self, page_id: int, diff: FingerprintDiff | None, *, is_copy: bool = False) -> None:
        """Learn from a visit, possibly without a diff (unchanged page).

        A copy updates the page, not the site: a page with many URLs is not a template.
        """
        diff = diff or FingerprintDiff()
        changed_places = dict((*list_changed_places(diff), *list_replaced_assets(diff)))
        if not is_copy:
            self._count_visit(page_id, diff, changed_places)
            self._record_rotations(page_id, diff)
        self._update_streaks(page_id, changed_places)
        self._update_alternations(page_id, diff)
        if self.visits > HALVING_VISITS or len(self.fragment_counts) > MAX_FRAGMENTS:
            self._decay_counts()

    def _count_visit(self, page_id: int, diff: FingerprintDiff, changed_places: Iterable[int]) -> None:
        self.visits += 1
        for fragment in {
            *list_fragments(diff),
            *changed_places,
            *find_growing_places(diff),
            *list_place_widths(diff),
        }:
            self.fragment_counts[fragment] = self.fragment_counts.get(fragment, 0) + 1
        if diff.blocks:
            self._record_spans(page_id, diff)
        if self._has_retargeted_links(diff):
            self.fragment_counts[RENAMED_LINKS_KEY] = self.fragment_counts.get(RENAMED_LINKS_KEY, 0) + 1

    def is_template_fragment(self, fragment: int) -> bool:
        """Return whether a fragment or place is noise on this site."""
        if fragment >= PLACE_OFFSET and self.reversal_counts.get(fragment, 0) < MIN_PAGES:
            return False  # all pages may have been rewritten once
        return self._is_frequent(PLACE_SHARE if fragment >= PLACE_OFFSET else TEMPLATE_SHARE, fragment)

    def is_template_block(self, block: BlockChange, boilerplate_keys: Container[int]) -> bool:
        """Return whether a block is template, given the keys changed outside the main content."""
        if not block.main:
            return all(self._is_frequent(TEMPLATE_SHARE, key, BOILERPLATE_OFFSET + key) for key in block.keys)
        return all(
            self._is_text_noise(key, key in boilerplate_keys) for key in block.keys
        ) or self._is_shared_list_item(block)

    def _is_shared_list_item(self, block: BlockChange) -> bool:
        """Return whether a block belongs to a list in the main content of many pages.

        Its keys changed on many pages, and so did the block before it, or its place changes often with other keys too.
        """
        if not all(map(self._is_shared_text, block.keys)):
            return False
        place, max_pages = get_place(block), max(map(self._count_pages, block.keys), default=0)
        is_list = self._is_frequent(PLACE_SHARE, place) and self._count_pages(place) >= 2 * max_pages
        return is_list or self._is_shared_text(block.context)

    def _is_shared_text(self, key: int) -> bool:
        """Return whether a key changed in the main content of many pages, not repeatedly on the same."""
        return len(self.first_pages.get(key, ())) >= MIN_PAGES and self._is_frequent(TEMPLATE_SHARE, key)

    def _is_text_noise(self, key: int, is_in_boilerplate: bool) -> bool:
        """Return whether a key in the main content is noise.

        Boilerplate of many pages is boilerplate on all. But a page with an additional occurrence may list it in its
        text, as a table of contents repeats the menu.
        """
        if self._is_frequent(TEMPLATE_SHARE, BOILERPLATE_OFFSET + key):
            return (
                not is_in_boilerplate
                or self._is_frequent(TEMPLATE_SHARE, REPEATED_OFFSET + key)
                or self._is_persistent(key)
            )
        return self._is_persistent(key, BOILERPLATE_OFFSET + key)

    def _is_persistent(self, key: int, *other_keys: int) -> bool:
        """Return whether most visits saw a key, and nearly all between its first and last sighting."""
        first, last = self.visit_spans.get(key, (1, 0))
        return self._is_frequent(TEXT_SHARE, key, *other_keys) and self._count_pages(
            key, *other_keys
        ) >= MIN_DENSITY * (last - first + 1)

    def select_significant_assets(
        self, kind: str, diff: FingerprintDiff, page_id: int, noisy_places: Container[int]
    ) -> AssetDelta:
        """Return the changed assets that are not template, alternating, always changing, or renamed targets."""
        is_renamed = kind == "main_links" and self._is_frequent(RENAMED_SHARE, RENAMED_LINKS_KEY)
        if is_renamed or is_kind_noisy(kind, diff, noisy_places):
            return AssetDelta()
        delta, scores = self._drop_template_assets(kind, diff), self.alternations.get(page_id, {})
        added, removed = (
            tuple(key for key in keys if not self._is_alternating_asset(build_asset_fragment(kind, key), scores))
            for keys in (delta.added, delta.removed)
        )
        return AssetDelta(added, removed)

    def _is_alternating_asset(self, fragment: int, scores: AlternationScores) -> bool:
        return is_alternating((fragment,), scores) or is_rotating_asset(fragment, self.rotations)

    def _has_retargeted_links(self, diff: FingerprintDiff) -> bool:
        """Return whether links have new targets and the text was not edited."""
        boilerplate_keys = count_boilerplate_keys(diff)
        is_edited = any(block.main and not self.is_template_block(block, boilerplate_keys) for block in diff.blocks)
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
        return abs(self.streaks.get(page_id, {}).get(place, 0)) >= MIN_STREAK

    def _is_noisy_place(self, page_id: int, place: int) -> bool:
        return self.is_template_fragment(place) or self.is_always_changing(page_id, place)

    def is_alternating(self, page_id: int, block: BlockChange) -> bool:
        """Return whether a page shows a block in turn with others."""
        return is_alternating(get_block_keys(block), self.alternations.get(page_id, {}))

    def is_rotating(self, block: BlockChange) -> bool:
        return is_rotating_block(block, self.rotations)

    def find_noisy_places(self, page_id: int, diff: FingerprintDiff) -> set[int]:
        """Return the places that always change, and changed in their usual form."""
        growing = find_growing_places(diff)
        asset_places = {place for place, _ in list_replaced_assets(diff) if self._is_noisy_place(page_id, place)}
        return asset_places | {
            place
            for place, blocks in list_changed_places(diff)
            if self._is_noisy_place(page_id, place)
            and (GROWING_OFFSET + place not in growing or self._is_usual_change(GROWING_OFFSET, place))
            and (len(blocks) == 1 or self._is_usual_change(WIDTH_OFFSET * len(blocks), place))
        }

    def _is_usual_change(self, offset: int, place: int) -> bool:
        """Return whether a place often changes in this form."""
        return self._count_pages(offset + place) >= max(MIN_STREAK, USUAL_SHARE * self._count_pages(place))

    def _record_rotations(self, page_id: int, diff: FingerprintDiff) -> None:
        update_rotations(self.rotations, page_id, diff.blocks, collect_visible_assets(diff))

    def _record_spans(self, page_id: int, diff: FingerprintDiff) -> None:
        self.text_visits += 1
        for key in {key for block in diff.blocks if block.main for key in block.keys}:
            self.visit_spans[key] = self.visit_spans.get(key, (self.text_visits,))[0], self.text_visits
            pages = self.first_pages.get(key, ())
            if len(pages) < MIN_PAGES and page_id not in pages:
                self.first_pages[key] = (*pages, page_id)

    def _update_streaks(self, page_id: int, changed_places: dict[int, list[BlockChange]]) -> None:
        old_streaks, recent = self.streaks.pop(page_id, {}), self.alternations.get(page_id, {})
        counts = {
            place: min(abs(count), MAX_STREAK) for place, count in old_streaks.items()
        }  # old collections have unlimited streaks
        unchanged = {place: 1 - count for place, count in counts.items() if place not in changed_places and count > 1}
        changed = {
            place: _extend_streak(counts.get(place, 0), has_removed_recent_addition(blocks, recent))
            for place, blocks in sorted(changed_places.items())[:MAX_PLACES]
        }
        for place, count in changed.items():
            if old_streaks.get(place) == 1 < count:
                self.reversal_counts[place] = self.reversal_counts.get(place, 0) + 1
        if changed or unchanged:
            self.streaks[page_id] = dict(islice((changed | unchanged).items(), MAX_PLACES))
            _limit_pages(self.streaks)

    def _update_alternations(self, page_id: int, diff: FingerprintDiff) -> None:
        if scores := update_alternation(self.alternations.pop(page_id, {}), diff.blocks, list_asset_fragments(diff)):
            self.alternations[page_id] = scores
            _limit_pages(self.alternations)

    def _decay_counts(self) -> None:
        """Halve all counts, so that old noise can become significant again."""
        self.visits /= 2
        most_frequent = sorted(self.fragment_counts.items(), key=lambda item: -item[1])[: MAX_FRAGMENTS // 2]
        self.fragment_counts = {fragment: count / 2 for fragment, count in most_frequent if count > 1}
        self.text_visits //= 2
        spans = ((key, span) for key, span in self.visit_spans.items() if key in self.fragment_counts)
        self.visit_spans = {key: ((first + 1) // 2, last // 2) for key, (first, last) in spans}  # at most half as long
        self.first_pages = {key: pages for key, pages in self.first_pages.items() if key in self.fragment_counts}
        self.reversal_counts = {
            place: count / 2
            for place, count in self.reversal_counts.items()
            if count > 1 and place in self.fragment_counts
        }

    def to_bytes(self) -> bytes:
        return msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode a stored model; empty data is a new site."""
        return msgpack.decode(data, type=cls) if data else cls()


def _extend_streak(count: int, is_replacement: bool) -> int:
    """Return the streak after another change; a place whose additions stay is not always changing."""
    return min(count + 1, MAX_STREAK) if is_replacement else max(count, 1)


def _limit_pages(pages: dict[int, dict[int, int]]) -> None:
    while len(pages) > MAX_PAGES:
        pages.pop(next(iter(pages)))
