"""How a migrant behaves on its way."""

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
def test_robots_txt_knows_us_by_the_product_token(agent: str, token: str) -> None:
    assert FetchSettings(user_agent=agent).agent_token == token


def test_a_user_agent_is_one_line() -> None:
    with pytest.raises(UsageError):
        FetchSettings(user_agent="sanderling\r\nHost: evil.test")


@pytest.mark.parametrize(
    "header", ["Content-Length: 5", "transfer-encoding: chunked", "Range: bytes=0-9", "If-None-Match: x", "Expect: x"]
)
def test_no_header_makes_a_request_another_one(header: str) -> None:
    with pytest.raises(UsageError, match="--header"):
        FetchSettings(headers=("Accept-Language: de", header))


def test_a_user_agent_is_said_where_robots_txt_is_read_by_it() -> None:
    with pytest.raises(UsageError, match="--user-agent"):
        FetchSettings(headers=("user-agent: shore",))
