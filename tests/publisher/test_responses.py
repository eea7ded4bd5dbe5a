"""Tests of list responses: scenarios of the paper (DPS), pagination, validators, and invalid requests."""

import gzip
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import pytest
from tests.publisher.conftest import NOW, RS, SITEMAP, parse_listing, publish

from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.http_dates import format_http_date, format_w3c_millis
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.responses import ListingRequest, ListingResponse, build_response, is_publisher_path
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection

# DPS 5: the site has 15 pages; each scenario gives the updated pages with their priorities, and a threshold.
SITE = ["/", *(f"/wp{n}" for n in range(1, 6)), *(f"/wp{n}" for n in (11, 12, 13, 21, 22, 23, 31, 32, 33))]
SCENARIOS = {
    "I": ({"/": 1.0, "/wp1": 0.8, "/wp31": 0.75, "/wp32": 0.75}, 0.75, 4, 2),
    "II": ({"/": 1.0, "/wp1": 0.95, "/wp11": 0.95, "/wp12": 0.90, "/wp13": 0.80, "/wp4": 0.80}, 0.80, 6, 4),
    "III": (
        {"/": 1.0, "/wp1": 0.9, "/wp11": 0.93, "/wp12": 0.92, "/wp2": 0.7, "/wp23": 0.75, "/wp4": 0.65, "/wp5": 0.65},
        *(0.90, 8, 3),  # the text of the paper says four, its table three
    ),
}


def send_request(
    site: PublishedSite, db: Connection, query: str = "", path: str = "/changes.xml", **headers: str
) -> ListingResponse:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return build_response(site, db, ListingRequest(path, query, "GET", names), NOW + 3_600_000)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_of_the_paper(db: Connection, site: PublishedSite, name: str) -> None:
    updated, threshold, existing, proposed = SCENARIOS[name]
    last_visit = publish(db, site, dict.fromkeys(SITE, 0))
    publish(db, site, {path: round(100 * priority) for path, priority in updated.items()}, NOW + 1000)
    since = f"LAST_VISIT={format_w3c_millis(last_visit)}"
    assert len(parse_listing(send_request(site, db).body)) == len(SITE) == 15
    assert len(parse_listing(send_request(site, db, since).body)) == existing
    selected = parse_listing(send_request(site, db, f"{since}&threshold={threshold}").body)
    assert len(selected) == proposed
    assert [priority for _, priority, _ in selected] == sorted(
        (p for p in updated.values() if p > threshold), reverse=True
    )


def test_highest_priority_first_and_deletions_last(db: Connection, site: PublishedSite) -> None:
    last_visit = publish(db, site, {"/a": 1, "/b": 10, "/gone": 99})
    write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/gone"}), NOW + 1000)
    publish(db, site, {"/a": 0, "/b": 0, "/new": 5}, NOW + 2000)
    assert parse_listing(send_request(site, db, f"LAST_VISIT={format_w3c_millis(last_visit)}&threshold=0.2").body) == [
        ("/b", 1.0, "updated"),
        ("/new", 0.5, "created"),
        ("/gone", 0.0, "deleted"),
    ]


