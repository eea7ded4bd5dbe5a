"""Pack the WARC records of an HTTP exchange: response, request and metadata."""

from typing import Any

from sanderling.fetch.curl_client import build_request_headers, serialize_recorded_headers
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.transport import FetchResponse
from sanderling.models import FetchTask
from sanderling.warc.packer import HttpExchange, pack_metadata, pack_request, pack_response


class RecordPacker:
    """Packs WARC records with the digest and header settings of a crawl."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._has_host_header, self._recorded_headers = serialize_recorded_headers(build_request_headers(settings))

    def pack(self, task: FetchTask, response: FetchResponse, fetched_at: float, digest: bytes = b"") -> dict[str, Any]:
        """Return the record fields of a `Visit`."""
        url, algorithm = response.request.url, self._settings.digest
        known_digest = digest if algorithm == "sha256" else b""
        head = b"".join(response.head_lines)
        exchange = HttpExchange(url, fetched_at, head, response.body, response.address, "", known_digest)
        packed = pack_response(exchange, algorithm)
        fields: dict[str, Any] = {
            "head": packed.head,
            "response_record": packed.member,
            "record_id": packed.record_id,
            "payload_digest": packed.payload_digest,
        }
        if self._settings.keep_requests:
            request = HttpExchange(url, fetched_at, self._build_request(response), address=response.address)
            fields["request_record"] = pack_request(request, packed.record_id, algorithm).member
            metadata = (("fetchTimeMs", f"{response.duration_seconds * 1000:.0f}"), ("hopsFromSeed", str(task.depth)))
            fields["metadata_record"] = pack_metadata(url, fetched_at, metadata, packed.record_id, algorithm).member
        return fields

    def _build_request(self, response: FetchResponse) -> bytes:
        """Rebuild the request as curl sent it, without credentials and cookies."""
        host, _, path = response.request.url.partition("://")[2].partition("/")
        host_header = "" if self._has_host_header else f"Host: {host}\r\n"
        start = f"{response.request.method} /{path} HTTP/1.1\r\n{host_header}".encode()
        conditional = [line + b"\r\n" for line in response.request.conditional_headers]
        body = response.request.request_body
        if body:
            conditional.append(b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n" % len(body))
        return b"".join([start, self._recorded_headers, *conditional, b"\r\n", body])
