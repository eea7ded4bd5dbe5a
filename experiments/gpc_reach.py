"""GPC: pages reached within a fixed depth of 10 and within the Poisson depth, on one deep site."""

import tempfile
from pathlib import Path
from random import Random

from msgspec.structs import replace

from experiments.crawls import request
from experiments.frame import Figure, Series, Table, measured
from experiments.web import Server, Site, page, path_of, serving
from sanderling.config.settings import LimitSettings
from sanderling.crawl.session import crawl

TITLE = "GPC: pages reached by fixed and by Poisson depth (measured)"

LEVELS, WIDTH = 40, 12
PINNED = "3795962afd86906a"
SLOWEST = 600  # pages per minute; a hundred times theirs, and far below what any machine of today does
DEPTHS = {"10": 10, "poisson:10": 19, "poisson:15": 25, "poisson:20": 32}


def make() -> Site:
    """Make a site of many levels, each page linking to some of the next level."""
    draw = Random(2016)
    pages = {}
    for number in range(1 + LEVELS * WIDTH):
        level = 0 if number == 0 else (number - 1) // WIDTH + 1
        first = level * WIDTH + 1
        below = (
            []
            if level == LEVELS
            else (
                [*range(1, WIDTH + 1)] if level == 0 else [first + (number - 1) % WIDTH, first + draw.randrange(WIDTH)]
            )
        )
        pages[path_of(number)] = page(number, below, draw)
    return Site(pages, dict.fromkeys(pages, 0))


def table() -> Table:
    """Crawl to each depth."""
    site = make()
    found, seconds = {}, 0.0
    with tempfile.TemporaryDirectory() as folder, serving(Server(site)) as server:
        for text in DEPTHS:
            asked = replace(request(server, sitemaps=False, migrants=1), limits=LimitSettings(depth=text))
            summary = crawl(Path(folder, text.replace(":", "")), asked)
            found[text] = summary.pages
            seconds += summary.seconds
    rows = tuple(
        measured(
            f"pages with --depth {text}", None, 1 + depth * WIDTH, found[text], 1 + depth * WIDTH, 1 + depth * WIDTH
        )
        for text, depth in DEPTHS.items()
    )
    speed = 60 * sum(found.values()) / seconds
    rows += (measured("pages per minute, one migrant", 6, None, round(speed), SLOWEST, float("inf")),)
    figure = Figure(
        "Pages reached", tuple(DEPTHS), (Series("pages", tuple(float(count) for count in found.values())),), "pages"
    )
    remark = f"{LEVELS} levels of {WIDTH} pages; whole levels, counted per level (E47)."
    return Table(TITLE, rows, remark, figure, site.digest(), PINNED)
