"""A small site to publish."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sanderling.publisher.change_log import Batch, record
from sanderling.publisher.published_site import Site
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection, connect

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
RS = "{http://www.openarchives.org/rs/terms/}"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
NOW = 1_700_000_000_000


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site("https://example.org", tmp_path / "state.db")


@pytest.fixture
def db(site: Site) -> Iterator[Connection]:
    with closing(connect(site.state)) as opened:
        yield opened


def publish(db: Connection, site: Site, hits: dict[str, int], now: int = NOW) -> int:
    """Put pages with views into the store."""
    batch = Batch(touched=dict.fromkeys(hits))
    batch.hits.update(hits)
    return record(db, site, Rules(), batch, now)


def listed(xml: bytes) -> list[tuple[str, float, str]]:
    """Read a list as a crawler would: path, priority, change."""
    rows = []
    for url in ElementTree.fromstring(xml).iter(SITEMAP + "url"):
        mark = url.find(RS + "md")
        place = (url.findtext(SITEMAP + "loc") or "").removeprefix("https://example.org")
        change = "" if mark is None else mark.get("change", "")
        rows.append((place, float(url.findtext(SITEMAP + "priority") or "nan"), change))
    return rows
