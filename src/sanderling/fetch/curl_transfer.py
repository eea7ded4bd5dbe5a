"""One request on its way: a curl handle that is used again and again, its buffers, its limits and its guard."""

import socket
from typing import Any

import pycurl
from msgspec import Struct

from sanderling.config.redact import hide_in
from sanderling.fetch.address_guard import is_global
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.http.head import media_type, read_head
from sanderling.models import Host, Reason

SLOW_BYTES = 256  # per second; a server that sends less for the whole idle time-out is dripping
READ_BYTES = 128 * 1024  # taken from a socket at once
SMALL_BYTES = 1024 * 1024  # a body up to here is never given up for others' sake
STOP = 0  # what a callback returns to end its transfer


class Door(Struct, frozen=True):
    """Where a request goes: one host, and the addresses we know it by."""

    host: Host
    name: str
    port: int
    addresses: tuple[str, ...] = ()  # empty: curl resolves, and the guard looks at what it found

    @property
    def names(self) -> frozenset[str]:
        """What a person may call it in a setting: with its port or without."""
        return frozenset((self.name, f"{self.name}:{self.port}"))

    @property
    def place(self) -> str:
        """The name curl remembers the addresses by."""
        return f"{self.name}:{self.port}"

    @property
    def pin(self) -> str:
        """The line that tells curl the addresses, so that no name is resolved twice."""
        return f"{self.place}:" + ",".join(f"[{a}]" if ":" in a else a for a in self.addresses)


class Ask(Struct, frozen=True):
    """One request to make."""

    url: str
    door: Door
    errand: Any  # why it is made; whoever asks knows
    conditions: tuple[bytes, ...] = ()  # If-None-Match, If-Modified-Since
    max_body: int = 0
    timeout: float = 60.0
    cut: bool = False  # a body that is too long is cut, not refused
    alone: bool = False  # on a connection of its own: others that shared one may have been why it failed before


class Reply(Struct, frozen=True):
    """What came back, as it came: the head in lines, the body with its content coding."""

    ask: Ask
    lines: list[bytes]
    body: bytes
    seconds: float
    address: str = ""
    wire_bytes: int = 0
    error: int = pycurl.E_OK
    note: str = ""
    why: Reason = Reason.NONE  # we ended it ourselves, for this reason
    crowded: bool = False  # we ended it because too much was in flight
    cut: bool = False


