"""The core of a page that declares no main part."""

from typing import Any

import pytest

from sanderling.content import main_region
from sanderling.content.extract import extract_blocks
from sanderling.content.main_region import find_region_element
from sanderling.html.parser import Element, parse_html
from sanderling.html.text import get_element_text

CLAUSE = "The boat leaves the harbour at the turn of the tide, and nobody is waited for. "
TEXT = "".join(f"<p>Clause {number}. {CLAUSE * 3}</p>" for number in range(12))
NOTE = "<p>We would like to count how often you come here, if you agree to that.</p>"


def main_lines(markup: str) -> list[str]:
    body = extract_blocks(parse_html(markup.encode()))
    return [line for line, main in zip(body.lines, body.main_mask, strict=True) if main and line]


def test_a_part_beside_the_core_is_furniture_whatever_it_is_called() -> None:
    page = f"<body><div><div>{{0}}</div><div>{TEXT}</div><div>{{1}}</div></div></body>"
    assert len(main_lines(page.format(NOTE, NOTE))) == 12
    assert len(main_lines(f"<body>{page.format(NOTE, NOTE)}<div>{NOTE}</div></body>")) == 12


def test_a_text_without_an_alphabet_has_a_core_though_it_has_fewer_letters() -> None:
    clause = "船在潮水转向时离开港口，谁也不等，请各位旅客提前到达码头。"
    text = "".join(f"<p>{number}. {clause * 2}</p>" for number in range(12))
    assert len(main_lines(f"<body><div><div><p>{clause}</p></div><div>{text}</div></div></body>")) == 12


def test_what_stands_between_the_title_and_the_core_belongs_to_it() -> None:
    page = f"<body><div>{NOTE}<h1>Terms</h1><p>In force from May on</p></div><div>{TEXT}</div></body>"
    assert main_lines(page)[:2] == ["Terms", "In force from May on"]


def test_a_section_beside_the_core_that_is_told_at_length_may_have_a_link_at_its_end() -> None:
    page = f"<body><article><div>{TEXT}</div><section><h3>In short</h3>{{0}}<p><a href=/us>About us</a></p></section>"
    assert len(main_lines(page.format(f"<p>{CLAUSE * 3}</p><p>{CLAUSE * 3}</p>"))) == 16
    assert len(main_lines(page.format(NOTE))) == 12


def test_text_that_stands_free_around_a_part_is_content() -> None:
    page = f"<body><div><p>{CLAUSE}</p><div>{TEXT}</div><div>{NOTE}</div></div></body>"
    assert len(main_lines(page)) == 14
    assert len(main_lines(f"<body><p>{CLAUSE}</p><div>{TEXT}</div></body>")) == 13


def test_a_page_of_equal_parts_is_its_own_core() -> None:
    assert len(main_lines(f"<body><div>{TEXT}</div><div>{TEXT.replace('boat', 'ship')}</div></body>")) == 24


def test_a_list_or_table_is_no_part() -> None:
    items = TEXT.replace("<p>", "<li>").replace("</p>", "</li>")
    assert len(main_lines(f"<body><div><p>In short</p><ul>{items}</ul><p>The end</p></div></body>")) == 14


def test_the_element_that_is_the_core_is_found_again() -> None:
    tree = parse_html(
        f"<body><div id=a><div>{NOTE}</div><table><tr><td id=b>{TEXT}</td></tr></table></div></body>".encode()
    )
    body = extract_blocks(tree)
    assert body.main_region is not None
    found = find_region_element(body.main_region, tree, body.lines)
    assert found is not None
    assert found.attr("id") == "b"


def test_nothing_is_found_where_no_line_has_an_element_for_itself() -> None:
    tree = parse_html(f"<body><div>{'<br>'.join([CLAUSE] * 30)}</div></body>".encode())
    body = extract_blocks(tree)
    assert body.main_region is not None
    assert find_region_element(body.main_region, tree, body.lines) is None


def letters_read(markup: str, patch: pytest.MonkeyPatch) -> int:
    """How many letters are read to find the element that is the core."""
    tree = parse_html(markup.encode())
    body = extract_blocks(tree)
    assert body.main_region is not None
    read: list[str] = []

    def reading(element: Element) -> str:
        read.append(element.text)
        return get_element_text(element)

    with patch.context() as patched:
        patched.setattr(main_region, "get_element_text", reading)
        find_region_element(body.main_region, tree, body.lines)
    return sum(map(len, read))


