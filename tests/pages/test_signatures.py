"""The compact mark of a page."""

from sanderling.pages.marks import marks
from sanderling.pages.parse import parse
from sanderling.pages.signatures import signatures
from sanderling.pages.simhash import simhash
from sanderling.pages.text import text


def mark(markup: str) -> bytes:
    return signatures(parse(markup.encode()))


def test_blanks_attribute_order_and_entity_spelling_do_not_matter() -> None:
    one = mark('<p class="a" id="b">caf&eacute; &amp; tea</p><p>two</p>')
    assert one == mark("<p  id=b class=a>caf\u00e9  &#38; tea\n</p>\n\n<p>two</p>")


def test_another_word_is_another_mark() -> None:
    assert mark("<p>one") != mark("<p>two")


def test_both_marks_come_from_one_reading() -> None:
    tree = parse(b"<title>t</title><p>Sanderlings run along the beach.</p>")
    assert marks(tree) == {"simhash": simhash(text(tree)).to_bytes(8, "big"), "signatures": signatures(tree)}
