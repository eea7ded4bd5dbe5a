"""Measure how complete archives of pages are: the share of a browser's requests that are stored.

    python -m benchmarks.crawl.archive_completeness FOLDER...      each folder is a static site, served on loopback

A browser (Chromium, scripts on and off) shows each page from the live site. Its requests are looked up in the archives
that Sanderling and wget made of the same pages. Then the browser shows Sanderling's replay; no request may fail.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from sanderling.cli import main as run_sanderling
from sanderling.html.parser import parse_html
from sanderling.warc.cdxj import parse_entry
from sanderling.warc.cdxj_index import list_index_files
from sanderling.web.replay_app import build_replay_app
from sanderling.web.server import ServerAddress, open_app_state, open_socket

PAGES_PER_SITE = 5
SETTLE_MS = 500  # after the load event, for requests of scripts
FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--quiet", "--no-index")
CHROMIUM_PATHS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
Counts = dict[str, tuple[int, int]]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def serve_replay(collection: Path) -> Iterator[str]:
    state = open_app_state(collection, ServerAddress(port=0))
    listener = open_socket(ServerAddress(port=0))
    server = uvicorn.Server(uvicorn.Config(build_replay_app(state), log_level="error"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        state.event_log.close()


def choose_pages(folder: Path, root: str) -> list[str]:
    """Return the start page and the first pages that it links to."""
    start = folder / "index.html"
    pages = [f"{root}/"]
    for link in parse_html(start.read_bytes()).select("a[href]"):
        url = urldefrag(urljoin(f"{root}/", link.attr("href") or "")).url
        path = folder / url.removeprefix(f"{root}/")
        if url.startswith(f"{root}/") and url.endswith(".html") and path.is_file() and url not in pages:
            pages.append(url)
    return pages[:PAGES_PER_SITE]


def record_requests(browser: Browser, url: str, *, scripts: bool) -> tuple[set[str], list[str]]:
    """Show a page. Returns the URLs that were requested and those that failed."""
    context = browser.new_context(java_script_enabled=scripts, service_workers="block")
    page = context.new_page()
    requested: set[str] = set()
    failed: list[str] = []

    def add_response(response: Any) -> None:
        if response.status < 400:
            requested.add(urldefrag(response.url).url)
        else:
            failed.append(response.url)

    page.on("response", add_response)
    page.goto(url, wait_until="load", timeout=60_000)
    page.wait_for_timeout(SETTLE_MS)
    context.close()
    return {url for url in requested if url.startswith("http")}, failed


def list_captured(collection: Path) -> set[str]:
    lines = (line for path in list_index_files(collection / "indexes") for line in path.open("rb"))
    return {entry.url for entry in map(parse_entry, lines) if entry.status < 400}


def archive_pages(work: Path, pages: list[str]) -> dict[str, Path]:
    """Archive the pages with each crawler. Returns the collections."""
    collections = {name: work / name for name in ("sanderling", "sanderling --render always", "wget")}
    for name in list(collections)[:2]:
        command = ["archive", *pages, "--scope", "page", "-C", str(collections[name]), *FLAGS]
        run_sanderling([*command, *(["--render", "always"] if "render" in name else [])])
    warc = work / "wget-files"
    flags = ["-q", "-p", "-H", "-e", "robots=off", "--delete-after", "-P", str(work / "out"), f"--warc-file={warc}"]
    subprocess.run(["wget", *flags, *pages], check=False)
    run_sanderling(["import", f"{warc}.warc.gz", "-C", str(collections["wget"]), "--quiet", "--no-index"])
    return collections


def measure_site(browser: Browser, folder: Path) -> tuple[Counts, int]:
    """Return stored and all requests by crawler and browser mode, and the number of failures in the replay."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with tempfile.TemporaryDirectory() as work, serve_folder(folder) as root:
        pages = choose_pages(folder, root)
        collections = archive_pages(Path(work), pages)
        captured = {name: list_captured(path) for name, path in collections.items()}
        live: dict[str, set[str]] = {}
        failed_live = set[str]()
        for page in pages:
            for scripts in (False, True):
                requested, failed = record_requests(browser, page, scripts=scripts)
                failed_live.update(failed)
                live[page] = live.get(page, requested)
                for name, urls in captured.items():
                    key = f"{name}, scripts {'on' if scripts else 'off'}"
                    counts[key][0] += len(requested & urls)
                    counts[key][1] += len(requested)
                    for url in sorted(requested - urls if name != "wget" else ()):
                        print(f"  {name} misses {url} of {page}", file=sys.stderr)
        failures = 0
        with serve_replay(collections["sanderling"]) as replay:
            for page, requested in live.items():
                shown, failed = record_requests(browser, f"{replay}/web/2099/{page}", scripts=False)
                replayed = {url.partition("_/")[2] or url.partition("/web/2099/")[2] for url in shown}
                missing = {url for url in requested - replayed if url != page}
                for url in sorted(missing):
                    print(f"  the replay misses {url} of {page}", file=sys.stderr)
                originals = {url.partition("_/")[2] for url in failed}
                failures += len(missing) + len(originals - failed_live)
    return {key: (stored, total) for key, (stored, total) in counts.items()}, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path)
    chromium = next((path for path in CHROMIUM_PATHS if Path(path).exists()), None)
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    all_failures = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for folder in parser.parse_args().folder:
            counts, failures = measure_site(browser, folder)
            all_failures += failures
            shares = "; ".join(f"{key}: {stored}/{total}" for key, (stored, total) in sorted(counts.items()))
            print(f"{folder}: {shares}; replay failures: {failures}", flush=True)
            for key, (stored, total) in counts.items():
                totals[key][0] += stored
                totals[key][1] += total
        browser.close()
    for key, (stored, total) in sorted(totals.items()):
        print(f"{key}: {stored} of {total} requests stored ({stored / max(1, total):.1%})")
    print(f"requests missing or failed in the replay: {all_failures}")
    sys.exit(0)


if __name__ == "__main__":
    main()
