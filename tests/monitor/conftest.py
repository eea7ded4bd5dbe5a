"""A webhook server, and a watched site that is checked with `sanderling watch --once`."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Site

from sanderling.cli import main


class WebhookServer:
    """Stores each request; answers with `status`."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.delay_seconds = 0.0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if server.status == 200:
                    server.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
                time.sleep(server.delay_seconds)
                self.send_response(server.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Ignore errors of clients that were killed."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def texts(self) -> list[str]:
        """Return the changed text of all messages, in the order of arrival; a repeated id counts once."""
        by_id = {headers["webhook-id"]: json.loads(body) for headers, body in self.requests}
        return [
            "".join(piece["text"] for piece in text["pieces"] if piece["operation"] != "removed")
            for message in by_id.values()
            for change in message["changes"]
            for text in change["text"]
        ]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]


@pytest.fixture
def webhook() -> Iterator[WebhookServer]:
    server = WebhookServer()
    yield server
    server.server.shutdown()
    server.server.server_close()


class WatchedSite:
    """A site and a collection with watches; `check` looks at all pages now."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder

    def __call__(self, *argv: str) -> int:
        return main(["watch", *argv, "-C", str(self.folder)])

    def check(self) -> None:
        time.sleep(0.02)  # longer than the interval of the watch
        flags = ["--allow-private", "--delay", "0", "--workers", "1", "--backoff", "0.01", "--quiet"]
        assert self("--once", *flags) == 0


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[WatchedSite]:
    with Site({}) as site:
        yield WatchedSite(site, tmp_path / "c")
