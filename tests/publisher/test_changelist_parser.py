"""Tests of parsing the lists that the publisher writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.publisher.conftest import NOW, publish

from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.changelist_parser import (
    ListedChange,
    build_changelist_url,
    find_changelist_in_document,
    find_changelist_in_header,
    parse_changelist,
)
from sanderling.publisher.discovery import build_link_header
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.responses import ListingRequest, build_response
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection

HOME = "https://example.org/changes.xml"


def fetch(site: PublishedSite, db: Connection, url: str) -> bytes:
    path, _, query = url.removeprefix("https://example.org").partition("?")
    return build_response(site, db, ListingRequest(path, query), NOW + 3_600_000).body


def test_list_is_read_completely_and_continued_at_until(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {f"/{n}&": n for n in range(7)})
    write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/3&"}), NOW)
    url: str | None = build_changelist_url(HOME, "0") + "&limit=3"
    changes: list[ListedChange] = []
    while url:
        found = parse_changelist(fetch(site, db, url), url)
        changes += found.changes
        url = found.next_url
    assert [change.url for change in changes][:2] == ["https://example.org/6&", "https://example.org/5&"]
    assert (changes[-1].url, changes[-1].change_type) == ("https://example.org/3&", "deleted")
    assert found.until is not None
    assert parse_changelist(fetch(site, db, build_changelist_url(HOME, found.until)), HOME).changes == ()
    publish(db, site, {"/6&": 0}, NOW + 5)
    again = parse_changelist(fetch(site, db, build_changelist_url(HOME, found.until, 0.5)), HOME).changes
    assert again == (ListedChange("https://example.org/6&", "updated", 1.0, NOW),)


def test_list_is_found_by_header_sitemap_and_well_known_path(db: Connection, site: PublishedSite) -> None:
    assert find_changelist_in_header(build_link_header(site), "https://example.org/page") == HOME
    assert find_changelist_in_header('</changes.xml>; rel=changes, </x>; rel="y"', "https://example.org/a/b") == HOME
    assert find_changelist_in_document(fetch(site, db, "/sitemap.xml"), "https://example.org/sitemap.xml") == HOME
    assert find_changelist_in_document(fetch(site, db, "/.well-known/resourcesync"), "https://example.org/") == HOME


@pytest.mark.parametrize(
    "link", ["", "<", "<>;rel=changes", '<https://evil.example/c>; rel="changes"', "<http://[>; rel=changes"]
)
def test_link_header_without_own_change_list_is_ignored(link: str) -> None:
    assert find_changelist_in_header(link, "https://example.org/") is None


def test_pages_of_other_sites_are_ignored() -> None:
    body = b"<urlset><url><loc>https://evil.example/</loc></url><url><loc>/a</loc><priority>9</priority></url></urlset>"
    assert parse_changelist(body, HOME).changes == (ListedChange("https://example.org/a", "", None, None),)


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_accepted(body: bytes) -> None:
    parse_changelist(b"<rs:md capability='changelist' until='x'/><url><loc>" + body + b"</loc></url>", HOME)
    find_changelist_in_document(b"<rs:ln rel='changes' href='" + body + b"'/>", HOME)


def test_hostile_list_takes_linear_time() -> None:
    assert parse_changelist(b"<url>" * 200_000, HOME).changes == ()
    assert parse_changelist(b"<rs:md " * 20_000 + b"<rs:ln " * 20_000, HOME).until is None
