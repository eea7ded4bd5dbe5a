"""MIG Table 5.6: how much a second visit saves."""

from collections.abc import Iterator

from experiments.crawls import SHAPES, visits
from experiments.frame import Figure, Row, Series, Table, measured
from experiments.mig_coverage import PINNED

TITLE = "MIG Table 5.6: saving at the second visit (measured)"

SAVING = {"gbu": (69.8, 69.9), "ymca": (72.4, 72.4), "ngfcet": (65.15, 65.2), "tits": (81.1, 81.1)}


def table() -> Table:
    """Change the four sites and visit them again."""
    found = [visits(shape.name) for shape in SHAPES]
    figure = Figure(
        "Pages fetched at the second visit",
        tuple(shape.name for shape in SHAPES),
        (
            Series("without memory", tuple(float(visit.plain_again) for visit in found)),
            Series("ours", tuple(float(visit.ours_again) for visit in found)),
        ),
        "pages",
    )
    remark = "By `sanderling refresh` with the sitemap's word for what changed; the sitemap's own bytes are counted."
    return Table(TITLE, tuple(_rows()), remark, figure, " ".join(visit.digest for visit in found), PINNED)


def _rows() -> Iterator[Row]:
    for shape in SHAPES:
        visit = visits(shape.name)
        printed, corrected = SAVING[shape.name]
        links = 100 * (visit.ours.pages - visit.ours_again) / visit.ours.pages
        size = 100 * (1 - visit.ours_again_bytes / visit.ours.bytes)
        yield measured(f"{shape.name}: links saved %", printed, corrected, links, corrected - 0.3, corrected + 0.3)
        yield measured(f"{shape.name}: bytes saved %", None, None, size, corrected - 10, corrected + 10)
        yield measured(f"{shape.name}: unchanged pages asked for", None, 0, visit.ours_again_asked - visit.edited, 0, 0)
        yield measured(f"{shape.name}: changed pages missed", None, 0, visit.missed, 0, 0)
