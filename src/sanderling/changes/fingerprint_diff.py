"""The bare facts of what differs between two versions of a page, before anybody says what of it matters."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import compress, islice

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.align import Hunk, align_blocks
from sanderling.changes.reflow import BlockRun, drop_reflowed_blocks
from sanderling.changes.resource_changes import ResourceChange
from sanderling.changes.tag_tree_diff import StructureDiff, compare_packed_outlines
from sanderling.content.prices import PRICE_FLAG
from sanderling.fingerprint.assets import unpack_hashes as unpack_set
from sanderling.fingerprint.fast.common_affix import count_common_ends
from sanderling.fingerprint.model import HIDDEN_ROLE, MAIN_ROLE, Fingerprint

MAX_PAIRED_CELLS = 10_000  # old blocks times new ones that are paired by their sizes
MAX_CHANGED_BLOCKS = 5_000  # told of one page; where so much differs, more of it says no more
ASSET_FIELDS = ("links", "main_links", "images", "main_images", "scripts", "handlers", "forms", "frames", "title")


class BlockAction(StrEnum):
    """What happened to a block."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class BlockChange(Struct, frozen=True, omit_defaults=True):
    """One block of text that came, went, changed or moved."""

    action: BlockAction
    size: int  # bytes, of the longer version
    main: bool  # main content, not furniture
    old: int = -1  # its number among the old blocks
    new: int = -1  # and among the new ones
    keys: tuple[int, ...] = ()  # hashes of what went and what came
    context: int = 0  # hash of the unchanged block before it
    is_price: bool = False  # a price and the like, which is never noise


class AssetDelta(Struct, frozen=True, omit_defaults=True):
    """What was added to and removed from a set of assets."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def is_replacement(self) -> bool:
        """Say whether about as many came as went; one more or one less hides no other."""
        return bool(self.added and self.removed) and abs(len(self.added) - len(self.removed)) <= 1


class FingerprintDiff(Struct, frozen=True, omit_defaults=True):
    """All that differs between two full marks."""

    comparable: bool = True  # both marks are of one kind and made under one attention
    has_text_change: bool = False  # the visible text differs, stamps and furniture too
    main_content_size: int = 0  # bytes of main content, both versions together
    blocks: tuple[BlockChange, ...] = ()
    structure: StructureDiff = StructureDiff()
    has_style_change: bool = False
    assets: dict[str, AssetDelta] = {}
    resources: tuple[ResourceChange, ...] = ()  # what the page uses and does not contain, replaced under its URL


def diff_fingerprints(old: Fingerprint, new: Fingerprint) -> FingerprintDiff:
    """Compare two full marks; equal parts cost one comparison each."""
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
    """Say whether other words are shown; the same ones cut into other blocks are no other text."""
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
    before, after = unpack_set(old), unpack_set(new)
    return AssetDelta(tuple(sorted(after - before)), tuple(sorted(before - after)))


class _VersionBlocks:
    """The blocks of one version."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self.hashes = array("I", fingerprint.block_hashes)
        self.sizes = array("H", fingerprint.block_sizes)
        self.roles = fingerprint.block_roles
        self.numbers: Sequence[int] = range(fingerprint.first_block, fingerprint.first_block + len(self.hashes))
        if 0 in self.sizes:  # what is all stamps has a number, no more
            self.hashes = array("I", compress(self.hashes, self.sizes))
            self.roles = bytes(compress(self.roles, self.sizes))
            self.numbers = list(compress(self.numbers, self.sizes))
            self.sizes = array("H", filter(None, self.sizes))

    def build_run(self, block_range: tuple[int, int]) -> BlockRun:
        """Some of the blocks, in a row."""
        return BlockRun(self.hashes, self.sizes, block_range)

    def select_main_content(self, start: int, end: int) -> Sequence[int]:
        """Those blocks between two places that are main content."""
        return array("I", compress(self.hashes[start:end], map(MAIN_ROLE.__and__, self.roles[start:end])))

    def count_visible(self, hashes: set[int]) -> Counter[int]:
        """Count those of some blocks that are shown."""
        return Counter(
            key for key, place in zip(self.hashes, self.roles, strict=True) if key in hashes and place & MAIN_ROLE
        )


