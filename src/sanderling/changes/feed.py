"""Changes as a feed: Atom 1.0 and RSS 2.0. Only changes that matter get in, and nothing of them but text."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from urllib.parse import quote
from xml.etree import ElementTree as xml

from msgspec import Struct

from sanderling.changes.classify import ChangeCounts, PageChange
from sanderling.terminal import strip_control_characters
from sanderling.urls.normalize import get_host

ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"
GENERATOR = "Sanderling"


class ReportedChange(Struct, frozen=True):
    """One change of one page, to be told to others."""

    url: str
    seen_at: float
    previous_at: float
    change: PageChange
    title: str = ""
    status: int = 200  # of the new version
    words: tuple[str, ...] = ()  # what came and went, a line for each paragraph

    @property
    def is_reportable(self) -> bool:
        """Say whether to tell anybody: never of an empty difference or an error page."""
        return self.change.is_significant and self.change.comparable and self.status < 400


def summarize_change(change: PageChange) -> str:
    """Tell a change in one line."""
    kinds, *rest = list_change_parts(change)
    return "; ".join((kinds, f"significance {change.significance:.2f}", *rest))


def list_change_parts(change: PageChange) -> list[str]:
    """Tell of which kinds a change was, and then what came and went."""
    blocks = ", ".join(f"{count} {action}" for action, count in sorted(change.counts.items()))
    parts = [", ".join(change.kinds) or "nothing that matters"]
    if blocks:
        parts.append(f"paragraphs: {blocks}")
    counted = {"title": change.title, "links": change.links, "images": change.media, **change.behavior}
    parts += [
        f"{name}: {one.added} added, {one.removed} removed" for name, one in counted.items() if one != ChangeCounts()
    ]
    if change.resources:
        parts.append(f"replaced: {', '.join(strip_control_characters(swap.url) for swap in change.resources)}")
    return parts


class ChangeFeedEntry(Struct, frozen=True):
    """One entry of a feed."""

    url: str
    updated_at: float
    title: str  # of the page
    kinds: tuple[str, ...]
    summary: str
    words: tuple[str, ...] = ()


def write_atom_feed(items: Iterable[ReportedChange], title: str, feed_id: str) -> str:
    """Write an Atom feed, newest first."""
    return write_atom_entries(
        [
            ChangeFeedEntry(
                item.url, item.seen_at, item.title, tuple(item.change.kinds), summarize_change(item.change), item.words
            )
            for item in _select_reportable(items)
        ],
        title,
        feed_id,
    )


def write_atom_entries(entries: Sequence[ChangeFeedEntry], title: str, feed_id: str) -> str:
    """Write these entries as an Atom feed."""
    root = xml.Element("feed", {"xmlns": ATOM_NAMESPACE})
    _add_element(root, "title", title)
    _add_element(root, "id", feed_id)
    _add_element(
        root, "updated", _convert_to_datetime(max((one.updated_at for one in entries), default=0.0)).isoformat()
    )
    _add_element(root, "generator", GENERATOR)
    _add_element(_add_element(root, "author"), "name", GENERATOR)
    for one in entries:
        entry = _add_element(root, "entry")
        _add_element(entry, "title", f"{one.title or one.url}: {', '.join(one.kinds)}")
        _add_element(entry, "id", f"{one.url}#changed-{one.updated_at:.6f}")
        _add_element(entry, "updated", _convert_to_datetime(one.updated_at).isoformat())
        _add_element(entry, "link").set("href", _strip_invalid_xml(one.url))
        _add_element(entry, "summary", one.summary)
        if one.words:
            _add_element(entry, "content", "\n".join(one.words)).set("type", "text")
        for kind in one.kinds:
            _add_element(entry, "category").set("term", kind)
    return _serialize_xml(root)


def write_rss_feed(items: Iterable[ReportedChange], title: str, link: str) -> str:
    """Write an RSS feed, newest first; it leads to the site of the newest, or to `link` where there is none."""
    news = _select_reportable(items)
    root = xml.Element("rss", {"version": "2.0"})
    channel = _add_element(root, "channel")
    _add_element(channel, "title", title)
    _add_element(channel, "link", f"{get_host(news[0].url)}/" if news else link)
    _add_element(channel, "description", title)
    for item in news:
        entry = _add_element(channel, "item")
        _add_element(entry, "title", f"{item.title or item.url}: {', '.join(item.change.kinds)}")
        _add_element(entry, "link", item.url)
        _add_element(entry, "guid", f"{item.url}#changed-{item.seen_at:.6f}").set("isPermaLink", "false")
        _add_element(entry, "pubDate", format_datetime(_convert_to_datetime(item.seen_at)))
        _add_element(entry, "description", "<br>".join(map(escape, (summarize_change(item.change), *item.words))))
        for kind in item.change.kinds:
            _add_element(entry, "category", kind)
    return _serialize_xml(root)


def build_feed_id(collection_name: str) -> str:
    """Name the feed of a collection for good, as Atom wants it: an address that leads nowhere."""
    return f"urn:sanderling:{quote(collection_name, safe='')}"


def _select_reportable(items: Iterable[ReportedChange]) -> list[ReportedChange]:
    return sorted((item for item in items if item.is_reportable), key=lambda item: -item.seen_at)


def _convert_to_datetime(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)


def _strip_invalid_xml(text: str) -> str:
    """Keep to the characters XML allows."""
    return "".join(
        letter
        for letter in strip_control_characters(text)
        if letter < "\ud800" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
    )


def _add_element(parent: xml.Element, name: str, text: str = "") -> xml.Element:
    child = xml.SubElement(parent, name)
    if text:
        child.text = _strip_invalid_xml(text)
    return child


def _serialize_xml(root: xml.Element) -> str:
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
