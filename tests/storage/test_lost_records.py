"""Tests of truncated and deleted WARC files, whose pages are reported and fetched again."""

from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

PAGES = 12
SELECT_LAST_RECORDS = (
    "SELECT h.name || u.path, f.name, v.start, v.length FROM pages AS p JOIN visits AS v ON v.id = p.visit"
    " JOIN files AS f ON f.id = v.file JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
)


def crawl_site(site: Site, folder: Path) -> list[str]:
    """Crawl once. Returns the damage messages."""
    damage: list[str] = []
    crawl(
        folder,
        CrawlRequest(
            seeds=(site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        ),
        on_start=lambda coordinator: damage.extend(coordinator.context.run.damage_messages),
    )
    return damage


def count_readable_pages(folder: Path) -> int:
    """Return how many pages have a readable last version in the archive."""
    with open_collection_read_only(folder) as collection:
        rows = collection.db.execute(SELECT_LAST_RECORDS).fetchall()
    return sum(bool(read_record(folder / "archive", RecordLocation(*row[1:])).body) for row in rows)


def count_changes(folder: Path) -> int:
    with open_collection_read_only(folder) as collection:
        return int(collection.db.execute("SELECT count(*) FROM changes").fetchone()[0])


@pytest.mark.parametrize("fraction", [0.0, 0.5])
def test_pages_of_a_truncated_or_deleted_file_are_fetched_again(tmp_path: Path, fraction: float) -> None:
    with Site(tree(PAGES, fan=PAGES)) as site:
        assert crawl_site(site, tmp_path) == []
        (warc,) = (tmp_path / "archive").glob("*.warc.gz")
        if fraction:
            whole = warc.read_bytes()
            warc.write_bytes(whole[: int(len(whole) * fraction)])
        else:
            warc.unlink()
        before = count_changes(tmp_path)
        (line,) = crawl_site(site, tmp_path)
        assert line.startswith(warc.name)
        assert "will be fetched again" in line
        assert fraction or f"{PAGES} pages" in line
        assert count_readable_pages(tmp_path) == PAGES
        assert count_changes(tmp_path) == before, "a page fetched again without a difference has not changed"
        assert crawl_site(site, tmp_path) == []
