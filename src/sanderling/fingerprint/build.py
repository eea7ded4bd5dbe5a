"""Build the fingerprint of a page version, with which a later version is compared.

Costs several times as much as parsing: only built if the bytes of a page differ from the last visit. Stored, it saves
reading the old body at the next comparison.
"""

from array import array
from itertools import compress
from re import Pattern

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from sanderling.content.extract import (
    extract_blocks,
    find_landmarks,
)
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.fingerprint import assets, scripts, tag_outline
from sanderling.fingerprint.link_targets import hash_link_targets
from sanderling.fingerprint.main_assets import hash_main_assets
from sanderling.fingerprint.model import MAX_BLOCK_SIZE, STORED_VERSION, Fingerprint, hash_block
from sanderling.fingerprint.normalized_lines import (
    NormalizedLines,
    assign_price_roles,
    get_main_content_size,
    normalize_lines,
)
from sanderling.fingerprint.tooltip_lines import add_tooltip_addresses
from sanderling.html.parser import Document


class AssetHashes(Struct, frozen=True):
    """Fields of a fingerprint besides the text."""

    outline: bytes
    cosmetic_hash: int
    links: bytes
    images: bytes
    scripts: bytes
    handlers: bytes
    forms: bytes
    frames: bytes
    title: bytes = b""


def pack_page_outline(tree: Document) -> tuple[bytes, int]:
    """Return the packed outline and the hash of presentational markup."""
    outline, cosmetic = tag_outline.build_pruned_outline(tree)
    attributes = "\n".join(assets.list_presentational_attributes(tree)).encode("utf-8", "replace")
    return tag_outline.pack_outline(outline), xxh3_64_intdigest(array("I", cosmetic).tobytes() + attributes)


def hash_assets(tree: Document, ignore_pattern: Pattern[str] | None = None) -> AssetHashes:
    """Hash everything but text. Call before extracting blocks: a modified tree loses its tag index."""
    return AssetHashes(
        *pack_page_outline(tree),
        assets.pack_hashes(hash_link_targets(tree)),
        assets.pack_hashes(assets.hash_media(tree)),
        assets.pack_hashes(scripts.hash_scripts(tree)),
        assets.pack_hashes(scripts.hash_handlers(tree)),
        assets.pack_hashes(scripts.hash_forms(tree)),
        assets.pack_hashes(scripts.hash_frames(tree)),
        assets.pack_hashes(assets.hash_title_words(tree, ignore_pattern)),
    )


EMPTY_FINGERPRINT = Fingerprint(
    STORED_VERSION,
    0,
    0,
    b"",
    b"",
    b"",
    0,
    tag_outline.pack_outline(tag_outline.TagOutline([], b"")),
    0,
    (0, 0),
    *(b"",) * 8,
)
"""The fingerprint of a page without content."""


def fingerprint_page(tree: Document, user_rules: UserRules = NO_USER_RULES) -> Fingerprint:
    return fingerprint_page_lines(tree, user_rules)[0]


def fingerprint_page_lines(tree: Document, user_rules: UserRules = NO_USER_RULES) -> tuple[Fingerprint, dict[int, str]]:
    """Build the fingerprint; also return the source line of each block, by number.

    Watch-only rules leave out everything but the watched text.
    """
    asset_hashes = None if user_rules.is_watch_only else hash_assets(tree, user_rules.ignore_pattern)
    page_blocks = add_tooltip_addresses(extract_blocks(tree, user_rules), tree, user_rules)
    normalized = assign_price_roles(normalize_lines(page_blocks, user_rules.ignore_pattern), page_blocks.lines)
    fingerprint = build_text_fingerprint(
        normalized, get_main_content_size(normalized, page_blocks), user_rules.rules_hash
    )
    lines = {
        number: page_blocks.lines[number]
        for number in compress(range(len(normalized.stripped_lines)), normalized.visible_lines)
    }
    if asset_hashes is None:
        return fingerprint, lines
    landmarks = page_blocks.landmarks or find_landmarks(tree)
    main_links, main_images = hash_main_assets(tree, landmarks, page_blocks)
    full = replace(
        fingerprint,
        outline=asset_hashes.outline,
        cosmetic_hash=asset_hashes.cosmetic_hash,
        style_hashes=assets.hash_styles(tree, landmarks.class_values),
        links=asset_hashes.links,
        main_links=assets.pack_hashes(main_links),
        images=asset_hashes.images,
        main_images=assets.pack_hashes(main_images),
        scripts=asset_hashes.scripts,
        handlers=asset_hashes.handlers,
        forms=asset_hashes.forms,
        frames=asset_hashes.frames,
        title=asset_hashes.title,
    )
    return full, lines


def build_text_fingerprint(
    normalized: NormalizedLines, main_content_size: int, user_rules_hash: int = 0
) -> Fingerprint:
    blocks = list(compress(normalized.stripped_lines, normalized.visible_lines))
    sizes = list(map(len, blocks))
    if max(sizes, default=0) > MAX_BLOCK_SIZE:
        sizes = [min(size, MAX_BLOCK_SIZE) for size in sizes]
    return replace(
        EMPTY_FINGERPRINT,
        user_rules_hash=user_rules_hash,
        text_hash=normalized.text_hash,
        block_hashes=array("I", map(hash_block, blocks)).tobytes(),
        block_sizes=array("H", sizes).tobytes(),
        block_roles=bytes(compress(normalized.line_roles, normalized.visible_lines)),
        main_content_size=main_content_size,
    )
