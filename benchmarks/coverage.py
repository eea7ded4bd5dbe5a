"""URL ordering by coverage: seconds per million links as the queue grows, beside the method as printed.

python -m benchmarks.coverage
"""

import time
from collections.abc import Callable, Iterable
from random import Random

from sanderling.organise.coverage import order

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # links in all
PRINTED_UP_TO = 10_000  # the printed method sorts everything after every step


def web(links: int, draw: Random) -> dict[int, list[str]]:
    """Make pages whose links follow a power law: a few targets are named everywhere, most once."""
    pages: dict[int, list[str]] = {}
    left = links
    while left > 0:
        count = min(left, max(1, int(draw.paretovariate(1.3) * 4)), 400)
        pages[len(pages)] = [f"/{int(links * draw.random() ** 3)}" for _ in range(count)]
        left -= count
    return pages


def printed(links: dict[int, list[str]]) -> list[int]:
    """Sort the whole queue again after every step, as the thesis says."""
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
    """Time one run."""
    start = time.process_time()
    for _ in work():
        pass
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    print(f"{'links':>9} {'pages':>8} {'ours s':>8} {'µs/link':>8} {'as printed s':>13}")
    for size in SIZES:
        pages = web(size, Random(size))
        ours = seconds(lambda pages=pages: order(pages))  # type: ignore[misc]
        theirs = f"{seconds(lambda pages=pages: printed(pages)):13.3f}" if size <= PRINTED_UP_TO else f"{'-':>13}"  # type: ignore[misc]
        print(f"{size:>9,} {len(pages):>8,} {ours:8.3f} {ours / size * 1e6:8.2f} {theirs}")


if __name__ == "__main__":
    main()
