"""The whole crawler, with worker processes, against a server on loopback."""

from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import build_fetch_settings, parse_depth_limit, parse_seed
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl, validate_request
from sanderling.errors import CollectionError, UsageError
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import load_source_ids
from sanderling.storage.queries import CatalogRow, find_url_id, load_pages, load_skipped_urls, load_stored_record
from sanderling.urls import dust


def run_crawl(
    site: Site,
    folder: Path,
    *paths: str,
    limits: LimitSettings | None = None,
    scope: ScopeSettings | None = None,
    delay: float = 0.0,
) -> CrawlSummary:
    request = CrawlRequest(
        seeds=tuple(site.root + path for path in paths or ("/",)),
        scope=scope or ScopeSettings(sitemaps=False),
        limits=limits or LimitSettings(),
        politeness=PolitenessSettings(delay=delay, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2),
    )
    return crawl(folder, request)


def load_stored(folder: Path) -> dict[str, CatalogRow]:
    with open_collection_read_only(folder) as collection:
        return {row.url.split("/", 3)[3]: row for row in load_pages(collection.db)}


def load_reasons(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3]: row.reason for row in load_skipped_urls(collection.db)}


def test_every_page_is_fetched_and_stored_once(tmp_path: Path) -> None:
    with Site(tree(60)) as site:
        summary = run_crawl(site, tmp_path)
        assert (summary.finish_reason, summary.pages, summary.fetched, summary.failed) == ("done", 60, 60, 0)
        assert set(site.hits) == {"/robots.txt", *site.pages}
        assert max(site.hits.values()) == 1
        found = load_stored(tmp_path)
        assert found["p1"].depth == 1
        assert found["p9"].depth == 2
        with open_collection_read_only(tmp_path) as collection:
            id_ = find_url_id(collection.db, site.root + "/p9")
            assert load_stored_record(collection, id_, "p9").body == site.pages["/p9"].body
            assert [find_url_id(collection.db, site.root + "/p1")] == load_source_ids(collection.db, id_)


def test_new_session_sends_conditional_requests(tmp_path: Path) -> None:
    with Site(tree(20)) as site:
        run_crawl(site, tmp_path)
        site.pages["/p3"] = html("/", "/new", text="changed")
        site.pages["/new"] = html("/", text="new")
        again = run_crawl(site, tmp_path)
        assert (again.fetched, again.not_modified, again.pages) == (2, 19, 21)
        assert load_stored(tmp_path)["p3"].change_count == 1
        with open_collection_read_only(tmp_path) as collection:
            id_ = find_url_id(collection.db, site.root + "/p4")
            assert load_stored_record(collection, id_, "p4").body == site.pages["/p4"].body


def test_page_limit_is_exact_and_crawl_can_be_resumed(tmp_path: Path) -> None:
    with Site(tree(40)) as site:
        first = run_crawl(site, tmp_path, limits=LimitSettings(limit=15))
        assert (first.finish_reason, first.pages) == ("limit", 15)
        second = run_crawl(site, tmp_path, limits=LimitSettings(limit=15))
        assert (second.finish_reason, second.fetched) == ("limit", 0)
        rest = run_crawl(site, tmp_path)
        assert (rest.finish_reason, rest.fetched, rest.pages) == ("done", 25, 40)
        assert max(site.hits.values()) <= 1


def test_page_limit_counts_unchanged_pages(tmp_path: Path) -> None:
    with Site(tree(20)) as site:
        assert run_crawl(site, tmp_path).finish_reason == "done"
        again = run_crawl(site, tmp_path, limits=LimitSettings(limit=8))
        assert (again.finish_reason, again.not_modified, again.pages) == ("limit", 8, 20)
        assert run_crawl(site, tmp_path, limits=LimitSettings(limit=8)).not_modified == 0
        rest = run_crawl(site, tmp_path, limits=LimitSettings(limit=50))
        assert (rest.finish_reason, rest.not_modified) == ("done", 12)


