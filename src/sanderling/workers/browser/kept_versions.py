"""Fetch loop without a browser: rendered versions of pages stay the newest ones while the HTML as sent is the same."""

import sys

from msgspec.structs import replace

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.host_queue import HostQueue
from sanderling.fetch.response import classify_transport_error, decode_header
from sanderling.fetch.transport import FetchResponse
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import FetchTask
from sanderling.workers.browser.source_check import compute_page_digest, confirm_version

WARNING = (
    "sanderling: warning: no browser is installed: rendered pages keep their last version if their HTML is the same,"
    " and are stored as sent if it changed; make browser"
)


class KeepingLoop(FetchLoop):
    """Fetches pages as sent, and keeps the versions that were rendered."""

    _has_warned = False

    def _process_task(self, host_queue: HostQueue, task: FetchTask, response: FetchResponse) -> None:
        if task.rendering is None or not task.rendering.is_rendered:
            super()._process_task(host_queue, task, response)
            return
        if not self._has_warned:
            self._has_warned = True
            print(WARNING, file=sys.stderr, flush=True)
        if not self._is_same_document(task, response):
            super()._process_task(host_queue, replace(task, digest=b"", last_version=None), response)
            return
        super()._process_task(host_queue, task, confirm_version(response))
        self._report.visits[-1] = replace(self._report.visits[-1], head=b"", is_rendered=True)

    def _is_same_document(self, task: FetchTask, response: FetchResponse) -> bool:
        """Return whether the HTML is the one that the stored version was rendered from."""
        if classify_transport_error(response) is not None or task.rendering is None:
            return False
        status, fields = parse_head(response.head_lines)
        if status == 304:
            return True
        body, reason = decode_body(
            response.body, decode_header(fields.get(b"content-encoding", b"")), self._settings.max_body
        )
        return status == 200 and not reason and compute_page_digest(body) == task.rendering.page_digest