@pytest.mark.parametrize("tag", ["span", "div"])
def test_the_text_of_elements_inside_each_other_is_read_once(tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "<br>".join(f"{number}. {CLAUSE}" for number in range(100))
    page = f"<body><div>{f'<{tag}>' * 50}{lines}</div></body>"
    assert letters_read(page, monkeypatch) <= 2 * len(page)  # as a span, and as the part around it


def test_letters_that_are_read_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    page = f"<body><div>{f'<p>{CLAUSE}</p>' * 100}{CLAUSE}!</div></body>"
    monkeypatch.setattr(main_region, "MAX_TEXT", 5 * len(CLAUSE))
    assert letters_read(page, monkeypatch) <= 11 * len(CLAUSE)


def test_lines_are_counted_once() -> None:
    class Lines(list[str]):
        looks = 0

        def count(self, value: str) -> int:
            Lines.looks += 1
            return super().count(value)

        def index(self, *where: Any) -> int:
            Lines.looks += 1
            return super().index(*where)

    tree = parse_html(f"<body><div>{f'<p>{CLAUSE}</p>' * 100}</div></body>".encode())
    body = extract_blocks(tree)
    assert body.main_region is not None
    assert find_region_element(body.main_region, tree, Lines(body.lines)) is None
    assert not Lines.looks


def test_few_lines_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = parse_html(f"<body><div>{TEXT}</div></body>".encode())
    body = extract_blocks(tree)
    assert body.main_region is not None
    tried: list[int] = []

    def around(boxes: list[main_region.CharSpan], ends: list[int], line: int) -> list[main_region.CharSpan]:
        tried.append(line)
        return []

    monkeypatch.setattr(main_region, "_find_enclosing_containers", around)
    monkeypatch.setattr(main_region, "MAX_TRIED_ELEMENTS", 5)
    assert find_region_element(body.main_region, tree, body.lines) is None
    assert len(tried) == 5


def test_a_script_beside_the_words_of_an_element_is_none_of_them() -> None:
    page = f"<body><div id=a><div>{NOTE}</div><div id=b>{TEXT.replace('</p>', '<script>x()</script></p>')}</div></div>"
    tree = parse_html(page.encode())
    body = extract_blocks(tree)
    assert body.main_region is not None
    found = find_region_element(body.main_region, tree, body.lines)
    assert found is not None
    assert found.attr("id") == "b"


def test_all_of_a_short_page_is_read() -> None:
    assert len(main_lines(f"<body><h1>Lamp</h1><div><p>{CLAUSE}</p></div><div>{NOTE}</div></body>")) == 3


def test_any_heading_above_the_core_is_its_title_if_none_is_of_the_first_level() -> None:
    page = f"<body><div>{NOTE}<h2>Terms</h2><p>In force from May on</p></div><div>{TEXT}</div></body>"
    assert main_lines(page)[:2] == ["Terms", "In force from May on"]


def test_a_section_beside_the_core_is_content_unless_it_is_links_or_asks_for_an_answer() -> None:
    links = "<a href=/a>Fares and timetables</a> <a href=/b>Islands</a> <a href=/c>Groups</a>"
    page = f"<body><h1>Terms</h1><div>{TEXT}</div><div><h2>Fees</h2><p>None is due.</p>{{0}}</div></body>"
    assert main_lines(page.format(""))[-2:] == ["Fees", "None is due."]
    assert len(main_lines(page.format(f"<p>{links}</p>"))) == 13
    assert len(main_lines(page.format("<button>Agree</button>"))) == 13


def test_short_facts_beside_the_core_are_content() -> None:
    rows = "<table><tr><td>Weight</td><td>5 kg</td></tr></table>"
    page = f"<body><h1>Lamp</h1><div>{TEXT}</div><div>19,99 €</div><div>Until: 5 May</div><div>Hello</div>{rows}</body>"
    assert main_lines(page)[13:] == ["19,99 €", "Until: 5 May", "5 kg"]


def test_a_large_banner_leaves_the_core_what_it_is() -> None:
    page = f"<body><div><div>{TEXT}</div><div>{{0}}</div></div></body>"
    assert len(main_lines(page.format(NOTE * 6))) == 12
    assert len(main_lines(page.format(f"<h2>Fees</h2>{NOTE * 6}"))) == 19
    assert len(main_lines(page.format(NOTE * 20))) == 32
