"""What the owner of a host allows, and the check of a letter against it. Pure: every refusal has a name."""

import math
import posixpath
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.urls.normalize import host_of, normalise, split
from sanderling.workers.migrant.messages import Letter
from sanderling.workers.migrant.shared_dictionary import write

TWO_WAYS = re.compile(r"[%\\;]|//|/\.")  # a server may read such a path as another one
PARAMETERS = re.compile(r";[^/]*")  # of a segment; some servers cut them off before they resolve dots
ANY = "http://any.example"
Readings = tuple[str, str, str]  # as spelled, as most servers read it, as servers do that cut parameters off


def readings(path: str) -> Readings:
    """The ways to read a path."""
    return (path, as_read(path), as_read(path, cuts=True)) if TWO_WAYS.search(path) else (path, path, path)


def as_read(path: str, cuts: bool = False) -> str:
    """A path as many web servers read it: decoded, slashes merged, dots resolved; `/a/..%2fb?c` is `/b?c`."""
    before, mark, query = path.partition("?")
    name = unquote(before).replace("\\", "/")
    name = PARAMETERS.sub("", name) if cuts else name
    plain = posixpath.normpath("/" + name.lstrip("/"))
    slash = "/" if name.endswith(("/", "/.", "/..")) and plain != "/" else ""
    return plain + slash + mark + unquote(query)


def request_urls(url: str, site: str) -> set[str]:
    """Return a URL of a site and those of the other readings of its path: `/a%2fb` may be answered as `/a/b`."""
    path = url[len(site) :] or "/"
    return {url, *(site + quote(one, safe="/?&=;:@!$'()*+,~") for one in readings(path)[1:] if one != path)}


