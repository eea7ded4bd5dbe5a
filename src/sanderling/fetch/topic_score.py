"""A focused look at a page: how relevant it is, and what each of its links promises."""

from collections.abc import Callable

from sanderling.frontier.ordering.topic import Listener
from sanderling.html.links import Extract, RawLink
from sanderling.html.parser import Document, Element
from sanderling.html.text import MAX_TEXT

AROUND = 300  # characters
RISE = 2  # elements above a link that may hold the words around it

WHOLE = ("body", "html", "nav", "table", "ul", "ol")  # what these hold is not about one link

Promise = Callable[[RawLink], float]


def relevance(topic: Listener, tree: Document, title: str) -> float:
    """How much a page speaks of the topic; the tree has lost its scripts by now, so all its text is to be read."""
    return topic.relevance(tree.text[:MAX_TEXT], title)


def promise_of(topic: Listener, tree: Document, found: Extract) -> Promise:
    """Say what a link of the page just heard promises: by its own words, those of its URL, and those around it."""
    around = dict(_surroundings(tree)) if found.links and topic.heard else {}

    def promise(link: RawLink) -> float:
        path = link.href.partition("://")[2].partition("/")[2] or link.href
        return topic.promise(f"{link.anchor} {path}", around.get(link.href, ""))

    return promise


def _surroundings(tree: Document) -> list[tuple[str, str]]:
    found = []
    for element in tree.iter_elements("a"):
        href = element.attr("href")
        if not href or href[0] == "#":
            continue
        own, above = element.text, element.parent
        for _ in range(RISE):
            if not isinstance(above, Element) or above.tag in WHOLE:
                break
            words = above.text
            if len(words) > len(own) + 10:
                found.append((href, words[:AROUND]))
                break
            above = above.parent
    return found