def test_time_formats_give_the_same_list(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/old": 1}, NOW - 5000)
    publish(db, site, {"/new": 1}, NOW + 5000)
    forms = [format_w3c_millis(NOW), format_http_date(NOW), str(NOW // 1000), "2023-11-14T23:13:20 01:00"]
    answers = [parse_listing(send_request(site, db, f"LAST_VISIT={quote(form)}").body) for form in forms]
    assert answers == [[("/new", 1.0, "created")]] * 4
    assert parse_listing(send_request(site, db, if_modified_since=format_http_date(NOW)).body) == answers[0]
    assert parse_listing(send_request(site, db, f"last_visit={NOW // 1000}", path="/sitemap.xml").body) == answers[0]


def test_until_as_last_visit_neither_misses_nor_repeats_changes(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1})
    first = ElementTree.fromstring(send_request(site, db, "LAST_VISIT=0").body).find(RS + "md")
    assert first is not None
    until = first.get("until")
    assert parse_listing(send_request(site, db, f"LAST_VISIT={until}").body) == []
    publish(db, site, {"/b": 1}, NOW)  # the same millisecond
    assert [path for path, _, _ in parse_listing(send_request(site, db, f"LAST_VISIT={until}").body)] == ["/b"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("LAST_VISIT=yesterday", "LAST_VISIT is not a valid time: 'yesterday'; use ISO 8601"),
        ("LAST_VISIT=", "LAST_VISIT is not a valid time"),
        ("LAST_VISIT=2099-01-01", "LAST_VISIT is in the future: the time here is 2023-11-14T23:13:20.000Z"),
        ("LAST_VISIT=0&LAST_VISIT=1", "occurs twice"),
        ("LAST_VISIT=0&threshold=high", "threshold is not a number: 'high'"),
        ("threshold=nan", "threshold is not a number"),
        ("limit=0", "limit must be an integer of at least 1"),
        ("limit=1e999", "limit is not a number"),
        ("after=1,2,3", "invalid parameter after"),
        ("after=ordered,x,1,1", "invalid parameter after"),
    ],
)
def test_invalid_parameters_are_reported(db: Connection, site: PublishedSite, query: str, message: str) -> None:
    response = send_request(site, db, query)
    assert response.status == 400
    assert message in response.body.decode()


@pytest.mark.parametrize("after", ["ordered,nan,5,9", f"deleted,0.0,{9**40},{9**40}", "climbed,-inf,1,1"])
def test_forged_cursor_is_harmless(db: Connection, site: PublishedSite, after: str) -> None:
    publish(db, site, {"/a": 1})
    assert send_request(site, db, f"after={after}").status == 200


def test_pagination_lists_every_page_in_order(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {f"/{n}": n % 7 for n in range(25)})
    write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/3", "/4"}), NOW + 10)
    paths, priorities = load_all_pages(site, db, "LAST_VISIT=0&limit=4")
    assert sorted(paths) == sorted(f"/{n}" for n in range(25))
    assert paths[-2:] == ["/3", "/4"]
    assert priorities == sorted(priorities, reverse=True)


def test_page_with_rising_priority_is_not_missed_during_pagination(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {f"/{n}": n for n in range(20)})
    paths: list[str] = []
    query: str | None = "LAST_VISIT=0&limit=5"
    while query is not None:
        found, query = load_page(site, db, query)
        paths += found
        batch = ActivityBatch()
        batch.view_counts["/0"] = 100  # last on the first request, later first
        write_batch(db, site, PathRules(), batch, NOW + 100)
    assert set(paths) == {f"/{n}" for n in range(20)}


def load_page(site: PublishedSite, db: Connection, query: str) -> tuple[list[str], str | None]:
    response = send_request(site, db, query)
    links = [value for name, value in response.headers if name == "Link"]
    next_url = urlsplit(links[0].partition(">")[0][1:]) if links else None
    return [path for path, _, _ in parse_listing(response.body)], next_url.query if next_url else None


def load_all_pages(site: PublishedSite, db: Connection, query: str | None) -> tuple[list[str], list[float]]:
    paths, priorities = [], []
    while query is not None:
        rows = parse_listing(send_request(site, db, query).body)
        paths += [path for path, _, _ in rows]
        priorities += [priority for _, priority, _ in rows]
        query = load_page(site, db, query)[1]
    return paths, priorities


def test_next_link_keeps_the_threshold(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {f"/{n}": n for n in range(20)})
    _, query = load_page(site, db, "LAST_VISIT=0&limit=2&threshold=0.5")
    assert query is not None
    assert parse_qs(query)["threshold"] == ["0.5"]
    assert min(load_all_pages(site, db, query)[1]) > 0.5


def test_unchanged_list_returns_304(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1})
    for path in ("/changes.xml", "/sitemap.xml", "/.well-known/resourcesync"):
        headers = dict(send_request(site, db, path=path).headers)
        assert send_request(site, db, path=path, if_none_match=f'"other", {headers["ETag"]}').status == 304
        again = send_request(site, db, path=path, if_none_match='"other"')
        assert again.status == 200
    assert send_request(site, db, path="/sitemap.xml", if_modified_since=headers["Last-Modified"]).status == 304
    assert send_request(site, db, if_modified_since=headers["Last-Modified"]).status == 304
    publish(db, site, {"/b": 1}, NOW + 2000)
    assert send_request(site, db, if_none_match=headers["ETag"]).status == 200


