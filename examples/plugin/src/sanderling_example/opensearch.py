"""A sink for OpenSearch and Elasticsearch: documents by URL, written with the bulk API.

The number of the visit is the version of a document. The server refuses an older version, so a batch that is sent again
after a crash changes nothing.
"""

import hashlib
import json
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sanderling import SinkBatch, SinkOptions, SinkUnavailable

TIMEOUT = 60.0
OLDER_VERSION = 409


class OpenSearchSink:
    """An index at `opensearch://host:9200/index`, or `opensearch+https://...`."""

    def __init__(self, options: SinkOptions) -> None:
        parts = urlsplit(options.target)
        scheme = "https" if parts.scheme.endswith("+https") else "http"
        self.address = f"{scheme}://{parts.netloc}/_bulk"
        self.index = parts.path.strip("/") or "pages"

    def load_cursor(self) -> int | None:
        """Return None: the index does not store the cursor, so Sanderling does."""
        return None

    def write_batch(self, batch: SinkBatch) -> None:
        """Index new and changed pages, and delete those that were deleted."""
        lines: list[str] = []
        for row in batch.rows:
            action = "delete" if row["deleted"] else "index"
            name = hashlib.sha256(str(row["url"]).encode()).hexdigest()  # ids have at most 512 bytes
            target = {"_index": self.index, "_id": name, "version": row["visit"], "version_type": "external_gte"}
            lines.append(json.dumps({action: target}))
            if action == "index":
                lines.append(json.dumps(row))
        if lines:
            self._send("\n".join(lines) + "\n")

    def _send(self, body: str) -> None:
        headers = {"Content-Type": "application/x-ndjson"}
        try:
            with urlopen(Request(self.address, body.encode(), headers), timeout=TIMEOUT) as response:
                answer = json.load(response)
        except (HTTPError, URLError, OSError, ValueError) as error:
            raise SinkUnavailable(f"{self.address}: {error}") from None
        for item in answer.get("items", []):
            for result in item.values():
                if result["status"] >= 400 and result["status"] not in (404, OLDER_VERSION):
                    raise SinkUnavailable(f"{self.address}: {result.get('error', result['status'])}")

    def close(self) -> None:
        """Do nothing: each batch has a connection of its own."""
