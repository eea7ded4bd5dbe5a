"""Crawl scope."""

import msgspec
import pytest

from sanderling.errors import UsageError
from sanderling.models import Reason, Url
from sanderling.urls.scope import Scope, ScopeRule, add_seed, build_scope_rule, can_sitemap_list, check_scope, get_site

SEED = Url("https://www.example.co.uk/docs/start.html")


@pytest.mark.parametrize(
    ("scope", "url", "inside"),
    [
        (Scope.PAGE, SEED, True),
        (Scope.PAGE, "https://www.example.co.uk/docs/other.html", False),
        (Scope.PREFIX, "https://www.example.co.uk/docs/deep/other.html", True),
        (Scope.PREFIX, "http://example.co.uk/docs/other.html?q=/", True),
        (Scope.PREFIX, "https://www.example.co.uk/docs-old/", False),
        (Scope.PREFIX, "https://www.example.co.uk/", False),
        (Scope.HOST, "http://example.co.uk/elsewhere", True),
        (Scope.HOST, "https://www.example.co.uk:8443/", False),
        (Scope.HOST, "https://blog.example.co.uk/", False),
        (Scope.DOMAIN, "http://blog.example.co.uk:8080/", True),
        (Scope.DOMAIN, "https://other.co.uk/", False),
        (Scope.ANY, "http://anything.example/", True),
    ],
)
def test_scope_accepts_urls_by_its_kind(scope: Scope, url: str, inside: bool) -> None:
    expected = Reason.NONE if inside else Reason.OUT_OF_SCOPE
    assert check_scope(build_scope_rule([SEED], scope), url) is expected


def test_several_seeds_share_a_scope() -> None:
    rule = build_scope_rule([SEED, Url("http://127.0.0.1:8000/")])
    assert check_scope(rule, "http://127.0.0.1:8000/a") is Reason.NONE
    assert check_scope(rule, "http://127.0.0.1:8001/a") is Reason.OUT_OF_SCOPE
    assert check_scope(rule, "http://example.co.uk/") is Reason.NONE


def test_redirect_target_of_a_seed_is_in_scope() -> None:
    rule = add_seed(build_scope_rule([SEED]), Url("https://example.net/"))
    assert check_scope(rule, "https://example.net/a") is Reason.NONE


def test_include_narrows_and_exclude_wins() -> None:
    rule = build_scope_rule([SEED], include=[r"/docs/"], exclude=[r"\.pdf$"])
    assert check_scope(rule, "https://example.co.uk/docs/a") is Reason.NONE
    assert check_scope(rule, "https://example.co.uk/blog/a") is Reason.OUT_OF_SCOPE
    assert check_scope(rule, "https://example.co.uk/docs/a.pdf") is Reason.EXCLUDED


def test_seed_ignores_include_but_not_exclude() -> None:
    assert check_scope(build_scope_rule([SEED], include=["/blog/"]), SEED) is Reason.NONE
    assert check_scope(build_scope_rule([SEED], exclude=["start"]), SEED) is Reason.EXCLUDED


def test_long_url_is_rejected() -> None:
    assert check_scope(build_scope_rule([SEED], length_limit=50), SEED + "x" * 20) is Reason.TOO_LONG


def test_invalid_pattern_is_rejected() -> None:
    with pytest.raises(UsageError, match="not a valid regular expression"):
        build_scope_rule([SEED], include=["("])


def test_www_is_kept_if_it_is_the_domain() -> None:
    assert get_site("http://www.com/") == "www.com"
    assert get_site("https://www.example.org:81/a") == "example.org:81"


def test_scope_rule_can_be_serialized() -> None:
    rule = build_scope_rule([SEED], include=["a"])
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(rule), type=ScopeRule) == rule


def test_sitemap_may_list_urls_of_its_own_site() -> None:
    sitemap = "http://www.example.org/deep/sitemap.xml"
    assert can_sitemap_list("https://example.org/other", sitemap)
    assert not can_sitemap_list("https://other.example.org/", sitemap)
    assert not can_sitemap_list("http://www.example.org:8080/", sitemap)


def test_prefix_scope_with_200000_seeds() -> None:
    seeds = [Url(f"https://h{number % 1000}.org/d{number}/x") for number in range(200_000)]
    rule = build_scope_rule(seeds, Scope.PREFIX)
    assert check_scope(rule, "https://h7.org/d7/deep/er") is Reason.NONE
    assert check_scope(rule, "https://h7.org/d8/x") is Reason.OUT_OF_SCOPE
    assert len(rule.seeds) == 200_000