def test_pages_above_host_limit_are_skipped_with_reason(tmp_path: Path) -> None:
    with Site(tree(40)) as site, Site(tree(5)) as other:
        site.pages["/"] = html("/gone", "/old", "/p1", "/p2", f"{other.root}/", text="root")
        site.pages["/old"] = redirect("/p1")
        scope = ScopeSettings(scope="any", sitemaps=False)
        summary = run_crawl(site, tmp_path, limits=LimitSettings(limit_per_host=6), scope=scope)
        assert (summary.finish_reason, summary.pages, summary.fetched) == ("done", 11, 11)
        found = load_reasons(tmp_path)
        assert {reason for url, reason in found.items() if url != "/gone"} == {"host_limit"}
        assert summary.skipped == len(found) - ("/gone" in found)
        again = run_crawl(site, tmp_path, limits=LimitSettings(limit_per_host=6), scope=scope)
        assert (again.pages, again.fetched, again.not_modified) == (11, 0, 11)
        more = run_crawl(site, tmp_path, limits=LimitSettings(limit_per_host=10), scope=scope)
        assert (more.pages, more.fetched) == (15, 4)
        assert run_crawl(site, tmp_path, scope=scope).pages == 24


def test_depth_limit_can_be_raised(tmp_path: Path) -> None:
    with Site(tree(40)) as site:
        assert run_crawl(site, tmp_path, limits=LimitSettings(depth="1")).pages == 9
        assert set(load_reasons(tmp_path).values()) == {"depth"}
        assert run_crawl(site, tmp_path, limits=LimitSettings(depth="-1")).pages == 40


def test_too_long_link_is_skipped_with_reason(tmp_path: Path) -> None:
    with Site({"/": html("/" + "a" * 3000, "/ok"), "/ok": html()}) as site:
        assert run_crawl(site, tmp_path).pages == 2
        (url,) = [url for url, reason in load_reasons(tmp_path).items() if reason == "too_long"]
        assert len(site.root + url) == 2084


def test_skip_reason_is_updated_with_rules(tmp_path: Path) -> None:
    with Site({"/": html("/a"), "/a": html("/b"), "/b": html()}) as site:
        run_crawl(site, tmp_path, limits=LimitSettings(depth="1"))
        assert load_reasons(tmp_path) == {"/b": "depth"}
        run_crawl(site, tmp_path, limits=LimitSettings(depth="1"), scope=ScopeSettings(sitemaps=False, exclude=("b$",)))
        assert load_reasons(tmp_path) == {"/b": "excluded"}


def test_shorter_path_found_later_admits_deeper_pages(tmp_path: Path) -> None:
    """The longer path to /c is found first and must not cut off /d."""
    site_pages = {
        "/": html("/a", "/direct"),
        "/a": html("/b"),
        "/b": html("/c"),
        "/c": html("/d"),
        "/direct": html("/c"),
        "/d": html(),
    }
    with Site(site_pages) as site:
        run_crawl(site, tmp_path, limits=LimitSettings(depth="3"))
        found = load_stored(tmp_path)
        assert {name: row.depth for name, row in found.items()} == {"": 0, "a": 1, "direct": 1, "b": 2, "c": 2, "d": 3}


def test_every_skipped_url_has_a_reason(tmp_path: Path) -> None:
    site_pages = {
        "/robots.txt": Page(b"User-agent: *\nDisallow: /private", headers={"Content-Type": "text/plain"}),
        "/": html("/private/x", "/a/a/a/a/a", "http://elsewhere.example/", "/gone", "/big.bin?x=1", "mailto:a@b.c"),
        "/big.bin?x=1": Page(b"x" * 5000, headers={"Content-Type": "application/octet-stream"}),
    }
    with Site(site_pages) as site:
        summary = run_crawl(site, tmp_path)
        found = load_reasons(tmp_path)
        assert found["/private/x"] == "robots"
        assert found["/a/a/a/a/a"] == "trap"
        assert found["/"] == "out_of_scope"
        assert (summary.pages, summary.failed) == (2, 1)
        assert "/private/x" not in site.hits


