"""Topic scores for focused crawls."""

from sanderling.fetch.link_resolution import LinkScorer
from sanderling.frontier.ordering.topic import TopicScorer, add_short_text
from sanderling.html.links import PageMetadata, RawLink
from sanderling.html.parser import Document, Element
from sanderling.html.text import MAX_TEXT

MAX_CONTEXT_CHARS = 300
MAX_ANCESTORS = 2  # searched for the text around a link

CONTAINER_TAGS = ("body", "html", "nav", "table", "ul", "ol")  # their text is not about a single link


def score_page_relevance(scorer: TopicScorer, tree: Document, title: str) -> float:
    text = tree.text[:MAX_TEXT]
    return scorer.score_page(text, add_short_text(title, text))


def build_link_scorer(scorer: TopicScorer, tree: Document, extracted: PageMetadata) -> LinkScorer:
    """Return a scorer of link text, URL path, and surrounding text."""
    contexts = dict(_find_link_contexts(tree)) if extracted.links and scorer.is_page_relevant else {}

    def score(link: RawLink) -> float:
        path = link.href.partition("://")[2].partition("/")[2] or link.href
        return scorer.score_link(f"{link.anchor} {path}", contexts.get(link.href, ""))

    return score


def _find_link_contexts(tree: Document) -> list[tuple[str, str]]:
    contexts = []
    for element in tree.iter_elements("a"):
        href = element.attr("href")
        if not href or href[0] == "#":
            continue
        anchor_text, ancestor = element.text, element.parent
        for _ in range(MAX_ANCESTORS):
            if not isinstance(ancestor, Element) or ancestor.tag in CONTAINER_TAGS:
                break
            text = ancestor.text
            if len(text) > len(anchor_text) + 10:
                contexts.append((href, text[:MAX_CONTEXT_CHARS]))
                break
            ancestor = ancestor.parent
    return contexts
