"""Links of a page, in both directions."""

from msgspec import Struct

from sanderling.storage.collection import StoredCollection
from sanderling.storage.link_graph import load_outgoing_links, load_source_ids
from sanderling.storage.queries import load_urls, resolve_known_url


class PageLink(Struct, frozen=True):
    """A link of a page to a URL."""

    url: str
    anchor: str  # text of the link
    nofollow: bool


class PageLinks(Struct, frozen=True):
    """Links of a page, in order of appearance, and the pages that link to it."""

    url: str
    outgoing: tuple[PageLink, ...]
    incoming: tuple[str, ...]


def load_page_links(stored: StoredCollection, url: str) -> PageLinks:
    """Load the links of a known URL. Raises UsageError if it is unknown."""
    id_, key = resolve_known_url(stored, url)
    outgoing, incoming = load_outgoing_links(stored.db, id_), load_source_ids(stored.db, id_)
    names = load_urls(stored.db, [*outgoing.target_ids, *incoming])
    pairs = zip(outgoing.target_ids, outgoing.anchor_texts, strict=True)
    links = tuple(
        PageLink(names[target], anchor, number in outgoing.nofollow_positions)
        for number, (target, anchor) in enumerate(pairs)
    )
    return PageLinks(key, links, tuple(names[source] for source in incoming))
