"""Sampled depths of seeds, and counts of levels."""

from pathlib import Path
from random import Random

import pytest
from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.depth import LevelCounts, load_depth_limits, load_drawn_depths, load_level_counts
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.errors import UsageError
from sanderling.models import Url
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta


def chain(length: int, name: str) -> dict[str, Page]:
    """Build a chain of levels with two pages each."""
    site = {}
    for n in range(length):
        for letter in "ab":
            site[f"/{name}{n}{letter}"] = html(f"/{name}{n + 1}a", f"/{name}{n + 1}b", text=f"{name}{n}{letter}")
    return site


class FixedRandom(Random):
    """A generator that returns the given numbers."""

    def __init__(self, *points: float) -> None:
        super().__init__(1)
        self.points = list(points)

    def random(self) -> float:
        return self.points.pop(0)


def run_crawl(site: Site, folder: Path, depth: str, *paths: str) -> None:
    seeds = tuple(site.root + path for path in paths)
    crawl(
        folder,
        CrawlRequest(
            seeds=seeds,
            scope=ScopeSettings(sitemaps=False),
            limits=LimitSettings(depth=depth),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        ),
    )


def test_depth_limit_visits_and_counts_whole_levels(tmp_path: Path) -> None:
    with Site(chain(9, "x")) as site:
        run_crawl(site, tmp_path, "poisson:1", "/x0a")  # GPC stops at level 5
        with open_collection_read_only(tmp_path) as collection:
            found = load_level_counts(collection.db)
    assert found[0] == LevelCounts(0, visited=1)
    assert found[1:6] == [LevelCounts(level, visited=2) for level in range(1, 6)]
    assert found[6:] == [LevelCounts(6, skipped=2)]


def test_each_seed_samples_its_depth_once(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        seeds = [Url("http://a.test/"), Url("http://b.test/")]
        limits = load_depth_limits(collection.db, "sample:10", seeds, FixedRandom(0.9, 0.1))
        depths = load_drawn_depths(collection.db)
        assert depths["http://a.test/"] > 10 > depths["http://b.test/"]
        assert limits.limit == depths["http://a.test/"]
        assert limits.start_depths == {"http://a.test/": 0, "http://b.test/": limits.limit - depths["http://b.test/"]}
        assert load_depth_limits(collection.db, "sample:10", seeds, FixedRandom()) == limits
        with pytest.raises(UsageError, match="the seeds of this collection have sampled depths"):
            load_depth_limits(collection.db, "3", seeds, FixedRandom())
        assert load_depth_limits(collection.db, "-1", seeds, FixedRandom()).limit == -1


def test_each_seed_is_crawled_to_its_sampled_depth(tmp_path: Path) -> None:
    with Site(chain(9, "x") | chain(9, "y")) as site:
        drawn_before = {f"{site.root}/x0a": 2, f"{site.root}/y0a": 5}
        with open_collection(tmp_path) as collection:
            CollectionMeta(collection.db).drawn_depths = drawn_before
        run_crawl(site, tmp_path, "sample:4", "/x0a", "/y0a")
        assert {path for path in site.hits if path[1] == "x"} == {"/x0a", "/x1a", "/x1b", "/x2a", "/x2b"}
        assert len([path for path in site.hits if path[1] == "y"]) == 11
        with open_collection_read_only(tmp_path) as collection:
            found = load_level_counts(collection.db)
    assert found[:3] == [LevelCounts(0, visited=2), LevelCounts(1, visited=4), LevelCounts(2, visited=4)]
    assert found[3] == LevelCounts(3, visited=2, skipped=2)
    assert [level.visited for level in found[4:]] == [2, 2, 0]


def test_deeper_sampled_depth_shifts_levels_of_other_seeds(tmp_path: Path) -> None:
    with Site(chain(9, "x") | chain(9, "y")) as site:
        with open_collection(tmp_path) as collection:
            CollectionMeta(collection.db).drawn_depths = {f"{site.root}/x0a": 2}
        run_crawl(site, tmp_path, "sample:4", "/x0a")
        with open_collection(tmp_path) as collection:
            limits = load_depth_limits(collection.db, "sample:30", [Url(f"{site.root}/y0a")], FixedRandom(0.5))
            assert limits.limit == 30
            assert limits.start_depths == {f"{site.root}/x0a": 28, f"{site.root}/y0a": 0}
            assert load_level_counts(collection.db)[:3] == [
                LevelCounts(0, visited=1),
                LevelCounts(1, visited=2),
                LevelCounts(2, visited=2),
            ]
        run_crawl(site, tmp_path, "sample:30", "/y0a")
        assert not any(path.startswith("/x3") for path in site.hits)
        assert "/y8b" in site.hits
