"""sanderling pages: list stored pages, or skipped URLs with the reason."""

import argparse
import re
import time
from collections.abc import Iterator
from itertools import islice

from msgspec import to_builtins

from sanderling.api.operations.page_listing import (
    SKIP_REASONS,
    FormReport,
    ListedPage,
    PageSelection,
    SkippedUrl,
    select_forms,
    select_pages,
    select_skipped_urls,
)
from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_rows
from sanderling.config.loader import suggest_or_list_names
from sanderling.config.time_format import format_iso, format_short, parse_time
from sanderling.errors import UsageError

HELP = "List stored pages, or with --skipped the URLs that are not stored and why."
EXAMPLES = """\
examples:
  sanderling pages --json | head
  sanderling pages --url '*/docs/*' --mime text/html --since 7d
  sanderling pages --status 301            redirects; --status all: every response
  sanderling pages --reason robots         skipped for this reason
  sanderling pages --duplicates            identical copies; --near: near duplicates
  sanderling pages --forms                 forms that a crawl with --forms found
  sanderling pages --notices               pages that look like a login or an outage
"""

match_status = re.compile(r"all|[1-5](?:xx|\d\d)").fullmatch


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--skipped", action="store_true", help="URLs that are not stored, with the reason")
    parser.add_argument("--reason", help="only URLs skipped for this reason")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs that match this pattern (* matches anything)")
    parser.add_argument("--status", default="2xx", help="HTTP status, 2xx (default), 3xx ..., or all")
    parser.add_argument("--mime", help="only this media type, e.g. text/html or image/*")
    parser.add_argument("--since", metavar="TIME", help="visited since then: 2026-11-15, 7d, 2h")
    parser.add_argument("--changed", action="store_true", help="only pages that changed since they were first seen")
    parser.add_argument("--duplicates", action="store_true", help="only pages with the same body as another page")
    parser.add_argument("--near", action="store_true", help="only near duplicates of a page fetched before")
    parser.add_argument("--forms", action="store_true", help="forms of the pages: requests, or why they are skipped")
    parser.add_argument("--notices", action="store_true", help="only pages that look like a notice: an outage, a login")
    parser.add_argument(
        "--first", "--limit", dest="first", type=parse_whole_number, metavar="N", help="maximum number of pages"
    )


def run(call: CommandCall) -> int:
    """Print the selected pages or URLs."""
    reason = call.args.reason
    if reason is not None and reason not in SKIP_REASONS:
        raise UsageError(f"there is no reason {reason!r}{suggest_or_list_names(reason, sorted(SKIP_REASONS))}")
    if not match_status(call.args.status):
        raise UsageError(f"--status {call.args.status!r} is not an HTTP status; use 404, 4xx or all")
    if call.args.forms:
        _print_forms(call, select_forms(call.collection, call.args.url)[: call.args.first])
        return 0
    if call.args.skipped or reason:
        _print_skipped(call, islice(select_skipped_urls(call.collection, call.args.url, reason), call.args.first))
        return 0
    args = call.args
    selection = PageSelection(
        args.url, args.mime, args.status, parse_time(args.since, time.time()) if args.since else 0.0,
        args.changed, args.duplicates, args.near, args.notices,
    )  # fmt: skip
    _print_pages(call, islice(select_pages(call.collection, selection, with_notices=call.json), args.first))
    return 0


def _print_forms(call: CommandCall, forms: list[FormReport]) -> None:
    if call.json:
        for form in forms:
            print_json(to_builtins(form))
    else:
        rows = ((f.state, f.requests, f.found, f.reason or "-", f.action, f.page) for f in forms)
        print_rows(rows, ("state", "requests", "new", "reason", "form", "page"))


def _print_pages(call: CommandCall, pages: Iterator[ListedPage]) -> None:
    if call.json:
        for page in pages:
            print_json(page.as_dict())
    elif call.args.near:
        table = ((f"{page.near_similarity:.2f}", page.row.url, page.near_duplicate_of) for page in pages)
        print_rows(table, ("similarity", "url", "near duplicate of"))
    elif call.args.duplicates:
        rows = ((page.row.body_bytes, page.row.url, page.row.duplicate_of) for page in pages)
        print_rows(rows, ("bytes", "url", "copy of"))
    else:
        header = ("status", "depth", "bytes", "last visit", "type", "url")
        found = (page.row for page in pages)
        print_rows(
            ((r.status, r.depth, r.body_bytes, format_short(r.last_visit), r.mime, r.url) for r in found), header
        )


def _print_skipped(call: CommandCall, urls: Iterator[SkippedUrl]) -> None:
    if call.json:
        for url in urls:
            print_json(to_builtins(url) | {"found_at": format_iso(url.found_at)})
    else:
        print_rows(((u.reason, u.note or "-", u.state, u.url) for u in urls), ("reason", "note", "state", "url"))
