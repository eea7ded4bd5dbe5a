"""What users did not find: taken by a crawl that runs, or by specialised migrants that are sent for it."""

import json
import signal
from pathlib import Path

import pytest
from tests.support.site import Page, Site
from tests.templates.test_similar_pages import FLAGS, lines, listing, page, product

from sanderling.api.operations.runs import FEEDBACK_DATABASE
from sanderling.cli import main
from sanderling.cli.commands.look_closer import similar
from sanderling.search.feedback.event_log import DATABASE, open_event_log
from sanderling.search.feedback.unmet_queries import (
    ANSWERED,
    OPEN,
    UnmetQuery,
    add_unmet_query,
    claim_unmet_queries,
    list_unmet_queries,
)
from sanderling.search.index import open_search_index
from sanderling.templates import driven_crawl, query_fulfillment


def shop(chairs: int) -> dict[str, Page]:
    site = {"/": page("Shop", "<div class=hero></div>"), "/c/chairs.html": listing("chairs", chairs)}
    site |= {f"/p/chairs-{n}.html": product("chairs", n) for n in range(chairs)}
    site |= {f"/news/{n}.html": page(f"News {n}", "<article class=story><h1>N</h1></article>") for n in range(3)}
    return site


def ask(folder: Path, server: Site, query: str = "chairs") -> None:
    log = open_event_log(folder)
    add_unmet_query(log, query, [f"{server.root}/p/chairs-{n}.html" for n in (1, 2)], 2, 0.0)
    log.close()


def asked(folder: Path) -> list[UnmetQuery]:
    log = open_event_log(folder)
    try:
        return list_unmet_queries(log)
    finally:
        log.close()


def test_migrants_are_sent_for_what_users_did_not_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(shop(8)) as server:
        folder = tmp_path / "c"
        assert main(["crawl", server.root, "-C", str(folder), *FLAGS]) == 0
        ask(folder, server)
        server.pages |= shop(12)
        before = sum(server.hits.values())
        capsys.readouterr()
        assert main(["similar", "--briefs", "--json", "-C", str(folder)]) == 0
        assert [(line["query"], line["found"]) for line in lines(capsys)] == [("chairs", 4)]
        assert sum(server.hits.values()) - before <= 12  # the pages that lead there, and the new ones
        assert [(brief.state, brief.new_page_count) for brief in asked(folder)] == [(ANSWERED, 4)]
        assert main(["similar", "--briefs", "--json", "-C", str(folder)]) == 0
        assert lines(capsys) == []


def test_a_crawl_knows_where_the_search_page_writes() -> None:
    assert FEEDBACK_DATABASE == DATABASE


def test_samples_and_briefs_are_one_or_the_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", "-C", str(tmp_path)]) == 4
    assert main(["similar", "--briefs", "http://a.example/", "-C", str(tmp_path)]) == 4
    assert "no sample page given; --briefs" in capsys.readouterr().err


def test_a_crawl_that_runs_takes_the_brief_and_answers_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_fulfillment, "CHECK_INTERVAL", 0.0)
    site = shop(12) | {f"/old/{n}.html": page(f"Old {n}", "<p class=old>x</p>") for n in range(20)}
    site["/"] = page("Shop", "".join(f"<a href=/old/{n}.html>o</a>" for n in range(20)))
    with Site(site) as server:
        folder = tmp_path / "c"
        for path in ("/p/chairs-1.html", "/p/chairs-2.html"):
            main(["crawl", server.root + path, "--scope", "page", "-C", str(folder), *FLAGS])
        ask(folder, server)
        assert main(["crawl", server.root, "-C", str(folder), *FLAGS, "--delay", "0.05"]) == 0
        (brief,) = asked(folder)
        assert brief.state == ANSWERED
        assert 4 <= brief.new_page_count <= 10
        log = (folder / "logs" / "crawl.log").read_text()
        assert "crawl_more" in log


def test_what_a_crawl_took_and_did_not_answer_is_open_again(tmp_path: Path) -> None:
    with Site(shop(3)) as server:
        folder = tmp_path / "c"
        main(["crawl", server.root, "-C", str(folder), *FLAGS])
        ask(folder, server)
        log = open_event_log(folder)
        assert len(claim_unmet_queries(log)) == 1
        log.close()
        attendant = query_fulfillment.UnmetQueryAttendant(folder)
        attendant.log = open_event_log(folder)
        attendant.end()
        assert [brief.state for brief in asked(folder)] == [OPEN]


def test_watching_tells_of_pages_that_appear_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similar, "WATCH_SECONDS", 0.01)
    rounds: list[int] = []

    def again(*args: object) -> object:
        """Let the site grow, and end after the second round."""
        rounds.append(1)
        server.pages |= shop(10)
        found = driven_crawl.revisit_hubs(*args)  # type: ignore[arg-type]
        if len(rounds) == 2:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(similar, "revisit_hubs", again)
    with Site(shop(8)) as server:
        folder = tmp_path / "c"
        main(["crawl", server.root, "-C", str(folder), *FLAGS])
        capsys.readouterr()
        handlers = signal.getsignal(signal.SIGINT)
        try:
            assert (
                main(
                    [
                        "similar",
                        *(f"{server.root}/p/chairs-{n}.html" for n in (1, 3, 5)),
                        "--follow",
                        "--json",
                        "-C",
                        str(folder),
                        *FLAGS,
                    ]
                )
                == 0
            )
        finally:
            signal.signal(signal.SIGINT, handlers)
        found = [line["url"] for line in map(json.loads, capsys.readouterr().out.splitlines()) if "url" in line]
    assert len(found) == len(set(found))
    assert sum("/p/" in url for url in found) == 10
    assert {url.rpartition("/")[2] for url in found[-2:]} == {"chairs-8.html", "chairs-9.html"}


def test_a_crawl_keeps_the_index_up_to_date_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDERLING_INDEX", "yes")
    with Site(shop(8)) as server:
        folder = tmp_path / "c"
        assert main(["crawl", server.root, "-C", str(folder), *FLAGS]) == 0
        index = open_search_index(folder / "index", write=False)
        assert index is not None
        assert len(index) == 11
        server.pages |= shop(9)
        assert main(["refresh", "--all", "-C", str(folder), *FLAGS]) == 0
        index = open_search_index(folder / "index", write=False)
        assert index is not None
        assert len(index) == 12


def test_a_crawl_without_index_leaves_the_index_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDERLING_INDEX", "yes")
    with Site(shop(2)) as server:
        folder = tmp_path / "c"
        assert main(["crawl", server.root, "--no-index", "-C", str(folder), *FLAGS]) == 0
        assert not (folder / "index").exists()
