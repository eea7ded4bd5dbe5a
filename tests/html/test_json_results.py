"""Results of forms that answer with JSON."""

import json

import pytest

from sanderling.html.form_fields import unpack_form_page
from sanderling.html.json_results import pack_json_page

ITEMS = [{"id": 1, "name": "Lamp", "tags": ["a", "b"]}, {"id": 2, "name": "Desk", "tags": []}]


@pytest.mark.parametrize(
    ("document", "total", "following"),
    [
        ({"count": 12, "items": ITEMS, "next": "/api?page=2"}, 12, "/api?page=2"),
        ({"data": {"results": ITEMS, "totalCount": 7}, "links": {"next": {"href": "/p/2"}}}, 7, "/p/2"),
        (ITEMS, 0, ""),
        ({"items": ITEMS, "next": None, "total": "many"}, 0, ""),
    ],
)
def test_records_total_and_next_page(document: object, total: int, following: str) -> None:
    page = unpack_form_page(pack_json_page(json.dumps(document).encode()))
    assert page.records == ["1 Lamp a b", "2 Desk "]
    assert (page.total, page.next_url) == (total, following)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"7", b'{"a": {}}'])
def test_other_documents_have_no_records(body: bytes) -> None:
    assert unpack_form_page(pack_json_page(body)).records == []
