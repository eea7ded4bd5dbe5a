"""Synthetic visits of pages of 30 KB, for benchmarks of the coordinator."""

import hashlib
from collections.abc import Mapping

from sanderling.models import FetchTask, Link, Outcome, Visit
from sanderling.page_fingerprints import PageFingerprints
from sanderling.warc.packer import HttpExchange, pack_response

PACKED = pack_response(
    HttpExchange("http://h1.test/", 0.0, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"<p>a page</p>" * 200)
)


def fetched(stop: FetchTask, now: float, links: tuple[Link, ...], marks: Mapping[str, bytes]) -> Visit:
    """A page that came as it should, with these links and marks."""
    return Visit(
        stop.id,
        stop.token,
        stop.url,
        Outcome.FETCHED,
        now,
        status=200,
        mime="text/html",
        digest=hashlib.sha256(stop.url.encode()).digest(),
        size=30_000,
        received_bytes=30_000,
        address="192.0.2.1",
        title=stop.url,
        links=links,
        head=PACKED.head,
        response_record=PACKED.member,
        record_id=PACKED.record_id,
        payload_digest=PACKED.payload_digest,
        fingerprints=PageFingerprints(**dict(marks)),
    )
