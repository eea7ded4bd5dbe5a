"""Why a URL has its place."""

from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, tree

from sanderling.cli import main
from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.explain import UrlExplanation, explain_url
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.queries import find_url_id


def run_crawl(site: Site, folder: Path, order: str = "", limit: int = 20, query: str = "", agent: str = "") -> None:
    crawl(
        folder,
        CrawlRequest(seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), limits=LimitSettings(limit=limit),
                politeness=PolitenessSettings(delay=0, user_agent=agent), fetching=HttpSettings(allow_private=True),
                workers=WorkerSettings(workers=1), ordering=OrderingSettings(order=order, query=query)),
    )  # fmt: skip


def explain(folder: Path, url: str, now: float = 2e9) -> UrlExplanation:
    with open_collection_read_only(folder) as collection:
        return explain_url(collection.db, find_url_id(collection.db, url), now)


def list_queued(folder: Path) -> list[str]:
    with open_collection_read_only(folder) as collection:
        rows = collection.db.execute(
            "SELECT h.name || u.path FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = u.host"
            " ORDER BY q.rank, q.url"
        )
        return [url for (url,) in rows]


def test_stored_page_has_scores_and_due_time(tmp_path: Path) -> None:
    with Site(tree(30)) as site:
        run_crawl(site, tmp_path, query="page")
        found = explain(tmp_path, site.root + "/")
    assert (found.state, found.source, found.level, found.queue_position) == ("visited", "seed", 0, None)
    assert found.ordering == "shark"
    assert found.scores["links out"] == 9
    assert found.scores["pvalue"] == found.scores["links out"] - found.scores["links in"]
    assert found.scores["relevance"] > 0
    assert found.due_at > 0
    assert found.due_reason
    assert found.blockers == ()


def test_change_class_is_the_same_in_all_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(2)) as site:
        run_crawl(site, tmp_path)
        root = site.root + "/"
    with open_collection(tmp_path) as collection:
        id_ = find_url_id(collection.db, root)
        collection.db.execute("INSERT INTO sitemap_hints VALUES (?, 0, 0, 0, 'daily', -1, 0)", (id_,))
        collection.db.execute("UPDATE pages SET visits = 2, last_visit = first_seen + 9 WHERE url = ?", (id_,))
        collection.db.execute("INSERT INTO changes VALUES (?, 9, 0, 'x', 'content', 1, '')", (id_,))
    found = explain(tmp_path, root)
    assert (found.change_class, found.class_reason) == ("daily", "according to its sitemap")
    main(["history", root, "-C", str(tmp_path)])
    assert "class daily" in capsys.readouterr().out
    main(["sitemap", "-C", str(tmp_path)])
    assert "changefreq" not in capsys.readouterr().out, "two visits within an hour are not enough"
    with open_collection(tmp_path) as collection:
        collection.db.execute("UPDATE pages SET last_visit = first_seen + 7200 WHERE url = ?", (id_,))
    found = explain(tmp_path, root)
    assert (found.change_class, found.class_reason) == ("hourly", "it changed once in 2 visits over 0.1 days")
    main(["sitemap", "-C", str(tmp_path)])
    assert "<changefreq>hourly</changefreq>" in capsys.readouterr().out


@pytest.mark.parametrize("order", ["pagerank", "pvalue", "breadth"])
def test_queued_url_has_position_and_priority_list(tmp_path: Path, order: str) -> None:
    with Site(tree(200, fan=40)) as site:
        run_crawl(site, tmp_path, order, limit=3)
        urls = list_queued(tmp_path)
        found = [explain(tmp_path, url) for url in urls]
    positions = [item.queue_position for item in found if item.queue_position is not None]
    assert [position.host_position for position in positions] == list(range(1, len(urls) + 1))
    assert {position.host_waiting for position in positions} == {len(urls)}
    assert {position.priority_list for position in positions} == {1, 2, 3}
    if order != "pvalue":
        assert [position.priority_list for position in positions] == sorted(
            position.priority_list for position in positions
        )


def test_host_rules_are_listed_as_blockers(tmp_path: Path) -> None:
    with Site(tree(60, fan=40)) as site:
        site.pages["/robots.txt"] = html()
        site.pages["/robots.txt"].body = b"User-agent: *\nDisallow: /p7\nCrawl-delay: 1\n"
        site.pages["/robots.txt"].headers = {"Content-Type": "text/plain"}
        run_crawl(site, tmp_path, limit=2)
        with open_collection(tmp_path) as collection:
            collection.db.execute("UPDATE hosts SET next_request_at = 3e9, delay_reason = 'rate_limited'")
        last = explain(tmp_path, list_queued(tmp_path)[-1])
        forbidden = explain(tmp_path, site.root + "/p7")
    assert any(
        blocker == "the host is not requested before 2065-01-24 05:20:00 (back-off after rate_limited)"
        for blocker in last.blockers
    )
    assert any(blocker.startswith("crawl delay of 1 s (from robots.txt)") for blocker in last.blockers)
    assert any("does not allow it" in blocker for blocker in forbidden.blockers)
    assert last.due_at == 3e9


def test_robots_rules_use_agent_of_crawl(tmp_path: Path) -> None:
    with Site(tree(60, fan=40)) as site:
        site.pages["/robots.txt"] = Page(b"User-agent: heron\nDisallow: /p7\n", 200, {"Content-Type": "text/plain"})
        run_crawl(site, tmp_path, limit=2, agent="Mozilla/5.0 (compatible; Heron/1.0)")
        assert any("does not allow it" in blocker for blocker in explain(tmp_path, site.root + "/p7").blockers)


def test_explain_command_prints_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(60, fan=40)) as site:
        run_crawl(site, tmp_path, limit=2)
        url = list_queued(tmp_path)[0]
        assert main(["explain", url, "-C", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        assert all(word in text for word in ("class", "list", "scores", "due", "waits", "pagerank"))
        assert main(["explain", url, "-C", str(tmp_path), "--json"]) == 0
        assert '"change_class": "weekly"' in capsys.readouterr().out
        assert main(["explain", site.root + "/unknown", "-C", str(tmp_path)]) == UsageError.exit_code
