"""Measure seconds per million links of the coverage ordering as the queue grows, and of the method as printed.

python -m benchmarks.ordering.coverage [--write]
"""

import sys
import time
from collections.abc import Callable, Iterable
from math import log
from random import Random

from benchmarks.lib.doc_tables import put

from sanderling.frontier.ordering.coverage import order_by_coverage

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # links in all
PRINTED_UP_TO = 10_000  # the printed method sorts everything after every step


def web(links: int, draw: Random) -> dict[int, list[str]]:
    """Make pages whose links follow a power law: a few targets are named everywhere, most once."""
    pages: dict[int, list[str]] = {}
    remaining = links
    while remaining > 0:
        count = min(remaining, max(1, int(draw.paretovariate(1.3) * 4)), 400)
        pages[len(pages)] = [f"/{int(links * draw.random() ** 3)}" for _ in range(count)]
        remaining -= count
    return pages


def printed(links: dict[int, list[str]]) -> list[int]:
    """Sort the whole queue after every step, as the thesis says."""
    sets = {page: set(found) for page, found in links.items()}
    queue, taken = list(sets), []
    while queue:
        queue.sort(key=lambda page: -len(sets[page]))
        page = queue.pop(0)
        taken.append(page)
        for other in queue:
            sets[other] -= sets[page]
    return taken


def seconds(work: Callable[[], Iterable[object]]) -> float:
    start = time.process_time()
    for _ in work():
        pass
    return time.process_time() - start


def measure() -> list[tuple[int, int, float, float | None]]:
    """Links, pages, our seconds, and those of the printed method where it can be waited for; the best of three."""
    rows = []
    for size in SIZES:
        pages = web(size, Random(size))
        ours = min(seconds(lambda pages=pages: order_by_coverage(pages)) for _ in range(3))  # type: ignore[misc]
        theirs = seconds(lambda pages=pages: printed(pages)) if size <= PRINTED_UP_TO else None  # type: ignore[misc]
        rows.append((size, len(pages), ours, theirs))
    return rows


def table(rows: list[tuple[int, int, float, float | None]]) -> str:
    """A Markdown table, and how the cost grows."""
    lines = ["| links | pages | seconds | µs per link | seconds, as published |", "|---:|---:|---:|---:|---:|"]
    for links, pages, ours, theirs in rows:
        published = f"{theirs:.3f}" if theirs is not None else "-"
        lines.append(f"| {links:,} | {pages:,} | {ours:.3f} | {1e6 * ours / links:.2f} | {published} |")
    (few, _, quick, _), (many, _, slow, _) = rows[1], rows[-1]
    power = log(slow / quick) / log(many / few)
    return "\n".join([*lines, "", f"From {few:,} to {many:,} links the cost grows with exponent {power:.2f}."])


def main() -> None:
    text = table(measure())
    print(text)
    if "--write" in sys.argv:
        put("coverage", text)


if __name__ == "__main__":
    main()
