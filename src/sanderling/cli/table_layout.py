"""Lay out a plain table for a terminal: columns that do not fit are printed below each row, without breaking words."""

from collections.abc import Sequence
from textwrap import fill

from msgspec import Struct

GAP, INDENT = "  ", "    "
MIN_ROOM = 20  # letters of a line that is broken at all


class TableLayout(Struct, frozen=True):
    """Which columns of a table stand side by side, and which below."""

    inline: list[int]
    below: list[int]
    widths: list[int]  # of all columns


def plan_layout(rows: Sequence[Sequence[str]], max_width: int, room: int = 0) -> TableLayout:
    """Plan a table from its header and first rows: the widest columns go below until the others fit into `room`.

    Room 0: all columns stand side by side. The last column of those is not padded.
    """
    count = len(rows[0])
    longest = [max(len(row[column]) for row in rows) for column in range(count)]
    widths, inline = [min(max_width, width) for width in longest], list(range(count))
    while room and len(inline) > 1 and _measure(inline, widths, longest) > room:
        inline.remove(max(inline, key=lambda column: (longest[column], column)))
    return TableLayout(inline, [column for column in range(count) if column not in inline], widths)


def format_row(row: Sequence[str], layout: TableLayout, room: int = 0) -> str:
    """Return the lines of a row."""
    *columns, last = layout.inline
    first = GAP.join([*(row[column].ljust(layout.widths[column]) for column in columns), row[last]])
    below = [
        fill(
            row[column],
            max(room, MIN_ROOM),
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for column in layout.below
        if row[column]
    ]
    return "\n".join([first.rstrip() if below else first, *below])


def _measure(columns: Sequence[int], widths: Sequence[int], longest: Sequence[int]) -> int:
    return sum(widths[column] for column in columns[:-1]) + longest[columns[-1]] + len(GAP) * (len(columns) - 1)
