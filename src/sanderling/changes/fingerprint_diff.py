"""Differences between two fingerprints: facts only, before they are classified."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import compress, islice

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.align import Hunk, align_blocks, pair_by_size
from sanderling.changes.reflow import BlockRun, drop_reflowed_blocks
from sanderling.changes.resource_changes import ResourceChange
from sanderling.changes.tag_tree_diff import StructureDiff, compare_packed_outlines
from sanderling.content.prices import PRICE_FLAG
from sanderling.fingerprint.assets import unpack_hashes
from sanderling.fingerprint.fast.common_affix import count_common_ends
from sanderling.fingerprint.model import HIDDEN_ROLE, MAIN_ROLE, Fingerprint
from sanderling.page_rendering import VisualChange

MAX_CHANGED_BLOCKS = 5_000  # per page; more would not add information
ASSET_FIELDS = ("links", "main_links", "images", "main_images", "scripts", "handlers", "forms", "frames", "title")


class BlockAction(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class BlockChange(Struct, frozen=True, omit_defaults=True):
    """A text block that was added, removed, changed, or moved. Stored."""

    action: BlockAction
    size: int  # bytes of the longer version
    main: bool  # main content, not boilerplate
    old: int = -1  # number among the old blocks
    new: int = -1  # number among the new blocks
    keys: tuple[int, ...] = ()  # old hash, new hash
    context: int = 0  # hash of the unchanged block before it
    is_price: bool = False  # or availability; never noise


class AssetDelta(Struct, frozen=True, omit_defaults=True):
    """Hashes added to and removed from a set of assets."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def is_replacement(self) -> bool:
        """Return whether about as many were added as removed."""
        return bool(self.added and self.removed) and abs(len(self.added) - len(self.removed)) <= 1


class FingerprintDiff(Struct, frozen=True, omit_defaults=True):
    """Differences between two fingerprints. Stored: `name` keeps the keys of existing collections."""

    comparable: bool = True  # same version and user rules
    has_text_change: bool = False  # also volatile text and boilerplate
    main_content_size: int = 0  # bytes, sum of both versions
    blocks: tuple[BlockChange, ...] = ()
    structure: StructureDiff = StructureDiff()
    has_style_change: bool = False
    assets: dict[str, AssetDelta] = {}
    resources: tuple[ResourceChange, ...] = ()  # replaced under the same URL
    visual: VisualChange | None = None  # between screenshots


def diff_fingerprints(old: Fingerprint, new: Fingerprint) -> FingerprintDiff:
    if (old.version, old.user_rules_hash) != (new.version, new.user_rules_hash):
        return FingerprintDiff(comparable=False)
    if old == new:
        return FingerprintDiff()
    same_outline = old.outline == new.outline
    return FingerprintDiff(
        has_text_change=old.text_hash != new.text_hash,
        main_content_size=old.main_content_size + new.main_content_size,
        blocks=tuple(islice(_find_block_changes(old, new), MAX_CHANGED_BLOCKS))
        if _has_visible_text_change(old, new)
        else (),
        structure=_diff_structure(old, new),
        has_style_change=old.style_hashes[0] != new.style_hashes[0]
        if same_outline
        else old.style_hashes[1] != new.style_hashes[1],
        assets={
            name: delta
            for name in ASSET_FIELDS
            if (delta := _diff_asset_hashes(getattr(old, name), getattr(new, name)))
        },
    )


def _has_visible_text_change(old: Fingerprint, new: Fingerprint) -> bool:
    """Return whether other text is visible; other block boundaries alone do not count."""
    if old.block_hashes == new.block_hashes:
        return old.block_roles != new.block_roles and (HIDDEN_ROLE in old.block_roles or HIDDEN_ROLE in new.block_roles)
    return old.text_hash != new.text_hash


def _diff_structure(old: Fingerprint, new: Fingerprint) -> StructureDiff:
    cosmetic = old.cosmetic_hash != new.cosmetic_hash
    if old.outline == new.outline:
        return StructureDiff(cosmetic=cosmetic)
    return compare_packed_outlines(old.outline, new.outline, cosmetic=cosmetic)


