"""Read the watched part of a stored version, and compare two versions of it."""

import json
from collections.abc import Callable
from typing import Any

import turbohtml
from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.changed_text import ChangedText, build_changed_text
from sanderling.changes.classify import BASE_SIGNIFICANCE, ChangeKind, PageChange
from sanderling.changes.fingerprint_diff import FingerprintDiff
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.render import extract_excerpt
from sanderling.changes.versions import extract_record_text
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.changes.word_report import (
    ComparableVersion,
    build_diff_report,
    parse_text_version,
    parse_version,
)
from sanderling.html.parser import Document, is_html, parse_html
from sanderling.html.plain_text import decode_plain_text
from sanderling.html.text import MAX_TEXT
from sanderling.http.content_type import parse_charset, parse_mime_type
from sanderling.monitor.json_diff import diff_json
from sanderling.monitor.page_values import PageValues, extract_page_values, parse_text_values
from sanderling.monitor.part_selector import parse_json, remove_json, select_elements, select_json, select_text
from sanderling.monitor.watch import Watch
from sanderling.warc.warc_reader import StoredRecord

MAX_SHOWN_TEXTS = 20
PART_SIGNIFICANCE = 1.0  # every change of a part that the user selected counts
ROW_SEPARATOR = " – "


class WatchedVersion(Struct, frozen=True):
    """A version as a watch sees it."""

    text: str
    values: PageValues
    comparable: ComparableVersion | None = None  # None: compared as JSON
    data: Any = None  # JSON
    is_part: bool = False  # a part that the user selected
    is_missing: bool = False  # the selected part was not found


def read_watched_version(record: StoredRecord, watch: Watch) -> WatchedVersion | None:
    """Read a version; None if it has no text that can be compared."""
    content_type = record.get_header("Content-Type")
    mime, charset = parse_mime_type(content_type), parse_charset(content_type)
    if mime.endswith("json"):
        return _read_json(decode_plain_text(record.body, charset), watch)
    if is_html(mime, record.body):
        return _read_tree(parse_html(record.body, charset), watch, record, charset)
    if mime.endswith("xml"):
        return _read_xml(decode_plain_text(record.body, charset), watch)
    return _read_text(extract_record_text(record, mime, charset), watch)


def _read_json(text: str, watch: Watch) -> WatchedVersion | None:
    data = parse_json(text)
    if data is None:
        return _read_text(text, watch)
    for selector in watch.ignore_selectors:
        if selector.language == "json":
            remove_json(data, selector)
    selectors = [one for one in watch.part_selectors if one.language == "json"]
    if not selectors:
        return _read_text(text, watch) if watch.part_selectors else WatchedVersion(text, PageValues(), data=data)
    found = [value for selector in selectors for value in select_json(data, selector)]
    shown = "\n".join(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in found)
    data = found[0] if len(found) == 1 else found
    return WatchedVersion(shown, parse_text_values(shown), data=data, is_part=True, is_missing=not found)


def _read_tree(tree: Document, watch: Watch, record: StoredRecord, charset: str) -> WatchedVersion | None:
    if watch.part_selectors:
        for selector in watch.user_rules.ignore:
            tree.remove(selector)
        return _read_part(tree, tree.to_text(), watch)
    version = parse_version(record.body, charset, watch.user_rules, record.url)
    return WatchedVersion("\n".join(version.block_texts), extract_page_values(tree), version)


def _read_xml(text: str, watch: Watch) -> WatchedVersion | None:
    """Read a feed or a sitemap as a line per entry, other XML as text."""
    try:
        tree = turbohtml.parse_xml(text[:MAX_TEXT])
    except ValueError:
        return _read_text(text, watch)
    if watch.part_selectors:
        return _read_part(tree, text, watch)
    feed = tree.feed()
    if feed is not None:
        lines = [ROW_SEPARATOR.join(filter(None, (entry.title, entry.link))) for entry in feed.entries]
        return _read_text("\n".join(lines), watch)
    locations = [element.text.strip() for element in tree.select("loc")]
    return _read_text("\n".join(locations) if locations else text, watch)


def _read_text(text: str, watch: Watch) -> WatchedVersion | None:
    if watch.part_selectors:
        return _read_part(None, text, watch)
    if not 0 < len(text) <= MAX_TEXT:
        return None
    return WatchedVersion(text, parse_text_values(text), parse_text_version(text, watch.user_rules))


def _read_part(tree: Document | None, text: str, watch: Watch) -> WatchedVersion:
    found: list[str] = []
    for selector in watch.part_selectors:
        if selector.language == "regex":
            found += select_text(text, selector)
        elif tree is not None and selector.language != "json":
            found += select_elements(tree, selector)
    part = "\n".join(found)[:MAX_TEXT]
    version = parse_text_version(part, watch.user_rules)
    return WatchedVersion(part, parse_text_values(part), version, is_part=True, is_missing=not found)


def compare_versions(
    old: WatchedVersion,
    new: WatchedVersion,
    noise_model: NoiseModel | None,
    page_id: int,
    *,
    include_boilerplate: bool = False,
    drop_noise: Callable[[FingerprintDiff], FingerprintDiff] | None = None,
) -> tuple[PageChange, tuple[ChangedText, ...]]:
    """Return the change between two versions and its text; without kinds if it is not significant.

    With `include_boilerplate`, text outside the main content is significant, such as a notice in the header.
    """
    if old.comparable is None or new.comparable is None:
        texts = tuple(diff_json(old.data, new.data)) if old.comparable is new.comparable else ()
        return (_build_part_change(), _limit_texts(texts)) if texts else (PageChange(), ())
    model = None if new.is_part else noise_model
    report = build_diff_report(old.comparable, new.comparable, model, page_id, drop_noise=drop_noise)
    if not new.is_part:
        change = _add_boilerplate(report.change) if include_boilerplate else report.change
        return change, extract_excerpt(report, change, MAX_SHOWN_TEXTS, include_boilerplate=include_boilerplate)
    if not report.change.is_significant:
        return PageChange(), ()
    if "\n" not in old.text + new.text:
        return _build_part_change(), (build_changed_text(old.text, new.text),)
    return _build_part_change(), extract_excerpt(report, report.change, MAX_SHOWN_TEXTS)


def _add_boilerplate(change: PageChange) -> PageChange:
    """Return a change of text outside the main content alone as a change of structure."""
    if change.kinds or not change.paragraphs:
        return change
    kind = ChangeKind.STRUCTURE
    return replace(change, kinds=(kind,), significance=BASE_SIGNIFICANCE[kind])


def _build_part_change() -> PageChange:
    return PageChange(kinds=(ChangeKind.CONTENT,), significance=PART_SIGNIFICANCE, amount=1.0)


def _limit_texts(texts: tuple[ChangedText, ...]) -> tuple[ChangedText, ...]:
    if len(texts) <= MAX_SHOWN_TEXTS:
        return texts
    remark = f"and {len(texts) - MAX_SHOWN_TEXTS} more values"
    return (*texts[:MAX_SHOWN_TEXTS], ChangedText("more", (DiffPiece(DiffOperation.SAME, remark),)))
