"""Signatures of pages."""

from sanderling.pages.parse import parse
from sanderling.pages.structure import LIMIT, structure, unpack


def page(body: str) -> bytes:
    return f"<html><body>{body}</body></html>".encode()


def signature(body: str) -> bytes:
    return structure(parse(page(body)))


def test_repeated_siblings_leave_the_signature_alone() -> None:
    row = "<div class=row><h3>x</h3></div>"
    assert signature(row * 3) == signature(row * 300)


def test_words_leave_the_signature_alone() -> None:
    assert signature("<div class=a><h1>One</h1></div>") == signature("<div class=a><h1>Two <b>three</b></h1></div>")


def test_another_class_is_another_signature() -> None:
    assert signature("<div class=a></div>") != signature("<div class=b></div>")


def test_a_huge_page_has_a_small_signature() -> None:
    many = "".join(f"<div class=c{n}></div>" for n in range(5000))
    assert len(signature(many)) == 4 * LIMIT
    assert len(unpack(signature(many))) == LIMIT


def test_an_empty_page_has_a_signature_all_the_same() -> None:
    assert structure(parse(b"")) == signature("")