def _diff_asset_hashes(old: bytes, new: bytes) -> AssetDelta:
    if old == new:
        return AssetDelta()
    before, after = unpack_hashes(old), unpack_hashes(new)
    return AssetDelta(tuple(sorted(after - before)), tuple(sorted(before - after)))


class _VersionBlocks:
    """Blocks of a version, without those that are only volatile text."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self.hashes = array("I", fingerprint.block_hashes)
        self.sizes = array("H", fingerprint.block_sizes)
        self.roles = fingerprint.block_roles
        self.numbers: Sequence[int] = range(fingerprint.first_block, fingerprint.first_block + len(self.hashes))
        if 0 in self.sizes:  # blocks of volatile text only count in the numbering
            self.hashes = array("I", compress(self.hashes, self.sizes))
            self.roles = bytes(compress(self.roles, self.sizes))
            self.numbers = list(compress(self.numbers, self.sizes))
            self.sizes = array("H", filter(None, self.sizes))

    def build_run(self, block_range: tuple[int, int]) -> BlockRun:
        return BlockRun(self.hashes, self.sizes, block_range)

    def select_main_content(self, start: int, end: int) -> Sequence[int]:
        return array("I", compress(self.hashes[start:end], map(MAIN_ROLE.__and__, self.roles[start:end])))

    def count_visible(self, hashes: set[int]) -> Counter[int]:
        return Counter(
            key for key, role in zip(self.hashes, self.roles, strict=True) if key in hashes and role & MAIN_ROLE
        )


def _find_block_changes(old: Fingerprint, new: Fingerprint) -> Iterable[BlockChange]:
    """Return the changed blocks, symmetrically: ties are resolved the same way in both directions."""
    left, right = _VersionBlocks(old), _VersionBlocks(new)
    start, tail = count_common_ends(left.hashes, right.hashes)
    old_middle, new_middle = (blocks.hashes[start : len(blocks.hashes) - tail].tobytes() for blocks in (left, right))
    if (old_middle, left.roles) <= (new_middle, right.roles):
        return _compare_blocks(left, right)
    return map(_reverse_block_change, _compare_blocks(right, left))


def _reverse_block_change(block: BlockChange) -> BlockChange:
    reversed_actions = {BlockAction.ADDED: BlockAction.REMOVED, BlockAction.REMOVED: BlockAction.ADDED}
    action, keys = reversed_actions.get(block.action, block.action), block.keys[::-1]
    return BlockChange(action, block.size, block.main, block.new, block.old, keys, block.context, block.is_price)


def _compare_blocks(left: _VersionBlocks, right: _VersionBlocks) -> Iterable[BlockChange]:
    hunks = [
        remaining for hunk in align_blocks(left.hashes, right.hashes) for remaining in _drop_reflowed(hunk, left, right)
    ]
    removed = Counter(left.hashes[number] for hunk in hunks for number in range(*hunk.old))
    added = Counter(right.hashes[number] for hunk in hunks for number in range(*hunk.new))
    moved = removed & added
    move_targets = _find_move_targets(right, hunks, moved)
    blocks = [block for hunk in hunks for block in _classify_hunk(hunk, left, right, moved, move_targets)]
    yield from _demote_unchanged_text(blocks, hunks, left, right)
    yield from _find_visibility_changes(BlockAction.ADDED, left, right)
    yield from _find_visibility_changes(BlockAction.REMOVED, right, left)


def _demote_unchanged_text(
    blocks: list[BlockChange], hunks: list[Hunk], left: _VersionBlocks, right: _VersionBlocks
) -> list[BlockChange]:
    """Mark blocks as boilerplate if the main content around them is unchanged: an equal block outside changed."""
    changed_keys = {
        key for block in blocks if block.main and block.action is not BlockAction.CHANGED for key in block.keys
    }
    if not changed_keys:
        return blocks
    first, last = hunks[0], hunks[-1]
    old_main, new_main = (
        left.select_main_content(first.old[0], last.old[1]),
        right.select_main_content(first.new[0], last.new[1]),
    )
    if changed_keys.isdisjoint(old_main) or changed_keys.isdisjoint(new_main):
        return blocks
    parts = align_blocks(old_main, new_main)
    differing = {key for hunk in parts for key in (*old_main[slice(*hunk.old)], *new_main[slice(*hunk.new)])}
    return [block if differing.intersection(block.keys) else replace(block, main=False) for block in blocks]


def _drop_reflowed(hunk: Hunk, left: _VersionBlocks, right: _VersionBlocks) -> Iterable[Hunk]:
    is_recut = hunk.old[0] < hunk.old[1] and hunk.new[0] < hunk.new[1]
    return drop_reflowed_blocks(left.build_run(hunk.old), right.build_run(hunk.new)) if is_recut else (hunk,)


def _find_visibility_changes(
    action: BlockAction, hidden_side: _VersionBlocks, visible_side: _VersionBlocks
) -> Iterable[BlockChange]:
    """Yield main content that is hidden in a version and visible in the other."""
    if hidden_side.roles == visible_side.roles or HIDDEN_ROLE not in hidden_side.roles:
        return
    hidden = {key for key, index in zip(hidden_side.hashes, hidden_side.roles, strict=True) if index == HIDDEN_ROLE}
    revealed = visible_side.count_visible(hidden) - hidden_side.count_visible(hidden)
    for index, key in enumerate(visible_side.hashes if revealed else ()):
        if revealed[key] > 0 and visible_side.roles[index] & MAIN_ROLE:
            revealed[key] -= 1
            number = visible_side.numbers[index]
            old, new = (-1, number) if action is BlockAction.ADDED else (number, -1)
            yield BlockChange(
                action, visible_side.sizes[index], True, old, new, (key,), 0, visible_side.roles[index] & PRICE_FLAG > 0
            )


def _find_move_targets(right: _VersionBlocks, hunks: list[Hunk], moved: Counter[int]) -> dict[int, list[int]]:
    targets: dict[int, list[int]] = {}
    for hunk in hunks:
        for index in range(*hunk.new):
            if right.hashes[index] in moved:
                targets.setdefault(right.hashes[index], []).append(index)
    return targets


def _classify_hunk(
    hunk: Hunk, left: _VersionBlocks, right: _VersionBlocks, moved: Counter[int], move_targets: dict[int, list[int]]
) -> Iterable[BlockChange]:
    """Classify blocks of a hunk: moved, paired by size, or added and removed."""
    before = hunk.old[0] - 1
    context = left.hashes[before] if before >= 0 else 0
    removed = [index for index in range(*hunk.old) if left.hashes[index] not in moved]
    added = [index for index in range(*hunk.new) if right.hashes[index] not in moved]
    for index in range(*hunk.old):
        key = left.hashes[index]
        if key in moved and move_targets[key]:
            yield BlockChange(
                BlockAction.MOVED,
                left.sizes[index],
                left.roles[index] & MAIN_ROLE > 0,
                left.numbers[index],
                right.numbers[move_targets[key].pop(0)],
                (key,),
                context,
            )
    pairs = pair_by_size([left.sizes[index] for index in removed], [right.sizes[index] for index in added])
    for old_index, new_index in ((removed[old_number], added[new_number]) for old_number, new_number in pairs):
        size, role = max(left.sizes[old_index], right.sizes[new_index]), left.roles[old_index] | right.roles[new_index]
        keys: tuple[int, ...] = (left.hashes[old_index], right.hashes[new_index])
        numbers = left.numbers[old_index], right.numbers[new_index]
        yield BlockChange(
            BlockAction.CHANGED, size, role & MAIN_ROLE > 0, *numbers, keys, context, role & PRICE_FLAG > 0
        )
    for index in _drop_taken(removed, {old_number for old_number, _ in pairs}):
        size, role, keys = left.sizes[index], left.roles[index], (left.hashes[index],)
        yield BlockChange(
            BlockAction.REMOVED,
            size,
            role & MAIN_ROLE > 0,
            left.numbers[index],
            -1,
            keys,
            context,
            role & PRICE_FLAG > 0,
        )
    for index in _drop_taken(added, {new_number for _, new_number in pairs}):
        size, role, keys = right.sizes[index], right.roles[index], (right.hashes[index],)
        yield BlockChange(
            BlockAction.ADDED,
            size,
            role & MAIN_ROLE > 0,
            -1,
            right.numbers[index],
            keys,
            context,
            role & PRICE_FLAG > 0,
        )


def _drop_taken(indexes: list[int], taken: set[int]) -> list[int]:
    return [index for number, index in enumerate(indexes) if number not in taken]
