"""A focused look at a page: how relevant it is, and what each of its links promises."""

from collections.abc import Callable

from sanderling.frontier.ordering.topic import TopicScorer
from sanderling.html.links import PageMetadata, RawLink
from sanderling.html.parser import Document, Element
from sanderling.html.text import MAX_TEXT

MAX_CONTEXT_CHARS = 300  # characters
MAX_ANCESTORS = 2  # elements above a link that may hold the words around it

CONTAINER_TAGS = ("body", "html", "nav", "table", "ul", "ol")  # what these hold is not about one link

TopicLinkScorer = Callable[[RawLink], float]


def score_page_relevance(scorer: TopicScorer, tree: Document, title: str) -> float:
    """How much a page speaks of the topic; the tree has lost its scripts by now, so all its text is to be read."""
    return scorer.score_page(tree.text[:MAX_TEXT], title)


def build_link_scorer(scorer: TopicScorer, tree: Document, extracted: PageMetadata) -> TopicLinkScorer:
    """Say what a link of the page just heard promises: by its own words, those of its URL, and those around it."""
    around = dict(_find_link_contexts(tree)) if extracted.links and scorer.is_page_relevant else {}

    def promise(link: RawLink) -> float:
        path = link.href.partition("://")[2].partition("/")[2] or link.href
        return scorer.score_link(f"{link.anchor} {path}", around.get(link.href, ""))

    return promise


def _find_link_contexts(tree: Document) -> list[tuple[str, str]]:
    found = []
    for element in tree.iter_elements("a"):
        href = element.attr("href")
        if not href or href[0] == "#":
            continue
        own, above = element.text, element.parent
        for _ in range(MAX_ANCESTORS):
            if not isinstance(above, Element) or above.tag in CONTAINER_TAGS:
                break
            words = above.text
            if len(words) > len(own) + 10:
                found.append((href, words[:MAX_CONTEXT_CHARS]))
                break
            above = above.parent
    return found
