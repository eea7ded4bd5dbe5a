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
from sanderling.models import Host, Itinerary, Kept, Outcome, Reason, Stop, Url, Visit
from sanderling.storage.collection import read_collection
from sanderling.workers.migrant import site_walk
from sanderling.workers.migrant.client import Address, Failed
from sanderling.workers.migrant.messages import Message, Page
from sanderling.workers.migrant.owner_rules import Site
from sanderling.workers.migrant.proxy import RemoteTrip
from sanderling.workers.migrant.requests import Correspondence
from sanderling.workers.migrant.site_reader import Seen
from sanderling.workers.migrant.spot_checks import FILE, Checks, drawn

HONEST = site_walk.Walk._report


def reasons(folder: Path) -> dict[str, str]:
    with read_collection(folder) as collection:
        sql = "SELECT u.path, u.reason FROM urls AS u WHERE u.reason <> ''"
        return dict(collection.db.execute(sql).fetchall())


def lie(self: site_walk.Walk, seen: Seen) -> Iterator[Message]:
    """Say nothing of what changed since the letter's digests."""
    for message in HONEST(self, seen):
        if not (
            isinstance(message, Page) and isinstance(message.where, int) and self.letter.stops[message.where].known
        ):
            yield message


def test_a_lie_costs_the_host_its_trust_and_the_pages_are_fetched_from_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        assert go(web, tmp_path / "near", address).fetched == 20
        for path in web.pages:  # everything changed, so that any sample tells
            web.pages[path] = html(*(["/p1"] if path == "/" else []), text=f"news of {path}")
        monkeypatch.setattr(site_walk.Walk, "_report", lie)
        second = go(web, tmp_path / "near", address)
        assert (second.fetched, second.not_modified, second.failed) == (20, 0, 0)
        assert list(reasons(tmp_path / "near").values()) == ["host_lied"]
        assert (tmp_path / "near" / "hosts" / FILE).read_text() == f"{address.receiver} {web.root}\n"
        for path in web.pages:
            web.pages[path] = html(text=f"later news of {path}")
        assert go(web, tmp_path / "near", address).fetched == 20, "it is not believed in later crawls either"
        go(web, tmp_path / "far", None)
        assert {url: row[2] for url, row in shelf(tmp_path / "far").items()}.items() <= {
            url: row[2] for url, row in shelf(tmp_path / "near").items()
        }.items()


