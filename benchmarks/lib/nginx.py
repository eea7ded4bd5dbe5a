"""nginx on loopback, an instance per run; its log counts the requests."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

ADDRESS = "127.0.0.9"  # not 127.0.0.1: documentation links to that, and some crawlers would follow
CONFIG = """
{user}
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 2048; }}
http {{
  types {{ text/html html htm; text/css css; text/javascript js; image/png png; image/gif gif; image/svg+xml svg; }}
  default_type application/octet-stream; sendfile on; tcp_nopush on; keepalive_requests 10000000; server_tokens off;
  log_format seen '$status $body_bytes_sent $sent_http_content_type $request_uri';
  access_log {folder}/access.log seen buffer=256k;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5; {extra}
  server {{ listen {address}:{port} backlog=2048; root {root}; index index.html; }}
}}
"""


class Server(Struct, frozen=True):
    url: str
    log: Path
    pid: int


class ServedRequests(Struct, frozen=True):
    """Requests of a run."""

    files: frozenset[str]  # pages that were sent, as paths under the root
    pages: int  # distinct URLs of pages that were sent
    repeats: int  # pages sent again under the same URL
    requests: int
    body_bytes: int  # of the pages


@contextmanager
def serve(root: Path, folder: Path, extra: str = "") -> Iterator[Server]:
    """Run nginx during the block; afterwards its log is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    user = "user root;" if os.getuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(address=ADDRESS, folder=folder, port=port, root=root, user=user, extra=extra))
    with subprocess.Popen(["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")]) as nginx:
        try:
            wait_for(port)
            yield Server(f"http://{ADDRESS}:{port}/", folder / "access.log", nginx.pid)
        finally:
            nginx.terminate()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, seconds: float = 10) -> None:
    """Wait until the port accepts connections."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((ADDRESS, port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on port {port}")


def read_log(log: Path) -> ServedRequests:
    """Count the pages in a log."""
    urls: set[str] = set()
    pages = requests = body_bytes = 0
    with log.open(encoding="latin-1") as lines:
        for line in lines:
            status, size, kind, url = line.rstrip("\n").split(" ", 3)
            requests += 1
            if status == "200" and kind == "text/html":
                pages += 1
                body_bytes += int(size) if url not in urls else 0
                urls.add(url)
    return ServedRequests(frozenset(map(file_of, urls)), len(urls), pages - len(urls), requests, body_bytes)


def file_of(url: str) -> str:
    """The file behind a URL: an index page has two names."""
    path = unquote(urlsplit(url).path).lstrip("/")
    return path + "index.html" if path.endswith("/") or not path else path