def test_sitemap_is_never_partial(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1}, NOW - 100_000)
    publish(db, site, {"/b": 2}, NOW)
    rows = parse_listing(
        send_request(site, db, path="/sitemap.xml", if_modified_since=format_http_date(NOW - 50_000)).body
    )
    assert rows == [("/a", 0.5, ""), ("/b", 1.0, "")]


def test_gzip_is_used_if_accepted(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1})
    packed = send_request(site, db, accept_encoding="br, gzip;q=0.8")
    assert ("Content-Encoding", "gzip") in packed.headers
    assert gzip.decompress(packed.body) == send_request(site, db, accept_encoding="gzip;q=0, br").body
    assert ("Vary", "Accept-Encoding") in packed.headers


def test_large_sitemap_is_split_into_parts(db: Connection, site: PublishedSite) -> None:
    rows = [(n, f"/{n}", NOW, NOW, NOW) for n in (1, 2, 49_999, 50_000, 99_999, 200_000)]
    db.executemany("INSERT INTO pages (id, path, created, modified, noticed) VALUES (?, ?, ?, ?, ?)", rows)
    index = ElementTree.fromstring(send_request(site, db, path="/sitemap.xml").body)
    assert index.tag == SITEMAP + "sitemapindex"
    parts = [urlsplit(place.text or "").query for place in index.iter(SITEMAP + "loc")]
    found = [row for part in parts for row in parse_listing(send_request(site, db, part, path="/sitemap.xml").body)]
    assert (len(parts), len(found)) == (3, 6)
    assert send_request(site, db, "part=7", path="/sitemap.xml").status == 404
    assert send_request(site, db, "part=x", path="/sitemap.xml").status == 400


def test_well_known_path_links_to_both_lists(db: Connection, site: PublishedSite) -> None:
    found = ElementTree.fromstring(send_request(site, db, path="/.well-known/resourcesync").body)
    (step,) = [place.text or "" for place in found.iter(SITEMAP + "loc")]
    lists = ElementTree.fromstring(send_request(site, db, path=urlsplit(step).path).body)
    assert [urlsplit(place.text or "").path for place in lists.iter(SITEMAP + "loc")] == [
        "/sitemap.xml",
        "/changes.xml",
    ]
    assert send_request(site, db, path="/.well-known/resourcesync/other").status == 404


def test_empty_site_has_empty_lists(db: Connection, site: PublishedSite) -> None:
    assert parse_listing(send_request(site, db, "LAST_VISIT=0").body) == []
    assert parse_listing(send_request(site, db, path="/sitemap.xml").body) == []


def test_other_methods_are_rejected(db: Connection, site: PublishedSite) -> None:
    assert build_response(site, db, ListingRequest("/changes.xml", method="POST"), NOW).status == 405


def test_special_characters_in_paths_are_escaped(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/%3Cscript%3E&'": 1})
    assert parse_listing(send_request(site, db, "LAST_VISIT=0").body)[0][0] == "/%3Cscript%3E&'"


def test_indexnow_key_file_is_served(db: Connection, site: PublishedSite) -> None:
    keyed = PublishedSite(site.base_url, site.state_file, indexnow_key="0123456789abcdef")
    assert is_publisher_path(keyed, "/0123456789abcdef.txt")
    assert not is_publisher_path(site, "/.txt")
    assert send_request(keyed, db, path="/0123456789abcdef.txt").body == b"0123456789abcdef\n"
