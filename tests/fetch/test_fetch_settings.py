"""Validation of fetch settings."""

import pytest

from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("sanderling/0.1 (+https://x.test)", "sanderling"),
        ("Shore_Bot", "Shore_Bot"),
        ("a b/c", "a"),
        ("Mozilla/5.0 (compatible; ShoreBot/2.1; +https://x.test)", "ShoreBot"),
        ("Mozilla/5.0 (compatible;shore-bot)", "shore-bot"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"),
    ],
)
def test_product_token_of_user_agent(agent: str, token: str) -> None:
    assert FetchSettings(user_agent=agent).agent_token == token


def test_user_agent_with_line_break_is_refused() -> None:
    with pytest.raises(UsageError):
        FetchSettings(user_agent="sanderling\r\nHost: evil.test")


@pytest.mark.parametrize(
    "header", ["Content-Length: 5", "transfer-encoding: chunked", "Range: bytes=0-9", "If-None-Match: x", "Expect: x"]
)
def test_reserved_headers_are_refused(header: str) -> None:
    with pytest.raises(UsageError, match="--header"):
        FetchSettings(headers=("Accept-Language: de", header))


def test_user_agent_header_is_refused() -> None:
    with pytest.raises(UsageError, match="--user-agent"):
        FetchSettings(headers=("user-agent: shore",))
