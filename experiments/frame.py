"""What every experiment gives: a table of rows, each with its tolerance; and how tables are printed and judged."""

from collections.abc import Iterable
from dataclasses import dataclass, field

Cell = float | str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One number: as printed, as it should have been printed, as we get it, and how far ours may be from that."""

    what: str
    printed: Cell  # None: the paper gives none
    corrected: Cell  # None: nothing to compare with but the band
    ours: Cell
    low: float = 0.0
    high: float = 0.0

    @property
    def holds(self) -> bool:
        """Say if ours lies where it must."""
        if isinstance(self.ours, str) or self.ours is None:
            return self.ours == self.corrected
        return self.low - 1e-9 <= self.ours <= self.high + 1e-9


def exact(what: str, printed: Cell, corrected: float | str, ours: float | str, tolerance: float = 0.0) -> Row:
    """A number that can be computed: ours must equal the corrected one within a tolerance."""
    if isinstance(corrected, str):
        return Row(what, printed, corrected, ours)
    return Row(what, printed, corrected, ours, corrected - tolerance, corrected + tolerance)


def measured(what: str, printed: Cell, corrected: Cell, ours: float, low: float, high: float) -> Row:
    """A number that must be measured: ours must lie in a pinned band."""
    return Row(what, printed, corrected, ours, low, high)


@dataclass(frozen=True, slots=True)
class Series:
    """One line or group of bars of a figure."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in the style of the paper's: bars over categories, or lines over numbers."""

    title: str
    labels: tuple[str, ...] | tuple[float, ...]
    series: tuple[Series, ...]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One published table, again."""

    title: str
    rows: tuple[Row, ...]
    remark: str = ""
    figure: Figure | None = None
    inputs: str = ""  # digest of what was measured, where it was made from a seed
    pinned: str = field(default="")  # the digest it must have

    @property
    def holds(self) -> bool:
        """Say if every number lies where it must, and the inputs are those that were pinned."""
        return self.inputs == self.pinned and all(row.holds for row in self.rows)


def show(cell: Cell) -> str:
    """Write a cell as people do."""
    if cell is None:
        return "-"
    return cell if isinstance(cell, str) else f"{cell:.4f}".rstrip("0").rstrip(".")


def lines(table: Table) -> Iterable[str]:
    """Write a table for a terminal."""
    header = ("", "printed", "corrected", "ours", "must be", "")
    rows = [header, *(_cells(row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    yield table.title
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield "  " + "  ".join(cells).rstrip()
    if table.inputs != table.pinned:
        yield f"  the inputs have digest {table.inputs}, not {table.pinned}: the table speaks of something else"
    if table.remark:
        yield f"  {table.remark}"


def _cells(row: Row) -> tuple[str, ...]:
    band = "" if isinstance(row.ours, str) or row.low == row.high else f"{show(row.low)}..{show(row.high)}"
    return row.what, show(row.printed), show(row.corrected), show(row.ours), band, "" if row.holds else "NO"


def markdown(table: Table) -> str:
    """Write a table for the documentation."""
    head = "| | printed | corrected | ours |\n|---|---|---|---|\n"
    rows = (f"| {row.what} | {show(row.printed)} | {show(row.corrected)} | {show(row.ours)} |" for row in table.rows)
    return head + "\n".join(rows)
