"""The core of a page that declares no main part."""

from sanderling.pages.blocks import blocks
from sanderling.pages.core import element_of
from sanderling.pages.parse import parse

CLAUSE = "The boat leaves the harbour at the turn of the tide, and nobody is waited for. "
TEXT = "".join(f"<p>Clause {number}. {CLAUSE * 3}</p>" for number in range(12))
NOTE = "<p>We would like to count how often you come here, if you agree to that.</p>"


def main_lines(markup: str) -> list[str]:
    body = blocks(parse(markup.encode()))
    return [line for line, main in zip(body.lines, body.main, strict=True) if main and line]


def test_a_part_beside_the_core_is_furniture_whatever_it_is_called() -> None:
    page = f"<body><div><div>{{0}}</div><div>{TEXT}</div><div>{{1}}</div></div></body>"
    assert len(main_lines(page.format(NOTE, NOTE))) == 12
    assert len(main_lines(f"<body>{page.format(NOTE, NOTE)}<div>{NOTE}</div></body>")) == 12


def test_what_stands_between_the_title_and_the_core_belongs_to_it() -> None:
    page = f"<body><div>{NOTE}<h1>Terms</h1><p>In force from May on</p></div><div>{TEXT}</div></body>"
    assert main_lines(page)[:2] == ["Terms", "In force from May on"]


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
    tree = parse(f"<body><div id=a><div>{NOTE}</div><table><tr><td id=b>{TEXT}</td></tr></table></div></body>".encode())
    body = blocks(tree)
    assert body.core is not None
    found = element_of(body.core, tree, body.lines)
    assert found is not None
    assert found.attr("id") == "b"


def test_nothing_is_found_where_no_line_has_an_element_for_itself() -> None:
    tree = parse(f"<body><div>{'<br>'.join([CLAUSE] * 12)}</div></body>".encode())
    body = blocks(tree)
    assert body.core is not None
    assert element_of(body.core, tree, body.lines) is None
