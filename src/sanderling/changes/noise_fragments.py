"""Keys of everything that was added, removed, or changed at a visit, as the noise model counts it.

A *fragment* is the hash of a block, link, image, or script. A *place* is the unchanged block before a change. Offsets
keep the kinds of keys apart.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator

from sanderling.changes.fingerprint_diff import ASSET_FIELDS, AssetDelta, BlockAction, BlockChange, FingerprintDiff

MAX_NOISE_BLOCKS = 4  # changed blocks of a noisy place; more are significant anywhere
MAX_NOISE_BLOCK_SIZE = 200  # bytes
KIND_OFFSET = 1 << 32  # times the number of the kind of asset
PLACE_OFFSET = 1 << 40
GROWING_OFFSET = 1 << 41  # places whose number of blocks changed
WIDTH_OFFSET = 1 << 42  # times the number of changed blocks of the place
RENAMED_LINKS_KEY = KIND_OFFSET * (1 + len(ASSET_FIELDS))  # a visit with any retargeted links
BOILERPLATE_OFFSET = RENAMED_LINKS_KEY + KIND_OFFSET  # outside the main content
REPEATED_OFFSET = BOILERPLATE_OFFSET + KIND_OFFSET  # more than once outside the main content
VISIBLE_ASSETS = ("links", "main_links", "images", "main_images")  # may always change, like text
ASSET_PLACES = {kind: PLACE_OFFSET + KIND_OFFSET * number for number, kind in enumerate(VISIBLE_ASSETS, 1)}


def list_fragments(diff: FingerprintDiff) -> Iterator[int]:
    """Yield the keys of all added and removed blocks and assets."""
    yield from (key for block in diff.blocks if block.main for key in block.keys)
    for key, count in count_boilerplate_keys(diff).items():
        yield BOILERPLATE_OFFSET + key
        if count > 1:
            yield REPEATED_OFFSET + key
    yield from list_asset_fragments(diff)


def list_asset_fragments(diff: FingerprintDiff) -> Iterator[int]:
    for kind, delta in diff.assets.items():
        yield from (build_asset_fragment(kind, key) for key in (*delta.added, *delta.removed))


def count_boilerplate_keys(diff: FingerprintDiff) -> Counter[int]:
    """Count the keys changed outside the main content."""
    return Counter(key for block in diff.blocks if not block.main for key in block.keys)


def build_asset_fragment(kind: str, key: int) -> int:
    return key + KIND_OFFSET * (1 + ASSET_FIELDS.index(kind))


def list_changed_places(diff: FingerprintDiff) -> Iterator[tuple[int, list[BlockChange]]]:
    """Yield the places with changes small enough to be noise, and their blocks."""
    for place, blocks in _group_by_place(diff.blocks):
        if len(blocks) <= MAX_NOISE_BLOCKS and max(block.size for block in blocks) <= MAX_NOISE_BLOCK_SIZE:
            yield place, blocks


def list_replaced_assets(diff: FingerprintDiff) -> Iterator[tuple[int, list[BlockChange]]]:
    """Yield the kinds of assets that were replaced as places, with pairs of keys."""
    for kind, place in ASSET_PLACES.items():
        delta = diff.assets.get(kind, AssetDelta())
        if delta.is_replacement:
            keys = (
                (build_asset_fragment(kind, removed), build_asset_fragment(kind, added))
                for removed, added in zip(delta.removed, delta.added, strict=False)
            )
            yield place, [BlockChange(BlockAction.CHANGED, 0, False, keys=pair) for pair in keys]


def find_growing_places(diff: FingerprintDiff) -> set[int]:
    """Return the places whose number of blocks changed."""
    return {
        GROWING_OFFSET + place
        for place, blocks in _group_by_place(diff.blocks)
        if sum((block.action is BlockAction.ADDED) - (block.action is BlockAction.REMOVED) for block in blocks)
    }


def list_place_widths(diff: FingerprintDiff) -> Iterator[int]:
    """Yield keys for two changed blocks or more, three or more, and so on."""
    for place, blocks in list_changed_places(diff):
        yield from (WIDTH_OFFSET * width + place for width in range(2, len(blocks) + 1))


def get_place(block: BlockChange) -> int:
    return PLACE_OFFSET + block.context


def _group_by_place(blocks: Iterable[BlockChange]) -> Iterator[tuple[int, list[BlockChange]]]:
    groups: dict[int, list[BlockChange]] = {}
    for block in blocks:
        groups.setdefault(get_place(block), []).append(block)
    yield from groups.items()


def collect_visible_assets(diff: FingerprintDiff) -> AssetDelta:
    """Return the fragments of all links and images that were added and removed."""
    deltas = [(kind, diff.assets.get(kind, AssetDelta())) for kind in VISIBLE_ASSETS]
    return AssetDelta(
        tuple(build_asset_fragment(kind, key) for kind, delta in deltas for key in delta.added),
        tuple(build_asset_fragment(kind, key) for kind, delta in deltas for key in delta.removed),
    )


def is_kind_noisy(kind: str, diff: FingerprintDiff, noisy_places: Container[int]) -> bool:
    """Return whether assets always change; not if those of the main content changed and are not noisy."""
    if ASSET_PLACES.get(kind) not in noisy_places:
        return False
    main_kind = f"main_{kind}"
    return main_kind not in diff.assets or ASSET_PLACES[main_kind] in noisy_places
