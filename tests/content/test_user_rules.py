"""What a user wants looked at."""

import pytest

from sanderling.content.extract import blocks
from sanderling.content.user_rules import Attention, check
from sanderling.errors import UsageError
from sanderling.fingerprint.build import sign
from sanderling.html.parser import parse

PAGE = b'<main><p>Price: 10</p><p class="joke">Ha</p><p id="stock">In stock</p></main>'


def main(attention: Attention) -> list[str]:
    found = blocks(parse(PAGE), attention)
    return [line for line, there in zip(found.lines, found.main, strict=True) if there and line]


def test_all_of_the_main_part_counts_by_default() -> None:
    assert main(Attention()) == ["Price: 10", "Ha", "In stock"]


def test_ignored_parts_are_furniture() -> None:
    assert main(Attention(ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_watching_something_makes_the_rest_furniture() -> None:
    assert main(Attention(watch=("#stock",))) == ["In stock"]
    assert main(Attention(watch_text=("Price",))) == ["Price: 10"]
    assert main(Attention(watch=("p",), ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_ignored_text_may_change_unnoticed() -> None:
    attention = Attention(ignore_text=(r"\d+",))
    assert sign(parse(PAGE), attention).keys == sign(parse(PAGE.replace(b"10", b"12")), attention).keys
    assert sign(parse(PAGE)).keys != sign(parse(PAGE.replace(b"10", b"12"))).keys


def test_marks_say_under_which_attention_they_were_made() -> None:
    assert sign(parse(PAGE)).attention == 0
    assert sign(parse(PAGE), Attention(ignore=("p",))).attention != 0


@pytest.mark.parametrize("wrong", [Attention(ignore=("p[",)), Attention(watch_text=("(",))])
def test_what_cannot_be_is_refused(wrong: Attention) -> None:
    with pytest.raises(UsageError):
        check(wrong)
