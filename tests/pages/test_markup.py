"""The markup of two versions, laid side by side."""

from sanderling.pages.markup import Found, asides, is_sure, set_aside
from sanderling.pages.stretch import apart
from sanderling.pages.tags import Unlike, unlike


def test_code_and_comments_are_set_aside_and_tags_stay() -> None:
    body = b"<p>a<script nonce=1>x > y</script>b<!-- <i> -->c\n<style>p>b {}</style></p>"
    found = asides(body)
    assert found is not None
    markup = set_aside(Found(body, found))
    assert b"<".join(markup.pieces) == b"<p>a<script nonce=1></script>bc\n<style></style></p>"
    assert markup.scripts == [b"<script nonce=1>x > y"]
    assert markup.styles == [b"p>b {}"]


def test_nothing_is_set_aside_where_its_end_is_not_sure() -> None:
    for body in (
        b"<p><script>x",
        b"<p><!-- x",
        b"<!-- x --!> y -->",
        b"<p title='<!-- x -->'>",
        b"<script src='a>b'>x</script>",
        b"<script>x</SCRIPT><p><script>y</script>",
        b"<script><!-- <script></script> --></script>",
    ):
        assert asides(body) is None


def test_what_versions_begin_and_end_with_alike_is_cut_off_at_tags() -> None:
    old, new = (b"<p>one</p>" * 99 + b"<p class='%s'>two</p>" % name + b"<p>three</p>" * 99 for name in (b"aa", b"ba"))
    stretch = apart(old, new, [])
    assert (stretch.of(old), stretch.of(new)) == (b"<p class='aa'>two", b"<p class='ba'>two")
    assert apart(old, old, []).of(old) == b"</p>"


def test_a_script_in_which_versions_differ_is_not_cut() -> None:
    old, new = (b"<p>one</p><script>if (a < %d) b('<i>')</script><p>two</p>" % number for number in (1, 2))
    found = asides(new)
    assert found is not None
    assert apart(old, new, found).of(new) == b"<script>if (a < 2) b('<i>')</script>"


def differ(old: bytes, new: bytes) -> Unlike | None:
    left, right = asides(old), asides(new)
    assert left is not None
    assert right is not None
    return unlike(set_aside(Found(old, left)), set_aside(Found(new, right)))


def test_tags_are_compared_by_what_a_mark_sees() -> None:
    piece = b'<a class="x" href="/1" title="t" data-a="1">word</a><input type="hidden" name="n" value="1"><!-- 1 -->'
    for old, new in ((b'title="t"', b'title="u"'), (b' data-a="1"', b""), (b'value="1"', b'value="2"'), (b" 1 ", b"2")):
        assert differ(piece, piece.replace(old, new)) == Unlike(words=False, scripts=False)
    for old, new in ((b'"x"', b'"y"'), (b"/1", b"/2"), (b'"n"', b'"m"'), (b"hidden", b"text"), (b"<a ", b"<b ")):
        assert differ(piece, piece.replace(old, new)) is None
    assert differ(piece, piece.replace(b"word", b"other")) == Unlike(words=True, scripts=False)
    assert differ(piece, piece.replace(b"word", b"")) is None


def test_single_brackets_are_not_sure() -> None:
    assert is_sure(b"<p>a > b</p>")
    assert not is_sure(b"<p>a < b</p>")
    assert not is_sure(b"<p title='<b>'>")