class Common:
    """What all transfers of a fetcher share."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes  # that bodies on their way may take together
        self.bytes = 0
        self.stale: set[str] = set()  # places whose addresses curl may forget


class Transfer:
    """A pooled curl handle with what it has received so far."""

    def __init__(self, settings: FetchSettings, common: Common, fixed: list[tuple[int, Any]]) -> None:
        self.settings, self.common, self.max_head = settings, common, settings.max_head
        self.door: Door | None = None
        self.timeout, self.max_body = 0.0, -1
        self.conditions: tuple[bytes, ...] = ()
        self.alone = False
        self.opened: list[socket.socket] = []
        self.exact = False
        self.curl = pycurl.Curl()
        for option, value in fixed:
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._take_body)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._take_head)
        if not settings.allow_private and not settings.proxy:
            self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)

    def begin(self, ask: Ask, headers: list[bytes]) -> None:
        """Make the handle ready for one request; what is as before is not set again."""
        self.ask = ask
        self.chunks: list[bytes] = []
        self.lines: list[bytes] = []
        self.size = self.head_size = 0
        self.why = Reason.NONE
        self.refused = ""
        self.crowded = False
        curl = self.curl
        if ask.door is not self.door:
            self._turn_to(ask.door)
        if ask.timeout != self.timeout:
            self.timeout = ask.timeout
            curl.setopt(pycurl.TIMEOUT_MS, int(ask.timeout * 1000))
        if ask.max_body != self.max_body or ask.cut:
            self.max_body = ask.max_body
            curl.setopt(
                pycurl.MAXFILESIZE_LARGE, 0 if ask.cut else ask.max_body
            )  # what announces more is not even read
        if ask.conditions != self.conditions:
            self.conditions = ask.conditions
            curl.setopt(pycurl.HTTPHEADER, [*headers, *ask.conditions])
        if ask.alone != self.alone:
            self.alone = ask.alone
            curl.setopt(pycurl.FRESH_CONNECT, ask.alone)
        curl.setopt(pycurl.URL, ask.url)
        if self.exact or "%" in ask.url:
            self._spell(ask.url)

    def _spell(self, url: str) -> None:
        """Send escapes as they are written: curl would put them in capitals. A proxy wants the whole URL."""
        if not self.settings.proxy:
            self.exact = True  # a handle that was told a target needs one for every request
            self.curl.setopt(pycurl.REQUEST_TARGET, url[url.index("/", 8) :])

    def _turn_to(self, door: Door) -> None:
        """Set what belongs to a host: its addresses, whom it may trust, who we are there."""
        curl, settings = self.curl, self.settings
        if door.addresses and not settings.proxy:
            self.common.stale.discard(door.place)
            curl.setopt(pycurl.RESOLVE, [*(f"-{place}" for place in self.common.stale), door.pin])
            self.common.stale.clear()
        curl.setopt(pycurl.PIPEWAIT, door.host.startswith("https:"))  # rather share an HTTP/2 connection than open one
        trusted = door.names.isdisjoint(settings.insecure_hosts)
        curl.setopt(pycurl.SSL_VERIFYPEER, trusted)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2 if trusted else 0)
        if login := next((settings.basic_auth[name] for name in door.names if name in settings.basic_auth), ""):
            curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_BASIC)
            curl.setopt(pycurl.USERPWD, login.encode())
        else:
            curl.unsetopt(pycurl.USERPWD)
        self.door = door

    def _take_body(self, chunk: bytes) -> int | None:
        if not self.chunks and self.settings.accept and not self._wanted():
            self.why = Reason.MEDIA_TYPE
            return STOP
        self.chunks.append(chunk)
        self.size += len(chunk)
        self.common.bytes += len(chunk)
        if self.size > self.ask.max_body:
            self.why = Reason.TOO_LARGE
            return STOP
        if self.common.bytes > self.common.most_bytes and self.size > SMALL_BYTES:
            self.crowded = True
            return STOP
        return None

    def _take_head(self, line: bytes) -> int | None:
        self.head_size += len(line)
        if self.head_size > self.max_head:
            self.why = Reason.TOO_MANY_HEADERS
            return STOP
        self.lines.append(line)
        return None

    def _wanted(self) -> bool:
        """Say whether a media type that comes is one of those kept; only pages are sorted out, not error messages."""
        status, fields = read_head(self.lines)
        mime = media_type(fields)
        if self.ask.cut or not (200 <= status < 300 and mime):
            return True
        return mime in self.settings.accept or mime.partition("/")[0] + "/*" in self.settings.accept

    def _open(self, _purpose: int, target: Any) -> "socket.socket | int":
        """Open a socket to an address of the public internet; refuse any other."""
        address = str(target.addr[0]) if target.family in (socket.AF_INET, socket.AF_INET6) else ""
        if not is_global(address):
            self.refused = address or "an address that is none"
            bad: int = pycurl.SOCKET_BAD
            return bad
        opened = socket.socket(target.family, target.socktype, target.protocol)
        self.opened.append(opened)  # curl works on a copy of it
        return opened

    def finish(self, error: int, note: str) -> Reply:
        """Hand over what came and let go of it."""
        while self.opened:
            self.opened.pop().close()
        self.common.bytes -= self.size
        curl = self.curl
        why = self.why
        if self.refused and error == pycurl.E_COULDNT_CONNECT:
            why, note = Reason.PRIVATE_ADDRESS, f"{self.refused} is not a public address"
        if note and self.settings.proxy:
            note = hide_in(note, self.settings.proxy)
        cut = why is Reason.TOO_LARGE and self.ask.cut
        reply = Reply(
            self.ask,
            self.lines,
            b"".join(self.chunks),
            curl.getinfo(pycurl.TOTAL_TIME),
            "" if self.settings.proxy else curl.getinfo(pycurl.PRIMARY_IP),
            self.head_size + self.size,
            pycurl.E_OK if cut else error,
            note,
            Reason.NONE if cut else why,
            self.crowded,
            cut,
        )
        self.chunks, self.lines = [], []
        return reply

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()
