"""Find the WebSub hubs of a resource: in Link headers, feeds, and HTML pages (W3C WebSub, 4)."""

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from sanderling.discovery.xml_scanner import parse_attributes
from sanderling.fetch.link_header import parse_link_header
from sanderling.urls.normalize import get_host, resolve_url
from sanderling.warc.warc_reader import StoredRecord

MAX_SCANNED = 200_000  # characters of a body
MAX_HUBS = 3  # of a topic are asked
LINK_TAG = re.compile(r"<(?:\w{1,20}:)?link\b([^<>]{1,2000})>", re.IGNORECASE)


class HubTopic(Struct, frozen=True):
    """A resource whose changes hubs announce."""

    url: str  # its address as the hubs know it
    hubs: tuple[str, ...]


def find_topic(url: str, record: StoredRecord) -> HubTopic | None:
    """Return the topic of a stored response. None: it names no hub, or its own address is on another host."""
    links = [(name, item.href) for item in parse_link_header(record.get_header("Link")) for name in item.relations]
    if not any(name == "hub" for name, _ in links):
        links = list(_read_links(record.body[:MAX_SCANNED].decode("utf-8", "replace")))
    own = next(_resolve(url, [href for name, href in links if name == "self"]), url)
    hubs = tuple(dict.fromkeys(_resolve(url, [href for name, href in links if name == "hub"])))[:MAX_HUBS]
    return HubTopic(own, hubs) if hubs and get_host(own) == get_host(url) else None


def _read_links(text: str) -> Iterator[tuple[str, str]]:
    """Yield relations and targets of the links of a feed or an HTML page, or of a JSON Feed."""
    if text.lstrip("\ufeff \r\n\t").startswith("{"):
        yield from _read_json_links(text)
    for match in LINK_TAG.finditer(text):
        attributes = parse_attributes(match[1])
        for name in attributes.get("rel", "").lower().split():
            yield name, attributes.get("href", "")


def _read_json_links(text: str) -> Iterator[tuple[str, str]]:
    try:
        feed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return
    hubs, own = feed.get("hubs", []), feed.get("feed_url", "")
    for hub in hubs if isinstance(hubs, list) else []:
        if isinstance(hub, dict) and str(hub.get("type", "")).lower() == "websub":
            yield "hub", str(hub.get("url", ""))
    yield "self", str(own)


def _resolve(base: str, targets: Iterable[str]) -> Iterator[str]:
    for href in targets:
        if href.strip() and (target := resolve_url(base, href.strip())) is not None:
            yield target.request_url
