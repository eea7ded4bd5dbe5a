"""Fixtures of a small published site."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, open_state_db

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
RS = "{http://www.openarchives.org/rs/terms/}"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
NOW = 1_700_000_000_000


@pytest.fixture
def site(tmp_path: Path) -> PublishedSite:
    return PublishedSite("https://example.org", tmp_path / "state.db")


@pytest.fixture
def db(site: PublishedSite) -> Iterator[Connection]:
    with closing(open_state_db(site.state_file)) as opened:
        yield opened


def publish(db: Connection, site: PublishedSite, hits: dict[str, int], now: int = NOW) -> int:
    """Store pages with views."""
    batch = ActivityBatch(changed_pages=dict.fromkeys(hits))
    batch.view_counts.update(hits)
    return write_batch(db, site, PathRules(), batch, now)


def parse_listing(xml: bytes) -> list[tuple[str, float, str]]:
    """Parse a list into (path, priority, change)."""
    rows = []
    for url in ElementTree.fromstring(xml).iter(SITEMAP + "url"):
        metadata = url.find(RS + "md")
        path = (url.findtext(SITEMAP + "loc") or "").removeprefix("https://example.org")
        change = "" if metadata is None else metadata.get("change", "")
        rows.append((path, float(url.findtext(SITEMAP + "priority") or "nan"), change))
    return rows
