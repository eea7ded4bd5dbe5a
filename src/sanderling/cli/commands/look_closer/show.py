"""sanderling show: print the stored body or text of a page."""

import argparse
import sys

from sanderling.api.operations.page_inspection import (
    StoredRecord,
    load_page_record,
    load_page_screenshot,
    read_body_text,
    read_data,
    read_page_markdown,
    read_page_text,
)
from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.errors import UsageError
from sanderling.terminal import strip_control_characters

HELP = "Print a stored page: its body, text, Markdown, structured data, or screenshot."
EXAMPLES = """\
examples:
  sanderling show https://example.org/ > page.html
  sanderling show https://example.org/ --text
  sanderling show https://example.org/ --markdown           the main content, for language models
  sanderling show https://example.org/ --data               JSON-LD, microdata, OpenGraph as JSON
  sanderling show https://example.org/ --rendered           after its scripts ran; an error if there is no such version
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
    parser.add_argument("--rendered", action="store_true", help="only a version that a browser rendered")
    parser.add_argument("--at", metavar="TIME", help="the version of this time: 2026-11-15, 7d (ago)")


def run(call: CommandCall) -> int:
    """Print the body or text of the selected version."""
    if call.args.screenshot:
        key, picture = load_page_screenshot(call.collection, call.args.url, call.args.at or "")
        return print_screenshot(picture, key)
    key, record = load_page_record(call.collection, call.args.url, call.args.at or "")
    if call.args.rendered and record.record_type != "resource":
        raise UsageError(f"{key} is stored as it was sent; render it with: sanderling crawl --render always")
    if call.args.data:
        print_json({"url": key, "data": read_data(record, key)})
    elif call.json and call.args.markdown:
        print_json({"url": key, "status": record.status, "markdown": read_page_markdown(record, key)})
    elif call.args.markdown:
        print(strip_control_characters(read_page_markdown(record, key)))
    elif call.json:
        print_json(
            {"url": key, "status": record.status, "headers": list(record.http_headers), "text": read_page_text(record)}
        )
    elif call.args.headers:
        print(record.status)
        for name, value in record.http_headers:
            print(strip_control_characters(f"{name}: {value}"))
    elif call.args.text:
        print(strip_control_characters(read_page_text(record)))
    elif sys.stdout.isatty():  # which would obey what strangers wrote; a file gets the body to the byte
        print(strip_control_characters(read_body_text(record)))
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
