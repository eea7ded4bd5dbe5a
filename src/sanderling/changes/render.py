"""A report on paper: for a terminal, and as a page with both versions side by side. Nothing from the web gets through
as anything but text: control characters go, HTML is escaped."""

from collections.abc import Iterator
from html import escape

from rich.text import Text

from sanderling.changes.classify import Change, Tally
from sanderling.changes.diff import Action
from sanderling.changes.word_diff import Mark, Piece
from sanderling.changes.word_report import TITLE, Report, Row
from sanderling.terminal import plain

CONTEXT = 60  # characters of unchanged text shown on each side of a change
ROOM = 300  # the same on a page
SIGNS = {Action.ADDED: "+", Action.REMOVED: "-", Action.CHANGED: "~", Action.MOVED: ">"}
COLOURS = {Mark.ADDED: "green", Mark.REMOVED: "red strike", Mark.SAME: ""}
BRACKETS = {Mark.ADDED: ("{+", "+}"), Mark.REMOVED: ("[-", "-]"), Mark.SAME: ("", "")}


def lines(report: Report, *, colour: bool = False, furniture: bool = False) -> Iterator[Text]:
    """Write a report for a terminal; without colour, words are set in brackets as wdiff does."""
    change = report.change
    kinds = ", ".join(change.kinds) or "nothing that matters"
    yield Text(f"changed: {kinds}   significance {change.significance:.2f}, {change.amount:.1%} of the main content")
    if change.noise:
        yield Text(f"noise: {', '.join(change.noise)}")
    for row in report.rows:
        if row.main or furniture:
            yield _line(row, colour)
    yield from map(Text, _references(report))


def _references(report: Report) -> Iterator[str]:
    """List the links and assets that came and went."""
    for name, added, removed in (
        ("link", report.links_added, report.links_removed),
        ("asset", report.assets_added, report.assets_removed),
    ):
        yield from (f"{sign} {name} {plain(one)}" for sign, some in (("+", added), ("-", removed)) for one in some)


def excerpt(report: Report, told: Change, most: int = 5, longest: int = 300) -> tuple[str, ...]:
    """The first paragraphs of main content that are told of, a line each, for a message; links and assets if none is.

    What differs and was left out of the verdict as noise is no news in words either.
    """
    news = {(one.action, one.old if one.new is None else one.new) for one in told.paragraphs if one.main}
    if told.title != Tally():
        news.add((Action.CHANGED, TITLE))
    words = [_line(row, colour=False).plain for row in report.rows if (row.action, row.place) in news]
    what, found = ("paragraphs", words) if words else ("links and assets", list(_references(report)))
    shown = [f"{line[:longest]}…" if len(line) > longest else line for line in found[:most]]
    return (*shown, *([f"and {len(found) - most} more {what}"] if len(found) > most else []))


def _line(row: Row, colour: bool) -> Text:
    built = Text(f"{SIGNS[row.action]} {'' if row.place == TITLE else '¶'}{_numbered(row)} ")
    last = len(row.pieces) - 1
    for number, piece in enumerate(row.pieces):
        words = _shortened(piece, number == 0, number == last) if len(row.pieces) > 1 else piece.text
        left, right = ("", "") if colour else BRACKETS[piece.mark]
        built.append(f"{left}{plain(words)}{right}", COLOURS[piece.mark] if colour else "")
    return built


def _numbered(row: Row) -> str:
    """Number a paragraph; of one that moved both numbers are told. A title has none."""
    if row.place == TITLE:
        return "title"
    return f"{row.place + 1}" if row.was is None else f"{row.was + 1}→{row.place + 1}"


def _shortened(piece: Piece, first: bool, last: bool, room: int = CONTEXT) -> str:
    """Leave out the middle of a long stretch that stayed."""
    text = piece.text
    if piece.mark is not Mark.SAME or len(text) <= 2 * room:
        return text
    if first:
        return f"…{text[-room:]}"
    return f"{text[:room]}…" if last else f"{text[:room]} … {text[-room:]}"


STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222}"
    "h1{font-size:1.4em;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}"
    "td{vertical-align:top;padding:.4em .8em;border-bottom:1px solid #ddd;overflow-wrap:anywhere}"
    "td.n{width:5.5em;padding-left:0;color:#888}ins{background:#d4f4d4;text-decoration:none}del{background:#fbd5d5}"
    "tr.furniture{opacity:.6}ul{overflow-wrap:anywhere}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Report, title: str, old_at: str, new_at: str) -> str:
    """Write a report as a page of its own, both versions side by side."""
    change = report.change
    rows = "".join(_html_row(row) for row in report.rows)
    facts = f"{', '.join(change.kinds) or 'nothing that matters'}; significance {change.significance:.2f}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{escape(POLICY)}"><title>{_escaped(title)}</title><style>{STYLE}</style>'
        f"<h1>{_escaped(title)}</h1><p>{escape(facts)}</p><table><tr><td class=n></td><td>{_escaped(old_at)}</td>"
        f"<td>{_escaped(new_at)}</td></tr>{rows}</table>"
        f"{_list('Links added', report.links_added)}{_list('Links removed', report.links_removed)}"
        f"{_list('Assets added', report.assets_added)}{_list('Assets removed', report.assets_removed)}</html>"
    )


def _html_row(row: Row) -> str:
    last = len(row.pieces) - 1
    shown = [
        (
            piece.mark,
            _html_piece(piece.mark, _shortened(piece, number == 0, number == last, ROOM) if last else piece.text),
        )
        for number, piece in enumerate(row.pieces)
    ]
    old = "".join(text for mark, text in shown if mark is not Mark.ADDED)
    new = "".join(text for mark, text in shown if mark is not Mark.REMOVED)
    kind = "main" if row.main else "furniture"
    number = f"<td class=n>{_numbered(row)} {row.action}</td>"
    return f"<tr class={kind}>{number}<td dir=auto>{old}</td><td dir=auto>{new}</td></tr>"


def _html_piece(mark: Mark, text: str) -> str:
    tag = {Mark.ADDED: "ins", Mark.REMOVED: "del"}.get(mark)
    return f"<{tag}>{_escaped(text)}</{tag}>" if tag else _escaped(text)


def _escaped(text: str) -> str:
    return escape(plain(text))


def _list(title: str, listed: tuple[str, ...]) -> str:
    items = "".join(f"<li>{_escaped(item)}</li>" for item in listed)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""
