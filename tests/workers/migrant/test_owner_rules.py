"""No spelling of a path gets round what the owner says, and none that he means is refused."""

import pytest

from sanderling.workers.migrant.owner_rules import SiteRules, decode_path

SITE = "http://www.example"


@pytest.mark.parametrize(
    ("path", "read"),
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
def test_a_path_as_servers_read_it(path: str, read: str) -> None:
    assert decode_path(path) == read


def test_parameters_of_segments_are_cut_off_before_dots_are_resolved() -> None:
    assert decode_path("/public/..;a=1/private;b/x;c", drop_parameters=True) == "/private/x"


EDITS = ("/index.php?action=edit", "//index.php?action=edit", "/a/..%2findex.php?action=edit&x=1")


@pytest.mark.parametrize("path", EDITS)
def test_a_query_is_kept_back_however_its_path_is_spelled(path: str) -> None:
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
def test_a_prefix_is_meant_however_it_is_spelled(prefix: str, path: str) -> None:
    assert SiteRules(SITE, paths=(prefix,)).is_path_allowed(path)
    assert not SiteRules(SITE, paths=(prefix,)).is_path_allowed("/other" + path)
    assert not SiteRules(SITE, not_paths=(prefix,)).is_path_allowed(path)


@pytest.mark.parametrize(
    "path", ["/public/..;/private/x", "/public/..;v=1/private/x", "/private;v=1/x", "/private/%2E"]
)
def test_a_server_that_cuts_parameters_off_shows_nothing_that_is_kept_back(path: str) -> None:
    assert not SiteRules(SITE, not_paths=("/private/",)).is_path_allowed(path)
    assert not SiteRules(SITE, paths=("/public/",)).is_path_allowed(path)


def test_keeping_back_one_parameter_keeps_back_no_more() -> None:
    site = SiteRules(SITE, not_paths=("/a;v=1",))
    assert site.is_path_allowed("/a/x")
    assert site.is_path_allowed("/a;v=2")
    assert not site.is_path_allowed("/a;v=1/x")


def test_a_prefix_without_a_slash_means_nothing() -> None:
    assert not SiteRules(SITE, paths=("public",)).is_path_allowed("/x")
