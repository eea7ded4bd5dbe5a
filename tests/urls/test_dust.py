"""DUST rules."""

import msgspec
import pytest

from sanderling.db.schema.storage import RENAMED_BLOB_KEYS
from sanderling.db.stored_keys import rename_value_keys
from sanderling.urls.dust import DustRule, DustRuleKind, DustSample, learn_rules, parse_rules, rewrite_url


def build_samples(variants: list[str], count: int = 40) -> list[DustSample]:
    """Return samples of each page under several URL variants; {n} is its number."""
    return [DustSample(variant.format(n=n), f"body {n}".encode()) for n in range(count) for variant in variants]


def get_kinds(found: list[DustRule]) -> set[tuple[DustRuleKind, str]]:
    return {(rule.kind, rule.name) for rule in found}


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        (["http://a.org/p?id={n}", "http://a.org/p?id={n}&sid=9"], (DustRuleKind.PARAMETER, "sid")),
        (["http://a.org/p?id={n}&ref=x", "http://a.org/p?id={n}&ref=y"], (DustRuleKind.PARAMETER, "ref")),
        (["http://a.org/p?x={n}&y=2", "http://a.org/p?y=2&x={n}"], (DustRuleKind.PARAMETER_ORDER, "")),
        (["http://a.org/p/{n}", "http://www.a.org/p/{n}"], (DustRuleKind.WWW, "")),
        (["http://a.org/p/{n}/", "http://a.org/p/{n}/index.html"], (DustRuleKind.INDEX, "index.html")),
        (["http://a.org/p/{n}", "http://a.org/p/{n}/"], (DustRuleKind.SLASH, "")),
        (["http://a.org/p/{n}", "http://a.org/P/{n}"], (DustRuleKind.CASE, "")),
        (["http://a.org/p/{n}", "https://a.org/p/{n}"], (DustRuleKind.SCHEME, "")),
    ],
)
def test_irrelevant_part_of_a_url_is_learned(variants: list[str], expected: tuple[DustRuleKind, str]) -> None:
    found = learn_rules(build_samples(variants))
    assert get_kinds(found) == {expected}
    assert found[0].support_count >= 3
    first, second = (rewrite_url(variant.format(n=7), found) for variant in variants)
    assert first == second


def test_relevant_parameter_is_not_learned() -> None:
    assert learn_rules(build_samples(["http://a.org/p?id={n}"])) == []


def test_parameter_that_changes_some_pages_is_not_dropped() -> None:
    found = build_samples(["http://a.org/p?id={n}", "http://a.org/p?id={n}&page=2"])
    mixed = [
        DustSample(p.url, p.content + (b"!" if "page" in p.url and i % 10 == 1 else b"")) for i, p in enumerate(found)
    ]
    assert learn_rules(mixed) == []


def test_reordered_parameter_is_not_dropped() -> None:
    found = learn_rules(build_samples(["http://a.org/p/{n}?x=1&y={n}", "http://a.org/p/{n}?y={n}&x=1"]))
    assert get_kinds(found) == {(DustRuleKind.PARAMETER_ORDER, "")}
    assert rewrite_url("http://a.org/p/7?y=7&x=1&x=0", found) == "http://a.org/p/7?x=1&x=0&y=7"


def test_parameter_that_selects_pages_on_one_path_is_not_dropped() -> None:
    ignored = build_samples(["http://a.org/p/{n}", "http://a.org/p/{n}?ref={n}"], count=300)
    assert get_kinds(learn_rules(ignored)) == {(DustRuleKind.PARAMETER, "ref")}
    assert (
        learn_rules(ignored + [DustSample(f"http://a.org/go?ref={n}", f"page {n}".encode()) for n in range(20)]) == []
    )


def test_two_different_pages_reject_a_rule() -> None:
    ignored = build_samples(["http://a.org/p/{n}", "http://a.org/p/{n}?ref={n}"], count=600)
    first = DustSample("http://a.org/go?ref=a", b"one", bytes(8))
    assert learn_rules([*ignored, first, DustSample("http://a.org/go?ref=b", b"two", b"\xff" * 8)]) == []
    assert get_kinds(
        learn_rules([*ignored, first, DustSample("http://a.org/go?ref=b", b"two", b"\0" * 7 + b"\7")])
    ) == {(DustRuleKind.PARAMETER, "ref")}


