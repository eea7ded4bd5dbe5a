"""Parts of a page that React streams: sent hidden at the end of the body, and moved by a script to a placeholder.

`<template id="B:2">` is the placeholder, `<div hidden id="S:2">` the part that a reader sees in its place.
"""

from sanderling.content.class_names import STREAMED, classify_name
from sanderling.html.parser import Document, Element

MAX_STREAMED_PARTS = 200  # parts of one page; no framework sends so many


def is_streamed_part(element: Element) -> bool:
    """Return whether a hidden element is a streamed part, which a script shows as soon as it has arrived."""
    return bool(classify_name(element.attr("id") or "") & STREAMED)


def find_streamed_parts(tree: Document, main_elements: list[Element], hidden_elements: list[Element]) -> list[Element]:
    """Return the streamed parts whose placeholders stand inside one of the main parts."""
    parts = (
        [element for element in hidden_elements if is_streamed_part(element)][:MAX_STREAMED_PARTS]
        if main_elements
        else []
    )
    if not parts:
        return []
    around = set(main_elements)
    places = {place.attr("id"): place for place in tree.find_all("template")}
    targets = ((part, places.get((part.attr("id") or "").replace("S:", "B:"))) for part in parts)
    return [part for part, place in targets if place is not None and not around.isdisjoint(place.ancestors)]
