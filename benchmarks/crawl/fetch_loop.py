"""Measure pages per second and CPU per page of a worker process, and of other HTTP clients where installed.

python -m benchmarks.crawl.fetch_loop [FOLDER_OF_PAGES]
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.lib.nginx import serve

from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.fetch.transport import FetchRequest
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt, Url

AT_ONCE = 16
PAGES = 3000
SETTINGS = FetchSettings(allow_private=True)

Client = Callable[[str, Sequence[str]], None]
"""Fetches these URLs of one host, sixteen at once, and reads every body."""


def curl_alone(host: str, urls: Sequence[str]) -> None:
    """Fetch without robots.txt, crawl delay, and processing."""
    fetcher, endpoint = CurlClient(SETTINGS), parse_endpoint(Host(host))
    waiting, done = iter(urls), 0
    for url in [next(waiting) for _ in range(AT_ONCE)]:
        fetcher.start(FetchRequest(url, endpoint, None, max_body=SETTINGS.max_body))
    while done < len(urls):
        for reply in fetcher.wait(1.0):
            done += 1
            assert reply.body
            if url := next(waiting, ""):
                fetcher.start(FetchRequest(url, endpoint, None, max_body=SETTINGS.max_body))
    fetcher.close()


def travel(host: str, urls: Sequence[str], settings: FetchSettings = SETTINGS) -> None:
    """A whole trip."""
    name = Host(host)
    trip = FetchLoop(settings, skip_fingerprints)
    stops = tuple(FetchTask(n, 1, Url(url)) for n, url in enumerate(urls))
    trip.submit(FetchBatch(name, stops, (), RobotsTxt(name, 404, b"", 0.0, 1e12), 0.0, AT_ONCE))
    while trip.load:
        assert all(visit.status == 200 for visit in trip.run_for(1.0).visits)
    trip.close()


def unparsed(host: str, urls: Sequence[str]) -> None:
    """A trip that digests and packs, but does not parse."""
    travel(host, urls, FetchSettings(allow_private=True, max_page=0))


def with_aiohttp(_: str, urls: Sequence[str]) -> None:
    """The asynchronous client most crawlers in Python use."""
    import aiohttp

    async def run() -> None:
        waiting = iter(urls)

        async def walk(session: aiohttp.ClientSession) -> None:
            for url in waiting:
                async with session.get(url) as response:
                    assert await response.read()

        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(walk(session) for _ in range(AT_ONCE)))

    asyncio.run(run())


def with_urllib3(_: str, urls: Sequence[str]) -> None:
    """Threads over the library under requests."""
    import urllib3

    pool = urllib3.PoolManager(maxsize=AT_ONCE)

    def fetch(url: str) -> None:
        assert pool.request("GET", url).data

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(fetch, urls))


CLIENTS: dict[str, Client] = {
    "curl alone": curl_alone,
    "+ robots, pace, digest, pack": unparsed,
    "+ parse, links": travel,
    "aiohttp, body only": with_aiohttp,
    "urllib3, body only": with_urllib3,
}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(sys.argv[1]) if len(sys.argv) > 1 else invented(Path(scratch) / "www")
        files = [path for path in sorted(root.rglob("*.html")) if path.is_file() and path.stat().st_size][:PAGES]
        with serve(root, Path(scratch) / "nginx") as server:
            host = server.url.rstrip("/")
            urls = [f"{host}/{path.relative_to(root)}" for path in files]
            urls = (urls * (PAGES // len(urls) + 1))[:PAGES]
            print(f"{PAGES} pages of {sum(path.stat().st_size for path in files) // len(files):,} bytes\n")
            print(f"{'':<30} {'pages/s':>8} {'ms CPU/page':>12}")
            for name, client in CLIENTS.items():
                print_row(name, client, host, urls)


def print_row(name: str, client: Client, host: str, urls: Sequence[str]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        client(host, urls)
    except ImportError as missing:
        print(f"{name:<30} {missing.name} is not installed")
        return
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name:<30} {len(urls) / wall:8,.0f} {cpu / len(urls) * 1000:12.3f}")


def invented(root: Path) -> Path:
    """Write pages of 37 KB with a hundred links each, the size of a page of documentation."""
    root.mkdir()
    for n in range(300):
        links = "".join(
            f'<p><a href="{(n * 7 + m) % 300}.html">page {m}</a> {"sand and sea " * 26}' for m in range(100)
        )
        (root / f"{n}.html").write_text(f"<!doctype html><title>Page {n}</title>{links}")
    return root


if __name__ == "__main__":
    main()
