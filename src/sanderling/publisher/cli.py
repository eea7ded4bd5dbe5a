"""Run the stand-alone publisher from the command line."""

import argparse
import json
import logging
import signal
import sys
import threading
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

from sanderling.errors import UsageError
from sanderling.publisher.crawlers import verify_by_dns
from sanderling.publisher.discovery import add_sitemap_line
from sanderling.publisher.indexnow import ENDPOINT
from sanderling.publisher.priority import FORMULAS
from sanderling.publisher.publish_server import (
    SiteWatcher,
    WatchOptions,
    WatchResult,
    make_publish_server,
    read_robots_text,
)
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.state_db import open_state_db

SIGNAL_POLL_SECONDS = 1.0  # between checks for a stop signal
HELP = "Publish the changes of your site for crawlers, from its document root and access log."
EXAMPLES = """\
examples:
  sanderling publish /var/www/html --base https://example.org --access-log /var/log/nginx/access.log
  sanderling publish /var/www/html --base https://example.org --once     scan once, print the changes, and exit
  curl 'http://127.0.0.1:8099/changes.xml?LAST_VISIT=2024-05-01T00:00:00Z'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("docroot", metavar="DOCROOT", type=Path, help="the folder the web server serves")
    add("--base", required=True, metavar="URL", help="public URL of the site, e.g. https://example.org")
    add("--access-log", metavar="FILE", type=Path, help="access log of the server (common or combined format)")
    add("--state", metavar="FILE", type=Path, help="file that stores views and changes (default: ./publisher.db)")
    add(
        "--listen", metavar="HOST:PORT", default="127.0.0.1:8099", help="address to listen on (default: 127.0.0.1:8099)"
    )
    add("--priority", choices=FORMULAS, default="hits", help="formula for priorities from views (default: hits)")
    add(
        "--half-life",
        metavar="DAYS",
        type=float,
        default=30.0,
        help="half-life of a view with --priority decay (default: 30)",
    )
    add(
        "--private", metavar="PREFIX", action="append", default=[], help="path prefix that is never listed (repeatable)"
    )
    add(
        "--parameter",
        metavar="NAME",
        action="append",
        default=[],
        help="query parameter that identifies a page (repeatable)",
    )
    add("--index", metavar="NAME", default="index.html", help="index file of a folder (default: index.html)")
    add(
        "--scan-every",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="interval between scans of the files (default: 60)",
    )
    add("--side-files", action="store_true", help="write .tvi files next to pages with volatile parts")
    add("--indexnow-key", metavar="KEY", default="", help="announce changes to search engines by IndexNow")
    add("--indexnow-endpoint", metavar="URL", default=ENDPOINT, help="IndexNow endpoint (default: %(default)s)")
    add("--verify-crawlers", action="store_true", help="verify crawlers by DNS and count verified ones separately")
    add("--once", action="store_true", help="scan once, print the changes, and exit")


def build_site(args: argparse.Namespace) -> PublishedSite:
    root = args.docroot.resolve()
    state = args.state or Path("publisher.db")
    if not root.is_dir():
        raise UsageError(f"{args.docroot} is not a folder: give the document root of the site")
    if state.resolve().is_relative_to(root):
        raise UsageError(f"{state} is in the document root, where visitors could download it: choose another --state")
    return PublishedSite(
        base_url=args.base.rstrip("/"),
        state_file=state,
        priority_formula=args.priority,
        half_life_days=args.half_life,
        private_prefixes=tuple(args.private),
        page_parameters=tuple(args.parameter),
        index_file=args.index,
        indexnow_key=args.indexnow_key,
    )


def run(args: argparse.Namespace) -> int:
    """Publish until stopped, or scan once."""
    site = build_site(args)
    if args.access_log and not args.access_log.is_file():
        raise UsageError(f"access log not found: {args.access_log}")
    verify = verify_by_dns if args.verify_crawlers else None
    options = WatchOptions(
        args.docroot, args.access_log, args.scan_every, 1.0, args.side_files, args.indexnow_endpoint, verify
    )
    watcher = SiteWatcher(site, options)
    with closing(open_state_db(site.state_file)) as db:
        _print_result(watcher.run_once(db, run_all=True), args.json)
    if not args.once:
        _serve_until_stopped(site, watcher, args)
    return 0


def _print_result(result: WatchResult, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(result)), flush=True)
    elif result.scan:
        print(
            f"{result.scan.pages} pages: {result.scan.new} new, {result.scan.changed} changed, {result.scan.gone} gone;"
            f" {result.access_log.lines} log lines read, {result.access_log.malformed} malformed",
            flush=True,
        )


def _serve_until_stopped(site: PublishedSite, watcher: SiteWatcher, args: argparse.Namespace) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    host, port = _parse_listen_address(args.listen)
    try:
        server = make_publish_server(site, host, port)
    except OSError as error:
        raise UsageError(f"cannot listen on {args.listen}: {error}") from None
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: watcher.stop_event.set())
    robots = read_robots_text(args.docroot)
    if add_sitemap_line(site, robots) != robots and not args.quiet:
        print(f"add to robots.txt: Sitemap: {site.build_url(site.sitemap_path)}", file=sys.stderr)
    if not args.quiet:
        address = f"http://{host}:{server.server_port}"
        print(f"publishing on {address}{site.changes_path} and {site.sitemap_path}", file=sys.stderr, flush=True)
    threads = [threading.Thread(target=target, daemon=True) for target in (server.serve_forever, watcher.run)]
    for thread in threads:
        thread.start()
    while not watcher.stop_event.wait(SIGNAL_POLL_SECONDS):
        pass  # Python handles signals only when the main thread runs
    server.shutdown()
    server.server_close()
    threads[1].join()


def _parse_listen_address(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    try:
        return parts.hostname or "127.0.0.1", 8099 if parts.port is None else parts.port
    except ValueError:
        raise UsageError(
            f"{text!r} is not a valid --listen address: use a host and a port, such as 127.0.0.1:8099"
        ) from None


def main() -> int:
    """Run without the rest of Sanderling."""
    parser = argparse.ArgumentParser(
        "python -m sanderling.publisher",
        description=HELP,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    parser.add_argument("--quiet", action="store_true", help="print results only")
    try:
        return run(parser.parse_args())
    except UsageError as error:
        print(f"sanderling publish: {error}", file=sys.stderr)
        return error.exit_code
