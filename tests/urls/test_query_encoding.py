"""Queries are percent-encoded as by the encoders of the WHATWG Encoding Standard (expected values from Chromium)."""

import pytest

from sanderling.urls.normalize import resolve_url
from sanderling.urls.query_encoding import encode_query

URL = "http://x/?q="


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("euc-jp", "検索", "%B8%A1%BA%F7"),
        ("euc-jp", "¡¢é", "%26%23161%3B%26%23162%3B%26%23233%3B"),  # not JIS X 0212, not JIS X 0208 of Python
        ("euc-jp", "①ｱ¥‾−", "%AD%A1%8E%B1\\~%A1%DD"),
        ("euc-jp", "髙", "%FC%E2"),
        ("shift_jis", "検索", "%8C%9F%8D%F5"),
        ("shift_jis", "¢ⅰ①ｱ", "%26%23162%3B%FA@%87@%B1"),
        ("shift_jis", "¥‾−\ue000", "\\~%81|%26%2357344%3B"),
        ("iso-2022-jp", "検索", "%1B$B8!:w%1B(B"),
        ("iso-2022-jp", "ｱﾞ№", "%1B$B%%22!+-b%1B(B"),
        ("big5", "檢索", "%C0%CB%AF%C1"),
        ("big5", "¢¯Ł", "%26%23162%3B%A1%C2%26%23321%3B"),
        ("big5", "十卅═猪␀", "%A4Q%A4%CA%F9%F9%FER%A3%C0"),
        ("gbk", "检索€", "%BC%EC%CB%F7%80"),
        ("gbk", "ḿ龴︐\ue5e5😀", "%A8%BC%FEY%A6%D9%26%2358853%3B%26%23128512%3B"),
        ("gb18030", "😀", "%949%FC6"),
        ("euc-kr", "검색", "%B0%CB%BB%F6"),
        ("windows-874", "ไทย", "%E4%B7%C2"),
    ],
)
def test_query_is_encoded_as_in_browsers(encoding: str, text: str, expected: str) -> None:
    assert encode_query(URL + text, encoding, 1000) == URL + expected
    resolved = resolve_url("http://x/", URL + text, encoding)
    assert resolved is not None
    assert resolved.request_url == URL + expected


def test_only_the_query_is_encoded() -> None:
    assert encode_query("http://x/検?検#検", "shift_jis", 1000) == "http://x/検?%8C%9F#検"
    assert encode_query("http://x/検?検", "utf-8", 1000) == "http://x/検?検"
    assert encode_query("http://x/?検索", "shift_jis", 5) == "http://x/?検索"