def _find_block_changes(old: Fingerprint, new: Fingerprint) -> Iterable[BlockChange]:
    """Say of each block that differs what happened to it; forth and back alike, whichever way ties fall."""
    left, right = _VersionBlocks(old), _VersionBlocks(new)
    start, tail = count_common_ends(left.hashes, right.hashes)
    mine, yours = (side.hashes[start : len(side.hashes) - tail].tobytes() for side in (left, right))
    if (mine, left.roles) <= (yours, right.roles):
        return _compare_blocks(left, right)
    return map(_reverse_block_change, _compare_blocks(right, left))


def _reverse_block_change(block: BlockChange) -> BlockChange:
    """Tell the story of a block backwards."""
    back = {BlockAction.ADDED: BlockAction.REMOVED, BlockAction.REMOVED: BlockAction.ADDED}
    action, keys = back.get(block.action, block.action), block.keys[::-1]
    return BlockChange(action, block.size, block.main, block.new, block.old, keys, block.context, block.is_price)


def _compare_blocks(left: _VersionBlocks, right: _VersionBlocks) -> Iterable[BlockChange]:
    hunks = [part for hunk in align_blocks(left.hashes, right.hashes) for part in _drop_reflowed(hunk, left, right)]
    gone = Counter(left.hashes[place] for hunk in hunks for place in range(*hunk.old))
    came = Counter(right.hashes[place] for hunk in hunks for place in range(*hunk.new))
    moved = gone & came
    arrivals = _find_move_targets(right, hunks, moved)
    blocks = [block for hunk in hunks for block in _classify_hunk(hunk, left, right, moved, arrivals)]
    yield from _demote_unchanged_text(blocks, hunks, left, right)
    yield from _find_visibility_changes(BlockAction.ADDED, left, right)
    yield from _find_visibility_changes(BlockAction.REMOVED, right, left)


def _demote_unchanged_text(
    blocks: list[BlockChange], hunks: list[Hunk], left: _VersionBlocks, right: _VersionBlocks
) -> list[BlockChange]:
    """Call no more than furniture what did not change in the text: its twin beside it came or went, or that moved."""
    told = {key for block in blocks if block.main and block.action is not BlockAction.CHANGED for key in block.keys}
    if not told:
        return blocks
    first, last = hunks[0], hunks[-1]
    mine, yours = (
        left.select_main_content(first.old[0], last.old[1]),
        right.select_main_content(first.new[0], last.new[1]),
    )
    if told.isdisjoint(mine) or told.isdisjoint(yours):
        return blocks
    parts = align_blocks(mine, yours)
    differing = {key for part in parts for key in (*mine[slice(*part.old)], *yours[slice(*part.new)])}
    return [block if differing.intersection(block.keys) else replace(block, main=False) for block in blocks]


def _drop_reflowed(hunk: Hunk, left: _VersionBlocks, right: _VersionBlocks) -> Iterable[Hunk]:
    is_recut = hunk.old[0] < hunk.old[1] and hunk.new[0] < hunk.new[1]
    return drop_reflowed_blocks(left.build_run(hunk.old), right.build_run(hunk.new)) if is_recut else (hunk,)


def _find_visibility_changes(
    action: BlockAction, hidden_side: _VersionBlocks, visible_side: _VersionBlocks
) -> Iterable[BlockChange]:
    """Tell of words that one version has and does not show, and that the other one shows."""
    if hidden_side.roles == visible_side.roles or HIDDEN_ROLE not in hidden_side.roles:
        return
    veiled = {key for key, place in zip(hidden_side.hashes, hidden_side.roles, strict=True) if place == HIDDEN_ROLE}
    shown = visible_side.count_visible(veiled) - hidden_side.count_visible(veiled)
    for place, key in enumerate(visible_side.hashes if shown else ()):
        if shown[key] > 0 and visible_side.roles[place] & MAIN_ROLE:
            shown[key] -= 1
            number = visible_side.numbers[place]
            old, new = (-1, number) if action is BlockAction.ADDED else (number, -1)
            yield BlockChange(
                action, visible_side.sizes[place], True, old, new, (key,), 0, visible_side.roles[place] & PRICE_FLAG > 0
            )


def _find_move_targets(right: _VersionBlocks, hunks: list[Hunk], moved: Counter[int]) -> dict[int, list[int]]:
    """Find where moved blocks came to."""
    found: dict[int, list[int]] = {}
    for hunk in hunks:
        for place in range(*hunk.new):
            if right.hashes[place] in moved:
                found.setdefault(right.hashes[place], []).append(place)
    return found


