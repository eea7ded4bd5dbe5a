"""Changes as a feed: Atom 1.0 and RSS 2.0. Only changes that matter get in, and nothing of them but text."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from urllib.parse import quote
from xml.etree import ElementTree as xml

from msgspec import Struct

from sanderling.changes.classify import Change, Tally
from sanderling.terminal import plain
from sanderling.urls.normalize import host_of

ATOM = "http://www.w3.org/2005/Atom"
GENERATOR = "Sanderling"


class Item(Struct, frozen=True):
    """One change of one page, to be told to others."""

    url: str
    at: float
    previous_at: float
    change: Change
    title: str = ""
    status: int = 200  # of the new version
    words: tuple[str, ...] = ()  # what came and went, a line for each paragraph

    @property
    def is_news(self) -> bool:
        """Say whether to tell anybody: never of an empty difference or an error page."""
        return self.change.matters and self.change.comparable and self.status < 400


def summary(change: Change) -> str:
    """Tell a change in one line."""
    kinds, *rest = parts_of(change)
    return "; ".join((kinds, f"significance {change.significance:.2f}", *rest))


def parts_of(change: Change) -> list[str]:
    """Tell of which kinds a change was, and then what came and went."""
    blocks = ", ".join(f"{count} {action}" for action, count in sorted(change.counts.items()))
    parts = [", ".join(change.kinds) or "nothing that matters"]
    if blocks:
        parts.append(f"paragraphs: {blocks}")
    counted = {"title": change.title, "links": change.links, "images": change.media, **change.behaviour}
    parts += [f"{name}: {one.added} added, {one.removed} removed" for name, one in counted.items() if one != Tally()]
    if change.resources:
        parts.append(f"replaced: {', '.join(plain(swap.url) for swap in change.resources)}")
    return parts


class Entry(Struct, frozen=True):
    """One entry of a feed."""

    url: str
    at: float
    title: str  # of the page
    kinds: tuple[str, ...]
    summary: str
    words: tuple[str, ...] = ()


def atom(items: Iterable[Item], title: str, name: str) -> str:
    """Write an Atom feed, newest first."""
    return atom_of(
        [
            Entry(item.url, item.at, item.title, tuple(item.change.kinds), summary(item.change), item.words)
            for item in _news(items)
        ],
        title,
        name,
    )


def atom_of(entries: Sequence[Entry], title: str, name: str) -> str:
    """Write these entries as an Atom feed."""
    root = xml.Element("feed", {"xmlns": ATOM})
    _add(root, "title", title)
    _add(root, "id", name)
    _add(root, "updated", _moment(max((one.at for one in entries), default=0.0)).isoformat())
    _add(root, "generator", GENERATOR)
    _add(_add(root, "author"), "name", GENERATOR)
    for one in entries:
        entry = _add(root, "entry")
        _add(entry, "title", f"{one.title or one.url}: {', '.join(one.kinds)}")
        _add(entry, "id", f"{one.url}#changed-{one.at:.6f}")
        _add(entry, "updated", _moment(one.at).isoformat())
        _add(entry, "link").set("href", _clean(one.url))
        _add(entry, "summary", one.summary)
        if one.words:
            _add(entry, "content", "\n".join(one.words)).set("type", "text")
        for kind in one.kinds:
            _add(entry, "category").set("term", kind)
    return _written(root)


def rss(items: Iterable[Item], title: str, link: str) -> str:
    """Write an RSS feed, newest first; it leads to the site of the newest, or to `link` where there is none."""
    news = _news(items)
    root = xml.Element("rss", {"version": "2.0"})
    channel = _add(root, "channel")
    _add(channel, "title", title)
    _add(channel, "link", f"{host_of(news[0].url)}/" if news else link)
    _add(channel, "description", title)
    for item in news:
        entry = _add(channel, "item")
        _add(entry, "title", f"{item.title or item.url}: {', '.join(item.change.kinds)}")
        _add(entry, "link", item.url)
        _add(entry, "guid", f"{item.url}#changed-{item.at:.6f}").set("isPermaLink", "false")
        _add(entry, "pubDate", format_datetime(_moment(item.at)))
        _add(entry, "description", "<br>".join(map(escape, (summary(item.change), *item.words))))
        for kind in item.change.kinds:
            _add(entry, "category", kind)
    return _written(root)


def feed_id(name: str) -> str:
    """Name the feed of a collection for good, as Atom wants it: an address that leads nowhere."""
    return f"urn:sanderling:{quote(name, safe='')}"


def _news(items: Iterable[Item]) -> list[Item]:
    return sorted((item for item in items if item.is_news), key=lambda item: -item.at)


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _clean(text: str) -> str:
    """Keep to the characters XML allows."""
    return "".join(
        letter for letter in plain(text) if letter < "\ud800" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
    )


def _add(parent: xml.Element, name: str, text: str = "") -> xml.Element:
    child = xml.SubElement(parent, name)
    if text:
        child.text = _clean(text)
    return child


def _written(root: xml.Element) -> str:
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
