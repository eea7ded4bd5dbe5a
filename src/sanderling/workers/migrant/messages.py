"""Messages between a crawler and a migrant: a signed request per POST, a stream of messages as response.

Each direction is one zstd stream, so repeated text is sent once. Digests are cut to eight bytes, enough to detect a
change.
"""

import secrets
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sanderling.models import Host, Outcome, Reason, RobotsTxt, TemplateFilter, Visit
from sanderling.workers.migrant.shared_dictionary import MAX_DICTIONARY_BYTES
from sanderling.workers.worker_protocol import encode_frame, split_frames

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEY_HEADER = "Sanderling-Key"
SIGNATURE_HEADER = "Sanderling-Signature"
DICTIONARY_HEADER = "Sanderling-Memory"
REQUEST_PATH = "/request"
MEDIA_TYPE = "application/vnd.sanderling"
DIGEST_PREFIX_BYTES = 8  # digest bytes sent to the migrant: a collision would hide a change
DIGEST_CHECK_BYTES = 4  # digest bytes returned with a page: enough to detect damage
TICKS_PER_SECOND = 100.0  # resolution of times in messages; more digits would not compress
ZSTD_LEVEL = 9  # measured on five documentation sites: 12 saves 3 % more in twice the time
ZSTD_WINDOW_LOG = 25  # 32 MB of earlier messages
# First response about a site, compressed small (measured on five documentation sites): 17 needs 22 to 49 % of the
# bytes of gzip. 19 saves 3 to 10 % more in 1.5 to 3 times the CPU time; 22 needs 700 MB of memory.
SMALL_ZSTD_LEVEL = 17
SMALL_ZSTD_WINDOW_LOG = 27  # 128 MB of earlier messages; saves 4 % on a site of 128 MB
REQUEST_LIFETIME_SECONDS = 120.0


class RequestedUrl(Struct, frozen=True, array_like=True):
    """`digest`: of the known version, if any."""

    path: str
    known_digest: bytes = b""
    depth: int = 0


class MigrantRequest(Struct, frozen=True):
    """A fetch batch for a migrant, which validates it before it fetches anything."""

    sender: str  # public key
    receiver: str  # name of the migrant in its owner's rules
    site: Host
    issued_at: float
    expires_at: float
    nonce: bytes
    urls: tuple[RequestedUrl, ...] = ()
    is_whole_site: bool = False  # follow links within the site
    max_pages: int = 0  # 0: the limit of the owner
    path_prefix: str = "/"  # limits the links that are followed
    user_agent: str = "sanderling"  # selects the group in robots.txt
    includes_robots: bool = False  # return robots.txt, too
    dictionary_id: str = ""  # shared dictionary of an earlier visit; empty: none
    template_filter: TemplateFilter | None = None  # return only new pages with a similar structure
    watch_seconds: float = 0.0  # keep polling for this time and report changes
    watch_interval_seconds: float = 60.0


def generate_nonce() -> bytes:
    """Return random bytes that identify a request."""
    return secrets.token_bytes(12)


class PageMessage(Struct, frozen=True, array_like=True, tag="p"):
    """A page as its server returned it, with the content encoding removed."""

    target: int | str  # index in the URLs of the request, or the path of a discovered page
    issue_offset: int  # ticks since the request was issued
    duration_ms: int
    head: bytes
    body: bytes
    digest: bytes  # prefix of the digest of the body


class MissedMessage(Struct, frozen=True, array_like=True, tag="m"):
    """A page that was not fetched, and the reason."""

    target: int | str
    outcome: Outcome
    reason: Reason
    detail: str = ""


class FilteredMessage(Struct, frozen=True, array_like=True, tag="u"):
    """A page rejected by the template filter, without its body."""

    target: int | str
    visit: Visit


class RobotsMessage(Struct, frozen=True, array_like=True, tag="r"):
    """The robots.txt of the site."""

    robots: RobotsTxt


class EndMessage(Struct, frozen=True, array_like=True, tag="e"):
    """End of a response: requested URLs without a message are unchanged."""

    page_count: int = 0
    unchanged_count: int = 0


MigrantMessage = PageMessage | MissedMessage | FilteredMessage | RobotsMessage | EndMessage
MESSAGE_DECODER: msgspec.msgpack.Decoder[MigrantMessage] = msgspec.msgpack.Decoder(MigrantMessage)


class MessageCompressor:
    """The sending side of a stream: messages in, compressed bytes out."""

    def __init__(self, dictionary: bytes = b"", is_small: bool = False) -> None:
        self.is_small = is_small  # fewer bytes for about ten times the CPU time
        option = zstd.CompressionParameter
        options: dict[int, int] = {
            option.compression_level: SMALL_ZSTD_LEVEL if is_small else ZSTD_LEVEL,
            option.window_log: SMALL_ZSTD_WINDOW_LOG if is_small else ZSTD_WINDOW_LOG,
            option.enable_long_distance_matching: 1,
        }
        prefix = zstd.ZstdDict(dictionary, is_raw=True).as_prefix if dictionary else None
        self.stream = zstd.ZstdCompressor(options=options, zstd_dict=prefix)
        self.dictionary_bytes = bytearray()  # uncompressed messages for the shared dictionary

    def compress(self, message: object) -> bytes:
        """Add a message and return the compressed bytes that are ready, if any."""
        frame = encode_frame(message)
        self.dictionary_bytes += frame[: max(0, MAX_DICTIONARY_BYTES - len(self.dictionary_bytes))]
        return self.stream.compress(frame)

    def flush(self) -> bytes:
        """Return what the receiver needs to read all messages added so far."""
        return self.stream.flush(zstd.ZstdCompressor.FLUSH_BLOCK)


class MessageDecompressor:
    def __init__(self, max_message_bytes: int, dictionary: bytes = b"") -> None:
        self.max_message_bytes = max_message_bytes
        prefix = zstd.ZstdDict(dictionary, is_raw=True).as_prefix if dictionary else None
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: SMALL_ZSTD_WINDOW_LOG}
        self.stream = zstd.ZstdDecompressor(prefix, options)
        self.buffer = bytearray()
        self.dictionary_bytes = bytearray()  # uncompressed messages for the shared dictionary

    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield complete messages. Raises ValueError for invalid data or a message too large."""
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
            raise ValueError(f"invalid zstd stream: {error}") from None
