"""Several sites under `*.localhost` names, which link to each other and share one address."""

import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Self


class ManySites:
    """Serves `sites` sites of `pages` pages; each page links to pages of its own and of other sites."""

    def __init__(
        self,
        sites: int,
        pages: int,
        foreign_links: int = 2,
        seed: int = 1,
        *,
        address: str = "127.0.0.1",
        domain: str = "localhost",
    ) -> None:
        self.address, self.domain = address, domain
        self.sites, self.pages, self.foreign_links = sites, pages, foreign_links
        self.seed = seed
        self.hits: Counter[str] = Counter()  # by URL
        self.times: dict[str, list[float]] = defaultdict(list)  # start of each request, by address
        self.open = self.most_open = 0
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Ignore errors of clients that were killed."""

        self.server = Server((address, 0), Handler, bind_and_activate=False)
        self.server.server_bind()
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def get_root(self, site: int) -> str:
        return f"http://site{site}.{self.domain}:{self.port}"

    @property
    def urls(self) -> set[str]:
        return {f"{self.get_root(site)}/p{page}" for site in range(self.sites) for page in range(self.pages)}

    def build_page(self, site: int, page: int) -> bytes:
        """Every page is reached: page n links to 2n+1 and 2n+2 of its site, page 0 also to the next site."""
        random = Random(f"{self.seed} {site} {page}")
        links = [f"/p{n}" for n in (2 * page + 1, 2 * page + 2) if n < self.pages]
        targets = [(random.randrange(self.sites), random.randrange(self.pages)) for _ in range(self.foreign_links)]
        targets += [((site + 1) % self.sites, 0)] if page == 0 else []
        links += [f"{self.get_root(other)}/p{number}" for other, number in targets]
        anchors = "".join(f'<p><a href="{link}">page {link}</a></p>' for link in links)
        return f"<html><title>site {site} page {page}</title><body>text {site} {page}{anchors}</body></html>".encode()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        host, path = handler.headers["Host"], handler.path
        with self.lock:
            self.hits[f"http://{host}{path}"] += 1
            self.times[self.address].append(time.monotonic())
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        name, number = host.partition(".")[0], path.removeprefix("/p")
        is_page = name.startswith("site") and number.isdigit() and int(number) < self.pages
        body = self.build_page(int(name[4:]), int(number)) if is_page else b"not here"
        handler.send_response(200 if is_page else 404)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        with self.lock:
            self.open -= 1

    def __enter__(self) -> Self:
        self.server.server_activate()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
