"""Read licenses of RSL and reservations of TDMRep, and write them as lines of usage that robots.txt could have.

RSL 1.0 (rslstandard.org): `<content url>` with `<permits type="usage">`, `<prohibits type="usage">`, `<payment type>`.
TDMRep (W3C community group): `/.well-known/tdmrep.json` with `location`, `tdm-reservation` and `tdm-policy`.
An unknown value never widens rights: a license that lists permissions permits no other use by AI, and a use that
costs something is denied, because this program has no contract.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import Struct, field

from sanderling.discovery.xml_scanner import XmlScanner, parse_attributes, unescape_xml

USAGES: Mapping[str, frozenset[str]] = {  # of RSL, by purpose
    "search": frozenset(("search", "all")),
    "archive": frozenset(("archive", "all")),
    "ai-input": frozenset(("ai-input", "ai-use", "ai-all", "all")),
    "ai-train": frozenset(("ai-train", "ai-all", "all")),
}
MINED = ("ai-input", "ai-train")  # text and data mining, as TDMRep reserves it
FREE_PAYMENTS = frozenset(("free", "attribution", ""))
LICENSE_LINE = re.compile(rb"^[ \t]*license[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
MAX_LICENSES = 3
MAX_ITEMS = 500
MAX_DOCUMENT = 500_000


class RslLicense(Struct):
    """A license: uses that it permits and prohibits, and whether they cost something."""

    permits: set[str] = field(default_factory=set)
    prohibits: set[str] = field(default_factory=set)
    has_permits: bool = False
    payments: list[str] = field(default_factory=list)

    def denies(self, purpose: str) -> bool:
        """Return whether a purpose is denied. A license that permits other uses says nothing about search."""
        uses, is_costly = USAGES[purpose], any(payment not in FREE_PAYMENTS for payment in self.payments)
        if self.prohibits & uses:
            return True
        if self.has_permits and not self.permits & uses:
            return purpose in MINED
        return is_costly


class RslReader:
    """Collects the licenses of each `<content>`."""

    def __init__(self) -> None:
        self.contents: list[tuple[str, list[RslLicense]]] = []
        self._license: RslLicense | None = None
        self._text_kind = ""
        self._text: list[str] = []

    def handle_start_tag(self, name: str, attributes_text: str) -> None:
        attributes = parse_attributes(attributes_text)
        self._text_kind, self._text = "", []
        if name == "content" and len(self.contents) < MAX_ITEMS:
            self.contents.append((unescape_xml(attributes.get("url", "")).strip(), []))
        elif name == "license" and self.contents:
            self._license = RslLicense()
            self.contents[-1][1].append(self._license)
        elif name in ("permits", "prohibits") and attributes.get("type", "usage").strip().lower() == "usage":
            self._text_kind = name
            if self._license is not None:
                self._license.has_permits |= name == "permits"
        elif name == "payment" and self._license is not None:
            self._license.payments.append(attributes.get("type", "").strip().lower())

    def handle_end_tag(self, name: str) -> None:
        if name == self._text_kind and self._license is not None:
            words = set(re.split(r"[\s,]+", unescape_xml("".join(self._text)).lower())) - {""}
            getattr(self._license, name).update(words)
        if name == "license":
            self._license = None
        self._text_kind = ""

    def handle_text(self, text: str) -> None:
        if self._text_kind and len(self._text) < MAX_ITEMS:
            self._text.append(text)

    def handle_whole_entry(self, _buffer: str, position: int) -> int:
        return position


def find_license_urls(robots_body: bytes) -> list[str]:
    """Return the URLs of `License:` lines in robots.txt."""
    found = (match[1].decode("utf-8", "replace") for match in LICENSE_LINE.finditer(robots_body))
    return list(dict.fromkeys(found))[:MAX_LICENSES]


def translate_license(document: bytes, host: str) -> list[str]:
    """Return a line of usage for each content of an RSL document that concerns a host; [] if it is no license."""
    reader = RslReader()
    XmlScanner(reader).feed(document[:MAX_DOCUMENT].decode("utf-8", "replace"))
    lines = []
    for url, licenses in reader.contents:
        if (path := _get_path(url, host)) and licenses:
            stated = {purpose: not all(found.denies(purpose) for found in licenses) for purpose in USAGES}
            lines.append(_format_line("RSL-Usage", path, stated))
    return lines


def _get_path(url: str, host: str) -> str:
    """Return the path pattern of a content; "": it is of another host."""
    if url.startswith(("http://", "https://")):
        parts = urlsplit(url)
        own = urlsplit(host).netloc.removeprefix("www.")
        return (parts.path or "/") if parts.netloc.lower().removeprefix("www.") == own else ""
    return url if url.startswith("/") else "/"


def translate_reservations(document: bytes) -> list[str]:
    """Return a line of usage for each reservation of a tdmrep.json; [] if it is not valid."""
    try:
        items = json.loads(document[:MAX_DOCUMENT])
    except (ValueError, RecursionError):
        return []
    return list(_iterate_reservations(items if isinstance(items, list) else [items]))[:MAX_ITEMS]


def _iterate_reservations(items: Iterable[object]) -> Iterator[str]:
    for item in items:
        if not isinstance(item, dict):
            continue
        location, value = item.get("location"), item.get("tdm-reservation")
        if isinstance(location, str) and value in (0, 1, "0", "1"):
            path = location if location.startswith("/") else "/" + location
            yield _format_line("TDM-Usage", path, dict.fromkeys(MINED, str(value) == "0"))


def deny_unread_license(url: str) -> str:
    """Return the line for a license that could not be read: it permits no use by AI."""
    return _format_line("RSL-Usage", "/", dict.fromkeys(MINED, False)) + f" # {url} could not be read"


def _format_line(name: str, path: str, stated: Mapping[str, bool]) -> str:
    values = ", ".join(f"{purpose}={'y' if allowed else 'n'}" for purpose, allowed in stated.items())
    return f"{name}: {''.join(path.split())} {values}"
