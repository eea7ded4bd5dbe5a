"""Two trees of a page, compared: only the parts of a mark that can see how they differ are made, of both versions.

Most changed pages have a few other words, or another script, and all else as it was.
"""

from collections.abc import Callable, Set

from msgspec.structs import replace
from turbohtml import Node

from sanderling.content.extract import TextBlocks, extract_blocks, find_landmarks
from sanderling.fingerprint import assets
from sanderling.fingerprint import scripts as behaviour
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, hash_main_assets, pack_page_outline
from sanderling.fingerprint.fast.boilerplate_edit import read_boilerplate_edit
from sanderling.fingerprint.fast.byte_diff import PageEdits
from sanderling.fingerprint.fast.line_diff import (
    FingerprintPair,
    compare_all_lines,
    compare_blocks,
    compare_changed_lines,
    extract_old_blocks,
)
from sanderling.fingerprint.fast.text_edits import TextEdit, restore_old_texts
from sanderling.fingerprint.fast.tree_diff import ALL_PARTS, FingerprintPart, TreeDiff
from sanderling.html.parser import Document

TAGS_BY_PART: dict[FingerprintPart, tuple[str, ...]] = {
    FingerprintPart.IMAGES: ("img", "video", "audio", "source", "path", "use"),
    FingerprintPart.SCRIPTS: ("script",),
    FingerprintPart.FORMS: ("form", "input", "option"),
    FingerprintPart.FRAMES: tuple(behaviour.FRAME_SOURCE_ATTRIBUTES),
    FingerprintPart.TITLE: ("title",),
}  # the tags of which alone some parts are made
VISIBLE_PARTS = frozenset((FingerprintPart.LINKS, FingerprintPart.IMAGES))


def compare_trees(old: Document, new: Document, tree_diff: TreeDiff) -> FingerprintPair:
    """Mark what differs between two trees, given where they do; if tags do, the new mark is a full one, to be kept."""
    parts = {part for part in tree_diff.parts if not _has_same_elements(part, old, new)}
    if FingerprintPart.STRUCTURE in parts:
        return _compare_in_full(old, new, parts)
    left, right = _fingerprint_parts(old, parts), _fingerprint_parts(new, parts)
    if FingerprintPart.SCRIPTS not in tree_diff.parts and tree_diff.removed_scripts + tree_diff.added_scripts:
        left["scripts"], right["scripts"] = _pack_script_changes(new, tree_diff)
    if not tree_diff.parts & (VISIBLE_PARTS | {FingerprintPart.TEXT}):
        return FingerprintPair(replace(EMPTY_FINGERPRINT, **left), replace(EMPTY_FINGERPRINT, **right))
    page = extract_blocks(new)
    last = (
        extract_old_blocks(old, page, tree_diff.text_changes)
        if FingerprintPart.TEXT in parts
        else replace(page, landmarks=None)
    )
    words = compare_blocks(last, page)
    if tree_diff.parts & VISIBLE_PARTS or _has_moved_main_content(last, page):
        left |= _pack_main_assets(old, last)
        right |= _pack_main_assets(new, page)
    return FingerprintPair(replace(words.old, **left), replace(words.new, **right))


def _compare_in_full(old: Document, new: Document, parts: Set[FingerprintPart]) -> FingerprintPair:
    """Mark a version in full, and the last one as it with what differs."""
    right = _fingerprint_parts(new, ALL_PARTS - {FingerprintPart.STYLES})
    scripts = (
        frozenset() if _has_same_elements(FingerprintPart.SCRIPTS, old, new) else frozenset((FingerprintPart.SCRIPTS,))
    )
    left = right | _fingerprint_parts(old, (parts | scripts) - {FingerprintPart.STYLES})
    last, page = extract_blocks(old), extract_blocks(new)
    left["style_hashes"] = right["style_hashes"] = _hash_page_styles(new, page)
    if FingerprintPart.STYLES in parts:
        left["style_hashes"] = _hash_page_styles(old, last)
    right |= _pack_main_assets(new, page)
    left |= _pack_main_assets(old, last)
    words = compare_all_lines(last, page)
    return FingerprintPair(replace(words.old, **left), replace(words.new, **right))


def _has_same_elements(part: FingerprintPart, old: Document, new: Document) -> bool:
    """Say whether two trees have the same elements of all tags that a part of a mark sees; the parser tells at once."""
    rows = [(old.find_all(tag), new.find_all(tag)) for tag in TAGS_BY_PART.get(part, ())]
    return bool(rows) and all(len(mine) == len(yours) and all(map(Node.equals, mine, yours)) for mine, yours in rows)


