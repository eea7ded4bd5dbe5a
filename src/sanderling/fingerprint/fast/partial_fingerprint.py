"""Build only those parts of two fingerprints that differences can affect."""

from collections.abc import Callable, Set

from msgspec.structs import replace
from turbohtml import Node

from sanderling.content.extract import TextBlocks, extract_blocks, find_landmarks
from sanderling.fingerprint import assets, scripts
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, pack_page_outline
from sanderling.fingerprint.fast.boilerplate_edit import read_boilerplate_edit
from sanderling.fingerprint.fast.byte_diff import PageEdits
from sanderling.fingerprint.fast.fingerprint_parts import ALL_PARTS, FingerprintPart
from sanderling.fingerprint.fast.line_diff import (
    FingerprintPair,
    compare_all_lines,
    compare_blocks,
    compare_changed_lines,
    extract_old_blocks,
)
from sanderling.fingerprint.fast.text_edits import TextEdit, restore_old_texts
from sanderling.fingerprint.fast.tree_diff import TreeDiff
from sanderling.fingerprint.link_targets import hash_link_targets
from sanderling.fingerprint.main_assets import hash_main_assets
from sanderling.html.parser import Document

TAGS_BY_PART: dict[FingerprintPart, tuple[str, ...]] = {
    FingerprintPart.IMAGES: ("img", "video", "audio", "source", "path", "use"),
    FingerprintPart.SCRIPTS: ("script",),
    FingerprintPart.FORMS: ("form", "input", "option"),
    FingerprintPart.FRAMES: tuple(scripts.FRAME_SOURCE_ATTRIBUTES),
    FingerprintPart.TITLE: ("title",),
}  # parts that depend on these tags only
VISIBLE_PARTS = frozenset((FingerprintPart.LINKS, FingerprintPart.IMAGES))


def compare_trees(old: Document, new: Document, tree_diff: TreeDiff) -> FingerprintPair:
    """Build the fingerprints of two trees; if tags differ, the new fingerprint is complete."""
    parts = {part for part in tree_diff.parts if not _has_same_elements(part, old, new)}
    if FingerprintPart.STRUCTURE in parts:
        return _compare_in_full(old, new, parts)
    old_parts, new_parts = _fingerprint_parts(old, parts), _fingerprint_parts(new, parts)
    if FingerprintPart.SCRIPTS not in tree_diff.parts and tree_diff.removed_scripts + tree_diff.added_scripts:
        old_parts["scripts"], new_parts["scripts"] = _pack_script_changes(new, tree_diff)
    if not tree_diff.parts & (VISIBLE_PARTS | {FingerprintPart.TEXT}):
        return FingerprintPair(replace(EMPTY_FINGERPRINT, **old_parts), replace(EMPTY_FINGERPRINT, **new_parts))
    new_blocks = extract_blocks(new)
    old_blocks = (
        extract_old_blocks(old, new_blocks, tree_diff.text_changes)
        if FingerprintPart.TEXT in parts
        else replace(new_blocks, landmarks=None)
    )
    text_pair = compare_blocks(old_blocks, new_blocks)
    if tree_diff.parts & VISIBLE_PARTS or _has_moved_main_content(old_blocks, new_blocks):
        old_parts |= _pack_main_assets(old, old_blocks)
        new_parts |= _pack_main_assets(new, new_blocks)
    return FingerprintPair(replace(text_pair.old, **old_parts), replace(text_pair.new, **new_parts))


def _compare_in_full(old: Document, new: Document, parts: Set[FingerprintPart]) -> FingerprintPair:
    """Build a complete new fingerprint; the old fingerprint is a copy with affected parts replaced."""
    new_parts = _fingerprint_parts(new, ALL_PARTS - {FingerprintPart.STYLES})
    script_parts = (
        frozenset() if _has_same_elements(FingerprintPart.SCRIPTS, old, new) else frozenset((FingerprintPart.SCRIPTS,))
    )
    old_parts = new_parts | _fingerprint_parts(old, (parts | script_parts) - {FingerprintPart.STYLES})
    old_blocks, new_blocks = extract_blocks(old), extract_blocks(new)
    old_parts["style_hashes"] = new_parts["style_hashes"] = _hash_page_styles(new, new_blocks)
    if FingerprintPart.STYLES in parts:
        old_parts["style_hashes"] = _hash_page_styles(old, old_blocks)
    new_parts |= _pack_main_assets(new, new_blocks)
    old_parts |= _pack_main_assets(old, old_blocks)
    text_pair = compare_all_lines(old_blocks, new_blocks)
    return FingerprintPair(replace(text_pair.old, **old_parts), replace(text_pair.new, **new_parts))


