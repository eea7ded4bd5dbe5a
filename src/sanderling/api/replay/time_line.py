"""The captures of a URL as a page, and as marks on a line in the banner of a replayed page."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from sanderling.api.replay.memento import build_capture_path
from sanderling.api.replay.replay_url import format_http_date
from sanderling.warc.cdxj import REVISIT_MIME, CdxjEntry, format_timestamp

MAX_MARKS = 60
MAX_LISTED = 5_000
STYLE = """body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}h1{font-size:1.2em;
overflow-wrap:anywhere}td{padding:2px 12px 2px 0}.same{color:#777}a{color:#0645ad}"""
LINE_STYLE = "all:initial;display:block;position:relative;height:12px;margin:4px 8px 0;border-bottom:1px solid #777"
MARK_STYLE = "all:initial;position:absolute;bottom:0;width:4px;cursor:pointer;"


def build_time_line(url: str, captures: Sequence[CdxjEntry]) -> str:
    """Build the page that lists the captures by year, newest year first, with those that brought a new body marked."""
    listed = captures[-MAX_LISTED:]
    digests = ["", *(entry.payload_digest for entry in listed)]
    rows = [
        (format_timestamp(entry.captured_at)[:4], _build_row(entry, captures, is_same=entry.payload_digest == before))
        for entry, before in zip(listed, digests, strict=False)
    ]
    years = [(year, "".join(row for _, row in group)) for year, group in groupby(rows, lambda row: row[0])]
    tables = "".join(f"<h2>{year}</h2><table>{text}</table>" for year, text in reversed(years))
    note = f"<p>The last {MAX_LISTED:,} are shown." if len(captures) > MAX_LISTED else ""
    changed = sum("same" not in row for _, row in rows)
    return (
        f'<!doctype html><html lang="en"><title>Captures of {escape(url)}</title><style>{STYLE}</style>'
        f"<h1>{escape(url)}</h1><p>{len(captures):,} captures, {changed:,} different in a row.{note}"
        f' <a href="/web/timemap/link/{escape(url)}">Time map</a>{tables}</html>'
    )


def _build_row(entry: CdxjEntry, captures: Sequence[CdxjEntry], *, is_same: bool) -> str:
    mime = "" if entry.mime == REVISIT_MIME else escape(entry.mime)
    state = "same as before" if is_same else mime
    return (
        f'<tr class="{"same" if is_same else "new"}"><td><a href="{escape(build_capture_path(entry, captures))}">'
        f"{format_http_date(entry.captured_at)}</a><td>{entry.status or ''}<td>{state}"
    )


def build_marks(captures: Sequence[CdxjEntry], current: CdxjEntry) -> str:
    """Build a line with a mark per capture, placed by its time. Empty: there is a single capture."""
    if len(captures) < 2 or captures[0].captured_at == captures[-1].captured_at:
        return ""
    first, span = captures[0].captured_at, captures[-1].captured_at - captures[0].captured_at
    step = -(-len(captures) // MAX_MARKS)
    shown = [entry for number, entry in enumerate(captures) if number % step == 0 or entry in (current, captures[-1])]
    marks = []
    for entry in shown:
        color, height = ("#fc6", 12) if entry == current else ("#9cf", 8)
        style = f"{MARK_STYLE}left:{(entry.captured_at - first) / span * 99:.2f}%;height:{height}px;background:{color}"
        title = format_http_date(entry.captured_at)
        path = escape(build_capture_path(entry, captures))
        marks.append(f'<a href="{path}" title="{title}" aria-label="{title}" style="{style}"></a>')
    return f'<div style="{LINE_STYLE}">{"".join(marks)}</div>'
