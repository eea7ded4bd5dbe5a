"""Real pages in disguise: the same words and tree without the names, landmarks and roles that rules could lean on."""

from collections.abc import Callable

from turbohtml import Document

LANDMARKS = ("main", "article", "nav", "footer", "header", "aside", "section", "menu", "dialog")
Names = dict[str, str]
"""What each name was changed to; the same in both versions of a page."""


def without_names(tree: Document, names: Names) -> None:
    """Replace classes and ids with meaningless names."""
    for name in ("class", "id"):
        for element in tree.select(f"[{name}]"):
            words = (element.attr(name) or "").split()
            element.attrs[name] = " ".join(names.setdefault(f"{name} {word}", f"c{len(names)}") for word in words)


def without_landmarks(tree: Document, _: Names) -> None:
    """Replace landmark elements with `div`."""
    for tag in LANDMARKS:
        for element in tree.find_all(tag):
            element.tag = "div"


def without_roles(tree: Document, _: Names) -> None:
    """Take roles and labels away."""
    for name in ("role", "aria-label"):
        for element in tree.select(f"[{name}]"):
            element.attrs.pop(name)


def without_main(tree: Document, _: Names) -> None:
    """Declare no main part."""
    for element in tree.find_all("main"):
        element.tag = "div"
    for element in tree.select("[role=main]"):
        element.attrs.pop("role")


def without_anything(tree: Document, names: Names) -> None:
    """Take all of it away."""
    for disguise in (without_names, without_landmarks, without_roles):
        disguise(tree, names)


DISGUISES: dict[str, Callable[[Document, Names], None]] = {
    "no telling names": without_names,
    "no landmarks": without_landmarks,
    "no roles": without_roles,
    "no main part": without_main,
    "nothing but divisions": without_anything,
}
