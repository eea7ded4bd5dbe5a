"""Joining parts that look alike."""

from msgspec.structs import replace

from sanderling.templates.file_series import companions
from sanderling.templates.merge import (
    CompanionMatch,
    are_described_together,
    compare_companions,
    is_named_kind,
    merge_parts,
    share_word,
)
from sanderling.templates.page_sets import build_page_sets
from sanderling.templates.template_views import PageView


def test_parts_have_the_same_company_if_most_pages_of_both_have_a_page_beside_them_whose_name_goes_on_alike() -> None:
    names = [f"{kind}{n}{more}" for kind in ("class", "struct", "file") for n in range(5) for more in ("", "-members")]
    urls = [f"http://h/{name}.html" for name in names if "file" not in name or "-" not in name]
    beside = companions(urls)
    classes, structs, files = (
        sum(1 << n for n, url in enumerate(urls) if kind in url and "-" not in url)
        for kind in ("class", "struct", "file")
    )
    assert beside == {"-members": classes | structs}
    assert compare_companions(classes, structs, beside) is CompanionMatch.SAME
    assert compare_companions(classes, files, beside) is CompanionMatch.OTHER
    assert compare_companions(files, files, beside) is CompanionMatch.NONE


def test_parts_share_a_word_of_the_names_of_their_kinds() -> None:
    kinds = {"title-ends:Class Members": 0b11, "title-ends:File Members": 0b1100, "title-ends:Member List": 0b110000}
    assert share_word(0b11, 0b1100, kinds)
    assert not share_word(0b11, 0b110000, kinds)


def test_a_kind_that_file_names_name_is_joined_to_no_other() -> None:
    looks = [PageView(n, f"http://h/{'abcd'[n % 4]}/{'xy'[n // 4]}.html", "", frozenset({1, 2})) for n in range(8)]
    sets = build_page_sets(looks)
    assert len(merge_parts([0b1111, 0b11110000], sets)) == 1
    kinds = {"name:x": sum(1 << n for n, look in enumerate(looks) if "x.html" in look.url)}
    assert len(merge_parts([0b1111, 0b11110000], replace(sets, kinds=kinds))) == 2


def test_lists_in_several_files_are_joined_without_a_word_in_common() -> None:
    looks = [
        *(
            PageView(n, f"http://h/{base}{more}.html", title, frozenset(built))
            for n, (base, title, built) in enumerate(
                [("functions", "Data Fields", {1, 2, 5, 6, 3}), ("globals", "Globals", {1, 2, 5, 6, 4})]
            )
            for more in ("", "_vars", "_func")
        ),
        *(PageView(n, f"http://h/{n}.html", f"n{n}x Class Reference", frozenset({1, 8, 9})) for n in range(6, 12)),
    ]
    sets = build_page_sets(looks)
    kinds = {"title-ends:Data Fields": 0b111, "title-ends:Globals": 0b111000}
    apart = replace(sets, kinds=kinds, lists=0)
    assert len(merge_parts(list(kinds.values()), apart)) == 2
    assert len(merge_parts(list(kinds.values()), replace(apart, lists=0b111111))) == 1


def test_parts_are_told_of_if_pages_of_a_third_part_tell_of_most_of_both() -> None:
    one, other, third = 0b11, 0b1100, 0b11110000
    assert are_described_together({one: 0b110000, other: 0b1000000}, [one, other, third])
    assert not are_described_together({one: 0b110000, other: 0}, [one, other, third])
    assert not are_described_together({one: 0b110000, other: 0b10}, [one, other, third])


def test_kinds_of_classes_that_one_kind_of_page_tells_of_are_one_template() -> None:
    built = {"types": {1, 2, 3}, "words": {1, 2, 3, 4, 5, 6, 7}}
    looks = [
        PageView(0, f"http://h/{folder}/{below}{n}.html", "", frozenset({1, 9} if below else features))
        for folder, features in built.items()
        for below in ("", "use/")
        for n in range(4)
    ]
    sets = build_page_sets(looks)
    parts = [0b1111, 0b111100000000, 0b1111000011110000]
    assert merge_parts(parts, sets) == [0b111100001111, 0b1111000011110000]
    assert len(merge_parts(parts, replace(sets, tellers={}))) == 3


def test_a_kind_that_titles_name_is_not_joined_to_pages_without_a_name_unless_they_are_many_more() -> None:
    many, few, titled = 0b1111111111110000, 0b11110000, 0b1111
    assert is_named_kind(titled, few, titled)
    assert is_named_kind(few, titled, titled)
    assert not is_named_kind(0b1, many, titled)
    assert not is_named_kind(few, 0b1100000000, titled)
    assert not is_named_kind(0b11, 0b1100, titled)
