"""The compact mark of a page."""

from sanderling.pages.parse import parse
from sanderling.pages.signatures import signatures


def mark(markup: str) -> bytes:
    return signatures(parse(markup.encode()))


def test_blanks_attribute_order_and_entity_spelling_do_not_matter() -> None:
    one = mark('<p class="a" id="b">caf&eacute; &amp; tea</p><p>two</p>')
    assert one == mark("<p  id=b class=a>caf\u00e9  &#38; tea\n</p>\n\n<p>two</p>")


def test_another_word_is_another_mark() -> None:
    assert mark("<p>one") != mark("<p>two")
