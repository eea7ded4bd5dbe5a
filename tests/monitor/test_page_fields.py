import json
from types import SimpleNamespace
from typing import Any

import pytest

from sanderling.errors import UsageError
from sanderling.monitor.page_fields import extract_fields, list_field_texts, merge_field_texts, parse_field_definitions

PAGE = b"""<html><head><base href="/b/"><meta property="og:title" content="Storm lamp">
<script type="application/ld+json">{"@type": "Product", "name": "Lamp", "offers": {"price": 12.5}}</script></head>
<body><h1>Lamp</h1><p class="price">EUR 1.299,00</p><a class="next" href="x?a=1">next</a>
<ul><li class="tag">oil</li><li class="tag">brass</li></ul><time datetime="2026-11-15T08:00:00Z">today</time>
<span class="day">15 November 2026</span><p>SKU: 0077</p></body></html>"""


def extract(definition: str, body: bytes = PAGE, mime: str = "text/html; charset=utf-8") -> object:
    record: Any = SimpleNamespace(body=body, get_header=lambda _name: mime)
    (value,) = extract_fields(record, "https://example.org/a/", parse_field_definitions([definition])).values()
    return value


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("f=css:.price", "EUR 1.299,00"),
        ("f=.price", "EUR 1.299,00"),
        ("f:number=css:.price", 1299.0),
        ("f:price=css:.price", {"amount": 1299.0, "currency": "EUR"}),
        ("f=//h1", "Lamp"),
        ("f=xpath:count(//li)", "2.0"),
        ("f:list=css:.tag", ["oil", "brass"]),
        ("f:url=css:a.next", "https://example.org/b/x?a=1"),
        ("f=css:a.next::attr(href)", "x?a=1"),
        ("f:url=css:a.next::attr(href)", "https://example.org/b/x?a=1"),
        ("f=css:h1::text", "Lamp"),
        ("f=css:meta[property='og:title']", "Storm lamp"),
        ("f:date=css:time", "2026-11-15T08:00:00+00:00"),
        ("f:date=css:.day", "2026-11-15"),
        (r"f=re:SKU: (\d+)", "0077"),
        ("f=json:$..name", "Lamp"),
        ("f:number=$..price", 12.5),
        ("f:json=json:$..offers", {"price": 12.5}),
        ("f=css:.none", None),
        ("f:price=css:h1", None),
        ("f:list=css:.none", []),
        ("f:date=css:h1", None),
    ],
)
def test_values_have_the_type_of_their_field(definition: str, value: object) -> None:
    assert extract(definition) == value


def test_json_documents_are_read_by_json_path() -> None:
    body = json.dumps({"items": [{"price": 3}, {"price": 4}]}).encode()
    assert extract("f:list=$.items[*].price", body, "application/json") == ["3", "4"]
    assert extract("f:number=re:price. (\\d)", body, "application/json") is None
    assert extract('f:number=re:"price": (\\d)', body, "application/json") == 3.0
    assert extract("f=css:.price", body, "application/json") is None


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"{", b"<" * 5000, b"\x89PNG\r\n"])
@pytest.mark.parametrize("definition", ["f=$..a", "f:price=css:.p", "f:date=//time", "f:url=a", "f=re:(x+)"])
def test_documents_without_a_value_have_none(body: bytes, definition: str) -> None:
    assert extract(definition, body) is None
    assert extract(definition, body, "image/png") is None


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("price", "'price' is no field"),
        ("=css:.price", "is no field"),
        ("price:prise=css:.price", "no type 'prise'; choose from text, number, price"),
        ("price=css:..price", "price: '..price' is not a valid CSS selector"),
        ("price=//[", "price: '//\\[' is not a valid XPath"),
        ("price=json:$[", "price: '\\$\\[' is not a valid JSON path"),
        ("price=re:(", "price: '\\(' is not a valid regular expression"),
    ],
)
def test_invalid_definition_is_rejected_in_a_sentence(definition: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        parse_field_definitions([definition])
    assert "\n" not in str(error.value)


def test_later_definition_replaces_and_an_empty_one_removes() -> None:
    assert merge_field_texts(["a=.x", "b=.y"], ["a:number=.z"]) == ["b=.y", "a:number=.z"]
    assert merge_field_texts(["a=.x", "b=.y"], ["a="]) == ["b=.y"]
    assert list_field_texts({"a:number": ".z"}) == ["a:number=.z"]
    assert [field.type for field in parse_field_definitions(["a=.x", "a:number=.x"])] == ["number"]
