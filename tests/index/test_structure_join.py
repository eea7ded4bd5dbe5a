"""Joining parts that look alike."""

from msgspec.structs import replace

from sanderling.index.structure_alike import Company
from sanderling.index.structure_join import company, join, share_word
from sanderling.index.structure_kinds import companions
from sanderling.index.structure_sets import gather
from sanderling.index.structure_views import Look


def test_parts_have_the_same_company_if_most_pages_of_both_have_a_page_beside_them_whose_name_goes_on_alike() -> None:
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


def test_parts_share_a_word_of_the_names_of_their_kinds() -> None:
    kinds = {"title-ends:Class Members": 0b11, "title-ends:File Members": 0b1100, "title-ends:Member List": 0b110000}
    assert share_word(0b11, 0b1100, kinds)
    assert not share_word(0b11, 0b110000, kinds)


def test_a_kind_that_file_names_name_is_joined_to_no_other() -> None:
    looks = [Look(n, f"http://h/{'abcd'[n % 4]}/{'xy'[n // 4]}.html", "", frozenset({1, 2})) for n in range(8)]
    sets = gather(looks)
    assert len(join([0b1111, 0b11110000], sets)) == 1
    kinds = {"name:x": sum(1 << n for n, look in enumerate(looks) if "x.html" in look.url)}
    assert len(join([0b1111, 0b11110000], replace(sets, kinds=kinds))) == 2
