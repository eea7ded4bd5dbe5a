from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import decode_fingerprint, encode_fingerprint, is_current_fingerprint
from sanderling.html.parser import parse_html
from sanderling.html.text import compact_text, hash_text, render_text


def hash_markup(markup: str) -> bytes:
    return hash_text(compact_text(render_text(parse_html(markup.encode()))))


def test_white_space_attribute_order_and_entities_do_not_matter() -> None:
    one, two = (
        '<p class="a" id="b">caf&eacute; &amp; tea</p><p>two</p>',
        "<p  id=b class=a>caf\u00e9&nbsp; &#38; tea\n</p>\n<p>two</p>",
    )
    assert hash_markup(one) == hash_markup(two)
    assert fingerprint_page(parse_html(one.encode())) == fingerprint_page(parse_html(two.encode()))


def test_other_text_gives_other_hashes() -> None:
    assert hash_markup("<p>one") != hash_markup("<p>two")
    assert fingerprint_page(parse_html(b"<p>one")).block_hashes != fingerprint_page(parse_html(b"<p>two")).block_hashes


def test_fingerprint_can_be_decoded() -> None:
    fingerprint = fingerprint_page(
        parse_html(b'<main><p>one <a href="/x">two</a><img src="/y"></p></main><script>a()</script>')
    )
    assert decode_fingerprint(encode_fingerprint(fingerprint)) == fingerprint


def test_fingerprint_of_a_long_page_is_small() -> None:
    page = "<main>" + "".join(f"<p>Paragraph number {n} of a page that is quite long.</p>" for n in range(200))
    assert len(encode_fingerprint(fingerprint_page(parse_html(page.encode())))) < 2_500


def test_empty_page_has_a_fingerprint() -> None:
    for body in (b"", b"<", b"<html>", b"\x00", b"<main></main>"):
        assert decode_fingerprint(encode_fingerprint(fingerprint_page(parse_html(body)))) == fingerprint_page(
            parse_html(body)
        )


def test_fingerprint_of_another_version_is_not_current() -> None:
    fingerprint = encode_fingerprint(fingerprint_page(parse_html(b"<p>words")))
    assert is_current_fingerprint(fingerprint)
    assert not is_current_fingerprint(b"")
    assert not is_current_fingerprint(fingerprint[:3] + b"\x01" + fingerprint[4:])


def test_links_in_nested_main_elements_count_once() -> None:
    prose = "<p>" + "The tide comes in, and the tide goes out. " * 60 + "<a href=/x>more</a></p>"
    nested, plain = (
        fingerprint_page(parse_html(f"<main><div{role}>{prose}</div></main>".encode())) for role in (" role=main", "")
    )
    assert nested.main_links == plain.main_links
