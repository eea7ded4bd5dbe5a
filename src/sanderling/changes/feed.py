"""Changes as Atom 1.0 and RSS 2.0 feeds. Page content is escaped; only `<ins>`, `<del>` and `<p>` are markup."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from urllib.parse import quote
from xml.etree import ElementTree

from msgspec import Struct

from sanderling.changes.changed_text import ChangedText, format_html_list, format_plain_text
from sanderling.changes.classify import ChangeCounts, PageChange
from sanderling.terminal import strip_control_characters
from sanderling.urls.normalize import get_host
from sanderling.urls.scope import get_site

ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"
GENERATOR = "Sanderling"


class ReportedChange(Struct, frozen=True):
    """A change of a page, as it is reported to users."""

    url: str
    seen_at: float
    previous_at: float
    change: PageChange
    title: str = ""
    status: int = 200  # of the new version
    texts: tuple[ChangedText, ...] = ()  # the first changed paragraphs
    shared_urls: tuple[str, ...] = ()  # all pages of a change that several pages share

    @property
    def name(self) -> str:
        """Return the title or URL of the page, or the number of pages that share the change."""
        if self.shared_urls:
            return f"on {len(self.shared_urls):,} pages of {get_site(self.url)}"
        return self.title or self.url

    @property
    def words(self) -> list[str]:
        """Return the changed paragraphs as lines of text."""
        return [format_plain_text(text) for text in self.texts]

    @property
    def is_reportable(self) -> bool:
        """Return whether the change is significant and the new version is not an error page."""
        return self.change.is_significant and self.change.comparable and self.status < 400


def summarize_change(change: PageChange) -> str:
    """Describe a change in a line."""
    kinds, *rest = list_change_parts(change)
    return "; ".join((kinds, f"significance {change.significance:.2f}", *rest))


def list_change_parts(change: PageChange) -> list[str]:
    """Return the kinds of a change, then counts of additions and removals."""
    blocks = ", ".join(f"{count} {action}" for action, count in sorted(change.counts.items()))
    parts = [", ".join(change.kinds) or "no significant change"]
    if blocks:
        parts.append(f"paragraphs: {blocks}")
    counted = {"title": change.title, "links": change.links, "images": change.media, **change.behavior}
    parts += [
        f"{name}: {counts.added} added, {counts.removed} removed"
        for name, counts in counted.items()
        if counts != ChangeCounts()
    ]
    if change.resources:
        parts.append(f"replaced: {', '.join(strip_control_characters(resource.url) for resource in change.resources)}")
    return parts


class ChangeFeedEntry(Struct, frozen=True):
    url: str
    updated_at: float
    title: str  # of the page
    kinds: tuple[str, ...]
    summary: str
    texts: tuple[ChangedText, ...] = ()


def write_atom_feed(items: Iterable[ReportedChange], title: str, feed_id: str) -> str:
    """Write an Atom feed, newest first."""
    return write_atom_entries(
        [
            ChangeFeedEntry(
                item.url, item.seen_at, item.name, tuple(item.change.kinds), summarize_change(item.change), item.texts
            )
            for item in _select_reportable(items)
        ],
        title,
        feed_id,
    )


def write_atom_entries(entries: Sequence[ChangeFeedEntry], title: str, feed_id: str) -> str:
    root = ElementTree.Element("feed", {"xmlns": ATOM_NAMESPACE})
    _add_element(root, "title", title)
    _add_element(root, "id", feed_id)
    _add_element(
        root, "updated", _convert_to_datetime(max((change.updated_at for change in entries), default=0.0)).isoformat()
    )
    _add_element(root, "generator", GENERATOR)
    _add_element(_add_element(root, "author"), "name", GENERATOR)
    for change in entries:
        entry = _add_element(root, "entry")
        _add_element(entry, "title", f"{change.title or change.url}: {', '.join(change.kinds)}")
        _add_element(entry, "id", f"{change.url}#changed-{change.updated_at:.6f}")
        _add_element(entry, "updated", _convert_to_datetime(change.updated_at).isoformat())
        _add_element(entry, "link").set("href", _strip_invalid_xml(change.url))
        _add_element(entry, "summary", change.summary)
        if change.texts:
            _add_element(entry, "content", format_html_list(change.texts)).set("type", "html")
        for kind in change.kinds:
            _add_element(entry, "category").set("term", kind)
    return _serialize_xml(root)


def write_rss_feed(items: Iterable[ReportedChange], title: str, link: str) -> str:
    """Write an RSS feed, newest first. It links to the site of the newest change, else to `link`."""
    reportable = _select_reportable(items)
    root = ElementTree.Element("rss", {"version": "2.0"})
    channel = _add_element(root, "channel")
    _add_element(channel, "title", title)
    _add_element(channel, "link", f"{get_host(reportable[0].url)}/" if reportable else link)
    _add_element(channel, "description", title)
    for item in reportable:
        entry = _add_element(channel, "item")
        _add_element(entry, "title", f"{item.name}: {', '.join(item.change.kinds)}")
        _add_element(entry, "link", item.url)
        _add_element(entry, "guid", f"{item.url}#changed-{item.seen_at:.6f}").set("isPermaLink", "false")
        _add_element(entry, "pubDate", format_datetime(_convert_to_datetime(item.seen_at)))
        _add_element(
            entry, "description", f"<p>{escape(summarize_change(item.change))}</p>{format_html_list(item.texts)}"
        )
        for kind in item.change.kinds:
            _add_element(entry, "category", kind)
    return _serialize_xml(root)


def build_feed_id(collection_name: str) -> str:
    """Return the permanent id that Atom requires: a URN."""
    return f"urn:sanderling:{quote(collection_name, safe='')}"


def _select_reportable(items: Iterable[ReportedChange]) -> list[ReportedChange]:
    return sorted((item for item in items if item.is_reportable), key=lambda item: -item.seen_at)


def _convert_to_datetime(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)


def _strip_invalid_xml(text: str) -> str:
    return "".join(
        character
        for character in strip_control_characters(text)
        if character < "\ud800" or "\ue000" <= character <= "\ufffd" or character > "\uffff"
    )


def _add_element(parent: ElementTree.Element, name: str, text: str = "") -> ElementTree.Element:
    child = ElementTree.SubElement(parent, name)
    if text:
        child.text = _strip_invalid_xml(text)
    return child


def _serialize_xml(root: ElementTree.Element) -> str:
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
