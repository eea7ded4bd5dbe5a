"""What a user wants looked at."""

import pytest

from sanderling.content.extract import extract_blocks
from sanderling.content.user_rules import UserRules, validate_user_rules
from sanderling.errors import UsageError
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html

PAGE = b'<main><p>Price: 10</p><p class="joke">Ha</p><p id="stock">In stock</p></main>'


def main(attention: UserRules) -> list[str]:
    found = extract_blocks(parse_html(PAGE), attention)
    return [line for line, there in zip(found.lines, found.main_mask, strict=True) if there and line]


def test_all_of_the_main_part_counts_by_default() -> None:
    assert main(UserRules()) == ["Price: 10", "Ha", "In stock"]


def test_ignored_parts_are_furniture() -> None:
    assert main(UserRules(ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_watching_something_makes_the_rest_furniture() -> None:
    assert main(UserRules(watch=("#stock",))) == ["In stock"]
    assert main(UserRules(watch_text=("Price",))) == ["Price: 10"]
    assert main(UserRules(watch=("p",), ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_ignored_text_may_change_unnoticed() -> None:
    attention = UserRules(ignore_text=(r"\d+",))
    assert (
        fingerprint_page(parse_html(PAGE), attention).block_hashes
        == fingerprint_page(parse_html(PAGE.replace(b"10", b"12")), attention).block_hashes
    )
    assert (
        fingerprint_page(parse_html(PAGE)).block_hashes
        != fingerprint_page(parse_html(PAGE.replace(b"10", b"12"))).block_hashes
    )


def test_marks_say_under_which_attention_they_were_made() -> None:
    assert fingerprint_page(parse_html(PAGE)).user_rules_hash == 0
    assert fingerprint_page(parse_html(PAGE), UserRules(ignore=("p",))).user_rules_hash != 0


@pytest.mark.parametrize("wrong", [UserRules(ignore=("p[",)), UserRules(watch_text=("(",))])
def test_what_cannot_be_is_refused(wrong: UserRules) -> None:
    with pytest.raises(UsageError):
        validate_user_rules(wrong)
