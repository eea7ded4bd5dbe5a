"""Tests of cleaned tag trees."""

import pytest
from experiments.tree_measures import parse_tag_tree
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.parser import parse_html
from sanderling.html.tag_tree import MAX_DEPTH, MAX_NODES, TagNode, build_tag_tree, format_tag_tree


def build_tree(body: str) -> str:
    return format_tag_tree(build_tag_tree(parse_html(f"<body>{body}".encode())))


def test_inline_tags_are_replaced_by_their_blocks() -> None:
    assert build_tree("<p>a <b>b</b> <i>c</i></p><a href=x><div></div></a>") == "body(p div)"


def test_equal_siblings_are_collapsed() -> None:
    assert build_tree("<ul>" + "<li>x</li>" * 50 + "</ul>") == "body(ul(li))"
    assert build_tree("<dl><dt>a<dd>b<dt>c<dd>d</dl>") == "body(dl(dt dd))"
    assert build_tree("<ul><li>x<li><p>y</p><li>z</ul>") == "body(ul(li li(p)))"


def test_scripts_styles_and_comments_are_dropped() -> None:
    assert build_tree("<script>1</script><style></style><!-- c --><p>") == "body(p)"


def test_advertisement_is_a_leaf() -> None:
    assert build_tree("<div class='sky banner'><p><ul><li></ul></div><div><p></div>") == "body(div div(p))"
    assert build_tree("<div id=ad-top><p></div>") == "body(div)"
    assert build_tree("<div class=download><p></div>") == "body(div(p))"


def test_empty_page_is_a_bare_body() -> None:
    assert build_tree("") == "body"


def test_depth_and_size_are_limited() -> None:
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
    lambda children: st.builds(TagNode, st.sampled_from("abc"), st.lists(children, max_size=4).map(tuple)),
)


@given(trees)
def test_formatted_tree_parses_to_equal_tree(node: TagNode) -> None:
    parsed = parse_tag_tree(format_tag_tree(node))
    assert (parsed.digest, parsed.size) == (node.digest, node.size)


@pytest.mark.parametrize("broken", ["", "a b", "a(", "a)", "(a)"])
def test_malformed_tree_text_is_rejected(broken: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        parse_tag_tree(broken)
