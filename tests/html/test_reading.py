"""Test the conversion of pages for reading: main content as Markdown, structured data, tables."""

import pytest

from sanderling.html.reading import extract_structured_data, extract_tables, render_markdown

PARAGRAPH = "The harbor office publishes high water, low water, and the state of the moon for every day of the year. "
ARTICLE = f"<h1>Tide tables</h1><p>{PARAGRAPH * 3}</p><p>{PARAGRAPH * 2}<a href='/moon'>The moon</a></p>"
MENU = "".join(f"<li><a href='/{number}'>Section {number}</a></li>" for number in range(12))


@pytest.mark.parametrize(
    "page",
    [
        f"<nav><ul>{MENU}</ul></nav><main>{ARTICLE}</main><footer>Imprint</footer>",
        f"<div class='sidebar'><ul>{MENU}</ul></div><div class='post'>{ARTICLE}</div><div>Imprint</div>",
        f"<table><tr><td><ul>{MENU}</ul></td><td>{ARTICLE}</td></tr></table><div id='footer'>Imprint</div>",
        f"<div><div class='content'>{ARTICLE}<ul>{MENU}</ul></div><div class='related'><p>Imprint</p></div></div>",
    ],
)
def test_markdown_has_the_article_without_navigation(page: str) -> None:
    markdown = render_markdown(f"<html><body>{page}</body></html>".encode(), url="https://a.example/tides/")
    assert "# Tide tables" in markdown
    assert markdown.count("The harbor office") == 5
    assert "[The moon](https://a.example/moon)" in markdown
    assert "Section 3" not in markdown
    assert "Imprint" not in markdown


def test_paragraphs_of_several_containers_are_kept() -> None:
    part = f"<div class='chunk'><div><p>{PARAGRAPH * 2}</p></div></div>"
    markdown = render_markdown(f"<body><div class='wrap'>{part * 4}</div></body>".encode())
    assert markdown.count("The harbor office") == 8


def test_short_page_keeps_parts_with_suspicious_names() -> None:
    markdown = render_markdown(
        b"<body><div class='menu'><p>Soup, bread, and cheese are served until ten.</p></div></body>"
    )
    assert markdown == "Soup, bread, and cheese are served until ten."


def test_whole_page_includes_navigation() -> None:
    page = f"<body><nav><ul>{MENU}</ul></nav><main>{ARTICLE}</main></body>".encode()
    assert "Section 3" in render_markdown(page, main_only=False)


@pytest.mark.parametrize(
    "page",
    [b"", b"<p>", b"\0\xff" * 50, b"<div>" * 3000 + b"text", b"<div class='comment'>" * 2000, b"<ul><li>a, b" * 3000],
)
def test_unusual_pages_are_converted(page: bytes) -> None:
    assert isinstance(render_markdown(page), str)


def test_structured_data_has_plain_values() -> None:
    page = (
        b'<html><head><meta property="og:title" content="Tides">'
        b'<script type="application/ld+json">{"@type": "Product", "offers": {"price": "9.99"}}</script></head>'
        b'<body><div itemscope itemtype="https://schema.org/Offer"><span itemprop="price">9.99</span></div></body>'
    )
    data = extract_structured_data(page)
    assert data["json_ld"] == [{"@type": "Product", "offers": {"price": "9.99"}}]
    assert data["opengraph"] == {"og:title": "Tides"} or data["opengraph"] == {"title": "Tides"}
    assert "9.99" in str(data["microdata"])
    assert isinstance(data["microdata"], list)
    assert extract_structured_data(b"<p>none") == {}


def test_tables_are_lists_of_rows() -> None:
    assert extract_tables(b"<table><tr><th>a<th>b<tr><td>1<td>2</table>") == [[["a", "b"], ["1", "2"]]]
