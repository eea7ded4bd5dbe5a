"""A host that calls a changed page unchanged is found out."""

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
from tests.workers.migrant.test_proxy import go, shelf

from sanderling.fetch.fetch_settings import FetchSettings
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

HONEST = site_walk.SiteWalk._report_visit


def reasons(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        sql = "SELECT u.path, u.reason FROM urls AS u WHERE u.reason <> ''"
        return dict(collection.db.execute(sql).fetchall())


def lie(self: site_walk.SiteWalk, seen: SiteResponse) -> Iterator[MigrantMessage]:
    """Say nothing of what changed since the letter's digests."""
    for message in HONEST(self, seen):
        if not (
            isinstance(message, PageMessage)
            and isinstance(message.target, int)
            and self.request.urls[message.target].known_digest
        ):
            yield message


def test_a_lie_costs_the_host_its_trust_and_the_pages_are_fetched_from_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        assert go(web, tmp_path / "near", address).fetched == 20
        for path in web.pages:  # everything changed, so that any sample tells
            web.pages[path] = html(*(["/p1"] if path == "/" else []), text=f"news of {path}")
        monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", lie)
        second = go(web, tmp_path / "near", address)
        assert (second.fetched, second.not_modified, second.failed) == (20, 0, 0)
        assert list(reasons(tmp_path / "near").values()) == ["host_lied"]
        assert (tmp_path / "near" / "hosts" / DISTRUSTED_FILE).read_text() == f"{address.receiver} {web.root}\n"
        for path in web.pages:
            web.pages[path] = html(text=f"later news of {path}")
        assert go(web, tmp_path / "near", address).fetched == 20, "it is not believed in later crawls either"
        go(web, tmp_path / "far", None)
        assert {url: row[2] for url, row in shelf(tmp_path / "far").items()}.items() <= {
            url: row[2] for url, row in shelf(tmp_path / "near").items()
        }.items()


def test_an_honest_host_is_asked_for_few_pages_again(tmp_path: Path) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        go(web, tmp_path / "near", address)
        web.hits.clear()
        second = go(web, tmp_path / "near", address)
        assert (second.fetched, second.not_modified) == (0, 20)
        del web.hits["/robots.txt"]
        assert sorted(web.hits.values()) == [1] * 19 + [2], "one page was looked at from home too"
        assert not (tmp_path / "near" / "hosts" / DISTRUSTED_FILE).exists()


def checks(web: Web, address: MigrantAddress, every: int = 200) -> tuple[SpotChecks, list[FetchTask]]:
    found = SpotChecks(
        MigrantAddress(address.url, address.key_file, check_interval=every),
        FetchSettings(allow_private=True),
        lambda _t, _c: {},
    )
    stops = [FetchTask(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages)]
    found.add_site(FetchBatch(Host(web.root), (), delay_seconds=0.0))
    return found, stops


def again(found: SpotChecks) -> list[tuple[Host, FetchTask]]:
    while True:
        visits, believed, asked = found.collect_results()
        assert not visits
        assert not believed
        if asked:
            return asked


def test_a_page_that_changed_in_between_is_no_lie(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        found, stops = checks(web, address)
        assert found.hold_claims(Host(web.root), stops) == []
        [(host, stop)] = again(found)
        found.clear_mismatch(stop.id)  # asked again, the host brought the new page
        _, believed, _ = found.collect_results()
        assert {claim.id for claim in believed} == {other.id for other in stops} - {stop.id}
        assert not found.is_distrusted(host)
        found.close()


@pytest.mark.parametrize("true", [0, 2])
def test_what_was_drawn_is_visited_once_when_the_host_is_found_out(tmp_path: Path, true: int) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        found, stops = checks(web, address, every=1)  # all are drawn
        known = [hashlib.sha256(page.body).digest() for page in web.pages.values()]
        stops = [replace(stop, digest=known[stop.id] if stop.id < true else b"old") for stop in stops]
        found.hold_claims(Host(web.root), stops)
        asked = list[tuple[Host, FetchTask]]()
        visits, believed = list[Visit](), list[FetchTask]()
        while not asked:
            came, told, asked = found.collect_results()
        lied = [found.confirm_mismatch(host, stop.id) for host, stop in asked]
        while len(lied) + len(visits) + len(believed) < len(stops):
            came, told, later = found.collect_results()
            visits, believed = visits + came, believed + told
            assert not later
        ids = [visit.id for visit in [*visits, *filter(None, lied)]] + [stop.id for stop in believed]
        assert sorted(ids) == [0, 1, 2, 3, 4]
        assert {stop.id for stop in believed} <= set(range(true))
        assert max(web.hits.values()) == 1
        assert found.cancel() == ([], [])


def test_what_is_on_trial_is_given_back_by_the_letter_that_asks(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        found, stops = checks(web, address)
        found.hold_claims(Host(web.root), stops)
        [(_, stop)] = again(found)
        visits, undecided = found.cancel()
        assert not visits
        assert {one.id for one in undecided} == {one.id for one in stops} - {stop.id}


def test_the_share_of_samples_is_bounded_and_may_be_none(tmp_path: Path) -> None:
    with Web(tree(40)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        none, stops = checks(web, address, every=0)
        assert none.hold_claims(Host(web.root), stops) == stops
        some, stops = checks(web, address, every=10)
        some.hold_claims(Host(web.root), stops)
        while sum(web.hits.values()) - web.hits["/robots.txt"] < 4:
            some.collect_results()
        assert sum(web.hits.values()) - web.hits["/robots.txt"] == 4
        some.close()


def test_what_is_not_decided_or_not_fetched_yet_is_given_back_once(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        found, stops = checks(web, address)
        found.hold_claims(Host(web.root), stops[:3])
        found.fetch_directly(Host(web.root), stops[3:])
        visits, undecided = found.cancel()
        assert [(visit.id, visit.outcome) for visit in visits] == [(3, Outcome.RETURNED), (4, Outcome.RETURNED)]
        assert sorted(stop.id for stop in undecided) == [0, 1, 2]
        assert found.cancel() == ([], [])
        found.close()


def test_a_crawl_that_stops_gives_back_what_it_fetches_instead_of_a_liar(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        (tmp_path / DISTRUSTED_FILE).write_text(f"{address.receiver} {web.root}\n")
        liar = MigrantAddress(address.url, address.key_file, dictionary_folder=str(tmp_path))
        trip = RemoteFetchLoop(FetchSettings(allow_private=True), lambda _t, _c: {}, liar)
        stops = tuple(FetchTask(n, n, Url(web.root + path)) for n, path in enumerate(web.pages))
        trip.submit(FetchBatch(Host(web.root), stops, delay_seconds=0.0))
        assert sorted(visit.id for visit in trip.cancel()) == [0, 1, 2, 3, 4]
        assert trip.load == 0
        trip.close()


def test_any_page_may_be_drawn_and_a_long_one_seldom() -> None:
    claims = [
        FetchTask(number, 1, Url(f"https://a.example/{number}"), last_version=StoredVersion("a", 0, 2000))
        for number in range(9)
    ]
    claims.append(FetchTask(9, 1, Url("https://a.example/9"), last_version=StoredVersion("a", 0, 400_000)))
    chosen = [stop.id for draw in map(Random, range(4000)) for stop in draw_samples(claims, 1, draw)]
    times = [chosen.count(number) for number in range(10)]
    assert min(times[:9]) > 350  # 4,000 shared by nine
    assert 0 < times[9] < 20


def test_pages_of_which_no_length_is_known_are_drawn_alike() -> None:
    claims = [FetchTask(number, 1, Url(f"https://a.example/{number}")) for number in range(5)]
    assert {stop.id for stop in draw_samples(claims, 5, Random(1))} == set(range(5))


def test_a_host_that_goes_away_during_a_trial_holds_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It called five pages unchanged, one of them was not; asked about that one again, it does not answer."""
    written = list[list[FetchTask]]()
    write = MigrantRequests.send_request

    def fail_later(self: MigrantRequests, host: Host, stops: list[FetchTask], *args: Any) -> None:
        written.append(stops)
        if len(written) == 1:
            write(self, host, stops, *args)
            return
        with monkeypatch.context() as patched:
            patched.setattr(self._client, "outbox", SimpleQueue())  # it never reaches the host
            write(self, host, stops, *args)
        sent = next(reversed(self._open_requests.values()))
        self._client.inbox.put((sent, RequestFailure(Reason.CONNECT, "gone", is_final=True), 0))

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", lie)
    monkeypatch.setattr(MigrantRequests, "send_request", fail_later)
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        asked = MigrantAddress(address.url, address.key_file, check_interval=200)
        trip = RemoteFetchLoop(FetchSettings(allow_private=True), lambda _t, _c: {}, asked)
        stops = tuple(FetchTask(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages))
        trip.submit(FetchBatch(Host(web.root), stops, delay_seconds=0.0))
        came = list[Visit]()
        while len(written) < 2 or len(came) < 5:
            came += trip.run_for(0.1).visits
        trip.close()
    assert sorted(visit.id for visit in came) == [0, 1, 2, 3, 4]
    assert [visit.outcome for visit in came if visit.outcome is not Outcome.NOT_MODIFIED] == [Outcome.FAILED]