def test_pages_with_the_same_content_count_once() -> None:
    empty = [
        DustSample(f"http://a.org/day/{n}?view={view}", b"No events.") for n in range(40) for view in ("list", "map")
    ]
    assert learn_rules(empty) == []


def test_rule_needs_minimum_support() -> None:
    assert learn_rules(build_samples(["http://a.org/p/{n}", "http://a.org/p/{n}/"], count=3)) == []


def test_more_frequent_variant_of_a_site_is_preferred() -> None:
    frequent = [DustSample(f"http://www.a.org/q/{n}", str(n).encode()) for n in range(100)]
    (rule,) = learn_rules(build_samples(["http://a.org/p/{n}", "http://www.a.org/p/{n}"]) + frequent)
    assert rule.prefers_longer
    assert rewrite_url("http://a.org/x", [rule]) == "http://www.a.org/x"


def test_rules_apply_to_their_own_site_only() -> None:
    (rule,) = learn_rules(build_samples(["http://a.org/p/{n}", "http://a.org/p/{n}/"]))
    assert rewrite_url("http://b.org/x/", [rule]) == "http://b.org/x/"
    assert rewrite_url("http://a.org/x/", [rule]) == "http://a.org/x"
    assert rewrite_url("http://a.org/x/", []) == "http://a.org/x/"


def test_slash_rule_keeps_the_root_and_skips_files() -> None:
    assert rewrite_url("http://a.org/", [DustRule("a.org", DustRuleKind.SLASH)]) == "http://a.org/"
    assert (
        rewrite_url("http://a.org/x.pdf", [DustRule("a.org", DustRuleKind.SLASH, prefers_longer=True)])
        == "http://a.org/x.pdf"
    )


def test_urls_that_differ_in_two_ways_are_learned_in_rounds() -> None:
    variants = ["http://a.org/p/{n}/", "http://a.org/p/{n}/index.html"]
    later = ["http://www.a.org/p/{n}/index.html", "http://a.org/p/{n}/?sid=4"]
    rules = learn_rules(build_samples(variants) + build_samples(later))
    assert get_kinds(rules) == {
        (DustRuleKind.INDEX, "index.html"),
        (DustRuleKind.WWW, ""),
        (DustRuleKind.PARAMETER, "sid"),
    }
    assert rewrite_url("http://www.a.org/p/7/index.html?sid=1", rules) == rewrite_url("http://a.org/p/7/", rules)


@pytest.mark.parametrize(
    ("rules", "url", "rewritten"),
    [
        (["case", "index", "slash"], "http://x.org/A/Index.HTML", "http://x.org/a"),
        (["case", "index", "slash"], "http://x.org/A/?Q=B/", "http://x.org/a?Q=B/"),
        (["index"], "http://x.org/index.php?p=1", "http://x.org/?p=1"),
        (["case", "index", "slash"], "http://x.org/", "http://x.org/"),
        (["index"], "http://x.org/my-index.html", "http://x.org/my-index.html"),
        (["index=home.html"], "http://x.org/a/home.html", "http://x.org/a/"),
        (["parameter=sid", "scheme", "www"], "http://www.x.org/p?sid=1&id=2", "https://x.org/p?id=2"),
    ],
)
def test_user_rules_rewrite_urls(rules: list[str], url: str, rewritten: str) -> None:
    assert rewrite_url(url, [rule for text in rules for rule in parse_rules("x.org", text)]) == rewritten


@pytest.mark.parametrize("text", ["", "slashes", "slash=1", "parameter", "parameter=", "index="])
def test_invalid_rule_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is not a URL rule; use one of slash, case"):
        parse_rules("x.org", text)


def test_rules_stored_under_the_first_field_names_are_migrated() -> None:
    stored = {"site": "a.org", "kind": "slash", "name": "", "keep": True, "agreed": 5, "disagreed": 1}
    rule = DustRule("a.org", DustRuleKind.SLASH, prefers_longer=True, support_count=5, conflict_count=1)
    migrated = rename_value_keys(msgspec.msgpack.encode([stored]), RENAMED_BLOB_KEYS["dust"])
    assert msgspec.msgpack.decode(migrated, type=list[DustRule]) == [rule]
