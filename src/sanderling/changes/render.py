"""Render a diff report for a terminal, as Markdown, and as an HTML page with both versions side by side.

Page content is only output as text: control characters are removed, HTML is escaped.
"""

from collections.abc import Iterator
from html import escape

from rich.text import Text

from sanderling.changes.changed_text import BRACKETS, ChangedText, shorten_pieces, truncate_text
from sanderling.changes.classify import ChangeCounts, PageChange
from sanderling.changes.fingerprint_diff import BlockAction
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.changes.word_report import TITLE_NUMBER, DiffReport, ParagraphDiff
from sanderling.terminal import strip_control_characters

TERMINAL_CONTEXT = 60  # characters of unchanged text shown on each side of a change
HTML_CONTEXT = 300
ACTION_SYMBOLS = {BlockAction.ADDED: "+", BlockAction.REMOVED: "-", BlockAction.CHANGED: "~", BlockAction.MOVED: ">"}
COLORS = {DiffOperation.ADDED: "green", DiffOperation.REMOVED: "red strike", DiffOperation.SAME: ""}
MARKDOWN_MARKS = {DiffOperation.ADDED: "**", DiffOperation.REMOVED: "~~", DiffOperation.SAME: ""}
NO_CHANGE = "no significant change"


def render_lines(report: DiffReport, *, color: bool = False, include_boilerplate: bool = False) -> Iterator[Text]:
    """Render a report for a terminal; without color, words are bracketed as by wdiff."""
    change = report.change
    summary = f"changed: {', '.join(change.kinds)}" if change.kinds else NO_CHANGE
    yield Text(f"{summary}   significance {change.significance:.2f}, {change.amount:.1%} of the main content")
    if change.visual is not None:
        yield Text(change.visual.describe())
    if change.noise:
        yield Text(f"noise: {', '.join(change.noise)}")
    for row in report.rows:
        if row.main or include_boilerplate:
            yield _render_line(row, color)
    yield from map(Text, _list_references(report))


def _list_references(report: DiffReport) -> Iterator[str]:
    for name, added, removed in (
        ("link", report.links_added, report.links_removed),
        ("asset", report.assets_added, report.assets_removed),
    ):
        yield from (
            f"{sign} {name} {strip_control_characters(reference)}"
            for sign, references in (("+", added), ("-", removed))
            for reference in references
        )


def extract_excerpt(
    report: DiffReport,
    change: PageChange,
    max_lines: int = 5,
    max_length: int = 300,
    *,
    include_boilerplate: bool = False,
) -> tuple[ChangedText, ...]:
    """Return the first changed paragraphs that `change` lists; without any, links and assets.

    With `include_boilerplate`, paragraphs outside the main content are returned too if there are none inside.
    """
    listed = _list_paragraphs(change, is_main=True)
    if change.title != ChangeCounts():
        listed.add((BlockAction.CHANGED, TITLE_NUMBER))
    texts = [_build_changed_text(row) for row in report.rows if (row.action, row.number) in listed]
    if change.visual is not None:
        texts.append(ChangedText("changed", (DiffPiece(DiffOperation.SAME, change.visual.describe()),)))
    noun, available = ("paragraphs", texts) if texts else ("links and assets", _list_changed_references(report))
    if include_boilerplate and not texts:
        listed = _list_paragraphs(change, is_main=False)
        outside = [_build_changed_text(row) for row in report.rows if (row.action, row.number) in listed]
        noun, available = "paragraphs, links and assets", [*outside, *available]
    shown = [truncate_text(text, max_length) for text in available[:max_lines]]
    remark = f"and {len(available) - max_lines} more {noun}"
    more = [ChangedText("more", (DiffPiece(DiffOperation.SAME, remark),))] if len(available) > max_lines else []
    return (*shown, *more)


def _list_paragraphs(change: PageChange, *, is_main: bool) -> set[tuple[BlockAction, int | None]]:
    return {
        (paragraph.action, paragraph.old if paragraph.new is None else paragraph.new)
        for paragraph in change.paragraphs
        if paragraph.main is is_main
    }


def _build_changed_text(row: ParagraphDiff) -> ChangedText:
    label = "title" if row.number == TITLE_NUMBER else ""
    return ChangedText(row.action, shorten_pieces(row.pieces, TERMINAL_CONTEXT), label)


