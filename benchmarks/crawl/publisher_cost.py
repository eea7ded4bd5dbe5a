"""The publisher: cost per request, memory and seconds as a site grows, lines of log per second.

python -m benchmarks.crawl.publisher_cost
"""

import asyncio
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sanderling.publisher import AsgiPublisher, PublishedSite, RequestRecorder, WsgiPublisher
from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.docroot import scan_docroot
from sanderling.publisher.page_views import follow_access_log
from sanderling.publisher.responses import ListingRequest, build_response
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import open_state_db

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
REQUESTS = 40_000
PATHS = [f"/section{n % 37}/page-{n}.html" for n in range(5000)]
SIZES = (10_000, 100_000, 1_000_000)
LINES = 200_000
FILES = 20_000
NOW = 1_700_000_000_000


async def asgi_app(_scope: MutableMapping[str, Any], _receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"etag", b'"1"')]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"<p>hello"})


def wsgi_app(_environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("ETag", '"1"')])
    return [b"<p>hello"]


async def drive_asgi(app: Any) -> float:
    """Call an application as a server would; microseconds of CPU per request."""
    headers = [
        (b"host", b"example.org"),
        (b"user-agent", BROWSER.encode()),
        (b"accept", b"*/*"),
        (b"accept-encoding", b"gzip"),
    ]

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        pass

    start = time.process_time()
    for number in range(REQUESTS):
        path = PATHS[number % len(PATHS)]
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "headers": headers,
            "query_string": b"",
        }
        await app(scope, receive, send)
    return (time.process_time() - start) / REQUESTS * 1e6


def drive_wsgi(app: Any) -> float:
    """Call an application as a server would; microseconds of CPU per request."""
    environ = {
        "REQUEST_METHOD": "GET",
        "HTTP_USER_AGENT": BROWSER,
        "HTTP_HOST": "example.org",
        "HTTP_ACCEPT": "*/*",
        "QUERY_STRING": "",
    }
    start = time.process_time()
    for number in range(REQUESTS):
        list(app({**environ, "PATH_INFO": PATHS[number % len(PATHS)]}, lambda *_: None))
    return (time.process_time() - start) / REQUESTS * 1e6


def requests(folder: Path) -> None:
    """Print the cost of the middleware per request."""
    site = PublishedSite("https://example.org", folder / "requests.db")

    def drive(app: Any) -> float:
        return asyncio.run(drive_asgi(app))

    added("ASGI", drive, asgi_app, AsgiPublisher, RequestRecorder(site))
    added("WSGI", drive_wsgi, wsgi_app, WsgiPublisher, RequestRecorder(site))


def added(
    name: str,
    run: Callable[[Any], float],
    app: Any,
    wrap: Callable[[Any, PublishedSite, RequestRecorder], Any],
    desk: RequestRecorder,
) -> None:
    bare = min(run(app) for _ in range(3))
    wrapped = min(run(wrap(app, desk.site, desk)) for _ in range(3))
    start = time.process_time()
    desk.flush()
    extra = wrapped - bare + (time.process_time() - start) / REQUESTS * 1e6
    desk.close()
    print(f"{name}: {bare:5.1f} µs bare, {wrapped:5.1f} µs wrapped, {extra:5.1f} µs added per request")


def grow(folder: Path, size: int, report: Any) -> None:
    """Fill a store and query it; report seconds and peak memory."""
    site = PublishedSite("https://example.org", folder / f"{size}.db")
    with closing(open_state_db(site.state_file)) as db:
        start = time.perf_counter()
        for first in range(0, size, 5000):
            batch = ActivityBatch(
                changed_pages={f"/section{n % 97}/page-{n}.html": None for n in range(first, first + 5000)}
            )
            batch.view_counts.update({path: 1 + hash(path) % 1000 for path in batch.changed_pages})
            write_batch(db, site, PathRules(), batch, NOW + first)
        filled = time.perf_counter() - start
        seconds = []
        recent = f"LAST_VISIT={(NOW + size - 5000) // 1000}"
        for path, query in (
            ("/changes.xml", "LAST_VISIT=0"),
            ("/changes.xml", recent),
            ("/sitemap.xml", ""),
            ("/sitemap.xml", "part=0"),
        ):
            start = time.perf_counter()
            build_response(site, db, ListingRequest(path, query), NOW + 10 * size)
            seconds.append(time.perf_counter() - start)
    report.send((filled, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def memory(folder: Path) -> None:
    """Print memory and seconds as a site grows, each size in a process of its own."""
    fresh = multiprocessing.get_context("spawn")
    print(f"{'URLs':>10} {'fill s':>7} {'all s':>6} {'recent s':>9} {'index s':>8} {'part s':>7} {'peak MB':>8}")
    for size in SIZES:
        ours, theirs = fresh.Pipe()
        process = fresh.Process(target=grow, args=(folder, size, theirs))
        process.start()
        filled, (everything, recent, index, part), peak = ours.recv()
        process.join()
        print(f"{size:>10,} {filled:7.1f} {everything:6.2f} {recent:9.3f} {index:8.3f} {part:7.2f} {peak:8.0f}")


def log_lines(folder: Path) -> None:
    """Print how fast an access log is read."""
    log = folder / "access.log"
    line = '203.0.113.{} - - [10/Oct/2023:13:{:02}:{:02} +0000] "GET {} HTTP/1.1" 200 2326 "-" "{}"\n'
    with log.open("w") as file:
        file.writelines(
            line.format(n % 250, n // 60 % 60, n % 60, PATHS[n % len(PATHS)], BROWSER) for n in range(LINES)
        )
    site = PublishedSite("https://example.org", folder / "log.db")
    with closing(open_state_db(site.state_file)) as db:
        write_batch(db, site, PathRules(), ActivityBatch(changed_pages=dict.fromkeys(PATHS)), NOW)
        start = time.process_time()
        follow_access_log(db, site, PathRules(), log, NOW)
        print(f"log: {LINES / (time.process_time() - start):,.0f} lines/s")


def files(folder: Path) -> None:
    """Print how fast a document root is looked at."""
    root = folder / "www"
    for number in range(FILES):
        if number % 500 == 0:
            (root / str(number)).mkdir(parents=True)
        (root / str(number // 500 * 500) / f"{number}.html").write_bytes(b"x")
    site = PublishedSite("https://example.org", folder / "files.db")
    with closing(open_state_db(site.state_file)) as db:
        for what in ("first look", "second look"):
            start = time.process_time()
            scan_docroot(db, site, PathRules(), root, NOW)
            print(f"files, {what}: {FILES / (time.process_time() - start):,.0f} files/s")


def main() -> None:
    """Print all tables."""
    with tempfile.TemporaryDirectory() as name:
        for table in (requests, memory, log_lines, files):
            table(Path(name))


if __name__ == "__main__":
    main()
