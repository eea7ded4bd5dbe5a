"""Tests of main region detection."""

from typing import Any

import pytest

from sanderling.content import main_region
from sanderling.content.extract import extract_blocks
from sanderling.content.main_region import find_region_element
from sanderling.html.parser import Element, parse_html
from sanderling.html.text import get_element_text

CLAUSE = "The boat leaves the harbour at the turn of the tide, and waits for no passenger. "
TEXT = "".join(f"<p>Clause {number}. {CLAUSE * 3}</p>" for number in range(12))
NOTE = "<p>We would like to count how often you come here, if you agree to that.</p>"


def extract_main_lines(markup: str) -> list[str]:
    blocks = extract_blocks(parse_html(markup.encode()))
    return [line for line, main in zip(blocks.lines, blocks.main_mask, strict=True) if main and line]


def test_container_outside_main_region_is_boilerplate() -> None:
    page = f"<body><div><div>{{0}}</div><div>{TEXT}</div><div>{{1}}</div></div></body>"
    assert len(extract_main_lines(page.format(NOTE, NOTE))) == 12
    assert len(extract_main_lines(f"<body>{page.format(NOTE, NOTE)}<div>{NOTE}</div></body>")) == 12


def test_cjk_text_has_main_region() -> None:
    clause = "船在潮水转向时离开港口，谁也不等，请各位旅客提前到达码头。"
    text = "".join(f"<p>{number}. {clause * 2}</p>" for number in range(12))
    assert len(extract_main_lines(f"<body><div><div><p>{clause}</p></div><div>{text}</div></div></body>")) == 12


def test_text_between_title_and_main_region_is_content() -> None:
    page = f"<body><div>{NOTE}<h1>Terms</h1><p>In force from May on</p></div><div>{TEXT}</div></body>"
    assert extract_main_lines(page)[:2] == ["Terms", "In force from May on"]


def test_long_section_with_final_link_is_content() -> None:
    page = f"<body><article><div>{TEXT}</div><section><h3>In short</h3>{{0}}<p><a href=/us>About us</a></p></section>"
    assert len(extract_main_lines(page.format(f"<p>{CLAUSE * 3}</p><p>{CLAUSE * 3}</p>"))) == 16
    assert len(extract_main_lines(page.format(NOTE))) == 12


def test_text_outside_containers_is_content() -> None:
    page = f"<body><div><p>{CLAUSE}</p><div>{TEXT}</div><div>{NOTE}</div></div></body>"
    assert len(extract_main_lines(page)) == 14
    assert len(extract_main_lines(f"<body><p>{CLAUSE}</p><div>{TEXT}</div></body>")) == 13


def test_page_of_equal_parts_is_content() -> None:
    assert len(extract_main_lines(f"<body><div>{TEXT}</div><div>{TEXT.replace('boat', 'ship')}</div></body>")) == 24


def test_list_is_not_a_container() -> None:
    items = TEXT.replace("<p>", "<li>").replace("</p>", "</li>")
    assert len(extract_main_lines(f"<body><div><p>In short</p><ul>{items}</ul><p>The end</p></div></body>")) == 14


def test_region_element_is_found() -> None:
    tree = parse_html(
        f"<body><div id=a><div>{NOTE}</div><table><tr><td id=b>{TEXT}</td></tr></table></div></body>".encode()
    )
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    found = find_region_element(blocks.main_region, tree, blocks.lines)
    assert found is not None
    assert found.attr("id") == "b"


def test_region_element_is_none_without_line_elements() -> None:
    tree = parse_html(f"<body><div>{'<br>'.join([CLAUSE] * 30)}</div></body>".encode())
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    assert find_region_element(blocks.main_region, tree, blocks.lines) is None


def count_read_characters(markup: str, patch: pytest.MonkeyPatch) -> int:
    """Return how many characters are read to find the region element."""
    tree = parse_html(markup.encode())
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    read: list[str] = []

    def record_text(element: Element) -> str:
        read.append(element.text)
        return get_element_text(element)

    with patch.context() as patched:
        patched.setattr(main_region, "get_element_text", record_text)
        find_region_element(blocks.main_region, tree, blocks.lines)
    return sum(map(len, read))


