"""What is known of how a page is built, seen from three sides: its URL, its title and its structure."""

from msgspec import Struct


class PageView(Struct, frozen=True):
    """A page's id, its URL, title and structural features."""

    id: int
    url: str
    title: str
    features: frozenset[int]
