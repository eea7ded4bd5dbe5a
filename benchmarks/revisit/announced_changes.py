"""Announcements of a sitemap, honest or with errors: changes left out, false dates, pages stamped daily."""

from random import Random

from benchmarks.revisit.histories import DAY, Trace
from msgspec import Struct

SEED = 7


class SitemapErrors(Struct, frozen=True):
    """Shares of the errors of a sitemap."""

    missing: float = 0.0  # of the changes
    false: float = 0.0  # of the announcements of changes
    stamped: float = 0.0  # of the pages: dated anew every day


HONEST = SitemapErrors()


def list_pages(trace: Trace) -> frozenset[int]:
    """Return the pages in the sitemap: every second page."""
    return frozenset(range(1, len(trace.pages), 2))


def list_announcements(trace: Trace, errors: SitemapErrors) -> list[tuple[float, int]]:
    """Return (time, page) of all announcements of a sitemap with these errors."""
    dice, listed = Random(SEED), sorted(list_pages(trace))
    changes = [
        (at, number) for number in listed for at in trace.pages[number].times[1:] if at > trace.pages[number].born
    ]
    announced = [change for change in changes if dice.random() >= errors.missing]
    for _ in range(round(len(announced) * errors.false / (1 - errors.false))):
        page = trace.pages[number := dice.choice(listed)]
        announced.append((dice.uniform(page.born, page.died), number))
    for number in listed:
        if dice.random() < errors.stamped:
            page = trace.pages[number]
            announced += [(page.born + day * DAY, number) for day in range(1, int((page.died - page.born) / DAY))]
    return announced
