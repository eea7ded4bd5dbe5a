"""Joining parts that look alike."""

from sanderling.index.structure_join import Company, alike, company, share_word
from sanderling.index.structure_kinds import companions


def test_parts_that_hold_most_of_each_other_are_one_template_unless_a_feature_tells_them_apart() -> None:
    weight = dict.fromkeys(range(1, 11), 1.0)
    plain = {1: 1.0, 2: 1.0, 3: 1.0, 4: 0.9}
    richer = {1: 1.0, 2: 1.0, 3: 1.0, 5: 0.9, 6: 0.9}
    assert 0.4 < alike(plain, richer, weight) < 0.55
    assert alike(plain, richer | {6: 1.0}, weight) == 0.0
    assert alike(plain, {1: 1.0, 5: 0.9, 6: 0.9, 7: 0.9}, weight) == 0.0


def test_pages_with_the_same_kind_of_page_beside_them_are_one_template_though_some_have_less_on_them() -> None:
    names = [f"{kind}{n}{more}" for kind in ("class", "struct", "file") for n in range(5) for more in ("", "-members")]
    urls = [f"http://h/{name}.html" for name in names if "file" not in name or "-" not in name]
    beside = companions(urls)
    classes, structs, files = (
        sum(1 << n for n, url in enumerate(urls) if kind in url and "-" not in url)
        for kind in ("class", "struct", "file")
    )
    assert beside == {"-members": classes | structs}
    assert company(classes, structs, beside) is Company.SAME
    assert company(classes, files, beside) is Company.OTHER
    assert company(files, files, beside) is Company.NONE
    much, less = dict.fromkeys(range(1, 9), 1.0), {1: 1.0, 2: 1.0}
    weight = dict.fromkeys(range(1, 9), 1.0)
    assert alike(much, less, weight, Company.SAME) > 0
    assert alike(much, less, weight) == 0


def test_a_part_called_like_a_larger_one_with_less_on_it_is_of_its_template() -> None:
    large = {1: 1.0, 2: 0.7, 3: 0.6, 4: 0.6, 5: 0.6}
    small = {1: 1.0, 2: 0.1}
    weight = dict.fromkeys(large, 1.0)
    assert alike(small, large, weight) == 0
    assert alike(small, large, weight, called=True) > 0
    assert alike(small, large | {6: 1.0}, weight | {6: 1.0}, called=True) == 0


def test_parts_that_nothing_tells_apart_are_one() -> None:
    one, other = {1: 1.0, 2: 0.4, 3: 0.4}, {1: 1.0, 4: 0.4}
    weight = dict.fromkeys(range(5), 1.0)
    assert alike(one, other, weight | {1: 3.0}) > 0
    assert alike(one, other, weight) == 0


def test_parts_share_a_word_of_the_names_of_their_kinds() -> None:
    kinds = {"title-ends:Class Members": 0b11, "title-ends:File Members": 0b1100, "title-ends:Member List": 0b110000}
    assert share_word(0b11, 0b1100, kinds)
    assert not share_word(0b11, 0b110000, kinds)
