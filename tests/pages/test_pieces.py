"""Pages cut into pieces."""

from sanderling.pages.parse import parse
from sanderling.pages.pieces import CUTS, best_cut, facts, group, join, set_aside

PAGE = b"<body>" + b"".join(b"<div class='a'>\n<p>%d words</p></div>" % n for n in range(500)) + b"</body>"


def test_pieces_are_cut_small_and_hold_all_of_the_page() -> None:
    mark = CUTS[best_cut(PAGE)]
    cuts = PAGE.split(mark)
    pieces = join(cuts, group(cuts), mark)
    assert b"".join(pieces) == PAGE
    assert 10 < len(pieces) <= 61


def test_code_is_set_aside_and_its_tags_only_stay_if_a_mark_sees_them() -> None:
    body = b"<p>a<script nonce=1>x > y</script>b<script class='c'>z</script>\r\n<style>p>b {}</style></p>"
    aside = set_aside(body, parse(body))
    assert aside is not None
    assert aside.markup == b"<p>ab<script class='c'>\n</p>"
    other = body.replace(b"p>b", b"p>i")
    again = set_aside(other, parse(other))
    assert again is not None
    assert again.style != aside.style


def test_markup_that_says_other_than_the_tree_is_not_set_aside() -> None:
    for body in (b"<!-- <script>x</script> -->", b"<textarea><style>x</style></textarea>", b"<p><script>x"):
        assert set_aside(body, parse(body)) is None


def test_a_frame_is_made_of_what_a_mark_sees() -> None:
    piece = b'<a class="x" href="/1" title="t" data-a="1">word</a><input type="hidden" name="n" value="1"><!-- 1 -->'
    for old, new in ((b'title="t"', b'title="u"'), (b'data-a="1"', b""), (b'value="1"', b'value="2"'), (b" 1 ", b"2")):
        assert facts(piece.replace(old, new)) == facts(piece)
    for old, new in ((b'"x"', b'"y"'), (b"/1", b"/2"), (b'"n"', b'"m"'), (b"hidden", b"text"), (b"<a ", b"<b ")):
        assert facts(piece.replace(old, new)).frame != facts(piece).frame
    assert facts(piece.replace(b"word", b"other")).frame == facts(piece).frame
    assert facts(piece.replace(b"word", b"other")).words != facts(piece).words


def test_a_piece_with_single_brackets_has_no_frame() -> None:
    for piece in (b"<p>a > b</p>", b"<p>a < b</p>", b"x > <p", b"<p title='>'>"):
        assert facts(piece).frame == 0
