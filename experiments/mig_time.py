"""MIG Table 5.7: how much sooner a crawl ends."""

from collections.abc import Iterator

from experiments.crawls import LATENCY, SHAPES, visits
from experiments.frame import Figure, Row, Series, Table, measured
from experiments.mig_coverage import PINNED

TITLE = "MIG Table 5.7: time of a crawl (measured)"

SAVING = {"gbu": (15.3, 15.3), "ymca": (32.17, 32.2), "ngfcet": (34.9, 34.9), "tits": (33.01, 33.0)}


def table() -> Table:
    """Time the four crawls; one connection and links alone against Sanderling as it comes, on our own server."""
    found = [visits(shape.name) for shape in SHAPES]
    figure = Figure(
        f"Milliseconds per page, {1000 * LATENCY:.0f} ms at the server",
        tuple(shape.name for shape in SHAPES),
        (
            Series("one connection", tuple(1000 * visit.plain_seconds / visit.plain.pages for visit in found)),
            Series("ours", tuple(1000 * visit.ours_seconds / visit.ours.pages for visit in found)),
        ),
        "ms per page",
    )
    remark = "From the first request to the last answer, at the server; bands are wide, since a clock is read."
    return Table(TITLE, tuple(_rows()), remark, figure, " ".join(visit.digest for visit in found), PINNED)


def _rows() -> Iterator[Row]:
    for shape in SHAPES:
        visit = visits(shape.name)
        printed, corrected = SAVING[shape.name]
        slow, fast = visit.plain_seconds / visit.plain.pages, visit.ours_seconds / visit.ours.pages
        yield measured(f"{shape.name}: time saved per page %", printed, corrected, 100 * (slow - fast) / slow, 10, 99)
