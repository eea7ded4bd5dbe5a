"""Which of several pages is the original."""

from sanderling.dedupe.canonical import Claim, original, resolve


def claims(*pairs: tuple[str, str]) -> dict[str, Claim]:
    return {url: Claim(url, canonical) for url, canonical in pairs}


def test_canonical_is_followed_to_the_end() -> None:
    pages = claims(("a", "b"), ("b", "c"), ("c", "c"))
    assert resolve("a", pages) == "c"


def test_a_circle_or_a_missing_page_is_not_followed() -> None:
    assert resolve("a", claims(("a", "b"), ("b", "a"))) == "a"
    assert resolve("a", claims(("a", "nowhere"))) == "a"
    pages = claims(("a", "b"), ("b", "")) | {"b": Claim("b", "", indexable=False)}
    assert resolve("a", pages) == "a"


def test_the_original_is_the_one_they_point_at_else_the_plainest() -> None:
    assert original([Claim("x/y?z", ""), Claim("x/y", "")]) == "x/y"
    assert original([Claim("x/y?z", "x/y?z"), Claim("x/y", "x/y?z")]) == "x/y?z"
    assert original([]) == ""
