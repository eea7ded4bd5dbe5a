"""Cleaned tag trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.parser import parse_html
from sanderling.html.tag_tree import MAX_DEPTH, MAX_NODES, TagNode, build_tag_tree, format_tag_tree, parse_tag_tree


def tree(body: str) -> str:
    return format_tag_tree(build_tag_tree(parse_html(f"<body>{body}".encode())))


def test_inline_tags_are_dropped_and_their_blocks_move_up() -> None:
    assert tree("<p>a <b>b</b> <i>c</i></p><a href=x><div></div></a>") == "body(p div)"


def test_of_siblings_built_the_same_the_first_stays() -> None:
    assert tree("<ul>" + "<li>x</li>" * 50 + "</ul>") == "body(ul(li))"
    assert tree("<dl><dt>a<dd>b<dt>c<dd>d</dl>") == "body(dl(dt dd))"
    assert tree("<ul><li>x<li><p>y</p><li>z</ul>") == "body(ul(li li(p)))"


def test_scripts_styles_and_comments_are_not_there() -> None:
    assert tree("<script>1</script><style></style><!-- c --><p>") == "body(p)"


def test_what_calls_itself_an_advertisement_is_one_node() -> None:
    assert tree("<div class='sky banner'><p><ul><li></ul></div><div><p></div>") == "body(div div(p))"
    assert tree("<div id=ad-top><p></div>") == "body(div)"
    assert tree("<div class=download><p></div>") == "body(div(p))"


def test_a_page_without_a_body_is_a_bare_body() -> None:
    assert tree("") == "body"


def test_no_page_is_too_deep_or_too_big() -> None:
    deep = build_tag_tree(parse_html(("<body>" + "<div>" * 4000).encode()))
    assert deep.size <= MAX_DEPTH + 2
    wide = build_tag_tree(
        parse_html(("<body>" + "".join(f"<div>{'<hr>' * (n % 90)}<p></div>" for n in range(3000))).encode())
    )
    assert wide.size <= MAX_NODES + 1


def test_equal_trees_have_equal_digests() -> None:
    assert parse_tag_tree("a(b(c) d)").digest == parse_tag_tree("a(b(c) d)").digest != parse_tag_tree("a(b c d)").digest


trees = st.recursive(
    st.builds(TagNode, st.sampled_from("abc")),
    lambda kids: st.builds(TagNode, st.sampled_from("abc"), st.lists(kids, max_size=4).map(tuple)),
)


@given(trees)
def test_a_tree_that_is_written_is_read_the_same(node: TagNode) -> None:
    again = parse_tag_tree(format_tag_tree(node))
    assert (again.digest, again.size) == (node.digest, node.size)


@pytest.mark.parametrize("broken", ["", "a b", "a(", "a)", "(a)"])
def test_what_is_no_tree_is_not_read(broken: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        parse_tag_tree(broken)
