"""Many requests at once over one curl, driven by readiness: nothing here waits for one host."""

import os
import re
import select
import time
from pathlib import Path
from typing import Any

import pycurl

from sanderling.errors import UsageError
from sanderling.fetch.curl_transfer import READ_BYTES, SLOW_BYTES, Ask, Common, Door, Reply, Transfer
from sanderling.fetch.fetch_settings import FetchSettings

PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS, BSD
)


def ca_file(chosen: str = "", places: tuple[str, ...] = PLACES) -> str:
    """Find the file of certificates: the one chosen, the environment's, the system's, or the one that came with us."""
    if chosen:
        if not Path(chosen).is_file():
            raise UsageError(f"there is no file of certificates at {chosen}")
        return chosen
    for place in (os.environ.get("SSL_CERT_FILE", ""), *places):
        if place and Path(place).is_file():
            return place
    import certifi

    return certifi.where()


ACCEPT = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "Accept-Encoding: gzip, deflate, br, zstd"
EVENTS = {
    pycurl.POLL_IN: select.POLLIN,
    pycurl.POLL_OUT: select.POLLOUT,
    pycurl.POLL_INOUT: select.POLLIN | select.POLLOUT,
}
TOLD = re.compile(
    rb"accept(-\w+)?|cache-control|dnt|forwarded|from|host|origin|pragma|prefer|priority|referer|save-data"
    rb"|sec-(?:ch|fetch|gpc)[\w-]*|te|upgrade-insecure-requests|user-agent|via"
)  # headers that say what is asked for, and by whom; in any other there may be a secret, which nobody is to read later
READY = {
    select.POLLIN: pycurl.CSELECT_IN,
    select.POLLOUT: pycurl.CSELECT_OUT,
}  # anything else, an error or a hang-up among it, curl looks at from both sides
BOTH = pycurl.CSELECT_IN | pycurl.CSELECT_OUT
POLL, UNIT = (select.epoll, 1) if hasattr(select, "epoll") else (select.poll, 1000)  # in seconds; in milliseconds
ROUND_SECONDS = 1.0  # curl measures the speed of a silent connection only when it looks at it


def request_headers(settings: FetchSettings) -> list[bytes]:
    """Say the headers of every request, in the order they are sent; the user's own replace ours of the same name."""
    ours = [f"User-Agent: {settings.user_agent}", ACCEPT, ACCEPT_ENCODING]
    theirs = {header.partition(":")[0].lower() for header in settings.headers}
    kept = [header for header in ours if header.partition(":")[0].lower() not in theirs]
    return [header.encode("utf-8") for header in (*kept, *settings.headers)]


def told_headers(headers: list[bytes]) -> tuple[bool, bytes]:
    """Write down those that the archive keeps, and say whether they name the host.

    Any name but those of the standards may be that of a key. One without a value curl sends not at all, and a host it
    sends first.
    """
    named = [(header.partition(b":")[0].lower(), header) for header in headers]
    kept = [(name, header) for name, header in named if TOLD.fullmatch(name) and header.partition(b":")[2].strip()]
    lines = [header + b"\r\n" for _, header in sorted(kept, key=lambda one: one[0] != b"host")]
    return any(name == b"host" for name, _ in named), b"".join(lines)


def fixed_options(settings: FetchSettings, headers: list[bytes]) -> list[tuple[int, Any]]:
    """List what is set once on every handle."""
    version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
    options = [
        (pycurl.NOSIGNAL, 1),
        (pycurl.FOLLOWLOCATION, 0),  # a redirect is an outcome; the coordinator decides
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        (pycurl.PATH_AS_IS, 1),
        (pycurl.HTTPHEADER, headers),
        (pycurl.USERAGENT, settings.user_agent.encode()),  # for proxies, which do not see the headers
        (pycurl.HTTP_CONTENT_DECODING, 0),  # the archive keeps what came; http/decoding.py decodes, with a limit
        (pycurl.HTTP_VERSION, version),
        (pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout * 1000)),
        (pycurl.LOW_SPEED_LIMIT, SLOW_BYTES),
        (pycurl.LOW_SPEED_TIME, max(1, round(settings.idle_timeout))),
        (pycurl.BUFFERSIZE, READ_BYTES),
        (pycurl.TCP_NODELAY, 1),
        (pycurl.PROXY, settings.proxy),  # an empty one also shuts out the environment's
        (pycurl.NOPROXY, ""),  # or the environment could lead us past the proxy, and the guard with it
    ]
    trusted = ca_file(settings.ca_file)
    options += [(pycurl.CAINFO, trusted), (pycurl.PROXY_CAINFO, trusted)]
    if settings.cookies:
        options.append((pycurl.COOKIEFILE, ""))
    return options


