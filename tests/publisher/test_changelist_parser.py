"""The crawler's half reads what the site's half writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.publisher.conftest import NOW, publish

from sanderling.publisher.change_log import Batch, record
from sanderling.publisher.changelist_parser import Change, named_by_document, named_by_header, question, read_list
from sanderling.publisher.discovery import link_header
from sanderling.publisher.published_site import Site
from sanderling.publisher.responses import Ask, answer
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection

HOME = "https://example.org/changes.xml"


def fetch(site: Site, db: Connection, url: str) -> bytes:
    path, _, query = url.removeprefix("https://example.org").partition("?")
    return answer(site, db, Ask(path, query), NOW + 3_600_000).body


def test_a_list_is_read_to_its_end_and_continued_from_where_it_ended(db: Connection, site: Site) -> None:
    publish(db, site, {f"/{n}&": n for n in range(7)})
    record(db, site, Rules(), Batch(gone={"/3&"}), NOW)
    url: str | None = question(HOME, "0") + "&limit=3"
    changes: list[Change] = []
    while url:
        found = read_list(fetch(site, db, url), url)
        changes += found.changes
        url = found.next
    assert [change.url for change in changes][:2] == ["https://example.org/6&", "https://example.org/5&"]
    assert (changes[-1].url, changes[-1].change) == ("https://example.org/3&", "deleted")
    assert found.until is not None
    assert read_list(fetch(site, db, question(HOME, found.until)), HOME).changes == ()
    publish(db, site, {"/6&": 0}, NOW + 5)
    again = read_list(fetch(site, db, question(HOME, found.until, 0.5)), HOME).changes
    assert again == (Change("https://example.org/6&", "updated", 1.0, NOW),)


def test_the_list_is_found_by_header_sitemap_and_well_known_path(db: Connection, site: Site) -> None:
    assert named_by_header(link_header(site), "https://example.org/page") == HOME
    assert named_by_header('</changes.xml>; rel=changes, </x>; rel="y"', "https://example.org/a/b") == HOME
    assert named_by_document(fetch(site, db, "/sitemap.xml"), "https://example.org/sitemap.xml") == HOME
    assert named_by_document(fetch(site, db, "/.well-known/resourcesync"), "https://example.org/") == HOME


@pytest.mark.parametrize(
    "link", ["", "<", "<>;rel=changes", '<https://evil.example/c>; rel="changes"', "<http://[>; rel=changes"]
)
def test_a_header_that_names_no_list_of_this_site_is_none(link: str) -> None:
    assert named_by_header(link, "https://example.org/") is None


def test_pages_of_other_sites_are_not_believed() -> None:
    body = b"<urlset><url><loc>https://evil.example/</loc></url><url><loc>/a</loc><priority>9</priority></url></urlset>"
    assert read_list(body, HOME).changes == (Change("https://example.org/a", "", None, None),)


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(body: bytes) -> None:
    read_list(b"<rs:md capability='changelist' until='x'/><url><loc>" + body + b"</loc></url>", HOME)
    named_by_document(b"<rs:ln rel='changes' href='" + body + b"'/>", HOME)


def test_a_hostile_list_takes_no_time() -> None:
    assert read_list(b"<url>" * 200_000, HOME).changes == ()
    assert read_list(b"<rs:md " * 20_000 + b"<rs:ln " * 20_000, HOME).until is None
