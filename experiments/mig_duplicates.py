"""MIG Table 4.13, second row: links that are the same page spelled differently."""

from collections.abc import Iterator
from random import Random

from experiments.frame import Figure, Series, Table, measured
from sanderling.urls.normalize import normalize_url

TITLE = "MIG Table 4.13: duplicate URLs identified by spelling (measured)"

LINKS, REPEATED, RESPELLED = 4169, 43, 91  # 134 duplicates: as many as the conventional crawler saw, and the rest


def links() -> Iterator[str]:
    """Make distinct links, then some of them again as they are, then some in another spelling of the same URL."""
    draw = Random(413)
    distinct = [
        f"http://www.site{n % 7}.example/dir{n % 13}/~page-{n}.html?id={n}" for n in range(LINKS - REPEATED - RESPELLED)
    ]
    yield from distinct
    yield from draw.sample(distinct, REPEATED)
    spellings = (
        lambda url: url.replace("http://www", "HTTP://WWW"),
        lambda url: url.replace(".example/", ".example:80/"),
        lambda url: url.replace("~page-", "%7Epage%2D"),
        lambda url: url.replace("/dir", "/x/../dir"),
        lambda url: url + "#section",
        lambda url: url.replace("/dir", "/./dir"),
    )
    for number, url in enumerate(draw.sample(distinct, RESPELLED)):
        yield spellings[number % len(spellings)](url)


def table() -> Table:
    """Count duplicates by plain comparison and by our spelling."""
    found = list(links())
    spelled = [spelling.url if (spelling := normalize_url(url)) else url for url in found]
    plain, ours = len(found) - len(set(found)), len(found) - len(set(spelled))
    rows = (
        measured("duplicates identified, plain comparison", 43, 43, plain, REPEATED, REPEATED),
        measured("duplicates identified, ours", 134, 134, ours, 134, 134),
        measured(
            "different URLs merged", None, 0, len(set(found[: LINKS - 134])) - len(set(spelled[: LINKS - 134])), 0, 0
        ),
    )
    bars = Series("printed", (43.0, 134.0)), Series("ours", (float(plain), float(ours)))
    figure = Figure("Duplicate URLs identified", ("plain comparison", "by spelling"), bars, "URLs")
    return Table(TITLE, rows, "Lower case, default port, %XX of plain characters, dot segments, fragments.", figure)