class Fetcher:
    """Starts requests and hands over replies; keeps connections open between them."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._headers = request_headers(settings)
        self._common = Common(settings.max_buffered)
        self._fixed = fixed_options(settings, self._headers)
        self._cookies: Any = None
        if settings.cookies:
            self._cookies = pycurl.CurlShare()
            self._cookies.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
            self._fixed.append((pycurl.SHARE, self._cookies))
        self._free: list[Transfer] = []
        self._busy: dict[Any, Transfer] = {}
        self._watched: Any = POLL()
        self._known: set[int] = set()  # sockets watched
        self._alarm: float | None = None  # when curl wants to be called again, whatever happens
        self._round = 0.0  # when every transfer is looked at again
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * settings.max_in_flight)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_alarm)

    def has_room(self, waiting: int = 0) -> bool:
        """Say whether another request may start, beside those on their way and the replies that wait elsewhere."""
        return len(self._busy) + waiting < self._settings.max_in_flight and self._common.bytes < self._common.most_bytes

    @property
    def is_busy(self) -> bool:
        """Say whether a request is on its way."""
        return bool(self._busy)

    def start(self, ask: Ask) -> None:
        """Send a request on its way."""
        transfer = self._free.pop() if self._free else Transfer(self._settings, self._common, self._fixed)
        transfer.begin(ask, self._headers)
        self._busy[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    def wait(self, timeout: float) -> list[Reply]:
        """Let curl work until something has come or the time is up."""
        for fd, seen in self._watched.poll(self._nap(timeout) * UNIT):
            self._multi.socket_action(fd, READY.get(seen, BOTH))
        now = time.monotonic()
        if self._alarm is not None and self._alarm <= now:
            self._alarm = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if self._round <= now:
            self._round = now + ROUND_SECONDS
            for fd in tuple(self._known):
                self._multi.socket_action(fd, 0)
        return self._collect()

    def _nap(self, longest: float) -> float:
        """Say for how long nothing needs to be done unless a socket calls."""
        if not self._busy:
            return longest
        wake = self._round if self._alarm is None else min(self._round, self._alarm)
        return max(0.0, min(longest, wake - time.monotonic()))

    def _collect(self) -> list[Reply]:
        replies = []
        more = 1
        while more:
            more, done, failed = self._multi.info_read()
            replies += [self._end(curl, pycurl.E_OK, "") for curl in done]
            replies += [self._end(curl, error, note) for curl, error, note in failed]
        return replies

    def _end(self, curl: Any, error: int, note: str) -> Reply:
        self._multi.remove_handle(curl)
        transfer = self._busy.pop(curl)
        self._free.append(transfer)
        return transfer.finish(error, note)

    def forget(self, door: Door) -> None:
        """Let curl forget the addresses of a host we are done with."""
        if door.addresses:
            self._common.stale.add(door.place)

    def cancel(self) -> list[Ask]:
        """Drop everything in flight and say what it was."""
        asks = [transfer.ask for transfer in self._busy.values()]
        for curl in list(self._busy):
            self._end(curl, pycurl.E_OK, "")
        return asks

    def close(self) -> None:
        """Close every connection."""
        self.cancel()
        for transfer in self._free:
            transfer.close()
        self._free.clear()
        self._multi.close()
        if self._cookies is not None:
            self._cookies.close()

    def _watch(self, what: int, fd: int, _multi: Any, _data: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            if fd in self._known:
                self._known.remove(fd)
                self._watched.unregister(fd)
        elif fd in self._known:
            self._watched.modify(fd, EVENTS[what])
        else:
            self._known.add(fd)
            self._watched.register(fd, EVENTS[what])

    def _set_alarm(self, milliseconds: int) -> None:
        self._alarm = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000
