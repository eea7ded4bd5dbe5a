"""Tests of user rules."""

import pytest

from sanderling.content.extract import extract_blocks
from sanderling.content.user_rules import UserRules, validate_user_rules
from sanderling.errors import UsageError
from sanderling.fingerprint.build import fingerprint_page
from sanderling.html.parser import parse_html

PAGE = b'<main><p>Price: 10</p><p class="joke">Ha</p><p id="stock">In stock</p></main>'


def extract_main(user_rules: UserRules) -> list[str]:
    blocks = extract_blocks(parse_html(PAGE), user_rules)
    return [line for line, is_main in zip(blocks.lines, blocks.main_mask, strict=True) if is_main and line]


def test_main_element_is_content_without_user_rules() -> None:
    assert extract_main(UserRules()) == ["Price: 10", "Ha", "In stock"]


def test_ignored_elements_are_boilerplate() -> None:
    assert extract_main(UserRules(ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_unwatched_text_is_boilerplate() -> None:
    assert extract_main(UserRules(watch=("#stock",))) == ["In stock"]
    assert extract_main(UserRules(watch_text=("Price",))) == ["Price: 10"]
    assert extract_main(UserRules(watch=("p",), ignore=(".joke",))) == ["Price: 10", "In stock"]


def test_ignored_text_does_not_change_fingerprint() -> None:
    user_rules = UserRules(ignore_text=(r"\d+",))
    assert (
        fingerprint_page(parse_html(PAGE), user_rules).block_hashes
        == fingerprint_page(parse_html(PAGE.replace(b"10", b"12")), user_rules).block_hashes
    )
    assert (
        fingerprint_page(parse_html(PAGE)).block_hashes
        != fingerprint_page(parse_html(PAGE.replace(b"10", b"12"))).block_hashes
    )


def test_fingerprint_records_user_rules() -> None:
    assert fingerprint_page(parse_html(PAGE)).user_rules_hash == 0
    assert fingerprint_page(parse_html(PAGE), UserRules(ignore=("p",))).user_rules_hash != 0


@pytest.mark.parametrize("invalid", [UserRules(ignore=("p[",)), UserRules(watch_text=("(",))])
def test_invalid_rules_are_rejected(invalid: UserRules) -> None:
    with pytest.raises(UsageError):
        validate_user_rules(invalid)
