"""A client sets what is safe for it to set; values never become flags."""

import pytest

from sanderling.config.loader import load_all_settings
from sanderling.errors import UsageError
from sanderling.web.rest.crawl_jobs import JobKind
from sanderling.web.rest.crawl_options import SETTINGS_BY_KIND, CrawlOptions, build_flags, get_given_options

UNSAFE = {
    "allow_private", "ignore_robots", "proxy", "header", "basic_auth", "insecure_host", "cookies", "user_agent",
    "like_text", "access_log", "store", "archive", "key", "migrant", "migrant_ca", "pause_crawl", "address", "engine",
    "workers",    "judgments", "collection", "place",
}  # fmt: skip


def test_every_setting_exists_and_none_is_unsafe() -> None:
    offered = {name for names in SETTINGS_BY_KIND.values() for name in names}
    assert offered <= set(load_all_settings())
    assert not offered & UNSAFE


def test_flags_contain_their_values() -> None:
    options = {"limit": 5, "sitemaps": False, "requisites": True, "include": ["--clean", "a b"], "delay": "1s"}
    assert build_flags(options) == [
        "--limit=5", "--no-sitemaps", "--requisites", "--include=--clean", "--include=a b", "--delay=1s"
    ]  # fmt: skip


def test_limits_have_defaults_that_can_be_lifted() -> None:
    assert get_given_options(CrawlOptions(), JobKind.CRAWL) == {"limit": 10_000, "time_limit": 86_400}
    assert get_given_options(CrawlOptions(limit=0), JobKind.REFRESH)["limit"] == 0
    assert get_given_options(CrawlOptions(), JobKind.WATCH) == {}
    with pytest.raises(UsageError, match="has no setting 'scope'"):
        get_given_options(CrawlOptions(scope="any"), JobKind.CHECK_WATCHES)