def compare_edits(tree: Document, page_edits: PageEdits) -> FingerprintPair:
    """Mark what differs between a tree and what it was when some of its texts and scripts were others."""
    words = (
        _compare_text_edits(tree, page_edits.text_edits)
        if page_edits.text_edits
        else FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
    )
    if page_edits.removed_scripts == page_edits.added_scripts:
        return words
    gone, came = (
        assets.pack_hashes(keys | page_edits.unchanged_scripts)
        for keys in (page_edits.removed_scripts, page_edits.added_scripts)
    )
    return FingerprintPair(replace(words.old, scripts=gone), replace(words.new, scripts=came))


def _compare_text_edits(tree: Document, text_edits: list[TextEdit]) -> FingerprintPair:
    """Mark the words of a tree, and those it had."""
    aside = read_boilerplate_edit(tree, text_edits)
    found = None if aside is None else compare_changed_lines(*aside)
    if found is not None:
        return found
    page, pieces = extract_blocks(tree), [(swap.old_text, swap.node.data) for swap in text_edits]
    with restore_old_texts(text_edits):
        last = extract_old_blocks(tree, page, pieces)
        left = _pack_main_assets(tree, last) if _has_moved_main_content(last, page) else {}
    right = _pack_main_assets(tree, page) if left else {}
    words = compare_blocks(last, page)
    return FingerprintPair(replace(words.old, **left), replace(words.new, **right))


def _has_moved_main_content(old_blocks: TextBlocks, new_blocks: TextBlocks) -> bool:
    """Say whether the main content of a page may be another part of it than that of the last version."""
    if old_blocks.landmarks is None:  # it is as this one is
        return False
    return (
        old_blocks.is_main_declared != new_blocks.is_main_declared
        or old_blocks.main_region is not new_blocks.main_region
        or bool(
            old_blocks.menu_lines
            or new_blocks.menu_lines
            or old_blocks.inline_boilerplate
            or new_blocks.inline_boilerplate
            or old_blocks.comment_texts
            or new_blocks.comment_texts
        )
    )


def _fingerprint_parts(tree: Document, parts: Set[FingerprintPart]) -> dict[str, object]:
    """Make some parts of a mark, but for the words."""
    found: dict[str, object] = {
        part: assets.pack_hashes(HASHERS_BY_PART[part](tree)) for part in parts if part in HASHERS_BY_PART
    }
    if FingerprintPart.STYLES in parts:
        found["style_hashes"] = assets.hash_styles(tree)
    if FingerprintPart.STRUCTURE in parts or FingerprintPart.PRESENTATIONAL in parts:
        found["outline"], found["cosmetic_hash"] = pack_page_outline(tree)
    return found


HASHERS_BY_PART: dict[FingerprintPart, Callable[[Document], set[int]]] = {
    FingerprintPart.LINKS: assets.hash_link_targets,
    FingerprintPart.IMAGES: assets.hash_media,
    FingerprintPart.SCRIPTS: behaviour.hash_scripts,
    FingerprintPart.HANDLERS: behaviour.hash_handlers,
    FingerprintPart.FORMS: behaviour.hash_forms,
    FingerprintPart.FRAMES: behaviour.hash_frames,
    FingerprintPart.TITLE: assets.hash_title_words,
}


def _pack_script_changes(tree: Document, tree_diff: TreeDiff) -> tuple[bytes, bytes]:
    """Mark the scripts of two versions of which some came or went; nothing, if these come to the same."""
    gone, came = (
        behaviour.hash_script_elements(tree_diff.removed_scripts),
        behaviour.hash_script_elements(tree_diff.added_scripts),
    )
    if gone == came:
        return b"", b""
    new = set(tree_diff.added_scripts)
    stay = behaviour.hash_script_elements([element for element in tree.find_all("script") if element not in new])
    return assets.pack_hashes(gone | stay), assets.pack_hashes(came | stay)


def _hash_page_styles(tree: Document, page_blocks: TextBlocks) -> tuple[int, int]:
    return assets.hash_styles(tree, page_blocks.landmarks.class_values if page_blocks.landmarks is not None else None)


def _pack_main_assets(tree: Document, page_blocks: TextBlocks) -> dict[str, object]:
    """Make the parts of a mark that see links and images of the main content."""
    links, images = hash_main_assets(tree, page_blocks.landmarks or find_landmarks(tree), page_blocks)
    return {"main_links": assets.pack_hashes(links), "main_images": assets.pack_hashes(images)}