def test_an_honest_host_is_asked_for_few_pages_again(tmp_path: Path) -> None:
    with Web(tree(20)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        go(web, tmp_path / "near", address)
        web.hits.clear()
        second = go(web, tmp_path / "near", address)
        assert (second.fetched, second.not_modified) == (0, 20)
        del web.hits["/robots.txt"]
        assert sorted(web.hits.values()) == [1] * 19 + [2], "one page was looked at from home too"
        assert not (tmp_path / "near" / "hosts" / FILE).exists()


def checks(web: Web, address: Address, every: int = 200) -> tuple[Checks, list[Stop]]:
    found = Checks(
        Address(address.url, address.key_file, check=every), FetchSettings(allow_private=True), lambda _t, _c: {}
    )
    stops = [Stop(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages)]
    found.meet(Itinerary(Host(web.root), (), delay_seconds=0.0))
    return found, stops


def again(found: Checks) -> list[tuple[Host, Stop]]:
    while True:
        visits, believed, asked = found.work()
        assert not visits
        assert not believed
        if asked:
            return asked


def test_a_page_that_changed_in_between_is_no_lie(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        found, stops = checks(web, address)
        assert found.doubt(Host(web.root), stops) == []
        [(host, stop)] = again(found)
        found.acquit(stop.id)  # asked again, the host brought the new page
        _, believed, _ = found.work()
        assert {claim.id for claim in believed} == {other.id for other in stops} - {stop.id}
        assert not found.distrusts(host)
        found.close()


@pytest.mark.parametrize("true", [0, 2])
def test_what_was_drawn_is_visited_once_when_the_host_is_found_out(tmp_path: Path, true: int) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        found, stops = checks(web, address, every=1)  # all are drawn
        known = [hashlib.sha256(page.body).digest() for page in web.pages.values()]
        stops = [replace(stop, digest=known[stop.id] if stop.id < true else b"old") for stop in stops]
        found.doubt(Host(web.root), stops)
        asked = list[tuple[Host, Stop]]()
        visits, believed = list[Visit](), list[Stop]()
        while not asked:
            came, told, asked = found.work()
        lied = [found.convict(host, stop.id) for host, stop in asked]
        while len(lied) + len(visits) + len(believed) < len(stops):
            came, told, later = found.work()
            visits, believed = visits + came, believed + told
            assert not later
        ids = [visit.id for visit in [*visits, *filter(None, lied)]] + [stop.id for stop in believed]
        assert sorted(ids) == [0, 1, 2, 3, 4]
        assert {stop.id for stop in believed} <= set(range(true))
        assert max(web.hits.values()) == 1
        assert found.abandon() == ([], [])


def test_what_is_on_trial_is_given_back_by_the_letter_that_asks(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        found, stops = checks(web, address)
        found.doubt(Host(web.root), stops)
        [(_, stop)] = again(found)
        visits, undecided = found.abandon()
        assert not visits
        assert {one.id for one in undecided} == {one.id for one in stops} - {stop.id}


def test_the_share_of_samples_is_bounded_and_may_be_none(tmp_path: Path) -> None:
    with Web(tree(40)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        none, stops = checks(web, address, every=0)
        assert none.doubt(Host(web.root), stops) == stops
        some, stops = checks(web, address, every=10)
        some.doubt(Host(web.root), stops)
        while sum(web.hits.values()) - web.hits["/robots.txt"] < 4:
            some.work()
        assert sum(web.hits.values()) - web.hits["/robots.txt"] == 4
        some.close()


def test_what_is_not_decided_or_not_fetched_yet_is_given_back_once(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        found, stops = checks(web, address)
        found.doubt(Host(web.root), stops[:3])
        found.fetch(Host(web.root), stops[3:])
        visits, undecided = found.abandon()
        assert [(visit.id, visit.outcome) for visit in visits] == [(3, Outcome.RETURNED), (4, Outcome.RETURNED)]
        assert sorted(stop.id for stop in undecided) == [0, 1, 2]
        assert found.abandon() == ([], [])
        found.close()


def test_a_crawl_that_stops_gives_back_what_it_fetches_instead_of_a_liar(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        (tmp_path / FILE).write_text(f"{address.receiver} {web.root}\n")
        liar = Address(address.url, address.key_file, memory=str(tmp_path))
        trip = RemoteTrip(FetchSettings(allow_private=True), lambda _t, _c: {}, liar)
        stops = tuple(Stop(n, n, Url(web.root + path)) for n, path in enumerate(web.pages))
        trip.accept(Itinerary(Host(web.root), stops, delay_seconds=0.0))
        assert sorted(visit.id for visit in trip.abandon()) == [0, 1, 2, 3, 4]
        assert trip.load == 0
        trip.close()


def test_any_page_may_be_drawn_and_a_long_one_seldom() -> None:
    claims = [Stop(number, 1, Url(f"https://a.example/{number}"), last=Kept("a", 0, 2000)) for number in range(9)]
    claims.append(Stop(9, 1, Url("https://a.example/9"), last=Kept("a", 0, 400_000)))
    chosen = [stop.id for draw in map(Random, range(4000)) for stop in drawn(claims, 1, draw)]
    times = [chosen.count(number) for number in range(10)]
    assert min(times[:9]) > 350  # 4,000 shared by nine
    assert 0 < times[9] < 20


def test_pages_of_which_no_length_is_known_are_drawn_alike() -> None:
    claims = [Stop(number, 1, Url(f"https://a.example/{number}")) for number in range(5)]
    assert {stop.id for stop in drawn(claims, 5, Random(1))} == set(range(5))


def test_a_host_that_goes_away_during_a_trial_holds_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It called five pages unchanged, one of them was not; asked about that one again, it does not answer."""
    written = list[list[Stop]]()
    write = Correspondence.write

    def fail_later(self: Correspondence, host: Host, stops: list[Stop], *args: Any) -> None:
        written.append(stops)
        if len(written) == 1:
            write(self, host, stops, *args)
            return
        with monkeypatch.context() as patched:
            patched.setattr(self._post, "outbox", SimpleQueue())  # it never reaches the host
            write(self, host, stops, *args)
        sent = next(reversed(self._letters.values()))
        self._post.inbox.put((sent, Failed(Reason.CONNECT, "gone", final=True), 0))

    monkeypatch.setattr(site_walk.Walk, "_report", lie)
    monkeypatch.setattr(Correspondence, "write", fail_later)
    with Web(tree(5)) as web, serving(tmp_path / "host", Site(web.root)) as address:
        asked = Address(address.url, address.key_file, check=200)
        trip = RemoteTrip(FetchSettings(allow_private=True), lambda _t, _c: {}, asked)
        stops = tuple(Stop(n, n, Url(web.root + path), digest=b"old") for n, path in enumerate(web.pages))
        trip.accept(Itinerary(Host(web.root), stops, delay_seconds=0.0))
        came = list[Visit]()
        while len(written) < 2 or len(came) < 5:
            came += trip.work(0.1).visits
        trip.close()
    assert sorted(visit.id for visit in came) == [0, 1, 2, 3, 4]
    assert [visit.outcome for visit in came if visit.outcome is not Outcome.NOT_MODIFIED] == [Outcome.FAILED]
