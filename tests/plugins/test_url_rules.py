"""URL filters of plugins reject URLs with a reason, and reject when they fail."""

import pytest
from tests.support.plugins import Install

from sanderling.errors import UsageError
from sanderling.frontier.url_filter import UrlFilter
from sanderling.models import Reason, Url, UrlSource
from sanderling.plugins.url_rules import find_rule_rejection, load_url_rules
from sanderling.urls.scope import build_scope_rule


def reject_print(url: str, depth: int) -> str:
    return f"print\n version at {depth}" if "print" in url else ""


def fail(url: str, depth: int) -> str:
    raise ValueError(f"unexpected {url}")


def test_first_filter_that_rejects_is_named() -> None:
    rules = (("a", reject_print), ("b", lambda url, depth: "never"))
    assert find_rule_rejection(rules, "https://a/print", 2) == "a: print version at 2"
    assert find_rule_rejection(rules, "https://a/", 2) == "b: never"
    assert find_rule_rejection(rules[:1], "https://a/", 2) == ""


def test_filter_that_fails_rejects() -> None:
    detail = find_rule_rejection((("broken", fail),), "https://a/", 0)
    assert detail == "broken: failed with ValueError: unexpected https://a/"
    assert len(find_rule_rejection((("broken", fail),), "https://a/" + "b" * 1000, 0)) == 200


def test_rejection_is_stored_with_the_url() -> None:
    seed = Url("https://a.example/")
    scope = build_scope_rule([seed])
    url_filter = UrlFilter(scope, plugin_rules=(("no-print", reject_print),))

    def find(url: str) -> tuple[Reason, str]:
        return url_filter.find_rejection(Url(url), 1, UrlSource.LINK, nofollow=False, now=0.0)

    assert find("https://a.example/print") == (Reason.EXCLUDED, "no-print: print version at 1")
    assert find("https://a.example/page") == (Reason.NONE, "")
    assert find("https://b.example/print")[0] is Reason.OUT_OF_SCOPE


def test_filter_is_loaded_by_name(install: Install) -> None:
    install("[sanderling.url_filters]\nshort = example_plugin_module:reject\n", "def reject(url, depth): return 'no'")
    ((name, rule),) = load_url_rules(["short"])
    assert (name, rule("https://a/", 1)) == ("short", "no")
    with pytest.raises(UsageError, match="twice"):
        load_url_rules(["short", "short"])
