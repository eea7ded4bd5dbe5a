"""A site as seen from its own machine: through its web server on loopback, or as a folder of files."""

import mimetypes
import time
from collections.abc import Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from msgspec import Struct

from sanderling.fetch.curl_transfer import Ask, Reply
from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import door_of
from sanderling.fetch.process import Facts, Known, Marks, Observer, no_marks, untried
from sanderling.fetch.robots import Rules, rules_for
from sanderling.fingerprint.structure import structure
from sanderling.html.parser import Document
from sanderling.html.scanned_page import Glance
from sanderling.models import Host, Itinerary, Outcome, Reason, Robots, Stop, Visit
from sanderling.urls.normalize import host_of
from sanderling.warc.http_head import stored_head
from sanderling.workers.migrant.owner_rules import Site, request_urls

TURN_SECONDS = 0.05
ROBOTS_SECONDS = 86400.0
VISIBLE = (".", "..", ".well-known")  # names with a dot that hide nothing


class Seen(Struct, frozen=True):
    """One look: the visit, and the answer as it came."""

    visit: Visit
    head: bytes = b""
    body: bytes = b""


class Local(Protocol):
    """Where the pages of one site come from."""

    def accept(self, stops: Sequence[Stop]) -> None: ...
    def work(self) -> tuple[list[Seen], list[Robots]]: ...
    def close(self) -> None: ...


def settings_for(agent: str) -> FetchSettings:
    """Bodies come plain: they are compressed together, later."""
    return FetchSettings(
        user_agent=agent, headers=("Accept-Encoding: identity",), allow_private=True, keep_requests=False,
        latency_factor=0.0,
    )  # fmt: skip


class Plain(Observer):
    """Looks at pages as any migrant does, but writes no records of them: they go home by another stream."""

    def _pack(self, _stop: Stop, reply: Reply, facts: Facts, _at: float, _digest: bytes = b"") -> None:
        facts["head"], facts["response"] = stored_head(b"".join(reply.lines), len(reply.body)), reply.body


class PlainTrip(Trip):
    """A trip whose visits carry the pages themselves."""

    def __init__(self, settings: FetchSettings, marks: Marks) -> None:
        super().__init__(settings, marks)
        self._observer = Plain(settings, marks)

    def _is_allowed(self, rules: Rules, url: str) -> bool:
        return is_allowed(rules, url)


def is_allowed(rules: Rules, url: str) -> bool:
    """Check against robots.txt a URL and all that a web server may read it as: `%2f` is no way round a rule."""
    return all(rules.allowed(one) for one in request_urls(url, host_of(url)))


class ByHttp:
    """Asks the site's own web server, at the address its owner named and nowhere else."""

    def __init__(self, site: Site, agent: str, marks: Marks = no_marks) -> None:
        self.site = site
        self.trip = PlainTrip(settings_for(agent), marks)

    def accept(self, stops: Sequence[Stop]) -> None:
        """Queue some pages; they come as fast as the gate lets them in, so there is no pause between them."""
        self.trip.accept(Itinerary(Host(self.site.site), tuple(stops), (self.site.address,), None, 0.0,
                                   self.site.connections))  # fmt: skip

    def work(self) -> tuple[list[Seen], list[Robots]]:
        """What came within a moment."""
        parcel = self.trip.work(TURN_SECONDS)
        return [Seen(visit, visit.head, visit.response) for visit in parcel.visits], list(parcel.robots)

    def close(self) -> None:
        """Close the connections."""
        self.trip.close()


class ByFiles:
    """Reads the site's files; a folder answers with its index.html. Nothing outside the folder is ever read."""

    def __init__(self, site: Site, agent: str, marks: Marks = no_marks) -> None:
        self.site = site
        self.root = Path(site.root).resolve()
        self.settings = settings_for(agent)
        self.observer = Plain(self.settings, marks)
        self.door = door_of(Host(site.site))
        self.stops: list[Stop] = []
        self.robots: Robots | None = None

    def accept(self, stops: Sequence[Stop]) -> None:
        """Queue some pages."""
        self.stops += stops

    def work(self) -> tuple[list[Seen], list[Robots]]:
        """Read the next few files."""
        news = []
        if self.robots is None:
            self.robots = self._read_robots()
            news = [self.robots]
        rules = rules_for(self.robots, self.settings.agent_token)
        batch, self.stops = self.stops[:16], self.stops[16:]
        seen = []
        for stop in batch:
            if is_allowed(rules, stop.wire or stop.url):
                seen.append(self._look(stop))
            else:
                seen.append(Seen(untried(stop, Outcome.SKIPPED, Reason.ROBOTS, time.time())))
        return seen, news

    def close(self) -> None:
        """Nothing is open."""

    def _read_robots(self) -> Robots:
        """Read robots.txt; one that is there and cannot be read (no permission, a symlink loop) keeps us out."""
        now, body = time.time(), b""
        file = self._file("/robots.txt")
        status = 200 if file else 503 if (self.root / "robots.txt").is_symlink() else 404
        try:
            body = file.read_bytes()[: self.settings.max_robots] if file else b""
        except OSError:
            status = 503
        return Robots(Host(self.site.site), status, body, now, now + ROBOTS_SECONDS)

    def _file(self, path: str) -> Path | None:
        """The file of a path, if it is one, inside the folder, and no dot file."""
        name = unquote(path.partition("?")[0]).lstrip("/")
        try:
            file = (self.root / name).resolve()
            file = (file / "index.html").resolve() if file.is_dir() else file
            if not file.is_relative_to(self.root) or has_dot_file(name) or not file.is_file():
                return None
            return None if has_dot_file(file.relative_to(self.root).as_posix()) else file
        except (OSError, ValueError, RuntimeError):  # before Python 3.13 a symlink loop is a RuntimeError
            return None

    def _look(self, stop: Stop) -> Seen:
        url = stop.wire or stop.url
        start = time.monotonic()
        file = self._file(url[len(self.site.site) :])
        if file is not None and self.site.hides("/" + file.relative_to(self.root).as_posix()):
            note = "another name of a page that the owner keeps back"
            return Seen(untried(stop, Outcome.SKIPPED, Reason.EXCLUDED, time.time(), note))
        body, status, stamp = b"not here\n", b"404 Not Found", time.time()
        try:
            if file is not None and file.stat().st_size <= self.settings.max_body:
                body, status, stamp = file.read_bytes(), b"200 OK", file.stat().st_mtime
        except OSError:
            status = b"403 Forbidden"
        kind = (mimetypes.guess_type(str(file))[0] if file else None) or "text/plain"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nLast-Modified: %s\r\n\r\n" % (
            status, kind.encode(), len(body), formatdate(stamp, usegmt=True).encode())  # fmt: skip
        reply = Reply(Ask(url, self.door, None), head.splitlines(keepends=True), body, time.monotonic() - start)
        return Seen(self.observer.observe(stop, reply, time.time()), head, body)


def has_dot_file(name: str) -> bool:
    """Is part of a path hidden by the custom of Unix (`.htpasswd`, `.git/config`)? `.well-known` (RFC 8615) is not."""
    return any(part.startswith(".") and part not in VISIBLE for part in name.split("/"))


def open_site(site: Site, agent: str, matching: bool = False) -> Local:
    """The site, however its owner wants it to be looked at; to match pages, their structure is looked at too."""
    marks = _structure if matching else no_marks
    return ByFiles(site, agent, marks) if site.root else ByHttp(site, agent, marks)


def _structure(page: Document | Glance, _known: Known) -> dict[str, bytes]:
    return {"structure": structure(page)}
