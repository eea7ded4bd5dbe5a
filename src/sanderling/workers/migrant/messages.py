"""What travels between a crawler and a host: one letter there, a stream of messages back.

Both directions of a connection are one zstd stream each, so that what pages and URLs have in common is sent once. A
digest is cut to eight bytes: enough to notice a change or a slip, a quarter of the price.
"""

import secrets
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sanderling.models import Host, Outcome, Reason, RobotsTxt, TemplateFilter, Visit
from sanderling.workers.migrant.shared_dictionary import MAX_DICTIONARY_BYTES
from sanderling.workers.worker_protocol import LENGTH_PREFIX, split_frames

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEY_HEADER = "Sanderling-Key"
SIGNATURE_HEADER = "Sanderling-Signature"
DICTIONARY_HEADER = "Sanderling-Memory"
ENCODING_HEADER = "Sanderling-Coding"  # of the first answer, if it is not zstd
REQUEST_PATH = "/itinerary"
MEDIA_TYPE = "application/vnd.sanderling"
DIGEST_PREFIX_BYTES = 8  # bytes of a digest that go to the host: a change must not be missed
DIGEST_CHECK_BYTES = 4  # bytes of a digest that come with its page: a slip must be noticed
TICKS_PER_SECOND = 100.0  # parts of a second in which times travel; more would be noise that nothing can compress
ZSTD_LEVEL = 9  # measured on five documentation sites: 12 saves 3 % more in twice the time
ZSTD_WINDOW_LOG = 25  # 32 MB of what was sent before
REQUEST_LIFETIME_SECONDS = 120.0


class RequestedUrl(Struct, frozen=True, array_like=True):
    """One URL of a letter: its path, and what we know of its body."""

    path: str
    known_digest: bytes = b""
    depth: int = 0


class MigrantRequest(Struct, frozen=True):
    """An itinerary for a host: checked by it before anything is done."""

    sender: str  # public key
    receiver: str  # the host's name, as its owner calls it
    site: Host
    issued_at: float
    expires_at: float
    nonce: bytes
    urls: tuple[RequestedUrl, ...] = ()
    is_whole_site: bool = False  # follow links: everything new on the site
    max_pages: int = 0  # pages at most; 0: what the owner allows
    path_prefix: str = "/"  # of paths, for a whole site
    user_agent: str = "sanderling"  # what robots.txt calls us
    includes_robots: bool = False  # send the site's robots.txt too
    dictionary_id: str = ""  # name of what we remember of an earlier visit
    accepted_encodings: tuple[str, ...] = ()  # beside zstd, what we can read
    template_filter: TemplateFilter | None = None  # of pages that are new to us, bring only those built like these
    watch_seconds: float = 0.0  # stay this long and report changes as they happen
    watch_interval_seconds: float = 60.0  # between two looks while watching


def generate_nonce() -> bytes:
    """Draw what makes a letter the only one of its kind."""
    return secrets.token_bytes(12)


class PageMessage(Struct, frozen=True, array_like=True, tag="p"):
    """A page as its server gave it, content coding removed."""

    target: int | str  # place among the stops of the letter, or the path of a page found on the way
    issue_offset: int  # moments after the letter was issued
    duration_ms: int  # milliseconds until it was there
    head: bytes
    body: bytes
    digest: bytes  # of the body, cut


class MissedMessage(Struct, frozen=True, array_like=True, tag="m"):
    """A page that was not brought, and why."""

    target: int | str
    outcome: Outcome
    reason: Reason
    detail: str = ""


class FilteredMessage(Struct, frozen=True, array_like=True, tag="u"):
    """A page that is not what the brief asks for: what it says of itself and where it leads; the host has the rest."""

    target: int | str
    visit: Visit


class RobotsMessage(Struct, frozen=True, array_like=True, tag="r"):
    """The robots.txt of the site."""

    robots: RobotsTxt


class EndMessage(Struct, frozen=True, array_like=True, tag="e"):
    """The errand is done: every stop without a message is as it was known."""

    page_count: int = 0
    unchanged_count: int = 0


MigrantMessage = PageMessage | MissedMessage | FilteredMessage | RobotsMessage | EndMessage
MESSAGE_DECODER: msgspec.msgpack.Decoder[MigrantMessage] = msgspec.msgpack.Decoder(MigrantMessage)


class MessageCompressor:
    """One direction of a connection, the sending side: messages in, compressed bytes out."""

    def __init__(self, dictionary: bytes = b"") -> None:
        option = zstd.CompressionParameter
        choices: dict[int, int] = {
            option.compression_level: ZSTD_LEVEL,
            option.window_log: ZSTD_WINDOW_LOG,
            option.enable_long_distance_matching: 1,
        }
        known = zstd.ZstdDict(dictionary, is_raw=True).as_prefix if dictionary else None
        self.stream = zstd.ZstdCompressor(options=choices, zstd_dict=known)
        self.dictionary_bytes = bytearray()  # up to the limit of a memory

    def compress(self, message: object) -> bytes:
        """Add one message; its bytes may come out later."""
        body = msgspec.msgpack.encode(message)
        framed = LENGTH_PREFIX.pack(len(body)) + body
        self.dictionary_bytes += framed[: max(0, MAX_DICTIONARY_BYTES - len(self.dictionary_bytes))]
        return self.stream.compress(framed)

    def flush(self) -> bytes:
        """Everything added so far, so that the other side can read it."""
        return self.stream.flush(zstd.ZstdCompressor.FLUSH_BLOCK)

    def finish(self) -> Iterator[bytes]:
        """The end of an answer; the stream goes on with the next."""
        yield self.flush()

    def close(self) -> None:
        """Nothing is open; the stream goes on with the next answer."""


class MessageDecompressor:
    """The receiving side: compressed bytes in, whole messages out; never more memory than `most` bytes a message."""

    def __init__(self, max_message_bytes: int, dictionary: bytes = b"") -> None:
        self.max_message_bytes = max_message_bytes
        known = zstd.ZstdDict(dictionary, is_raw=True).as_prefix if dictionary else None
        self.stream = zstd.ZstdDecompressor(known, {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})
        self.buffer = bytearray()
        self.dictionary_bytes = bytearray()  # up to the limit of a memory

    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Whole messages that are there now, as they are taken; ValueError for no stream of ours or a too large one."""
        try:
            while True:
                plain = self.stream.decompress(data, max_length=2**20)
                self.dictionary_bytes += plain[: max(0, MAX_DICTIONARY_BYTES - len(self.dictionary_bytes))]
                self.buffer += plain
                data = b""
                yield from split_frames(self.buffer, self.max_message_bytes)
                if self.stream.needs_input or self.stream.eof:
                    return
        except zstd.ZstdError as error:
            raise ValueError(f"no zstd stream: {error}") from None

    def finish(self) -> Iterator[bytes]:
        """Nothing: what came whole was handed out."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def compress_bytes(content: bytes) -> bytes:
    """Pack something by itself."""
    return zstd.compress(content, ZSTD_LEVEL)


def decompress_bytes(content: bytes, length: int) -> bytes:
    """Unpack it; ValueError if it has not this length."""
    try:
        plain = zstd.ZstdDecompressor().decompress(content, max_length=length + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"no zstd stream: {error}") from None
    if len(plain) != length:
        raise ValueError("something of another length than it should have")
    return plain
