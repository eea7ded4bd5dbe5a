"""Learn which places of a site differ between two fetches of a page seconds apart, and leave such differences out.

Differential fetching: what two fetches at the same time disagree about is not a change; what they share and the last
version lacks is one. A place is known by the words before or after it, so that pages of a template share it, and its
content by pairs of words, so that a new value in a volatile place is still a change.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Self

from msgspec import Struct, field, msgpack
from xxhash import xxh3_64_intdigest

from sanderling.changes.align import Hunk, align_blocks
from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange, FingerprintDiff, diff_fingerprints
from sanderling.changes.tag_tree_diff import StructureDiff
from sanderling.changes.word_diff import TOKEN_PATTERN
from sanderling.changes.word_report import ComparableVersion
from sanderling.content.prices import PRICE_FLAG
from sanderling.content.volatile.strip import strip_volatile_text

CONTEXT_TOKENS = 2  # before or after a place
SETTLED_STREAK = 4  # fetches without a new value, after which a new value is unlikely to be noise
MIN_OPEN_NUMBERS = 3  # different numbers, few of them repeated: the next one will be new too
MAX_NUMBERS = 8  # kept per place
MIN_MOVES = 3  # changes at the next check too, on any pages
MAX_MOVING_WORDS = 3  # of a place that changes at each check, in either version
MAX_MOVING_PLACES = 20  # per page
MAX_PLACES = 5_000  # per site
MAX_VALUES = 20_000  # per site
MARKUP = "markup"  # kind of asset: classes and tags
MAX_TOKENS = 200_000  # per page; the rest is not compared
LINE_END = "\n"
NO_BLOCK = -2  # of a line end; -1 is a block that a version does not have
NUMBER = re.compile(r"\d+")


class PageTokens(Struct, frozen=True, dict=True):
    """The words of a version, without volatile text, and the block of each."""

    tokens: list[str]
    blocks: list[int]
    price_blocks: frozenset[int]

    @cached_property
    def pair_keys(self) -> frozenset[int]:
        """Keys of all pairs of words."""
        return frozenset(pair.key for pair in list_pairs(self, (1, len(self.tokens) - 1)))

    @cached_property
    def hashes(self) -> "array[int]":
        return array("Q", map(_hash_text, self.tokens))


def tokenize_version(version: ComparableVersion) -> PageTokens:
    """Split the visible blocks of a version into words. Blocks of volatile text have none."""
    tokens: list[str] = [LINE_END] * CONTEXT_TOKENS
    blocks = [NO_BLOCK] * CONTEXT_TOKENS
    sizes, roles = array("H", version.fingerprint.block_sizes), version.fingerprint.block_roles
    for number, (text, size) in enumerate(zip(version.block_texts, sizes, strict=False)):
        words = TOKEN_PATTERN.findall(strip_volatile_text(text)) if size else ()
        found = [word for word in words if not word.isspace()]
        if found and len(tokens) < MAX_TOKENS:
            tokens += [*found, LINE_END]
            blocks += [*[number] * len(found), NO_BLOCK]
    prices = frozenset(number for number, role in enumerate(roles) if role & PRICE_FLAG > 1)
    return PageTokens([*tokens, LINE_END], [*blocks, NO_BLOCK], prices)


class NumberPlace(Struct, array_like=True):
    """The different numbers seen in a place, and how many were seen again."""

    values: list[int] = []
    repeats: int = 0

    @property
    def is_open(self) -> bool:
        return len(self.values) >= MIN_OPEN_NUMBERS and 2 * self.repeats <= len(self.values)


class VolatilePlaces(Struct):
    """What differs between fetches at the same time, on a site. Stored."""

    streaks: dict[int, int] = field(default_factory=dict)
    """By place: fetches since its last new value."""
    values: dict[int, None] = field(default_factory=dict)  # pairs of words, links and assets seen in such places
    numbers: dict[int, NumberPlace] = field(default_factory=dict)
    moves: dict[int, int] = field(default_factory=dict)
    """By place: how often it changed again at the next check of a page, as a date or a countdown does."""

    @property
    def is_empty(self) -> bool:
        return not self.streaks

    def learn(
        self, first: ComparableVersion, second: ComparableVersion, undecided: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Learn from two fetches of a page at the same time, except from the undecided spans of the first."""
        if first.fingerprint == second.fingerprint:
            return
        one, other = tokenize_version(first), tokenize_version(second)
        for hunk in align_tokens(one, other):
            if not any(start <= hunk.old[1] and hunk.old[0] <= end for start, end in undecided):
                self.learn_hunk(one, other, hunk)
        diff = diff_fingerprints(first.fingerprint, second.fingerprint)
        for kind, delta in diff.assets.items():
            self.learn_assets(kind, delta)
        for text in list_moved_texts(first, diff):
            self.values[_hash_text(text)] = None
        if diff.has_style_change or diff.structure != StructureDiff():
            self.learn_assets(MARKUP, AssetDelta())
        self._limit_sizes()

    def learn_hunk(self, one: PageTokens, other: PageTokens, hunk: Hunk) -> None:
        """Learn a place, and the words that only one version has."""
        places = [*list_place_keys(one, hunk.old), *list_place_keys(other, hunk.new)]
        is_new = False
        for version, span, keys in ((one, hunk.old, other.pair_keys), (other, hunk.new, one.pair_keys)):
            for pair in list_pairs(version, span):
                if pair.key not in keys:
                    is_new = not self._is_known(pair) or is_new
                    self._add_value(pair)
        for place in places:
            self.streaks[place] = 0 if is_new else self.streaks.get(place, 0) + 1

    def doubt_place(self, version: PageTokens, span: tuple[int, int]) -> None:
        """Record a new value that only one fetch had, where the others had known ones. The third time it is noise."""
        for key in list_place_keys(version, span):
            self.streaks[key] = self.streaks.get(key, 2 * SETTLED_STREAK) // 2

    def learn_assets(self, kind: str, delta: AssetDelta) -> None:
        """Learn links or other assets that are not on every fetch."""
        self.streaks[_hash_text(kind)] = 0
        self.values.update(dict.fromkeys(_hash_text(f"{kind} {key}") for key in (*delta.added, *delta.removed)))

    def is_place(self, version: PageTokens, span: tuple[int, int]) -> bool:
        """Return whether a place is known to differ between fetches at the same time."""
        return any(key in self.streaks for key in list_place_keys(version, span))

    def learn_moves(self, places: Iterable[int], last_places: Iterable[int]) -> None:
        """Count the places that changed at this check of a page and the last, and those that did not change again."""
        found = set(places)
        for key in last_places:
            self.moves[key] = self.moves.get(key, 0) + 1 if key in found else 0

    def is_moving(self, version: PageTokens, span: tuple[int, int]) -> bool:
        """Return whether a place changes at each check."""
        return any(self.moves.get(key, 0) >= MIN_MOVES for key in list_place_keys(version, span))

    def is_settled(self, version: PageTokens, span: tuple[int, int]) -> bool:
        """Return whether a volatile place has shown nothing new for several fetches."""
        streaks = [self.streaks[key] for key in list_place_keys(version, span) if key in self.streaks]
        return max(streaks, default=0) >= SETTLED_STREAK

    def find_new_pairs(self, version: PageTokens, span: tuple[int, int]) -> list["WordPair"]:
        """Return the pairs of words that no volatile place had."""
        return [pair for pair in list_pairs(version, span) if not self._is_known(pair)]

    def is_moved_text(self, text: str) -> bool:
        return _hash_text(text) in self.values

    def is_asset_kind(self, kind: str) -> bool:
        return _hash_text(kind) in self.streaks

    def is_asset(self, kind: str, key: int) -> bool:
        return _hash_text(f"{kind} {key}") in self.values

    def _is_known(self, pair: "WordPair") -> bool:
        if pair.key in self.values:
            return True
        return bool(pair.number) and pair.shape in self.numbers and self.numbers[pair.shape].is_open

    def _add_value(self, pair: "WordPair") -> None:
        is_repeated = pair.key in self.values
        self.values[pair.key] = None
        if not pair.number:
            return
        place = self.numbers.setdefault(pair.shape, NumberPlace())
        place.repeats += is_repeated
        if pair.number not in place.values:
            place.values = [*place.values, pair.number][-MAX_NUMBERS:]

    def _limit_sizes(self) -> None:
        for known, limit in (
            (self.streaks, MAX_PLACES),
            (self.values, MAX_VALUES),
            (self.numbers, MAX_PLACES),
            (self.moves, MAX_PLACES),
        ):
            while len(known) > limit:
                del known[next(iter(known))]

    def to_bytes(self) -> bytes:
        return msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode a stored model; empty data is a new site."""
        return msgpack.decode(data, type=cls) if data else cls()


class WordPair(Struct, frozen=True):
    """Two adjacent words, of which at least one is in a hunk."""

    position: int  # of the first word
    key: int
    shape: int = 0  # without the digits
    number: int = 0  # hash of the digits; 0: none, or a price


def list_pairs(version: PageTokens, span: tuple[int, int]) -> Iterator[WordPair]:
    """Yield the pairs of words in a span and across its ends; of an empty span, the pair around it."""
    tokens = version.tokens
    for position in range(max(span[0] - 1, 0), min(span[1], len(tokens) - 1)):
        text = f"{tokens[position]} {tokens[position + 1]}"
        shape = NUMBER.sub("#", text)
        is_number = shape != text and version.price_blocks.isdisjoint(version.blocks[position : position + 2])
        yield WordPair(
            position, _hash_text(text), _hash_text(shape), _hash_text("".join(NUMBER.findall(text))) * is_number
        )


def list_place_keys(version: PageTokens, span: tuple[int, int]) -> tuple[int, int]:
    """Return the keys of the words before and after a place, without their digits."""
    before = version.tokens[max(span[0] - CONTEXT_TOKENS, 0) : span[0]]
    after = version.tokens[span[1] : span[1] + CONTEXT_TOKENS]
    return _hash_shape("before", before), _hash_shape("after", after)


def align_tokens(old: PageTokens, new: PageTokens) -> list[Hunk]:
    """Return the spans of words that differ."""
    return align_blocks(old.hashes, new.hashes)


def _hash_text(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "replace")) >> 1


def _hash_shape(side: str, tokens: Iterable[str]) -> int:
    return _hash_text(" ".join((side, *(NUMBER.sub("#", token) for token in tokens))))


def list_moved_texts(version: ComparableVersion, diff: FingerprintDiff) -> list[str]:
    """List the blocks of a version that the other one has elsewhere."""
    return [format_moved_text(version, block) for block in diff.blocks if block.action is BlockAction.MOVED]


def format_moved_text(version: ComparableVersion, block: BlockChange) -> str:
    return f"moved {NUMBER.sub('#', version.block_texts[block.old])}"