@lru_cache(maxsize=256)
def admitting(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What each reading of a path has to begin with."""
    return tuple(zip(*(readings(_spelled(prefix)) for prefix in prefixes), strict=True)) or ((), (), ())


@lru_cache(maxsize=256)
def hiding(prefixes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What no reading of a path may begin with; `/a;b` does not hide all of `/a`."""
    spelled, read, _ = admitting(prefixes)
    return spelled, read, read


def _spelled(prefix: str) -> str:
    """As we spell URLs: `/café/` is `/caf%C3%A9/`."""
    spelling = normalise(ANY + prefix) if prefix.startswith("/") else None
    return split(spelling.url)[1] if spelling is not None else prefix


SKEW_SECONDS = 60.0  # clocks differ
LONGEST_SECONDS = 86400.0  # a letter that claims to live longer is refused; nonces are remembered as long as it lives
SPARE_SECONDS = 120.0  # a letter that stays for the longest time lives a little longer
HOURS = re.compile(r"(0?\d|1\d|2[0-4])-(0?\d|1\d|2[0-4])", re.ASCII)
LONGEST_AGENT = 300  # characters
LONGEST_NONCE = 64  # bytes; ours have 12, and all are kept as long as their letters are valid


class Refusal(StrEnum):
    """Why a letter is not obeyed."""

    UNKNOWN_SENDER = "unknown sender"
    BAD_SIGNATURE = "bad signature"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    TOO_LARGE = "too large"
    OTHER_RECEIVER = "for another host"
    EXPIRED = "expired"
    TOO_LONG = "lives too long"
    NOT_YET = "from the future"
    REPLAY = "replayed"
    OTHER_SITE = "other site"
    CLOSED = "closed at this hour"
    BUSY = "too many guests"
    EARLIER = "written before this host began"


class Site(Struct, frozen=True, forbid_unknown_fields=True):
    """One site the owner lets others visit."""

    site: str
    root: str = ""  # a folder with its files; empty: ask its web server
    address: str = "127.0.0.1"  # where its web server listens, on the port of `site`
    paths: tuple[str, ...] = ("/",)
    not_paths: tuple[str, ...] = ()
    pages_per_second: float = 0.0  # 0: no limit
    connections: int = 8
    hours: str = "0-24"  # UTC, e.g. 22-6
    max_pages: int = 100_000
    pack: Literal["auto", "small", "fast"] = "auto"  # a first answer: auto is small where the web server compresses

    def admits(self, path: str) -> bool:
        """May this path be looked at, as it is spelled and as a web server may read it?"""
        ways = zip(readings(path), admitting(self.paths), hiding(self.not_paths), strict=True)
        return all(one.startswith(wanted) and not one.startswith(hidden) for one, wanted, hidden in ways)

    def hides(self, file: str) -> bool:
        """Is a file kept back, whatever path leads to it? It is named by its place in the folder: `/private/a b`."""
        return file.startswith(hiding(self.not_paths)[1])


class Owner(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one host, as its owner wrote them in TOML."""

    name: str  # what senders write as receiver, e.g. host.example:8443
    site: tuple[Site, ...]
    listen: str = "127.0.0.1:8443"
    senders: str = "senders"  # file with one `KEY NAME` per line
    certificate: str = ""  # PEM files; without them the service speaks plain HTTP
    private_key: str = ""
    max_letter: int = 4_000_000  # bytes, as sent and again unpacked
    max_stops: int = 50_000
    guests: int = 8  # connections at once


def read_owner(file: Path) -> Owner:
    """Read the owner's rules; what is wrong with them is said before the service starts."""
    try:
        owner = msgspec.convert(tomllib.loads(file.read_text()), Owner)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{file}: {error}") from None
    for wrong in faults(owner):
        raise UsageError(f"{file}: {wrong}")
    return owner


def faults(owner: Owner) -> Iterator[str]:
    """Say what cannot be meant."""
    for name in ("max_letter", "max_stops", "guests"):
        if getattr(owner, name) < 1:
            yield f"{name} is 1 or more"
    for site in owner.site:
        spelling = normalise(site.site)
        if spelling is None or host_of(spelling.url) != site.site:
            yield f"write a site as https://www.example.org, not {site.site!r}"
        if sum(other.site == site.site for other in owner.site) > 1:
            yield f"{site.site} is there twice"
        yield from (f"{site.site}: {wrong}" for wrong in _faults_of(site))


def _faults_of(site: Site) -> Iterator[str]:
    if not 0 <= site.pages_per_second < math.inf:
        yield "pages_per_second is 0 (no limit) or more"
    for name in ("connections", "max_pages"):
        if getattr(site, name) < 1:
            yield f"{name} is 1 or more"
    for path in (*site.paths, *site.not_paths):
        if not path.startswith("/"):
            yield f"write a path as /private/, not {path!r}"
    if site.root and not Path(site.root).is_dir():
        yield f"root is no folder: {site.root}"
    if not HOURS.fullmatch(site.hours):
        yield f"{site.hours!r} are no hours; write 22-6 or 0-24"


def is_open(hours: str, now: float) -> bool:
    """Is it within these hours, in UTC? `22-6` goes over midnight."""
    match = HOURS.fullmatch(hours)
    if match is None:
        raise UsageError(f"{hours!r} are no hours; write 22-6 or 0-24")
    start, end, hour = int(match[1]), int(match[2]), time.gmtime(now).tm_hour
    return start <= hour < end if start <= end else hour >= start or hour < end


class Nonces:
    """Letters seen, as long as they could be sent again; of those before a restart, how the last ones were dated."""

    def __init__(self, since: float = 0.0, before: Mapping[str, float] = MappingProxyType({})) -> None:
        self.since = since
        self.before = dict(before)  # the date of the last letter of each sender
        self.seen: dict[tuple[str, bytes], float] = {}

    def is_earlier(self, letter: Letter) -> bool:
        """May a letter have been here before the restart?"""
        return letter.issued < self.since or letter.issued <= self.before.get(letter.sender, 0.0)

    def is_new(self, letter: Letter, now: float) -> bool:
        """Remember a letter; False if it was here before."""
        if len(self.seen) % 256 == 255:
            self.seen = {key: until for key, until in self.seen.items() if until > now}
        key = (letter.sender, letter.nonce)
        if key in self.seen:
            return False
        self.seen[key] = letter.expires + SKEW_SECONDS
        return True


def site_of(letter: Letter, owner: Owner) -> Site | None:
    """The site a letter speaks of, if the owner has it."""
    return next((site for site in owner.site if Host(site.site) == letter.site), None)


def refusal(letter: Letter, signer: str, owner: Owner, nonces: Nonces, now: float) -> Refusal | None:
    """Say why a letter whose signature is good is still not obeyed; None if it is."""
    if letter.sender != signer:
        return Refusal.BAD_SIGNATURE
    if len(letter.agent) > LONGEST_AGENT or not (letter.agent.isascii() and letter.agent.isprintable()):
        return Refusal.UNREADABLE
    if len(letter.nonce) > LONGEST_NONCE:
        return Refusal.UNREADABLE
    if letter.receiver != owner.name:
        return Refusal.OTHER_RECEIVER
    if letter.issued > now + SKEW_SECONDS:
        return Refusal.NOT_YET
    if letter.expires < now - SKEW_SECONDS:
        return Refusal.EXPIRED
    if not letter.expires - letter.issued <= LONGEST_SECONDS + SPARE_SECONDS:  # nor is it without a time
        return Refusal.TOO_LONG
    if len(letter.stops) > owner.max_stops:
        return Refusal.TOO_LARGE
    site = site_of(letter, owner)
    if site is None:
        return Refusal.OTHER_SITE
    if not is_open(site.hours, now):
        return Refusal.CLOSED
    if nonces.is_earlier(letter):
        return Refusal.EARLIER
    return None if nonces.is_new(letter, now) else Refusal.REPLAY


class Dates:
    """The dates of the last letters, in one small file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.latest = _read(file)

    def note(self, letter: Letter) -> None:
        """Remember a letter that is obeyed. A full disk costs only that."""
        if letter.issued <= self.latest.get(letter.sender, 0.0):
            return
        self.latest[letter.sender] = letter.issued
        try:
            write(self.file, msgspec.json.encode(self.latest))
        except OSError:
            return


def _read(file: Path) -> dict[str, float]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError):
        return {}