def _classify_hunk(
    hunk: Hunk, left: _VersionBlocks, right: _VersionBlocks, moved: Counter[int], move_targets: dict[int, list[int]]
) -> Iterable[BlockChange]:
    """Take moved blocks out of a hunk, pair what is left by size in order, and call the rest added or removed."""
    before = hunk.old[0] - 1
    context = left.hashes[before] if before >= 0 else 0
    gone = [place for place in range(*hunk.old) if left.hashes[place] not in moved]
    came = [place for place in range(*hunk.new) if right.hashes[place] not in moved]
    for place in range(*hunk.old):
        key = left.hashes[place]
        if key in moved and move_targets[key]:
            yield BlockChange(
                BlockAction.MOVED,
                left.sizes[place],
                left.roles[place] & MAIN_ROLE > 0,
                left.numbers[place],
                right.numbers[move_targets[key].pop(0)],
                (key,),
                context,
            )
    pairs = _pair_by_size([left.sizes[place] for place in gone], [right.sizes[place] for place in came])
    for mine, yours in ((gone[one], came[other]) for one, other in pairs):
        size, kind = max(left.sizes[mine], right.sizes[yours]), left.roles[mine] | right.roles[yours]
        keys: tuple[int, ...] = (left.hashes[mine], right.hashes[yours])
        numbers = left.numbers[mine], right.numbers[yours]
        yield BlockChange(
            BlockAction.CHANGED, size, kind & MAIN_ROLE > 0, *numbers, keys, context, kind & PRICE_FLAG > 0
        )
    for place in _drop_taken(gone, {one for one, _ in pairs}):
        size, kind, keys = left.sizes[place], left.roles[place], (left.hashes[place],)
        yield BlockChange(
            BlockAction.REMOVED,
            size,
            kind & MAIN_ROLE > 0,
            left.numbers[place],
            -1,
            keys,
            context,
            kind & PRICE_FLAG > 0,
        )
    for place in _drop_taken(came, {other for _, other in pairs}):
        size, kind, keys = right.sizes[place], right.roles[place], (right.hashes[place],)
        yield BlockChange(
            BlockAction.ADDED,
            size,
            kind & MAIN_ROLE > 0,
            -1,
            right.numbers[place],
            keys,
            context,
            kind & PRICE_FLAG > 0,
        )


def _drop_taken(places: list[int], taken: set[int]) -> list[int]:
    return [place for number, place in enumerate(places) if number not in taken]


def _pair_by_size(old_sizes: list[int], new_sizes: list[int]) -> list[tuple[int, int]]:
    """Pair blocks in order so that their sizes fit best: an inserted paragraph does not make the next one another."""
    if (
        len(old_sizes) == len(new_sizes)
        or min(len(old_sizes), len(new_sizes)) == 0
        or len(old_sizes) * len(new_sizes) > MAX_PAIRED_CELLS
    ):
        return list(zip(range(len(old_sizes)), range(len(new_sizes)), strict=False))
    if len(old_sizes) > len(new_sizes):
        return [(one, other) for other, one in _pair_by_size(new_sizes, old_sizes)]
    spare = len(new_sizes) - len(old_sizes)
    costs = [[0.0] * (spare + 1)]  # of the first blocks: with so many new ones left out
    for row, size in enumerate(old_sizes):
        reached, least = costs[-1], float("inf")
        costs.append([])
        for left_out in range(spare + 1):
            least = min(least, reached[left_out] + _compute_size_difference(size, new_sizes[row + left_out]))
            costs[-1].append(least)
    return _trace_pairs(old_sizes, new_sizes, costs)


def _trace_pairs(old_sizes: list[int], new_sizes: list[int], costs: list[list[float]]) -> list[tuple[int, int]]:
    """Read the best pairs off the table, last one first."""
    pairs, left_out = [], len(new_sizes) - len(old_sizes)
    for row in range(len(old_sizes) - 1, -1, -1):
        while left_out and costs[row + 1][left_out] == costs[row + 1][left_out - 1]:
            left_out -= 1
        pairs.append((row, row + left_out))
    return pairs[::-1]


def _compute_size_difference(a: int, b: int) -> float:
    return abs(a - b) / max(a, b, 1)
