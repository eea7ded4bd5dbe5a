"""Single pages that have a template of their own."""

import msgspec
import pytest

from sanderling.templates import learn_templates
from sanderling.templates.file_names import MOST
from sanderling.templates.learn_templates import Model, learn_host_templates, learn_site_templates
from sanderling.templates.outliers import fashion
from sanderling.templates.split import DecisionNode
from sanderling.templates.template_views import PageView

FRAME, CLASS = {1, 2, 3}, {10, 11, 12, 13, 14, 15, 16}


def word(number: int) -> str:
    """Letters that no other number has: nothing in them foretells how pages are built."""
    return "".join(chr(97 + number // 26**place % 26) for place in range(3))


def package(*odd: tuple[str, set[int]], count: int = 20) -> list[PageView]:
    """The classes of one package, and its other pages."""
    classes = [(f"Class{word(n)}", FRAME | CLASS | {20 + n % 20}) for n in range(count)]
    return [
        PageView(n, f"http://h/p/{name}.html", "", frozenset(built)) for n, (name, built) in enumerate([*classes, *odd])
    ]


def test_a_page_called_and_built_after_another_fashion_is_a_template_of_its_own() -> None:
    looks = package(("package-summary", FRAME | {50, 51}), ("package-tree", FRAME | {60, 61}))
    model = learn_host_templates(looks)
    numbers = [model.place(look) for look in looks]
    assert len({*numbers[:20]}) == 1
    assert len({*numbers}) == 3


def test_a_later_page_of_that_name_is_of_that_template() -> None:
    looks = package(("package-summary", FRAME | {50, 51}))
    model = learn_host_templates(looks)
    later = PageView(99, "http://h/q/package-summary.html", "", frozenset(FRAME | {50}))
    assert model.place(later) == model.place(looks[-1])


def test_a_page_only_called_or_only_built_after_another_fashion_is_of_the_template() -> None:
    for odd in (("package-info", FRAME | CLASS), ("Empty", FRAME | {50})):
        looks = package(odd)
        model = learn_host_templates(looks)
        assert len({model.place(look) for look in looks}) == 1


def test_odd_pages_that_are_built_alike_are_one_template_whatever_they_are_called() -> None:
    odd = [(f"{word(n)}-{word(n)}", FRAME | {50, 51}) for n in range(10)]
    looks = package(*odd, ("package-tree", FRAME | {60, 61}), count=90)
    model = learn_host_templates(looks)
    numbers = [model.place(look) for look in looks]
    assert len({*numbers[:90]}) == len({*numbers[90:100]}) == 1
    assert len({*numbers}) == model.count == 3


@pytest.mark.parametrize(("names", "templates"), [(MOST, MOST + 1), (MOST + 1, 1)])
def test_names_that_are_too_many_are_a_fashion_and_nothing_is_set_apart(names: int, templates: int) -> None:
    odd = [(f"{word(n)}-{word(n)}", FRAME | {100 + 2 * n, 101 + 2 * n}) for n in range(names)]
    assert learn_host_templates(package(*odd, count=6 * MOST)).count == templates


def test_a_large_site_with_many_odd_names_can_be_written_down() -> None:
    odd = [(f"{word(n)}-{word(n)}", FRAME | {100 + n}) for n in range(1_100)]
    model = learn_host_templates(package(*odd, count=4_900))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(model), type=Model) == model


def test_a_part_whose_pages_are_all_set_apart_keeps_its_template(monkeypatch: pytest.MonkeyPatch) -> None:
    guide = [PageView(n, f"http://h/guide/{n}.html", "", frozenset({1, 70, 71})) for n in range(15)]
    classes, odd, guides = (1 << 15) - 1, 1 << 15, ((1 << 15) - 1) << 16
    tree = DecisionNode("folder:guide", 0, DecisionNode("begins:package", 1, 2))
    monkeypatch.setattr(learn_templates, "divide", lambda sets: (tree, [guides, odd, classes]))
    monkeypatch.setattr(learn_templates, "merge_parts", lambda parts, sets: [guides, odd | classes])
    rules = learn_site_templates([*package(("package-summary", FRAME | {50, 51}), count=15), *guide])
    later = PageView(99, "http://h/p/package-notes.html", "", frozenset(FRAME | CLASS))
    assert rules.place(later) == (1, False)
    assert rules.leaves == (0, 1, 1, 2)


def test_the_fashion_of_a_name_is_its_depth_its_separators_and_its_first_letter() -> None:
    assert fashion("http://h/p/package-summary.html") == fashion("http://h/q/package-use.html") == (1, "-", False)
    assert fashion("http://h/p/Foo.Bar_Baz.html") == (1, "._", True)
    assert fashion("http://h/") == (0, "", False)
