"""sanderling show: print the stored body or text of a page."""

import argparse
import sys
import time

from sanderling.changes.stored_content import read_content_type, read_data, read_markdown, read_text
from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.config.time_format import parse_time_inclusive
from sanderling.errors import UsageError
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.http.content_type import is_html
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_stored_record, resolve_known_url
from sanderling.storage.screenshots import load_screenshot
from sanderling.terminal import strip_control_characters
from sanderling.warc.warc_reader import StoredRecord

HELP = "Print a stored page: its body, text, Markdown, structured data, or screenshot."
EXAMPLES = """\
examples:
  sanderling show https://example.org/ > page.html
  sanderling show https://example.org/ --text
  sanderling show https://example.org/ --markdown           the main content, for language models
  sanderling show https://example.org/ --data               JSON-LD, microdata, OpenGraph as JSON
  sanderling show https://example.org/ --headers
  sanderling show https://example.org/ --screenshot > page.png
  sanderling show https://example.org/ --at 2026-11-01
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", help="a stored URL")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="the visible text")
    form.add_argument("--markdown", action="store_true", help="the main content as Markdown, with absolute links")
    form.add_argument("--data", action="store_true", help="JSON-LD, microdata, OpenGraph and RDFa as JSON")
    form.add_argument("--headers", action="store_true", help="status and headers")
    form.add_argument("--screenshot", action="store_true", help="the picture taken by crawl --render --screenshots")
    parser.add_argument("--at", metavar="TIME", help="the version of this time: 2026-11-15, 7d (ago)")


def run(call: CommandCall) -> int:
    """Print the body or text of the selected version."""
    with open_collection_read_only(call.collection) as collection:
        id_, key = resolve_known_url(collection, call.args.url)
        before = parse_time_inclusive(call.args.at, time.time()) if call.args.at else None
        record = load_stored_record(collection, id_, key, before)
        if call.args.screenshot:
            picture = load_screenshot(collection.db, collection.archive_folder, id_, max_time=before)
            return print_screenshot(picture, key)
    if call.args.data:
        print_json({"url": key, "data": read_data(record, key)})
    elif call.json and call.args.markdown:
        print_json({"url": key, "status": record.status, "markdown": get_page_markdown(record, key)})
    elif call.args.markdown:
        print(strip_control_characters(get_page_markdown(record, key)))
    elif call.json:
        print_json(
            {"url": key, "status": record.status, "headers": list(record.http_headers), "text": get_page_text(record)}
        )
    elif call.args.headers:
        print(record.status)
        for name, value in record.http_headers:
            print(strip_control_characters(f"{name}: {value}"))
    elif call.args.text:
        print(strip_control_characters(get_page_text(record)))
    elif sys.stdout.isatty():  # which would obey what strangers wrote; a file gets the body to the byte
        print(strip_control_characters(get_body_text(record)))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(record.body)
        sys.stdout.buffer.flush()
    target = next((value for name, value in record.http_headers if name.lower() == "location"), "")
    if 300 <= record.status < 400 and target:
        print_message(call, f"{key} leads to {strip_control_characters(target)} (status {record.status})")
    return 0


def print_screenshot(picture: StoredRecord | None, url: str) -> int:
    """Write a screenshot to a file or pipe. Raises UsageError without one, and for a terminal."""
    if picture is None:
        raise UsageError(f"no screenshot of {url} is stored; crawl it with --render always --screenshots")
    if sys.stdout.isatty():
        raise UsageError("a picture cannot be shown in a terminal; add: > page.png")
    sys.stdout.flush()
    sys.stdout.buffer.write(picture.body)
    sys.stdout.buffer.flush()
    return 0


def get_page_text(record: StoredRecord) -> str:
    return read_text(record) or _describe_binary(record)


def get_page_markdown(record: StoredRecord, url: str) -> str:
    return read_markdown(record, url) or get_page_text(record)


def get_body_text(record: StoredRecord) -> str:
    """Return a textual body, or type and size of a binary one."""
    mime, charset = read_content_type(record)
    readable = is_html(mime, record.body) or is_text(record.body, charset)
    return decode_plain_text(record.body, charset) if readable else _describe_binary(record)


def _describe_binary(record: StoredRecord) -> str:
    return f"[{read_content_type(record)[0] or 'no type'}, {len(record.body)} bytes]"
