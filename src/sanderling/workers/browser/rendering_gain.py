"""What rendering adds to a page: words of the main content, and links to pages of its site."""

from collections import Counter

from msgspec import Struct
from xxhash import xxh3_64_intdigest

from sanderling.fetch.link_resolution import resolve_links
from sanderling.html.links import extract_metadata
from sanderling.html.parser import Document
from sanderling.urls.scope import get_site

MIN_WORDS, MIN_LINKS = 8, 2  # fewer are a counter, a date, or a link to log in
MIN_SHARE = 0.05  # of the words or links of the rendered page
SUFFICIENT_SHARE = 0.5  # however few they are
COMMON_SHARE = 0.5  # of the compared pages of a host: what rendering adds to as many is a banner or a menu
MAX_REPEATS = 3  # on other compared pages: likewise, if only a part of the host has it
MAX_ITEMS = 50_000  # lines and links remembered per host
MAX_PAGES = 2_000  # compared pages remembered per host


class Gain(Struct, frozen=True):
    words: int
    links: int
    is_relevant: bool


class PageItems(Struct, frozen=True):
    """Lines and links of one version of a page."""

    lines: list[str]
    main_lines: list[str]
    links: frozenset[str]
    main_links: frozenset[str]  # of these, links whose text is in the main content
    link_texts: list[str]


class HostAdditions:
    """What rendering added to earlier pages of a host."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._pages: set[int] = set()
        self._link_pages: dict[int, int] = {}  # the first compared page with a link, by hash of the link

    def compare(self, url: str, sent: Document, rendered: Document, is_shell: bool = True) -> Gain:
        """Compare a page as sent with the rendered page, without what rendering adds to most pages of the host.

        Links that other compared pages had are known. On a page that looks complete, added links outside of the main
        content are a menu.
        """
        before, after = read_items(sent, url), read_items(rendered, url)
        known = set(before.lines)
        lines = [line for line in dict.fromkeys(after.main_lines) if line not in known]
        links = sorted((after.links if is_shell else after.main_links) - before.links)
        own_lines = [line for line in lines if not self._is_common(line, url)]
        own_links = [link for link in links if not self._is_common(link, url) and not self._is_known(link, url)]
        self._remember(url, [*lines, *links])
        self._remember_links(url, after.links | before.links)
        words = _count_added_words(own_lines, [*before.lines, *after.link_texts])
        total = sum(len(line.split()) for line in after.main_lines)
        has_words = _is_relevant(words, total, MIN_WORDS)
        has_links = _is_relevant(len(own_links), len(after.links), MIN_LINKS)
        return Gain(words, len(own_links), has_words or has_links)

    def _is_common(self, item: str, url: str) -> bool:
        """Return whether rendering added an item to most other pages."""
        is_revisit = _hash_item(url) in self._pages
        count, pages = self._counts[_hash_item(item)] - is_revisit, len(self._pages) - is_revisit
        return count >= MAX_REPEATS or (count > 0 and count >= COMMON_SHARE * pages)

    def _is_known(self, link: str, url: str) -> bool:
        """Return whether another compared page had a link before."""
        return self._link_pages.get(_hash_item(link)) not in (None, _hash_item(url))

    def _remember_links(self, url: str, links: frozenset[str]) -> None:
        page = _hash_item(url)
        for link in links if len(self._link_pages) < MAX_ITEMS else ():
            self._link_pages.setdefault(_hash_item(link), page)

    def _remember(self, url: str, items: list[str]) -> None:
        page = _hash_item(url)
        if page in self._pages or len(self._pages) >= MAX_PAGES:
            return  # a revisit: what it adds was added before
        self._pages.add(page)
        hashes = {_hash_item(item) for item in items}
        self._counts.update(hashes if len(self._counts) < MAX_ITEMS else hashes & self._counts.keys())


def read_items(tree: Document, url: str) -> PageItems:
    from sanderling.content.extract import extract_blocks  # slow import, not needed before a page is rendered

    site = get_site(url)
    found = [link for link in resolve_links(extract_metadata(tree, url), False) if get_site(link.url) == site]
    blocks = extract_blocks(tree)
    is_main = blocks.main_mask
    lines = [" ".join(line.split()) for line in blocks.lines]
    main_lines = [line for number, line in enumerate(lines) if line and is_main[number]]
    texts = [" ".join(link.anchor.split()) for link in found]
    main_text = "\n".join(main_lines)
    return PageItems(
        [line for line in lines if line],
        main_lines,
        frozenset(link.url for link in found),
        frozenset(link.url for link, text in zip(found, texts, strict=True) if text and text in main_text),
        texts,
    )


def _is_relevant(added: int, total: int, least: int) -> bool:
    return added > 0 and added >= MIN_SHARE * total and (added >= least or added >= SUFFICIENT_SHARE * total)


def _count_added_words(lines: list[str], known_lines: list[str]) -> int:
    """Count the words of added lines beyond those that the page had, or has as links: moved text is not new."""
    return (_count_words(lines) - _count_words(known_lines)).total()


def _count_words(lines: list[str]) -> Counter[str]:
    """Count words with a letter or digit: arrows of a menu are none."""
    return Counter(word for line in lines for word in line.split() if any(map(str.isalnum, word)))


def _hash_item(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