def _list_changed_references(report: DiffReport) -> list[ChangedText]:
    return [
        ChangedText(action, (DiffPiece(operation, reference),), name)
        for name, added, removed in (
            ("link", report.links_added, report.links_removed),
            ("asset", report.assets_added, report.assets_removed),
        )
        for action, operation, references in (
            ("added", DiffOperation.ADDED, added),
            ("removed", DiffOperation.REMOVED, removed),
        )
        for reference in references
    ]


def _render_line(row: ParagraphDiff, color: bool) -> Text:
    built = Text(f"{ACTION_SYMBOLS[row.action]} {'' if row.number == TITLE_NUMBER else '¶'}{_format_number(row)} ")
    for piece in shorten_pieces(row.pieces, TERMINAL_CONTEXT):
        left, right = ("", "") if color else BRACKETS[piece.operation]
        built.append(f"{left}{strip_control_characters(piece.text)}{right}", COLORS[piece.operation] if color else "")
    return built


def render_markdown_diff(report: DiffReport, *, include_boilerplate: bool = False) -> str:
    """Render the changed paragraphs as a list; removed words struck through, added words bold."""
    rows = [row for row in report.rows if row.main or include_boilerplate]
    return "\n".join(f"- {''.join(map(_render_markdown_piece, row.pieces))}" for row in rows)


def _render_markdown_piece(piece: DiffPiece) -> str:
    """Mark the words of a piece. Blanks stay outside the marks, without which Markdown does not see them."""
    mark, text = MARKDOWN_MARKS[piece.operation], strip_control_characters(piece.text)
    words = text.strip()
    if not (mark and words):
        return text
    start = text.index(words)
    return f"{text[:start]}{mark}{words}{mark}{text[start + len(words) :]}"


def _format_number(row: ParagraphDiff) -> str:
    if row.number == TITLE_NUMBER:
        return "title"
    return f"{row.number + 1}" if row.old_number is None else f"{row.old_number + 1}→{row.number + 1}"


STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222}"
    "h1{font-size:1.4em;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}"
    "td{vertical-align:top;padding:.4em .8em;border-bottom:1px solid #ddd;overflow-wrap:anywhere}"
    "td.n{width:5.5em;padding-left:0;color:#888}ins{background:#d4f4d4;text-decoration:none}del{background:#fbd5d5}"
    "tr.boilerplate{opacity:.6}ul{overflow-wrap:anywhere}"
)
CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(report: DiffReport, title: str, old_at: str, new_at: str) -> str:
    change = report.change
    rows = "".join(_render_html_row(row) for row in report.rows)
    facts = f"{', '.join(change.kinds) or NO_CHANGE}; significance {change.significance:.2f}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{escape(CONTENT_SECURITY_POLICY)}"><title>{_escape_text(title)}</title><style>{STYLE}</style>'
        f"<h1>{_escape_text(title)}</h1><p>{escape(facts)}</p>"
        f"<table><tr><td class=n></td><td>{_escape_text(old_at)}</td>"
        f"<td>{_escape_text(new_at)}</td></tr>{rows}</table>"
        f"{_render_list('Links added', report.links_added)}{_render_list('Links removed', report.links_removed)}"
        f"{_render_list('Assets added', report.assets_added)}"
        f"{_render_list('Assets removed', report.assets_removed)}</html>"
    )


def _render_html_row(row: ParagraphDiff) -> str:
    shown = [
        (piece.operation, _render_html_piece(piece.operation, piece.text))
        for piece in shorten_pieces(row.pieces, HTML_CONTEXT)
    ]
    old = "".join(text for operation, text in shown if operation is not DiffOperation.ADDED)
    new = "".join(text for operation, text in shown if operation is not DiffOperation.REMOVED)
    kind = "main" if row.main else "boilerplate"
    number = f"<td class=n>{_format_number(row)} {row.action}</td>"
    return f"<tr class={kind}>{number}<td dir=auto>{old}</td><td dir=auto>{new}</td></tr>"


def _render_html_piece(operation: DiffOperation, text: str) -> str:
    tag = {DiffOperation.ADDED: "ins", DiffOperation.REMOVED: "del"}.get(operation)
    return f"<{tag}>{_escape_text(text)}</{tag}>" if tag else _escape_text(text)


def _escape_text(text: str) -> str:
    return escape(strip_control_characters(text))


def _render_list(title: str, entries: tuple[str, ...]) -> str:
    items = "".join(f"<li>{_escape_text(item)}</li>" for item in entries)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""