@pytest.mark.parametrize("tag", ["span", "div"])
def test_text_of_nested_elements_is_read_once(tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "<br>".join(f"{number}. {CLAUSE}" for number in range(100))
    page = f"<body><div>{f'<{tag}>' * 50}{lines}</div></body>"
    assert count_read_characters(page, monkeypatch) <= 2 * len(page)  # as a leaf, and as its container


def test_read_characters_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    page = f"<body><div>{f'<p>{CLAUSE}</p>' * 100}{CLAUSE}!</div></body>"
    monkeypatch.setattr(main_region, "MAX_TEXT", 5 * len(CLAUSE))
    assert count_read_characters(page, monkeypatch) <= 11 * len(CLAUSE)


def test_lines_are_not_searched_linearly() -> None:
    class Lines(list[str]):
        looks = 0

        def count(self, value: str) -> int:
            Lines.looks += 1
            return super().count(value)

        def index(self, *where: Any) -> int:
            Lines.looks += 1
            return super().index(*where)

    tree = parse_html(f"<body><div>{f'<p>{CLAUSE}</p>' * 100}</div></body>".encode())
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    assert find_region_element(blocks.main_region, tree, Lines(blocks.lines)) is None
    assert not Lines.looks


def test_tried_elements_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = parse_html(f"<body><div>{TEXT}</div></body>".encode())
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    tried_lines: list[int] = []

    def find_containers(boxes: list[main_region.CharSpan], ends: list[int], line: int) -> list[main_region.CharSpan]:
        tried_lines.append(line)
        return []

    monkeypatch.setattr(main_region, "_find_enclosing_containers", find_containers)
    monkeypatch.setattr(main_region, "MAX_TRIED_ELEMENTS", 5)
    assert find_region_element(blocks.main_region, tree, blocks.lines) is None
    assert len(tried_lines) == 5


def test_scripts_in_line_elements_are_ignored() -> None:
    page = f"<body><div id=a><div>{NOTE}</div><div id=b>{TEXT.replace('</p>', '<script>x()</script></p>')}</div></div>"
    tree = parse_html(page.encode())
    blocks = extract_blocks(tree)
    assert blocks.main_region is not None
    found = find_region_element(blocks.main_region, tree, blocks.lines)
    assert found is not None
    assert found.attr("id") == "b"


def test_short_page_is_content() -> None:
    assert len(extract_main_lines(f"<body><h1>Lamp</h1><div><p>{CLAUSE}</p></div><div>{NOTE}</div></body>")) == 3


def test_nearest_heading_is_title_without_first_level_heading() -> None:
    page = f"<body><div>{NOTE}<h2>Terms</h2><p>In force from May on</p></div><div>{TEXT}</div></body>"
    assert extract_main_lines(page)[:2] == ["Terms", "In force from May on"]


def test_section_outside_region_is_content_without_links_or_controls() -> None:
    links = "<a href=/a>Fares and timetables</a> <a href=/b>Islands</a> <a href=/c>Groups</a>"
    page = f"<body><h1>Terms</h1><div>{TEXT}</div><div><h2>Fees</h2><p>None is due.</p>{{0}}</div></body>"
    assert extract_main_lines(page.format(""))[-2:] == ["Fees", "None is due."]
    assert len(extract_main_lines(page.format(f"<p>{links}</p>"))) == 13
    assert len(extract_main_lines(page.format("<button>Agree</button>"))) == 13


def test_short_facts_outside_region_are_content() -> None:
    rows = "<table><tr><td>Weight</td><td>5 kg</td></tr></table>"
    page = f"<body><h1>Lamp</h1><div>{TEXT}</div><div>19,99 €</div><div>Until: 5 May</div><div>Hello</div>{rows}</body>"
    assert extract_main_lines(page)[13:] == ["19,99 €", "Until: 5 May", "5 kg"]


def test_main_region_with_large_banner() -> None:
    page = f"<body><div><div>{TEXT}</div><div>{{0}}</div></div></body>"
    assert len(extract_main_lines(page.format(NOTE * 6))) == 12
    assert len(extract_main_lines(page.format(f"<h2>Fees</h2>{NOTE * 6}"))) == 19
    assert len(extract_main_lines(page.format(NOTE * 20))) == 32
