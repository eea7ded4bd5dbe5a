"""Paragraph selection of the benchmark of known changes."""

from benchmarks.changes.mutations import LONG, paragraphs

from sanderling.html.parser import parse_html

PROSE = "The boat to the islands leaves the old pier every hour, in any weather."
BAR = " | ".join(f"<a href=/{number}>Public Member Functions</a>" for number in range(9))


def test_prose_is_a_paragraph_and_a_link_bar_is_not() -> None:
    assert len(PROSE) >= LONG
    linked = f"<p>{PROSE} See <a href=/fares>the fares of this season</a>.</p>"
    page = f"<body><div>{BAR}</div>{linked}<nav><p>{PROSE} Home</p></nav><p>Too short.</p></body>"
    assert [element.tag for element in paragraphs(parse_html(page.encode()))] == ["p"]
