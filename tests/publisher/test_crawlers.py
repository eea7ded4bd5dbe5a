"""Tests of recognizing bots and verifying crawlers."""

import pytest

from sanderling.publisher.crawlers import get_claimed_name, is_bot, is_verified_crawler

PEOPLE = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Linux; Android 9; CUBOT NOTE 7) AppleWebKit/537.36 Chrome/100.0 Mobile Safari/537.36",
    "Opera/9.80 (X11; Linux i686) Presto/2.12.388 Version/12.16",
    "Lynx/2.9.0dev.12 libwww-FM/2.14",
]
MACHINES = [
    "",
    "-",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36",
    "curl/8.5.0",
    "Wget/1.21",
    "python-requests/2.32",
    "Scrapy/2.11 (+https://scrapy.org)",
    "sanderling/0.1.0 (+contact)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36",
    "facebookexternalhit/1.1",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
]


@pytest.mark.parametrize("agent", PEOPLE[:-1])
def test_browsers_are_not_bots(agent: str) -> None:
    assert not is_bot(agent)
    assert get_claimed_name(agent) == ""


@pytest.mark.parametrize("agent", MACHINES)
def test_bots_are_recognized(agent: str) -> None:
    assert is_bot(agent)
    assert get_claimed_name(agent) != ""


def resolve_test_names(address: str) -> list[str]:
    return {"66.249.66.1": ["crawl-66-249-66-1.googlebot.com"], "6.6.6.6": ["googlebot.com.evil.example"]}.get(
        address, []
    )


def resolve_test_addresses(name: str) -> list[str]:
    return {"crawl-66-249-66-1.googlebot.com": ["66.249.66.1"]}.get(name, [])


def test_crawler_is_verified_by_reverse_and_forward_dns() -> None:
    assert is_verified_crawler(MACHINES[2], "66.249.66.1", resolve_test_names, resolve_test_addresses)


def test_forged_crawler_is_not_verified() -> None:
    assert not is_verified_crawler(MACHINES[2], "6.6.6.6", resolve_test_names, resolve_test_addresses)
    assert not is_verified_crawler(MACHINES[2], "203.0.113.9", resolve_test_names, resolve_test_addresses)
    assert not is_verified_crawler(MACHINES[4], "66.249.66.1", resolve_test_names, resolve_test_addresses)
    assert not is_verified_crawler(MACHINES[2], "66.249.66.1", resolve_test_names, lambda name: ["1.2.3.4"])


def test_unknown_crawlers_are_not_looked_up() -> None:
    def fail_lookup(_: str) -> list[str]:
        raise AssertionError("the resolver was asked")

    assert not is_verified_crawler(PEOPLE[0], "203.0.113.9", fail_lookup, fail_lookup)
    assert not is_verified_crawler(MACHINES[4], "203.0.113.9", fail_lookup, fail_lookup)
    assert not is_verified_crawler(MACHINES[2], "", fail_lookup, fail_lookup)
