"""MIG Table 5.5: pages found with sitemaps and without."""

from collections.abc import Iterator

from experiments.crawls import SHAPES, visits
from experiments.frame import Figure, Row, Series, Table, measured

TITLE = "MIG Table 5.5: coverage with sitemaps against links alone (measured)"

GAIN = {"gbu": (35.5, 35.5), "ymca": (12.0, 12.1), "ngfcet": (18.0, 18.9), "tits": (28.0, 28.2)}
PINNED = "c9d57491fa0d2284 bb0c0610294c1043 f0a87f9706956a33 031c5ef6969c3dc6"


def table() -> Table:
    """Crawl the four sites both ways."""
    found = [visits(shape.name) for shape in SHAPES]
    figure = Figure(
        "Pages found",
        tuple(shape.name for shape in SHAPES),
        (
            Series("links alone", tuple(float(visit.plain.pages) for visit in found)),
            Series("with sitemap", tuple(float(visit.ours.pages) for visit in found)),
        ),
        "pages",
    )
    digests = " ".join(visit.digest for visit in found)
    return Table(TITLE, tuple(_rows()), "", figure, digests, PINNED)


def _rows() -> Iterator[Row]:
    for shape in SHAPES:
        visit = visits(shape.name)
        gain = 100 * (visit.ours.pages - visit.plain.pages) / visit.plain.pages
        printed, corrected = GAIN[shape.name]
        yield measured(
            f"{shape.name}: pages by links alone",
            shape.linked,
            shape.linked,
            visit.plain.pages,
            shape.linked,
            shape.linked,
        )
        yield measured(
            f"{shape.name}: pages with sitemap", shape.total, shape.total, visit.ours.pages, shape.total, shape.total
        )
        yield measured(f"{shape.name}: gain %", printed, corrected, gain, corrected - 0.1, corrected + 0.1)