def _has_same_elements(part: FingerprintPart, old: Document, new: Document) -> bool:
    pairs = [(old.find_all(tag), new.find_all(tag)) for tag in TAGS_BY_PART.get(part, ())]
    return bool(pairs) and all(
        len(old_elements) == len(new_elements) and all(map(Node.equals, old_elements, new_elements))
        for old_elements, new_elements in pairs
    )


def compare_edits(tree: Document, page_edits: PageEdits) -> FingerprintPair:
    """Build the fingerprints of a tree before and after some edits."""
    text_pair = (
        _compare_text_edits(tree, page_edits.text_edits)
        if page_edits.text_edits
        else FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
    )
    if page_edits.removed_scripts == page_edits.added_scripts:
        return text_pair
    old_scripts, new_scripts = (
        assets.pack_hashes(hashes | page_edits.unchanged_scripts)
        for hashes in (page_edits.removed_scripts, page_edits.added_scripts)
    )
    return FingerprintPair(replace(text_pair.old, scripts=old_scripts), replace(text_pair.new, scripts=new_scripts))


def _compare_text_edits(tree: Document, text_edits: list[TextEdit]) -> FingerprintPair:
    boilerplate_blocks = read_boilerplate_edit(tree, text_edits)
    pair = None if boilerplate_blocks is None else compare_changed_lines(*boilerplate_blocks)
    if pair is not None:
        return pair
    new_blocks, text_changes = extract_blocks(tree), [(edit.old_text, edit.node.data) for edit in text_edits]
    with restore_old_texts(text_edits):
        old_blocks = extract_old_blocks(tree, new_blocks, text_changes)
        old_assets = _pack_main_assets(tree, old_blocks) if _has_moved_main_content(old_blocks, new_blocks) else {}
    new_assets = _pack_main_assets(tree, new_blocks) if old_assets else {}
    text_pair = compare_blocks(old_blocks, new_blocks)
    return FingerprintPair(replace(text_pair.old, **old_assets), replace(text_pair.new, **new_assets))


def _has_moved_main_content(old_blocks: TextBlocks, new_blocks: TextBlocks) -> bool:
    """Return whether the main content may be in another part of the page."""
    if old_blocks.landmarks is None:  # derived from the new blocks
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
    fields: dict[str, object] = {
        part: assets.pack_hashes(HASHERS_BY_PART[part](tree)) for part in parts if part in HASHERS_BY_PART
    }
    if FingerprintPart.STYLES in parts:
        fields["style_hashes"] = assets.hash_styles(tree)
    if FingerprintPart.STRUCTURE in parts or FingerprintPart.PRESENTATIONAL in parts:
        fields["outline"], fields["cosmetic_hash"] = pack_page_outline(tree)
    return fields


HASHERS_BY_PART: dict[FingerprintPart, Callable[[Document], set[int]]] = {
    FingerprintPart.LINKS: hash_link_targets,
    FingerprintPart.IMAGES: assets.hash_media,
    FingerprintPart.SCRIPTS: scripts.hash_scripts,
    FingerprintPart.HANDLERS: scripts.hash_handlers,
    FingerprintPart.FORMS: scripts.hash_forms,
    FingerprintPart.FRAMES: scripts.hash_frames,
    FingerprintPart.TITLE: assets.hash_title_words,
}


def _pack_script_changes(tree: Document, tree_diff: TreeDiff) -> tuple[bytes, bytes]:
    """Pack the scripts of both versions; empty if the hashes are equal."""
    removed, added = (
        scripts.hash_script_elements(tree_diff.removed_scripts),
        scripts.hash_script_elements(tree_diff.added_scripts),
    )
    if removed == added:
        return b"", b""
    added_elements = set(tree_diff.added_scripts)
    unchanged = scripts.hash_script_elements(
        [element for element in tree.find_all("script") if element not in added_elements]
    )
    return assets.pack_hashes(removed | unchanged), assets.pack_hashes(added | unchanged)


def _hash_page_styles(tree: Document, page_blocks: TextBlocks) -> tuple[int, int]:
    return assets.hash_styles(tree, page_blocks.landmarks.class_values if page_blocks.landmarks is not None else None)


def _pack_main_assets(tree: Document, page_blocks: TextBlocks) -> dict[str, object]:
    links, images = hash_main_assets(tree, page_blocks.landmarks or find_landmarks(tree), page_blocks)
    return {"main_links": assets.pack_hashes(links), "main_images": assets.pack_hashes(images)}
