"""sanderling show: the stored body or text of one page."""

import argparse
import sys
import time

from sanderling.changes.versions import written
from sanderling.cli.arguments import Call, print_json, say
from sanderling.cli.time_format import as_of
from sanderling.html.parser import parse
from sanderling.html.plain_text import is_text, plain_text
from sanderling.html.text import text
from sanderling.http.content_type import charset_of, is_html, mime_of
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import known_url, stored
from sanderling.terminal import plain
from sanderling.warc.reader import StoredRecord

HELP = "Print a stored page: its body as it was, or the text a person reads."
EXAMPLES = """\
examples:
  sanderling show https://example.org/ > page.html
  sanderling show https://example.org/ --text
  sanderling show https://example.org/ --headers
  sanderling show https://example.org/ --at 2026-11-01
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a stored URL")
    parser.add_argument("--text", action="store_true", help="the readable text instead of the body")
    parser.add_argument("--headers", action="store_true", help="status and headers instead of the body")
    parser.add_argument("--at", metavar="TIME", help="as it was then: 2026-11-15, 7d (ago)")


def run(call: Call) -> int:
    """Print what is asked for."""
    with read_collection(call.collection) as collection:
        id_, key = known_url(collection, call.args.url)
        before = as_of(call.args.at, time.time()) if call.args.at else None
        record = stored(collection, id_, key, before)
    if call.json:
        print_json({"url": key, "status": record.status, "headers": list(record.head), "text": page_text(record)})
    elif call.args.headers:
        print(record.status)
        for name, value in record.head:
            print(plain(f"{name}: {value}"))
    elif call.args.text:
        print(plain(page_text(record)))
    elif sys.stdout.isatty():  # which would obey what strangers wrote; a file gets the body to the byte
        print(plain(body_text(record)))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(record.body)
        sys.stdout.buffer.flush()
    target = next((value for name, value in record.head if name.lower() == "location"), "")
    if 300 <= record.status < 400 and target:
        say(call, f"{key} leads to {plain(target)} (status {record.status})")
    return 0


def page_text(record: StoredRecord) -> str:
    """The text of a stored page, as a person would read it."""
    mime, charset = _type(record)
    if is_html(mime, record.body):
        return "\n".join(line for line in text(parse(record.body, charset)).splitlines() if line.strip())
    return written(record, mime or "text/plain", charset) or _told(record)


def body_text(record: StoredRecord) -> str:
    """A stored body that is text; of any other its type and size."""
    mime, charset = _type(record)
    readable = is_html(mime, record.body) or is_text(record.body, charset)
    return plain_text(record.body, charset) if readable else _told(record)


def _type(record: StoredRecord) -> tuple[str, str]:
    kind = next((value for name, value in record.head if name.lower() == "content-type"), "")
    return mime_of(kind), charset_of(kind)


def _told(record: StoredRecord) -> str:
    return f"[{_type(record)[0] or 'no type'}, {len(record.body)} bytes]"
