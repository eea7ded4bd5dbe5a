"""Build the fingerprints with which two page versions are compared.

A few edits of texts, scripts, and ignored markup are located in the bytes (`byte_diff`), and only affected parts are
built. Otherwise the new fingerprint is complete, and stored for the next change.
"""

from msgspec import Struct
from msgspec.structs import replace

from sanderling.content.extract import TextBlocks, extract_blocks, find_landmarks
from sanderling.fingerprint import assets
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, fingerprint_page
from sanderling.fingerprint.fast.boilerplate_edit import read_boilerplate_edit
from sanderling.fingerprint.fast.byte_diff import PageEdits, find_page_edits
from sanderling.fingerprint.fast.common_affix import measure_common_prefix
from sanderling.fingerprint.fast.line_diff import (
    FingerprintPair,
    compare_blocks,
    compare_changed_lines,
    extract_old_blocks,
)
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.fast.text_edits import TextEdit, restore_old_texts
from sanderling.fingerprint.main_assets import hash_main_assets
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import Document, parse_html
from sanderling.page_fingerprints import PageFingerprints

EQUAL_PAIR = FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
UNCHANGED_FINGERPRINTS = PageFingerprints(
    before=encode_fingerprint(EMPTY_FINGERPRINT), after=encode_fingerprint(EMPTY_FINGERPRINT)
)  # of two versions without visible differences


class PreviousVersion(Struct, frozen=True):
    body: bytes  # empty: not available
    charset: str = ""
    has_fingerprint: bool = False  # its full fingerprint is stored
    stable_hash: bytes = b""  # of the version after it; set if that of this version is unknown


def build_comparison_fingerprints(tree: Document, body: bytes, previous: PreviousVersion) -> PageFingerprints:
    """Build the fingerprint to store (`page`) and those to compare (`before`, `after`)."""
    pair = _compare_bytes(tree, body, previous) if previous.body else None
    if pair is not None:
        is_outdated = previous.has_fingerprint and pair.old != pair.new
        before, after = encode_fingerprint(pair.old), encode_fingerprint(pair.new)
        return PageFingerprints(before=before, after=after, page=b"" if is_outdated else None)
    fingerprints = PageFingerprints(page=encode_fingerprint(fingerprint_page(tree)))
    if previous.body and not previous.has_fingerprint:
        old_tree = parse_html(previous.body, previous.charset)
        return replace(fingerprints, before=encode_fingerprint(fingerprint_page(old_tree)))
    return fingerprints


def _compare_bytes(tree: Document, body: bytes, previous: PreviousVersion) -> FingerprintPair | None:
    """Compare versions with few or invisible differences.

    None: they differ in more.
    """
    if (tree.encoding or "").lower() != previous.charset:
        return None
    if (
        previous.stable_hash
        and _is_first_difference_markup(previous.body, body)
        and previous.stable_hash == compute_stable_hash(previous.body)
    ):
        return EQUAL_PAIR
    edits = find_page_edits(tree, previous.body, body)
    return None if edits is None else compare_edits(tree, edits)


def _is_first_difference_markup(old_body: bytes, new_body: bytes) -> bool:
    """Return whether the first difference is not in text, which would be visible."""
    at = measure_common_prefix(old_body, new_body)
    tag = new_body.rfind(b"<", 0, at + 1)
    return new_body.rfind(b">", 0, at) < tag or new_body.startswith((b"<script", b"<!--"), tag)


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


def _pack_main_assets(tree: Document, page_blocks: TextBlocks) -> dict[str, object]:
    links, images = hash_main_assets(tree, page_blocks.landmarks or find_landmarks(tree), page_blocks)
    return {"main_links": assets.pack_hashes(links), "main_images": assets.pack_hashes(images)}