def test_redirects_are_stored_hop_by_hop(tmp_path: Path) -> None:
    with Site(
        {"/": redirect("/one"), "/one": redirect("/two", 301), "/two": html(text="end"), "/loop": redirect("/loop")}
    ) as site:
        run_crawl(site, tmp_path, "/", "/loop")
        found = load_stored(tmp_path)
        assert found[""].location.endswith("/one")
        assert (found["one"].status, found["two"].status) == (301, 200)
        assert load_reasons(tmp_path)["/loop"] == "too_many_redirects"


def test_redirect_chain_is_limited(tmp_path: Path) -> None:
    with Site({f"/r{n}": redirect(f"/r{n + 1}") for n in range(100)}) as site:
        run_crawl(site, tmp_path, "/r0")
        assert site.hits["/r20"] == 1
        assert site.hits["/r21"] == 0
        assert load_reasons(tmp_path)["/r20"] == "too_many_redirects"


def test_identical_body_is_stored_once(tmp_path: Path) -> None:
    with Site({"/": html("/a", "/b"), "/a": html(text="same"), "/b": html(text="same")}) as site:
        assert run_crawl(site, tmp_path).duplicates == 1
        found = load_stored(tmp_path)
        copy = found["a"] if found["a"].duplicate_of else found["b"]
        other = found["b"] if copy is found["a"] else found["a"]
        assert copy.duplicate_of == other.url
        with open_collection_read_only(tmp_path) as collection:
            assert load_stored_record(collection, copy.url_id, copy.url).body == site.pages["/a"].body


def test_crawl_delay_uses_one_connection(tmp_path: Path) -> None:
    with Site(tree(5)) as site:
        summary = run_crawl(site, tmp_path, delay=0.1)
        assert site.most_open == 1
        assert summary.seconds >= 0.5


@pytest.mark.usefixtures("soon_again")
def test_retry_after_is_followed_by_retries(tmp_path: Path) -> None:
    with Site(tree(6)) as site:
        site.pages["/p2"] = Page(b"later", 503, {"Retry-After": "1"})
        summary = run_crawl(site, tmp_path)
        assert site.hits["/p2"] == 4
        assert summary.pages == 5
        assert load_reasons(tmp_path)["/p2"] == "rate_limited"


