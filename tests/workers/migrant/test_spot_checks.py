"""Spot checks detect a migrant that reports changed pages as unchanged."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.migrant_client import serving
from tests.support.site import Site as Web
from tests.support.site import html, tree
from tests.workers.migrant.test_proxy import load_stored, run_crawl

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, StoredVersion, Url, Visit
from sanderling.storage.collection import open_collection_read_only
from sanderling.workers.migrant import site_walk
from sanderling.workers.migrant.client import MigrantAddress, RequestFailure
from sanderling.workers.migrant.messages import MigrantMessage, PageMessage
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.proxy import RemoteFetchLoop
from sanderling.workers.migrant.requests import MigrantRequests
from sanderling.workers.migrant.site_reader import SiteResponse
from sanderling.workers.migrant.spot_checks import DISTRUSTED_FILE, SpotChecks, draw_samples

REPORT_VISIT = site_walk.SiteWalk._report_visit


def load_reasons(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        sql = "SELECT u.path, u.reason FROM urls AS u WHERE u.reason <> ''"
        return dict(collection.db.execute(sql).fetchall())


def hide_changes(self: site_walk.SiteWalk, response: SiteResponse) -> Iterator[MigrantMessage]:
    """Drop the messages of changed pages."""
    for message in REPORT_VISIT(self, response):
        if not (
            isinstance(message, PageMessage)
            and isinstance(message.target, int)
            and self.request.urls[message.target].known_digest
        ):
            yield message


def test_false_unchanged_report_makes_the_site_distrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        assert run_crawl(web, tmp_path / "migrant", address).fetched == 20
        for path in web.pages:  # so that any sample differs
            web.pages[path] = html(*(["/p1"] if path == "/" else []), text=f"new text of {path}")
        monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", hide_changes)
        second = run_crawl(web, tmp_path / "migrant", address)
        assert (second.fetched, second.not_modified, second.failed) == (20, 0, 0)
        assert list(load_reasons(tmp_path / "migrant").values()) == ["false_unchanged"]
        assert (tmp_path / "migrant" / "hosts" / DISTRUSTED_FILE).read_text() == f"{address.receiver} {web.root}\n"
        for path in web.pages:
            web.pages[path] = html(text=f"later text of {path}")
        assert run_crawl(web, tmp_path / "migrant", address).fetched == 20, "distrusted in later crawls, too"
        run_crawl(web, tmp_path / "direct", None)
        assert {url: row[2] for url, row in load_stored(tmp_path / "direct").items()}.items() <= {
            url: row[2] for url, row in load_stored(tmp_path / "migrant").items()
        }.items()


def test_spot_check_fetches_few_pages_of_an_honest_migrant(tmp_path: Path) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        run_crawl(web, tmp_path / "migrant", address)
        web.hits.clear()
        second = run_crawl(web, tmp_path / "migrant", address)
        assert (second.fetched, second.not_modified) == (0, 20)
        del web.hits["/robots.txt"]
        assert sorted(web.hits.values()) == [1] * 19 + [2], "one page was fetched directly, too"
        assert not (tmp_path / "migrant" / "hosts" / DISTRUSTED_FILE).exists()


def build_checks(web: Web, address: MigrantAddress, check_interval: int = 200) -> tuple[SpotChecks, list[FetchTask]]:
    spot_checks = SpotChecks(
        MigrantAddress(address.url, address.key_file, check_interval=check_interval),
        FetchSettings(allow_private=True),
        skip_fingerprints,
    )
    tasks = [FetchTask(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages)]
    spot_checks.add_site(FetchBatch(Host(web.root), (), delay_seconds=0.0))
    return spot_checks, tasks


def wait_for_mismatch(spot_checks: SpotChecks) -> list[tuple[Host, FetchTask]]:
    while True:
        visits, confirmed, repeated = spot_checks.collect_results()
        assert not visits
        assert not confirmed
        if repeated:
            return repeated


def test_page_that_changed_in_between_keeps_trust(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        spot_checks, tasks = build_checks(web, address)
        assert spot_checks.hold_claims(Host(web.root), tasks) == []
        [(host, task)] = wait_for_mismatch(spot_checks)
        spot_checks.clear_mismatch(task.id)  # requested again, the migrant returned the new page
        _, confirmed, _ = spot_checks.collect_results()
        assert {claim.id for claim in confirmed} == {other.id for other in tasks} - {task.id}
        assert not spot_checks.is_distrusted(host)
        spot_checks.close()


@pytest.mark.parametrize("unchanged_count", [0, 2])
def test_samples_are_visited_once_when_a_site_becomes_distrusted(tmp_path: Path, unchanged_count: int) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        spot_checks, tasks = build_checks(web, address, check_interval=1)  # all are samples
        known = [hashlib.sha256(page.body).digest() for page in web.pages.values()]
        tasks = [replace(task, digest=known[task.id] if task.id < unchanged_count else b"old") for task in tasks]
        spot_checks.hold_claims(Host(web.root), tasks)
        repeated = list[tuple[Host, FetchTask]]()
        visits, confirmed = list[Visit](), list[FetchTask]()
        while not repeated:
            _, _, repeated = spot_checks.collect_results()
        mismatched = [spot_checks.confirm_mismatch(host, task.id) for host, task in repeated]
        while len(mismatched) + len(visits) + len(confirmed) < len(tasks):
            new_visits, new_confirmed, later = spot_checks.collect_results()
            visits, confirmed = visits + new_visits, confirmed + new_confirmed
            assert not later
        ids = [visit.id for visit in [*visits, *filter(None, mismatched)]] + [task.id for task in confirmed]
        assert sorted(ids) == [0, 1, 2, 3, 4]
        assert {task.id for task in confirmed} <= set(range(unchanged_count))
        assert max(web.hits.values()) == 1
        assert spot_checks.cancel() == ([], [])


def test_page_requested_again_is_not_returned_on_cancel(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        spot_checks, tasks = build_checks(web, address)
        spot_checks.hold_claims(Host(web.root), tasks)
        [(_, task)] = wait_for_mismatch(spot_checks)
        visits, undecided = spot_checks.cancel()
        assert not visits
        assert {other.id for other in undecided} == {other.id for other in tasks} - {task.id}


def test_check_interval_sets_the_number_of_samples(tmp_path: Path) -> None:
    with Web(tree(40)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        disabled, tasks = build_checks(web, address, check_interval=0)
        assert disabled.hold_claims(Host(web.root), tasks) == tasks
        enabled, tasks = build_checks(web, address, check_interval=10)
        enabled.hold_claims(Host(web.root), tasks)
        while sum(web.hits.values()) - web.hits["/robots.txt"] < 4:
            enabled.collect_results()
        assert sum(web.hits.values()) - web.hits["/robots.txt"] == 4
        enabled.close()


def test_cancel_returns_open_tasks_once(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        spot_checks, tasks = build_checks(web, address)
        spot_checks.hold_claims(Host(web.root), tasks[:3])
        spot_checks.fetch_directly(Host(web.root), tasks[3:])
        visits, undecided = spot_checks.cancel()
        assert [(visit.id, visit.outcome) for visit in visits] == [(3, Outcome.RETURNED), (4, Outcome.RETURNED)]
        assert sorted(task.id for task in undecided) == [0, 1, 2]
        assert spot_checks.cancel() == ([], [])
        spot_checks.close()


def test_cancel_returns_tasks_of_distrusted_sites(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        (tmp_path / DISTRUSTED_FILE).write_text(f"{address.receiver} {web.root}\n")
        distrusted = MigrantAddress(address.url, address.key_file, dictionary_folder=str(tmp_path))
        fetch_loop = RemoteFetchLoop(FetchSettings(allow_private=True), skip_fingerprints, distrusted)
        tasks = tuple(FetchTask(n, n, Url(web.root + path)) for n, path in enumerate(web.pages))
        fetch_loop.submit(FetchBatch(Host(web.root), tasks, delay_seconds=0.0))
        assert sorted(visit.id for visit in fetch_loop.cancel()) == [0, 1, 2, 3, 4]
        assert fetch_loop.load == 0
        fetch_loop.close()


def test_long_pages_are_sampled_rarely() -> None:
    claims = [
        FetchTask(number, 1, Url(f"https://a.example/{number}"), last_version=StoredVersion("a", 0, 2000))
        for number in range(9)
    ]
    claims.append(FetchTask(9, 1, Url("https://a.example/9"), last_version=StoredVersion("a", 0, 400_000)))
    chosen = [task.id for draw in map(Random, range(4000)) for task in draw_samples(claims, 1, draw)]
    counts = [chosen.count(number) for number in range(10)]
    assert min(counts[:9]) > 350  # 4,000 shared by nine
    assert 0 < counts[9] < 20


def test_pages_of_unknown_length_are_sampled() -> None:
    claims = [FetchTask(number, 1, Url(f"https://a.example/{number}")) for number in range(5)]
    assert {task.id for task in draw_samples(claims, 5, Random(1))} == set(range(5))


def test_tasks_are_returned_if_the_migrant_fails_during_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five pages are reported as unchanged; the repeated request for the sample that differs fails."""
    requested = list[list[FetchTask]]()
    send_request = MigrantRequests.send_request

    def fail_later(self: MigrantRequests, host: Host, tasks: list[FetchTask], *args: Any) -> None:
        requested.append(tasks)
        if len(requested) == 1:
            send_request(self, host, tasks, *args)
            return
        with monkeypatch.context() as patched:
            patched.setattr(self._client, "outbox", SimpleQueue())  # not sent
            send_request(self, host, tasks, *args)
        sent = next(reversed(self._open_requests.values()))
        self._client.inbox.put((sent, RequestFailure(Reason.CONNECT, "gone", is_final=True), 0))

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", hide_changes)
    monkeypatch.setattr(MigrantRequests, "send_request", fail_later)
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        checked = MigrantAddress(address.url, address.key_file, check_interval=200)
        fetch_loop = RemoteFetchLoop(FetchSettings(allow_private=True), skip_fingerprints, checked)
        tasks = tuple(FetchTask(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages))
        fetch_loop.submit(FetchBatch(Host(web.root), tasks, delay_seconds=0.0))
        visits = list[Visit]()
        while len(requested) < 2 or len(visits) < 5:
            visits += fetch_loop.run_for(0.1).visits
        fetch_loop.close()
    assert sorted(visit.id for visit in visits) == [0, 1, 2, 3, 4]
    assert [visit.outcome for visit in visits if visit.outcome is not Outcome.NOT_MODIFIED] == [Outcome.FAILED]
