"""What a page folds away and a reader unfolds: the answer below a question, the panel of a tab. That is content."""

from sanderling.html.parser import Element
from sanderling.html.text import words_of

LABEL = 300  # characters of what stands before a folded part at most: its label
CONTROLS = ("aria-controls", "aria-expanded", "onclick")  # what shows another part has one of these
CONTROLLING = ",".join(f"[{name}]" for name in CONTROLS)


def is_folded(element: Element) -> bool:
    """Say whether a part that is not shown is folded: the panel of a tab, or what a control right before it shows."""
    if element.attr("role") == "tabpanel" or element.attr("hidden") == "until-found":
        return True
    label = _before(element)
    return label is not None and _controls(label) and len(words_of(label)) <= LABEL


def _before(element: Element) -> Element | None:
    """Find the element right before another one, if no text stands between them."""
    node = element.previous_sibling
    while node is not None and not isinstance(node, Element) and not node.text.strip():
        node = node.previous_sibling
    return node if isinstance(node, Element) else None


def _controls(label: Element) -> bool:
    return any(label.attr(name) is not None for name in CONTROLS) or label.select_one(CONTROLLING) is not None
