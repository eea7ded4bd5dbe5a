"""A well-behaved loopback web site: pages by path, validators, request counts."""

import hashlib
import socket
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import randrange
from typing import Self


@dataclass
class Page:
    """The response of a path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    etag: bool = True

    @property
    def tag(self) -> str:
        return f'"{hashlib.md5(self.body).hexdigest()}"'


def html(*links: str, text: str = "", head: str = "") -> Page:
    """Return a page with these links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return Page(
        f"<html><head><title>{text or 'a page'}</title>{head}</head><body><p>{text}</p>{anchors}</body>".encode()
    )


def redirect(target: str, status: int = 302) -> Page:
    return Page(b"", status, {"Location": target})


def tree(pages: int, fan: int = 8) -> dict[str, Page]:
    """Return a site of so many pages, each linking to its children, its parent and the root."""
    site = {}
    for number in range(pages):
        children = [f"/p{n}" for n in range(number * fan + 1, min(pages, number * fan + fan + 1))]
        parent = "/" if number <= fan else f"/p{(number - 1) // fan}"
        site["/" if number == 0 else f"/p{number}"] = html("/", parent, *children, text=f"page number {number}")
    return site


def free_port() -> int:
    """Return a free port below the ephemeral range and above the ports of Ray workers."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port := randrange(20_000, 32_000)))
            return port


class Site:
    """Serves pages inside a `with` block; `hits` counts requests by path."""

    def __init__(self, pages: Mapping[str, Page], host: str = "127.0.0.1", port: int = 0) -> None:
        self.pages = dict(pages)
        self.hits: Counter[str] = Counter()
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.lock = threading.Lock()
        self.open = self.most_open = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the body would wait for the ACK of the head

            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Ignore errors of clients that were killed."""

        self.server = Server((host, port), Handler, bind_and_activate=False)
        self.server.server_bind()  # connections before the `with` block are refused
        self.root = f"http://{host}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self.lock:
            self.hits[handler.path] += 1
            self.requests.append((handler.path, {k.lower(): v for k, v in handler.headers.items()}))
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        page = self.pages.get(handler.path, Page(b"not here", 404))
        if page.status == 200 and page.etag and handler.headers.get("If-None-Match") == page.tag:
            robots_headers = {name: value for name, value in page.headers.items() if name == "X-Robots-Tag"}
            page = Page(b"", 304, {"ETag": page.tag, **robots_headers})
        handler.send_response(page.status)
        for name, value in page.headers.items():
            handler.send_header(name, value)
        if page.status == 200 and page.etag:
            handler.send_header("ETag", page.tag)
        if page.status != 304:
            handler.send_header("Content-Length", str(len(page.body)))
        handler.end_headers()
        if page.status != 304:
            handler.wfile.write(page.body)
        with self.lock:
            self.open -= 1

    def __enter__(self) -> Self:
        self.server.server_activate()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
