"""Compare two bodies for people: paragraphs side by side, word by word, with the signatures of the papers."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import zip_longest

from msgspec import Struct

from sanderling.changes.classify import ChangeCounts, PageChange, classify_diff
from sanderling.changes.fingerprint_diff import BlockAction, BlockChange, FingerprintDiff, diff_fingerprints
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.paper_signatures import (
    K_PAGE,
    FontRuns,
    PaperSignature,
    compute_paper_signature,
    extract_font_runs,
)
from sanderling.changes.word_diff import DiffPiece, build_replacement, diff_words
from sanderling.content.user_rules import NO_USER_RULES, UserRules
from sanderling.content.volatile.strip import strip_build_id
from sanderling.fingerprint.assets import get_image_source, normalize_image_source
from sanderling.fingerprint.build import fingerprint_page_lines
from sanderling.fingerprint.link_targets import NON_PAGE_SCHEMES, normalize_href
from sanderling.fingerprint.model import Fingerprint
from sanderling.html.links import extract_metadata
from sanderling.html.parser import Document, parse_html
from sanderling.urls.normalize import resolve_urls

MAX_LISTED = 500
TITLE_NUMBER = -1  # number of the title, before all blocks


class ParagraphDiff(Struct, frozen=True, omit_defaults=True):
    action: BlockAction
    main: bool
    pieces: tuple[DiffPiece, ...]
    number: int  # among the new blocks, or the old if it was removed
    old: PaperSignature | None = None
    new: PaperSignature | None = None
    old_number: int | None = None  # if it moved


class DiffReport(Struct, frozen=True):
    change: PageChange
    rows: tuple[ParagraphDiff, ...]
    old: PaperSignature  # of the whole page
    new: PaperSignature
    links_added: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    assets_added: tuple[str, ...] = ()  # URLs of images, scripts, frames, and style sheets
    assets_removed: tuple[str, ...] = ()


class ComparableVersion(Struct, frozen=True):
    """A version of a page, parsed for comparison."""

    fingerprint: Fingerprint
    block_texts: list[str]
    font_runs: list[FontRuns]  # of each block
    links: dict[str, str]  # by normalized URL
    assets: dict[str, str]
    title: str = ""


LINK_KINDS = ("links", "main_links")
ASSET_KINDS = ("images", "main_images", "scripts", "frames")
REFERENCE_ATTRIBUTES = {"script": "src", "iframe": "src", "link": "href", "video": "src", "audio": "src"}


def parse_version(
    body: bytes, charset: str = "", user_rules: UserRules = NO_USER_RULES, url: str = ""
) -> ComparableVersion:
    tree = parse_html(body, charset)
    for selector in user_rules.ignore:
        tree.remove(selector)
    fingerprint, lines = fingerprint_page_lines(tree, user_rules)
    font_runs = extract_font_runs(tree)
    return ComparableVersion(
        fingerprint,
        [" ".join(line.split()) for line in lines.values()],
        [font_runs[number] if number < len(font_runs) else [] for number in lines],
        _collect_links(tree, url),
        dict(_collect_assets(tree)),
        _get_title(tree),
    )


def _collect_links(tree: Document, url: str) -> dict[str, str]:
    metadata = extract_metadata(tree, url)
    resolved = resolve_urls(metadata.base_url, (link.href for link in metadata.links), metadata.encoding) if url else ()
    targets = (
        target.url if target is not None else link.href for link, target in zip_longest(metadata.links, resolved)
    )
    return {normalize_href(href): href for href in targets if not href.startswith(NON_PAGE_SCHEMES)}


def _get_title(tree: Document) -> str:
    found = tree.find("title")
    return " ".join(found.text[:MAX_LISTED].split()) if found is not None else ""


def parse_text_version(text: str, user_rules: UserRules = NO_USER_RULES) -> ComparableVersion:
    """Parse a plain text; each line is a block."""
    return parse_version(f"<pre>\n{escape(text)}</pre>".encode("utf-8", "replace"), "utf-8", user_rules)


def _collect_assets(tree: Document) -> Iterable[tuple[str, str]]:
    for image in tree.find_all("img"):
        if source := get_image_source(image)[:MAX_LISTED]:
            alt_text = " ".join((image.attr("alt") or "")[:MAX_LISTED].split())
            yield f"{normalize_image_source(source)} {alt_text}", f"{source} ({alt_text})" if alt_text else source
    for tag, name in REFERENCE_ATTRIBUTES.items():
        for element in tree.find_all(tag):
            reference = (element.attr(name) or "")[:MAX_LISTED]
            if reference and (tag != "link" or "stylesheet" in (element.attr("rel") or "").lower()):
                yield strip_build_id(normalize_image_source(reference)), reference


def build_diff_report(
    old: ComparableVersion,
    new: ComparableVersion,
    noise_model: NoiseModel | None = None,
    page_id: int = 0,
    *,
    ascii_only: bool = True,
    drop_noise: Callable[[FingerprintDiff], FingerprintDiff] | None = None,
) -> DiffReport:
    """Compare two versions. `drop_noise` removes differences before they are classified."""
    diff = facts = diff_fingerprints(old.fingerprint, new.fingerprint)
    if drop_noise is not None:
        diff = drop_noise(facts)
    rows = sorted(
        (_build_paragraph_diff(block, old, new, ascii_only) for block in diff.blocks), key=lambda row: row.number
    )
    change = classify_diff(diff, noise_model, page_id)
    if change.title != ChangeCounts():
        rows.insert(0, ParagraphDiff(BlockAction.CHANGED, True, diff_words(old.title, new.title), TITLE_NUMBER))
    return DiffReport(
        change,
        tuple(rows),
        _compute_page_signature(old, ascii_only),
        _compute_page_signature(new, ascii_only),
        *(_list_changes(old.links, new.links) if _has_kept(LINK_KINDS, facts, diff) else ((), ())),
        *(_list_changes(old.assets, new.assets) if _has_kept(ASSET_KINDS, facts, diff) else ((), ())),
    )


def _has_kept(kinds: Sequence[str], facts: FingerprintDiff, diff: FingerprintDiff) -> bool:
    """Return whether not all differences of these kinds were noise."""
    return any(kind in diff.assets for kind in kinds) or not any(kind in facts.assets for kind in kinds)


def _compute_page_signature(version: ComparableVersion, ascii_only: bool) -> PaperSignature:
    return compute_paper_signature([run for line in version.font_runs for run in line], K_PAGE, ascii_only=ascii_only)


def _list_changes(old: dict[str, str], new: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List added and removed references; another token or size is the same reference."""
    added, removed = (new[key] for key in new.keys() - old), (old[key] for key in old.keys() - new)
    return tuple(sorted(added)[:MAX_LISTED]), tuple(sorted(removed)[:MAX_LISTED])


def _build_paragraph_diff(
    block: BlockChange, old: ComparableVersion, new: ComparableVersion, ascii_only: bool
) -> ParagraphDiff:
    old_text = old.block_texts[block.old] if block.old >= 0 else ""
    new_text = new.block_texts[block.new] if block.new >= 0 else ""
    pieces = (
        diff_words(old_text, new_text)
        if block.action in (BlockAction.CHANGED, BlockAction.MOVED)
        else build_replacement(old_text, new_text)
    )
    return ParagraphDiff(
        block.action,
        block.main,
        pieces,
        block.new if block.new >= 0 else block.old,
        compute_paper_signature(old.font_runs[block.old], ascii_only=ascii_only) if block.old >= 0 else None,
        compute_paper_signature(new.font_runs[block.new], ascii_only=ascii_only) if block.new >= 0 else None,
        block.old if block.action is BlockAction.MOVED else None,
    )
