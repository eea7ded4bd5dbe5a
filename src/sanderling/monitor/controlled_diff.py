"""Compare two versions of a page as control fetches of the new one show it."""

from collections.abc import Sequence

from msgspec.structs import replace

from sanderling.changes.align import Hunk
from sanderling.changes.fingerprint_diff import (
    AssetDelta,
    BlockAction,
    BlockChange,
    FingerprintDiff,
    diff_fingerprints,
)
from sanderling.changes.tag_tree_diff import StructureDiff
from sanderling.changes.volatile_places import (
    LINE_END,
    MARKUP,
    MAX_MOVING_PLACES,
    MAX_MOVING_WORDS,
    NUMBER,
    PageTokens,
    VolatilePlaces,
    WordPair,
    align_tokens,
    format_moved_text,
    list_moved_texts,
    list_pairs,
    list_place_keys,
    tokenize_version,
)
from sanderling.changes.word_report import ComparableVersion


class ControlledDiff:
    """The difference between two versions, as control fetches of the new one show it."""

    def __init__(
        self,
        old: ComparableVersion,
        new: ComparableVersion,
        controls: Sequence[ComparableVersion],
        known: VolatilePlaces,
        last_moving: Sequence[int] = (),
    ) -> None:
        self._last_moving = last_moving
        self.old, self.new, self.known = tokenize_version(old), tokenize_version(new), known
        self._old_version, self._new_version, self._controls = old, new, controls
        self._control_diffs = [diff_fingerprints(new.fingerprint, control.fingerprint) for control in controls]
        self._control_tokens = [tokenize_version(control) for control in controls]
        self._differing, self._other_variant = [], []  # positions, by control fetch
        for tokens in self._control_tokens:
            differing, other_variant = self._find_differing(tokens)
            self._differing.append(differing)
            self._other_variant.append(other_variant)
        self._moved = {text for diff in self._control_diffs for text in list_moved_texts(new, diff)}
        self._undecided: list[Hunk] = []
        hunks = [hunk for hunk in align_tokens(self.old, self.new) if self._list_words(hunk)]
        self._real = {hunk: self._is_real(hunk) for hunk in hunks}

    @property
    def is_undecided(self) -> bool:
        """Whether a settled place has a value that only one fetch had: the next visit decides."""
        return bool(self._undecided)

    def list_moving(self) -> tuple[int, ...]:
        """Return the places of short changes, other than volatile places."""
        hunks = [hunk for hunk in self._real if self._may_move(hunk) and not self.known.is_place(self.new, hunk.new)]
        return tuple(key for hunk in hunks for key in list_place_keys(self.new, hunk.new))[:MAX_MOVING_PLACES]

    def filter(self, diff: FingerprintDiff) -> FingerprintDiff:
        """Return the difference without what is volatile."""
        blocks = tuple(block for block in diff.blocks if self._is_block_real(block))
        assets = {kind: kept for kind, delta in diff.assets.items() if (kept := self._filter_assets(kind, delta))}
        if self._is_markup_volatile():
            diff = replace(diff, structure=StructureDiff(), has_style_change=False)
        return replace(diff, blocks=blocks, assets=assets)

    def learn(self) -> None:
        """Learn what the control fetches show to be volatile."""
        self.known.learn_moves(self.list_moving(), self._last_moving)
        undecided = [hunk.new for hunk in self._undecided]
        for control in self._controls:
            self.known.learn(self._new_version, control, undecided)
        for hunk, is_real in self._real.items():
            if hunk in self._undecided:
                self.known.doubt_place(self.new, hunk.new)
            elif not is_real and not self._is_moving(hunk):
                self.known.learn_hunk(self.old, self.new, hunk)

    def _find_differing(self, control: PageTokens) -> tuple[set[int], set[int]]:
        """Return the positions of words that a control fetch lacks, or has something else before.

        Also those among them where it has only what a volatile place had before, such as the other variant of a test.
        """
        differing, other_variant = set[int](), set[int]()
        for hunk in align_tokens(self.new, control):
            positions = range(hunk.old[0] - 1, hunk.old[1])
            differing.update(positions)
            if not self.known.is_empty and not self.known.find_new_pairs(control, hunk.new):
                other_variant.update(positions)
        return differing, other_variant

    def _list_words(self, hunk: Hunk) -> list[str]:
        words = (*self.old.tokens[slice(*hunk.old)], *self.new.tokens[slice(*hunk.new)])
        return [word for word in words if word != LINE_END]

    def _is_real(self, hunk: Hunk) -> bool:
        """Return whether a hunk is a change, as far as is known."""
        if self._is_moving(hunk):
            return False
        lost, has_words = self._find_lost_pairs(hunk), self._has_new_words(hunk)
        old_lines, new_lines = self._count_lines(hunk)
        if lost is not None and not has_words:
            return lost
        if lost and old_lines > new_lines:
            return True  # a line was removed, and noise differs there too
        is_place = self._is_place(hunk)
        pairs = list(list_pairs(self.new, hunk.new))
        if is_place:
            pairs = [one for one in self.known.find_new_pairs(self.new, hunk.new) if one.key not in self.old.pair_keys]
        if not pairs:
            return False  # the place is volatile, and had this before
        return self._is_confirmed(hunk, pairs, is_place=is_place)

    def _is_confirmed(self, hunk: Hunk, pairs: Sequence[WordPair], *, is_place: bool) -> bool:
        """Return whether the control fetches have these words too."""
        wanted = len(self._controls)
        agreeing = max(self._count_agreeing(pair) for pair in pairs)
        if is_place and not (wanted and self.known.is_settled(self.new, hunk.new)):
            return agreeing >= wanted
        silent = max(sum(pair.position in positions for positions in self._other_variant) for pair in pairs)
        if wanted and not agreeing and (is_place or silent == wanted):
            self._undecided.append(hunk)
            return False
        return is_place or agreeing + silent >= wanted or self._has_other_shape(hunk)

    def _count_agreeing(self, pair: WordPair) -> int:
        """Count the control fetches that have two words in the same place; new words and prices also elsewhere."""
        is_price = not self.new.price_blocks.isdisjoint(self.new.blocks[pair.position : pair.position + 2])
        may_move = pair.key not in self.old.pair_keys and (is_price or pair.shape == pair.key)
        return sum(
            pair.position not in differing or (may_move and pair.key in control.pair_keys)
            for differing, control in zip(self._differing, self._control_tokens, strict=True)
        )

    def _is_place(self, hunk: Hunk) -> bool:
        """Return whether the words before or after a hunk are those of a volatile place; of a price, both."""
        keys = [key in self.known.streaks for key in list_place_keys(self.new, hunk.new)]
        blocks = (*self.old.blocks[slice(*hunk.old)], *self.new.blocks[slice(*hunk.new)])
        is_price = not (self.old.price_blocks | self.new.price_blocks).isdisjoint(blocks)
        return all(keys) if is_price else any(keys)

    def _find_lost_pairs(self, hunk: Hunk) -> bool | None:
        """Return whether words were removed that no fetch has and no volatile place had; None: there are too few."""
        start, end = hunk.old
        pairs = [pair for pair in list_pairs(self.old, hunk.old) if start <= pair.position < end - 1]
        if not pairs:
            return None
        found = {pair.key for pair in pairs}.difference(
            self.new.pair_keys, *(control.pair_keys for control in self._control_tokens)
        )
        if self._is_place(hunk):
            found.intersection_update(pair.key for pair in self.known.find_new_pairs(self.old, hunk.old))
        return bool(found)

    def _count_lines(self, hunk: Hunk) -> tuple[int, int]:
        old, new = self.old.tokens[slice(*hunk.old)], self.new.tokens[slice(*hunk.new)]
        return old.count(LINE_END), new.count(LINE_END)

    def _has_new_words(self, hunk: Hunk) -> bool:
        return any(word != LINE_END for word in self.new.tokens[slice(*hunk.new)])

    def _is_moving(self, hunk: Hunk) -> bool:
        return self._may_move(hunk) and self.known.is_moving(self.new, hunk.new)

    def _may_move(self, hunk: Hunk) -> bool:
        """Return whether a hunk is as short as a date or a countdown."""
        old, new = self.old.tokens[slice(*hunk.old)], self.new.tokens[slice(*hunk.new)]
        is_short = 0 < len(old) <= MAX_MOVING_WORDS and 0 < len(new) <= MAX_MOVING_WORDS
        return is_short and LINE_END not in (*old, *new) and self.new.blocks[hunk.new[0]] not in self.new.price_blocks

    def _has_other_shape(self, hunk: Hunk) -> bool:
        """Return whether words were replaced by numbers that differ at each fetch."""
        old_words, new_words = self.old.tokens[slice(*hunk.old)], self.new.tokens[slice(*hunk.new)]
        if not any(map(str.isalpha, old_words)) or not all(map(NUMBER.search, new_words)):
            return False
        return bool(new_words) and not any(map(str.isalpha, new_words))

    def _is_block_real(self, block: BlockChange) -> bool:
        """Return whether a hunk of a block is a change. A block without hunks was moved, shown or hidden."""
        if block.action is BlockAction.MOVED:
            text = format_moved_text(self._old_version, block)
            if text in self._moved or self.known.is_moved_text(text):
                return False
        decisions = [
            is_real
            for hunk, is_real in self._real.items()
            if block.old in self.old.blocks[slice(*hunk.old)] or block.new in self.new.blocks[slice(*hunk.new)]
        ]
        return any(decisions) or not decisions

    def _filter_assets(self, kind: str, delta: AssetDelta) -> AssetDelta:
        deltas = [diff.assets.get(kind, AssetDelta()) for diff in self._control_diffs]
        if not any(deltas) and not self.known.is_asset_kind(kind):
            return delta
        gone = {key for other in deltas for key in other.removed}
        return AssetDelta(tuple(key for key in delta.added if key not in gone and not self.known.is_asset(kind, key)))

    def _is_markup_volatile(self) -> bool:
        differs = any(diff.has_style_change or diff.structure != StructureDiff() for diff in self._control_diffs)
        return differs or self.known.is_asset_kind(MARKUP)
