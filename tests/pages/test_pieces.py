"""Pages cut into pieces, and what a piece says."""

from sanderling.pages.pieces import CUTS, Facts, best_cut, facts, group, join


def read(markup: str, inside: int = 0) -> Facts:
    return facts(markup.encode(), False, inside, "utf-8")


def test_pieces_are_the_page_again() -> None:
    body = b"<html><body>" + b"<div class=part><p>some words of a part of the page</div>" * 50
    cut = CUTS[best_cut(body)]
    cuts = body.split(cut)
    pieces = join(cuts, group(cuts, cut), cut)
    assert cut.join(pieces) == body
    assert 1 < len(pieces) < len(cuts)


def test_no_piece_ends_inside_a_script_a_comment_or_a_block() -> None:
    for start, end in ((b"<script>", b"</script>"), (b"<!--", b"-->"), (b"<template>", b"</template>")):
        cuts = (start + b"x" * 400 + b"<div" + b"x" * 400 + end + b"<div>y").split(b"<div")
        assert group(cuts, b"<div") == [2, 1]
    cuts = (b"<p>" + b"x" * 400 + b"\n<b>bold</b>\n<p>next").split(b"\n<")
    assert group(cuts, b"\n<") == [2, 1]


def test_lines_end_at_blocks_and_go_on_over_inline_tags() -> None:
    assert read("<p>one <b>two</b> three<p>four<br>five").lines == [b"onetwothree", b"four", b"five"]


def test_lines_of_program_text_are_kept_with_their_stamps() -> None:
    assert read("<pre>at 10:31:07\ntwo</pre>at 10:31:07 words").lines == [b"at10:31:07", b"two", b"atwords"]
    assert read("at 10:31:07\ntwo", inside=1).lines == [b"at10:31:07", b"two"]


def test_entities_and_blanks_are_spelled_alike() -> None:
    assert read("<p>caf&eacute;  &amp;\ntea").lines == read("<p> caf\u00e9 &#38; tea ").lines


def test_the_frame_is_what_a_mark_sees_beside_the_words() -> None:
    frame = read('<p class="a">one <a href="/x">two</a><img src="/y.png">').frame
    assert frame == read('<P title="z" class=a>three <a href="/x#top">four</a><img src="/y.png?v=2">').frame
    for other in (
        '<p class="b">one <a href="/x">two</a><img src="/y.png">',
        '<p class="a">one <a href="/z">two</a><img src="/y.png">',
        '<p class="a">one <a href="/x">two</a><img src="/z.png">',
        '<p class="a">one <a href="/x">two</a>',
        '<p class="a"> <a href="/x">two</a><img src="/y.png">',
    ):
        assert read(other).frame != frame


def test_a_line_that_is_only_a_stamp_is_noticed() -> None:
    assert read("<p>12:30:05</p>").lost
    assert not read("<p>at 12:30:05</p>").lost
