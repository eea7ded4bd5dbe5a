"""What travels between a crawler and a host: one letter there, a stream of messages back.

Both directions of a connection are one zstd stream each, so that what pages and URLs have in common is sent once. A
digest is cut to eight bytes: enough to notice a change or a slip, a quarter of the price.
"""

import secrets
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sanderling.models import Brief, Host, Outcome, Reason, Robots, Visit
from sanderling.workers.migrant.shared_dictionary import MOST
from sanderling.workers.protocol import LENGTH, split_frames

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEY_HEADER = "Sanderling-Key"
SIGNATURE_HEADER = "Sanderling-Signature"
MEMORY_HEADER = "Sanderling-Memory"
CODING_HEADER = "Sanderling-Coding"  # of the first answer, if it is not zstd
PATH = "/itinerary"
MEDIA_TYPE = "application/vnd.sanderling"
CUT = 8  # bytes of a digest that go to the host: a change must not be missed
CHECK = 4  # bytes of a digest that come with its page: a slip must be noticed
MOMENT = 100.0  # parts of a second in which times travel; more would be noise that nothing can compress
LEVEL = 9  # measured on five documentation sites: 12 saves 3 % more in twice the time
WINDOW = 25  # 32 MB of what was sent before
LETTER_SECONDS = 120.0


class Wanted(Struct, frozen=True, array_like=True):
    """One URL of a letter: its path, and what we know of its body."""

    path: str
    known: bytes = b""
    depth: int = 0


class Letter(Struct, frozen=True):
    """An itinerary for a host: checked by it before anything is done."""

    sender: str  # public key
    receiver: str  # the host's name, as its owner calls it
    site: Host
    issued: float
    expires: float
    nonce: bytes
    stops: tuple[Wanted, ...] = ()
    whole: bool = False  # follow links: everything new on the site
    limit: int = 0  # pages at most; 0: what the owner allows
    prefix: str = "/"  # of paths, for a whole site
    agent: str = "sanderling"  # what robots.txt calls us
    robots: bool = False  # send the site's robots.txt too
    memory: str = ""  # name of what we remember of an earlier visit
    codings: tuple[str, ...] = ()  # beside zstd, what we can read
    brief: Brief | None = None  # of pages that are new to us, bring only those built like these
    watch_seconds: float = 0.0  # stay this long and report changes as they happen
    every_seconds: float = 60.0  # between two looks while watching


def new_nonce() -> bytes:
    """Draw what makes a letter the only one of its kind."""
    return secrets.token_bytes(12)


class Page(Struct, frozen=True, array_like=True, tag="p"):
    """A page as its server gave it, content coding removed."""

    where: int | str  # place among the stops of the letter, or the path of a page found on the way
    at: int  # moments after the letter was issued
    took: int  # milliseconds until it was there
    head: bytes
    body: bytes
    digest: bytes  # of the body, cut


class Missed(Struct, frozen=True, array_like=True, tag="m"):
    """A page that was not brought, and why."""

    where: int | str
    outcome: Outcome
    reason: Reason
    note: str = ""


class Unlike(Struct, frozen=True, array_like=True, tag="u"):
    """A page that is not what the brief asks for: what it says of itself and where it leads; the host has the rest."""

    where: int | str
    visit: Visit


class Rules(Struct, frozen=True, array_like=True, tag="r"):
    """The robots.txt of the site."""

    robots: Robots


class End(Struct, frozen=True, array_like=True, tag="e"):
    """The errand is done: every stop without a message is as it was known."""

    pages: int = 0
    same: int = 0


Message = Page | Missed | Unlike | Rules | End
DECODER: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


class Packer:
    """One direction of a connection, the sending side: messages in, compressed bytes out."""

    def __init__(self, memory: bytes = b"") -> None:
        option = zstd.CompressionParameter
        choices: dict[int, int] = {
            option.compression_level: LEVEL, option.window_log: WINDOW, option.enable_long_distance_matching: 1,
        }  # fmt: skip
        known = zstd.ZstdDict(memory, is_raw=True).as_prefix if memory else None
        self.stream = zstd.ZstdCompressor(options=choices, zstd_dict=known)
        self.said = bytearray()  # up to the limit of a memory

    def pack(self, message: object) -> bytes:
        """Add one message; its bytes may come out later."""
        body = msgspec.msgpack.encode(message)
        framed = LENGTH.pack(len(body)) + body
        self.said += framed[: max(0, MOST - len(self.said))]
        return self.stream.compress(framed)

    def flush(self) -> bytes:
        """Everything added so far, so that the other side can read it."""
        return self.stream.flush(zstd.ZstdCompressor.FLUSH_BLOCK)

    def end(self) -> Iterator[bytes]:
        """The end of an answer; the stream goes on with the next."""
        yield self.flush()

    def close(self) -> None:
        """Nothing is open; the stream goes on with the next answer."""


class Unpacker:
    """The receiving side: compressed bytes in, whole messages out; never more memory than `most` bytes a message."""

    def __init__(self, most: int, memory: bytes = b"") -> None:
        self.most = most
        known = zstd.ZstdDict(memory, is_raw=True).as_prefix if memory else None
        self.stream = zstd.ZstdDecompressor(known, {zstd.DecompressionParameter.window_log_max: WINDOW})
        self.buffer = bytearray()
        self.heard = bytearray()  # up to the limit of a memory

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """Whole messages that are there now, as they are taken; ValueError for no stream of ours or a too large one."""
        try:
            while True:
                plain = self.stream.decompress(data, max_length=2**20)
                self.heard += plain[: max(0, MOST - len(self.heard))]
                self.buffer += plain
                data = b""
                yield from split_frames(self.buffer, self.most)
                if self.stream.needs_input or self.stream.eof:
                    return
        except zstd.ZstdError as error:
            raise ValueError(f"no zstd stream: {error}") from None

    def rest(self) -> Iterator[bytes]:
        """Nothing: what came whole was handed out."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def packed(content: bytes) -> bytes:
    """Pack something by itself."""
    return zstd.compress(content, LEVEL)


def unpacked(content: bytes, length: int) -> bytes:
    """Unpack it; ValueError if it has not this length."""
    try:
        plain = zstd.ZstdDecompressor().decompress(content, max_length=length + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"no zstd stream: {error}") from None
    if len(plain) != length:
        raise ValueError("something of another length than it should have")
    return plain
