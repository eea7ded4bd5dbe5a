"""Recognize collapsed content that a reader can expand: tab panels, and answers below questions.

Collapsed content counts as visible.
"""

from sanderling.html.parser import Element
from sanderling.html.text import get_element_text

MAX_LABEL_LENGTH = 300  # characters of the control
CONTROL_ATTRIBUTES = ("aria-controls", "aria-expanded", "onclick")
CONTROL_SELECTOR = ",".join(f"[{name}]" for name in CONTROL_ATTRIBUTES)


def is_collapsible(element: Element) -> bool:
    """Return whether a hidden element is a tab panel, or follows a control that shows it."""
    if element.attr("role") == "tabpanel" or element.attr("hidden") == "until-found":
        return True
    label = _find_previous_element(element)
    return label is not None and _is_control(label) and len(get_element_text(label)) <= MAX_LABEL_LENGTH


def _find_previous_element(element: Element) -> Element | None:
    node = element.previous_sibling
    while node is not None and not isinstance(node, Element) and not node.text.strip():
        node = node.previous_sibling
    return node if isinstance(node, Element) else None


def _is_control(label: Element) -> bool:
    return (
        any(label.attr(name) is not None for name in CONTROL_ATTRIBUTES)
        or label.select_one(CONTROL_SELECTOR) is not None
    )
