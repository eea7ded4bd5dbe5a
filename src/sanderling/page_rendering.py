"""Records about pages that were rendered in a browser, passed between packages."""

from msgspec import Struct


class Capture(Struct, frozen=True):
    """A request of a rendered page, archived after the record of the page."""

    url: str
    fetched_at: float
    mime: str
    status: int
    payload_digest: str
    member: bytes  # WARC record, as a gzip member
    request_member: bytes = b""  # WARC request record, likewise; empty: none
    is_indexed: bool = True  # replay tools find it by its URL
