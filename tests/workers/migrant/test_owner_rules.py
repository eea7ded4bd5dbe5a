"""Rules of the site owner: validation, hours, and paths in every way a web server may decode them."""

from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.workers.migrant.owner_rules import (
    OwnerRules,
    SiteRules,
    decode_path,
    is_within_hours,
    load_owner_rules,
)

SITE = "http://www.example"


@pytest.mark.parametrize(
    ("path", "decoded"),
    [
        ("/a", "/a"),
        ("/a/..%2fb?c=%65", "/b?c=e"),
        ("//a//b/", "/a/b/"),
        ("/a/%2e", "/a/"),
        ("/a/b\\..", "/a/"),
        ("/..;/a", "/..;/a"),
        ("/?", "/?"),
    ],
)
def test_path_is_decoded_like_by_web_servers(path: str, decoded: str) -> None:
    assert decode_path(path) == decoded


def test_path_parameters_are_removed_before_dots_are_resolved() -> None:
    assert decode_path("/public/..;a=1/private;b/x;c", drop_parameters=True) == "/private/x"


EDITS = ("/index.php?action=edit", "//index.php?action=edit", "/a/..%2findex.php?action=edit&x=1")


@pytest.mark.parametrize("path", EDITS)
def test_denied_query_applies_to_all_variants_of_its_path(path: str) -> None:
    assert not SiteRules(SITE, not_paths=("/index.php?action=edit",)).is_path_allowed(path)
    assert SiteRules(SITE, not_paths=("/index.php?action=edit",)).is_path_allowed(path.replace("edit", "view"))


@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        ("/list?page=", "/list?page=%20"),
        ("/caf%C3%A9/", "/caf%C3%A9/x"),
        ("/caf%c3%a9/", "/caf%C3%A9/x"),
        ("/café/", "/caf%C3%A9/x"),
        ("/%7Eanna/", "/~anna/x"),
        ("/a b/", "/a%20b/x"),
        ("/a;v=1/", "/a;v=1/x"),
    ],
)
def test_prefix_may_be_written_encoded_or_not(prefix: str, path: str) -> None:
    assert SiteRules(SITE, paths=(prefix,)).is_path_allowed(path)
    assert not SiteRules(SITE, paths=(prefix,)).is_path_allowed("/other" + path)
    assert not SiteRules(SITE, not_paths=(prefix,)).is_path_allowed(path)


@pytest.mark.parametrize(
    "path", ["/public/..;/private/x", "/public/..;v=1/private/x", "/private;v=1/x", "/private/%2E"]
)
def test_path_parameters_do_not_lead_to_denied_paths(path: str) -> None:
    assert not SiteRules(SITE, not_paths=("/private/",)).is_path_allowed(path)
    assert not SiteRules(SITE, paths=("/public/",)).is_path_allowed(path)


def test_denied_path_parameter_denies_only_that_parameter() -> None:
    site = SiteRules(SITE, not_paths=("/a;v=1",))
    assert site.is_path_allowed("/a/x")
    assert site.is_path_allowed("/a;v=2")
    assert not site.is_path_allowed("/a;v=1/x")


def test_prefix_without_a_slash_matches_nothing() -> None:
    assert not SiteRules(SITE, paths=("public",)).is_path_allowed("/x")


def test_range_of_hours_may_span_midnight() -> None:
    assert is_within_hours("0-24", 0.0)
    assert [hour for hour in range(24) if is_within_hours("22-6", hour * 3600.0)] == [0, 1, 2, 3, 4, 5, 22, 23]
    with pytest.raises(UsageError):
        is_within_hours("late", 0.0)


def test_rules_are_read_and_validated(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    file.write_text('name = "h:1"\n[[site]]\nsite = "https://www.example.org"\nhours = "1-2"')
    assert load_owner_rules(file) == OwnerRules("h:1", (SiteRules("https://www.example.org", hours="1-2"),))
    for text in (
        'name = "h:1"',
        'name = "h"\n[[site]]\nsite = "www.example.org"',
        'nam = 1\n[[site]]\nsite="http://a"',
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"host\.toml"):
            load_owner_rules(file)


SITES = ('[[site]]\nsite = "http://a.example"\n', '[[site]]\nsite = "http://b.example"\n')


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (SITES[0] + "pages_per_second = nan", "pages_per_second"),
        (SITES[0] + "pages_per_second = -3", "pages_per_second"),
        (SITES[0] + "pages_per_second = inf", "pages_per_second"),
        (SITES[0] + "connections = 0", "connections"),
        (SITES[0] + "max_pages = 0", "max_pages"),
        (SITES[0] + 'not_paths = ["private/"]', "private/"),
        (SITES[0] + 'root = "/no/such/folder"', "root"),
        (SITES[0] + 'hours = "20-25"', "hours"),
        ("max_concurrent_requests = -1\n" + SITES[0], "max_concurrent_requests"),
        ("max_request_bytes = 0\n" + SITES[0], "max_request_bytes"),
        (SITES[0] + SITES[1] + SITES[0], "twice"),
        ('[[site]]\nsite = "http://a.example:99999"', "write a site"),
    ],
)
def test_invalid_rule_is_reported_in_a_single_line(tmp_path: Path, rules: str, message: str) -> None:
    file = tmp_path / "host.toml"
    file.write_text('name = "h:1"\n' + "".join(SITES))
    assert len(load_owner_rules(file).site) == 2
    file.write_text('name = "h:1"\n' + rules)
    with pytest.raises(UsageError, match=message) as caught:
        load_owner_rules(file)
    assert "\n" not in str(caught.value)