def test_unreachable_robots_txt_blocks_host(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        site.pages["/robots.txt"] = Page(b"oops", 500)
        assert run_crawl(site, tmp_path).pages == 0
        assert set(site.hits) == {"/robots.txt"}
        assert site.hits["/robots.txt"] == 3
        assert load_reasons(tmp_path)["/"] == "robots_unreachable"


def test_localhost_subdomains_are_private(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        seed = site.root.replace("127.0.0.1", "shop.localhost") + "/"
        for allowed in (False, True):
            private = HttpSettings(allow_private=allowed)
            found = crawl(
                tmp_path, CrawlRequest(seeds=(seed,), politeness=PolitenessSettings(delay=0), fetching=private)
            )
            assert (found.pages, set(load_reasons(tmp_path).values())) == (
                (3, set()) if allowed else (0, {"private_address"})
            )


def test_private_addresses_are_blocked_by_default(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        summary = crawl(tmp_path, CrawlRequest((site.root + "/",), workers=WorkerSettings(workers=1)))
        assert summary.pages == 0
        assert not site.hits
        assert load_reasons(tmp_path)["/"] == "private_address"


def test_blocked_private_host_is_crawled_after_allow_private(tmp_path: Path) -> None:
    with Site(tree(9)) as site:
        crawl(tmp_path, CrawlRequest((site.root + "/",), workers=WorkerSettings(workers=1)))
        assert run_crawl(site, tmp_path).pages == 9


def test_private_host_is_blocked_again_without_allow_private(tmp_path: Path) -> None:
    with Site(tree(40)) as site:
        run_crawl(site, tmp_path, limits=LimitSettings(limit=5))
        before = sum(site.hits.values())
        summary = crawl(
            tmp_path,
            CrawlRequest((site.root + "/",), scope=ScopeSettings(sitemaps=False), workers=WorkerSettings(workers=1)),
        )
        assert sum(site.hits.values()) == before
        assert summary.seconds < len(site.pages)  # not with a crawl delay of a second each
        assert set(load_reasons(tmp_path).values()) == {"private_address"}


def test_site_that_was_down_is_crawled_by_next_run(tmp_path: Path) -> None:
    with Site(tree(9)) as site:
        site.pages["/robots.txt"] = Page(b"oops", 500)
        assert run_crawl(site, tmp_path).pages == 0
        del site.pages["/robots.txt"]
        assert run_crawl(site, tmp_path).pages == 9
        assert load_reasons(tmp_path) == {}


def test_page_no_longer_disallowed_is_fetched_in_next_session(tmp_path: Path) -> None:
    with Site({"/": html("/private/x"), "/private/x": html()}) as site:
        site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private", headers={"Cache-Control": "max-age=60"})
        assert run_crawl(site, tmp_path).pages == 1
        del site.pages["/robots.txt"]
        with open_collection(tmp_path) as collection:
            collection.db.execute("UPDATE hosts SET robots_until = 0")
        assert run_crawl(site, tmp_path).pages == 2


def test_queued_urls_out_of_new_scope_are_dropped(tmp_path: Path) -> None:
    with Site(tree(40)) as site:
        run_crawl(site, tmp_path, limits=LimitSettings(limit=5))
        run_crawl(site, tmp_path, scope=ScopeSettings(sitemaps=False, exclude=("/p[3-9]$",)))
        assert sum(site.hits[f"/p{number}"] for number in range(3, 10)) <= 4
        assert "excluded" in load_reasons(tmp_path).values()
        assert run_crawl(site, tmp_path).pages == 40


def test_short_outage_loses_no_page(tmp_path: Path) -> None:
    with Site(tree(40)) as site:
        run_crawl(site, tmp_path)
        port = site.server.server_port
    again = Site(site.pages, port=port)
    coordinators: list[Coordinator] = []

    def restart_site(_: object) -> None:
        (failures,) = coordinators[0].context.db.execute("SELECT max(failures) FROM hosts").fetchone()
        if failures and not again.thread.is_alive():
            again.__enter__()

    request = CrawlRequest(
        seeds=(site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0, backoff=12),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
    )
    summary = crawl(tmp_path, request, on_start=coordinators.append, on_tick=restart_site)
    again.__exit__()
    assert (summary.not_modified, summary.failed) == (40, 0)


def test_second_seed_extends_collection(tmp_path: Path) -> None:
    with Site(tree(5)) as first_site, Site(tree(7)) as second_site:
        run_crawl(first_site, tmp_path)
        assert run_crawl(second_site, tmp_path).pages == 12
        assert max(first_site.hits.values()) == 1


def test_redirect_target_of_seed_is_in_scope(tmp_path: Path) -> None:
    with Site(tree(9)) as new, Site({"/": redirect(new.root + "/")}, host="127.0.0.2") as old:
        assert run_crawl(old, tmp_path, limits=LimitSettings(limit=3)).pages == 3
        assert run_crawl(old, tmp_path).pages == 9
        old.pages["/"] = html("http://127.0.0.3/")
        run_crawl(old, tmp_path)
        assert load_reasons(tmp_path) == {"/": "out_of_scope"}


def test_prefix_scope_stays_in_directory(tmp_path: Path) -> None:
    with Site({"/docs/": html("/docs/a", "/other"), "/docs/a": html("/docs/"), "/other": html()}) as site:
        assert run_crawl(site, tmp_path, "/docs/", scope=ScopeSettings(scope="prefix")).pages == 2


def test_nofollow_link_is_followed_only_through_other_link(tmp_path: Path) -> None:
    page = Page(b"<a rel=nofollow href=/a>a</a><a rel=nofollow href=/b>b</a><a href=/c>c</a>")
    with Site({"/": page, "/a": html(), "/b": html(), "/c": html("/b")}) as site:
        run_crawl(site, tmp_path)
        assert site.hits["/a"] == 0
        assert site.hits["/b"] == 1
        assert load_reasons(tmp_path)["/a"] == "nofollow"


def test_session_id_is_stripped(tmp_path: Path) -> None:
    with Site({"/": html(f"/a?PHPSESSID={'0af' * 11}&x=1"), "/a?x=1": html()}) as site:
        assert run_crawl(site, tmp_path).pages == 2
        assert set(load_reasons(tmp_path).values()) == {"trap"}


def test_dust_rule_skips_duplicate_urls(tmp_path: Path) -> None:
    with Site({"/": html("/a?ref=1", "/a?ref=2"), "/a": html()}) as site:
        with open_collection(tmp_path) as collection:
            dust.save_rules(
                collection.db, [dust.DustRule(dust.get_site_name(site.root + "/"), dust.DustRuleKind.PARAMETER, "ref")]
            )
        assert run_crawl(site, tmp_path).pages == 2
        assert set(load_reasons(tmp_path).values()) == {"duplicate"}
        assert site.hits["/a"] == 1


def build_variant_site(*paths: str) -> Site:
    """Build a site whose pages have several URL variants."""
    return Site({"/": html(*paths)} | {path: html(text=path.partition("?")[0]) for path in paths})


def test_dust_rule_skips_known_variants_until_withdrawn(tmp_path: Path) -> None:
    with build_variant_site("/a?ref=1", "/a?ref=2", "/a", "/b?ref=1") as site:
        run_crawl(site, tmp_path)
        with open_collection(tmp_path) as collection:
            dust.save_rules(
                collection.db, [dust.DustRule(dust.get_site_name(site.root + "/"), dust.DustRuleKind.PARAMETER, "ref")]
            )
        run_crawl(site, tmp_path)
        assert (site.hits["/a"], site.hits["/a?ref=1"], site.hits["/a?ref=2"]) == (2, 1, 1)
        assert site.hits["/b?ref=1"] == 2  # its only stored variant
        with open_collection(tmp_path) as collection:
            dust.save_rules(collection.db, [])
        run_crawl(site, tmp_path)
        assert (site.hits["/a"], site.hits["/a?ref=1"], site.hits["/a?ref=2"]) == (3, 2, 2)


def test_one_of_many_url_variants_is_visited(tmp_path: Path) -> None:
    links = [f"/a?ref={number}" for number in range(9)]
    with build_variant_site(*links) as site:
        run_crawl(site, tmp_path, limits=LimitSettings(limit=4))
        with open_collection(tmp_path) as collection:
            dust.save_rules(
                collection.db, [dust.DustRule(dust.get_site_name(site.root + "/"), dust.DustRuleKind.PARAMETER, "ref")]
            )
        run_crawl(site, tmp_path)  # no page links to /a itself
        assert sum(site.hits[link] for link in links) == 4
        run_crawl(site, tmp_path)
        assert sum(site.hits[link] for link in links) == 5


def test_url_skipped_by_withdrawn_dust_rule_is_fetched(tmp_path: Path) -> None:
    with build_variant_site("/a?ref=1", "/a") as site:
        with open_collection(tmp_path) as collection:
            dust.save_rules(
                collection.db, [dust.DustRule(dust.get_site_name(site.root + "/"), dust.DustRuleKind.PARAMETER, "ref")]
            )
        run_crawl(site, tmp_path)
        assert site.hits["/a?ref=1"] == 0
        with open_collection(tmp_path) as collection:
            dust.save_rules(collection.db, [])
        run_crawl(site, tmp_path)
        assert site.hits["/a?ref=1"] == 1


def test_invalid_settings_raise_usage_error() -> None:
    assert parse_seed("Example.org").url == "https://example.org/"
    assert parse_seed("localhost:8000/a").url == "http://localhost:8000/a"
    assert parse_seed("127.0.0.1").url == "http://127.0.0.1/"
    assert parse_seed("[::1]:80").url == "http://[::1]/"
    assert parse_seed("localhost.example").url == "https://localhost.example/"
    assert parse_seed("http://intranet").url == "http://intranet/"
    with pytest.raises(UsageError, match="only http and https"):
        parse_seed("ftp://example.org/")
    with pytest.raises(UsageError, match="'list' is not a URL; if it is a host of your network, write http://list/"):
        parse_seed("list")
    for text in ("/path", "mailto:me@example.org", "", "http://"):
        with pytest.raises(UsageError):
            parse_seed(text)
    with pytest.raises(UsageError, match="is not a proxy URL"):
        build_fetch_settings(CrawlRequest((), fetching=HttpSettings(proxy="ftp://x")))
    with pytest.raises(UsageError, match="store no page"):
        build_fetch_settings(CrawlRequest((), fetching=HttpSettings(max_body=0)))
    with pytest.raises(UsageError, match="at most 500"):
        validate_request(CrawlRequest((), workers=WorkerSettings(workers=501)), is_new=True)
    for lease in (0.0, 2.0, 9.9):  # workers send a heartbeat every 2 s
        with pytest.raises(UsageError, match="--lease"):
            validate_request(CrawlRequest((), workers=WorkerSettings(lease=lease)), is_new=True)
    with pytest.raises(UsageError):
        parse_depth_limit("deep")
    assert (parse_depth_limit("3"), parse_depth_limit("-1"), parse_depth_limit("poisson:10")) == (3, -1, 19)


def test_empty_user_agent_uses_default() -> None:
    for name in ("", "  "):
        agent = build_fetch_settings(
            CrawlRequest((), politeness=PolitenessSettings(user_agent=name, contact="me@x.example"))
        ).user_agent
        assert agent.startswith("sanderling/")


def test_host_options_are_normalized() -> None:
    names = ("https://Example.org/", "b\u00fccher.example:8443", "[::1]:443", "10.0.0.1", "::1", "fe80::1")
    assert build_fetch_settings(CrawlRequest((), fetching=HttpSettings(insecure_host=names))).insecure_hosts == (
        "example.org", "xn--bcher-kva.example:8443", "::1:443", "10.0.0.1", "::1", "fe80::1",
    )  # fmt: skip
    asked = build_fetch_settings(CrawlRequest((), fetching=HttpSettings(basic_auth=("http://A.example=me:a=b/c",))))
    assert asked.basic_auth == {"a.example": "me:a=b/c"}
    for invalid in ("", "https://a.example/path", "a b", "me@a.example", "a:b:c"):
        with pytest.raises(UsageError, match="is not a host"):
            build_fetch_settings(CrawlRequest((), fetching=HttpSettings(insecure_host=(invalid,))))


@pytest.mark.parametrize("address", ["u:secret@h:1", "mysql://u:secret@h", "mysql://u:a/secret@b@h", "x//u:secret@h"])
def test_invalid_address_error_hides_password(address: str) -> None:
    for invalid, message in (
        (CrawlRequest((), fetching=HttpSettings(proxy=address)), r"u:\*\*\*@"),
        (CrawlRequest((), workers=WorkerSettings(store=address)), "--store: not the address of a database"),
    ):
        with pytest.raises(UsageError, match=message) as error:
            validate_request(invalid, is_new=True)
        assert "secret" not in str(error.value)


@pytest.mark.usefixtures("soon_again")
@pytest.mark.parametrize("login", ["me:pw@", "me:p%2Fw@", "me:p@w@"])
def test_proxy_password_is_not_stored(login: str, tmp_path: Path) -> None:
    with Site({}) as proxy:
        proxy_url = proxy.root.replace("://", f"://{login}")
        crawl(
            tmp_path,
            CrawlRequest(
                ("http://a.example/",),
                politeness=PolitenessSettings(delay=0, backoff=0.2),
                fetching=HttpSettings(proxy=proxy_url),
                workers=WorkerSettings(workers=1),
            ),
        )
    with open_collection_read_only(tmp_path) as collection:
        assert CollectionMeta(collection.db).settings["proxy"] == proxy.root


def test_collection_has_one_writer(tmp_path: Path) -> None:
    with open_collection(tmp_path), pytest.raises(CollectionError, match="in use by process"):
        open_collection(tmp_path)
