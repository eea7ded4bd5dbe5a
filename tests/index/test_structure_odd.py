"""Single pages that have a template of their own."""

from sanderling.index.structure_odd import fashion
from sanderling.index.structure_templates import learn
from sanderling.index.structure_views import Look

FRAME, CLASS = {1, 2, 3}, {10, 11, 12, 13, 14, 15, 16}


def package(*odd: tuple[str, set[int]]) -> list[Look]:
    """The classes of one package, and its other pages."""
    classes = [(f"Class{chr(65 + n)}", FRAME | CLASS | {20 + n}) for n in range(20)]
    return [
        Look(n, f"http://h/p/{name}.html", "", frozenset(built)) for n, (name, built) in enumerate([*classes, *odd])
    ]


def test_a_page_called_and_built_after_another_fashion_is_a_template_of_its_own() -> None:
    looks = package(("package-summary", FRAME | {50, 51}), ("package-tree", FRAME | {60, 61}))
    model = learn(looks)
    numbers = [model.place(look) for look in looks]
    assert len({*numbers[:20]}) == 1
    assert len({*numbers}) == 3


def test_a_later_page_of_that_name_is_of_that_template() -> None:
    looks = package(("package-summary", FRAME | {50, 51}))
    model = learn(looks)
    later = Look(99, "http://h/q/package-summary.html", "", frozenset(FRAME | {50}))
    assert model.place(later) == model.place(looks[-1])


def test_a_page_only_called_or_only_built_after_another_fashion_is_of_the_template() -> None:
    for odd in (("package-info", FRAME | CLASS), ("Empty", FRAME | {50})):
        looks = package(odd)
        model = learn(looks)
        assert len({model.place(look) for look in looks}) == 1


def test_the_fashion_of_a_name_is_its_depth_its_separators_and_its_first_letter() -> None:
    assert fashion("http://h/p/package-summary.html") == fashion("http://h/q/package-use.html") == (1, "-", False)
    assert fashion("http://h/p/Foo.Bar_Baz.html") == (1, "._", True)
    assert fashion("http://h/") == (0, "", False)
