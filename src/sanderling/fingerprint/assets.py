"""What a page brings along: links, images, drawings, titles, styles; each as a set of short hashes."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat
from unicodedata import category

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.rules.share_links import is_sharer
from sanderling.content.volatile.strip import reduce, steady
from sanderling.html.parser import Document, Element, values
from sanderling.html.text import spelled

MAX_LINKS = 10_000
KEYS = 1 << 32
APART = 0x9E3779B1  # between the hashes of one target that several links have: odd, so that none comes twice
MAX_TITLE = 500  # characters of a title, or of what a field offers
PICTURE = "So"  # what Unicode calls a sign such as a star or a red light: it says something where it stands alone
STOP = re.compile(
    r"[.,;:!?](?!\d)|(?<=[^\W\d_])[.,;:!?]"
)  # of a title, but in a number; a blank before is no other word
COUNTER = re.compile(r"^\W*[(\[]\d+\+?[)\]]\s*")  # of unread messages, before a title
MAX_NAMES = 20_000  # class attributes remembered
MAX_SOURCES = 4_096  # of pictures, remembered: most are there again in the next version
DRESSED, DRESSES = ("body", "font", "table"), ("bgcolor", "background", "color", "face", "size", "border")
LATER = ("data-src", "data-original", "data-lazy-src", "data-srcset")
LAZY = (*LATER[:3], "src", "srcset", LATER[3])  # where the source of a picture is looked for: a late one stands for it
CHOSEN = re.compile(r"[?&;](?:id|file|src|url|img|image|photo|picture|pic|path)=[^&#;]*", re.IGNORECASE)
NUMBER = re.compile(r"[?&;](?:id|nr|no|page_?id|article_?id|doc_?id|item_?id|p)=\d{1,9}(?=[&;]|$)", re.IGNORECASE)
EDITION = re.compile(  # of what is read: the next one has the same pages; a date is none
    r"(?<!/)/(?!(?:19|20)\d\d\.\d\d?\.\d\d?/)v?\d++(?:\.\d++)++(?=/)|(?<![/\d])/v?\d\d?(?=/\D)"
)
PAGES = (".html", ".htm")  # before which there may be one
RUN = re.compile(r"[0-9a-f]{8,}", re.IGNORECASE)  # of a picture's name
DIGEST = re.compile(r"[0-9a-f]{16,}")  # in a class name
SCALED = re.compile(  # how large a picture is served: gull-300x200.jpg, gull@2x.jpg, /w_300,h_200/gull.jpg
    r"[-_]\d{2,4}x\d{0,4}(?=[._-]|$)|@[1-4]x(?=\.)"
    r"|(?<=/)(?=[^/]*\b(?:w|h|width|height)[=_]\d)(?:[a-zA-Z0-9]{1,12}[=_][\w.:-]{1,40}(?:,|(?=/)))++/"
)
COMMIT = re.compile(  # the hash of a commit in an address: /blob/0a1b2c3/README, gh/user/project@0a1b2c3/
    r"(?<=/)((?:commits?|blob|tree|raw|edit|blame|archive)/)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=[/.]|$)"
    r"|(?<=@)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=/|$)"
)
FORMATS = frozenset(("jpg", "jpeg", "png", "gif", "webp", "avif"))
ELSEWHERE = ("https://", "http://", "//")
NOWHERE = ("javascript:", "data:")
NO_NUMBERS = dict.fromkeys(range(48, 58))  # of a host: one of many that serve the same pictures
LONE = re.compile(r"(?:^|[-_])[a-z]$")  # a letter that does the same
LONG_NUMBER = 9  # digits; shorter numbers are the picture's own
SESSION = re.compile(
    r";jsessionid=[^?#]*|(?<=[?&])(?:_|t|ts|v|ver|sid|phpsessid|session_?id|token|csrf\w*|nonce|hash|utm_\w+|[gf]clid|"
    r"_g[al]|mc_[ce]id|msclkid|yclid|igshid|rnd|rand|cb|time|timestamp)=[^&#]*&?",
    re.IGNORECASE,
)


def key(text: str) -> int:
    """Hash a piece of a page to 32 bits."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass"))


def pack(keys: Iterable[int]) -> bytes:
    """Write a set of hashes, sorted, four bytes each in this machine's order: little-endian on all we run on."""
    return array("I", sorted(set(keys))).tobytes()


def unpack(packed: bytes) -> set[int]:
    """Read the hashes that `pack` wrote."""
    return set(array("I", packed))


def digest(parts: Iterable[str]) -> int:
    """Hash a sequence of pieces to 64 bits."""
    return xxh3_64_intdigest("\n".join(parts).encode("utf-8", "surrogatepass"))


def target(href: str) -> str:
    """Spell a link's target without fragment, session and cache-buster parameters."""
    href = without_commit(href.split("#", 1)[0].strip())
    return SESSION.sub("", href).rstrip("?&") if "?" in href or ";" in href else href


def without_commit(href: str) -> str:
    """Remove the commit hash from an address in a repository: each build of a site links to its own."""
    return COMMIT.sub(_without_hash, href)


def _without_hash(match: re.Match[str]) -> str:
    return match[1] or ""


class _Targets(dict[str, int]):
    """The hash of where a link leads, remembered: a site's menus are the same on every page; 0 for nowhere."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_NAMES:
            self.clear()
        place = target(href)
        value = self[href] = key(place) if place and not place.startswith(NOWHERE) else 0
        return value


_targets = _Targets()


def targets(tree: Document) -> set[int]:
    """Hash where links lead; what stays on the page or runs a script is left out."""
    hrefs = list(map(Element.attr, tree.find_all("a"), repeat("href")))
    return set(map(_targets.__getitem__, filter(None, hrefs[:MAX_LINKS]))) - {0}


class _Places(dict[str, int]):
    """The hash of where a link of running text leads, remembered; 0 for nowhere."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_NAMES:
            self.clear()
        place = steady_place(href)
        nowhere = not place or place.startswith(NOWHERE) or place == "mailto:" or is_sharer(href)
        value = self[href] = 0 if nowhere else key(place)
        return value


_places = _Places()


def places(elements: Iterable[Element]) -> set[int]:
    """Hash where the links of running text lead, each as often as they do: the address alone, for queries are full of
    tokens.
    """
    hrefs = list(filter(None, map(Element.attr, list(elements)[:MAX_LINKS], repeat("href"))))
    apart = _apart(hrefs)
    times = Counter(
        key("".join(_place(href))) if apart and _numbered(href)[0] in apart else _places[href] for href in hrefs
    )
    times.pop(0, None)
    return {(place + APART * number) % KEYS for place, count in times.items() for number in range(count)}


def _apart(hrefs: list[str]) -> set[str]:
    """Find behind what a number tells pages apart: that of an edition is the same in most links of a page."""
    numbers: dict[str, Counter[str]] = {}
    for before, number in map(_numbered, hrefs):
        if number:
            numbers.setdefault(before, Counter())[number] += 1
    return {before for before, times in numbers.items() if 2 * max(times.values()) <= times.total()}


@lru_cache(maxsize=MAX_NAMES)
def _numbered(href: str) -> tuple[str, str]:
    """Find what may be the number of an edition in an address, and what stands before it; empty if there is none."""
    place, _ = _place(href)
    found = EDITION.search(place) if place.endswith(PAGES) else None
    return (place[: found.start()], found[0]) if found else ("", "")


def steady_place(href: str) -> str:
    """Spell where a link leads without the number of an edition."""
    place, chosen = _place(href)
    return f"{EDITION.sub('', place) if place.endswith(PAGES) else place}{chosen}"


def _place(href: str) -> tuple[str, str]:
    """Cut scheme, query and fragment off a target, but for a number that chooses; of a relative one only the last name
    stays, however spelled.
    """
    place, _, query = href.split("#", 1)[0].partition("?")
    place = without_commit(place.split(";", 1)[0].strip()).rstrip("/")
    chosen = "".join(NUMBER.findall(f"?{query}")) if query else ""
    _, absolute, rest = place.partition("//")
    return rest if absolute else place if place.startswith("/") else place.rpartition("/")[2], chosen


def images(elements: Iterable[Element]) -> set[int]:
    """Hash which pictures are shown, lazily loaded or not, and their alternative texts."""
    found = set()
    for element in elements:
        source = source_of(element)
        if source and not _is_pixel(element):
            found.add(key(f"{picture(source)} {element.attr('alt') or ''}"))
    return found


def source_of(image: Element) -> str:
    """Find where a picture comes from; empty for one that is written into the page."""
    return next((value for name in LAZY if (value := image.attr(name)) and not value.startswith("data:")), "")


def shown(tree: Document) -> set[int]:
    """Hash the pictures, films, sounds and drawings of a page."""
    return images(tree.find_all("img")) | played(tree) | drawn(tree)


def played(tree: Document) -> set[int]:
    """Hash which films and sounds can be played, and which pictures are shown in their place."""
    found: set[int] = set()
    for tag in ("video", "audio", "source"):
        for element in tree.find_all(tag):
            sources = (element.attr(name) for name in ("src", "srcset", "poster"))
            found.update(key(f"{tag} {picture(source)}") for source in sources if source)
    return found


def drawn(tree: Document) -> set[int]:
    """Hash what is drawn in the page itself: the lines of its drawings, and the drawings they take from elsewhere."""
    lines = map(Element.attr, tree.find_all("path")[:MAX_LINKS], repeat("d"))
    taken = (use.attr("href") or use.attr("xlink:href") for use in tree.find_all("use")[:MAX_LINKS])
    return set(map(key, filter(None, lines))) | {key(f"use {steady(one)}") for one in filter(None, taken)}


def titled(tree: Document, ignored: re.Pattern[str] | None = None) -> set[int]:
    """Hash the words of a title, however spelled; counters, stamps, stops and what a user ignores do not count."""
    title = tree.find("title")
    words = reduce(COUNTER.sub("", " ".join(title.text[:MAX_TITLE].split()))) if title is not None else ""
    words = words if ignored is None else ignored.sub("", words)
    found = STOP.sub("", spelled("\n".join(words.split())).decode()).split("\n")
    return {key(word) for word in found if any(char.isalnum() or category(char) == PICTURE for char in word)}


def picture(source: str) -> str:
    """Spell the source of a picture without build numbers, tokens, size and format; what chooses it from many stays."""
    return _picture(source) if len(source) <= MAX_TITLE else _picture.__wrapped__(source)


@lru_cache(maxsize=MAX_SOURCES)
def _picture(source: str) -> str:
    source = source.strip().split(None, 1)[0] if source.strip() else ""
    place, _, query = source.partition("#")[0].partition("?")
    place = _without_format(_without_format(SCALED.sub("", place)))  # gull.jpg.webp is made of gull.jpg
    chosen = "".join(CHOSEN.findall(f"?{query}")) if query else ""
    _, _, rest = RUN.sub(_unless_named, place).rpartition("//")
    host, slash, path = rest.partition("/")
    return f"{_steady_host(host) if place.startswith(ELSEWHERE) else host}{slash}{path}{chosen}"


def _without_format(place: str) -> str:
    name, _, ending = place.rpartition(".")
    return name if ending.lower() in FORMATS else place


def _steady_host(host: str) -> str:
    """Spell a host without its number among many; the name of a site, and an address, stays."""
    first, dot, rest = host.partition(".")
    is_one_of_many = "." in rest and not rest.rpartition(".")[2].partition(":")[0].isdigit()
    return f"{LONE.sub('', first.translate(NO_NUMBERS))}{dot}{rest}" if is_one_of_many else host


def _unless_named(run: re.Match[str]) -> str:
    """Drop a number of a build, or a token; words and short numbers are names."""
    found = run[0]
    return found if found.isalpha() or (found.isdigit() and len(found) < LONG_NUMBER) else ""


def _is_pixel(element: Element) -> bool:
    return element.attr("width") in ("0", "1") or element.attr("height") in ("0", "1")


class _Names(dict[str, str]):
    """Class names in one order, remembered: browsers see a set; digests in them are made anew for every visit."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MAX_NAMES:
            self.clear()
        names = self[value] = " ".join(sorted({DIGEST.sub("", name) for name in value.split()}))
        return names


_names = _Names()


def looks(tree: Document, named: list[str] | None = None) -> tuple[int, int]:
    """Hash classes, inline styles and style sheets: in order, and as a set; `named`: the classes, if they are known."""
    classes = list(map(_names.__getitem__, values(tree.select("[class]"), "class") if named is None else named))
    styles = values(tree.select("[style]"), "style")
    found = (sheet(element) for tag in ("link", "style") for element in tree.find_all(tag))
    sheets = [one for one in found if one is not None]
    return digest([*classes, *styles, *sheets]), digest(sorted({*classes, *styles, *sheets}))


def dress(tree: Document) -> Iterator[str]:
    """Spell out the looks that old pages write into tags."""
    for tag in DRESSED:
        elements = tree.find_all(tag)[:MAX_LINKS]
        rows = zip(*(map(Element.attr, elements, repeat(name)) for name in DRESSES), strict=True)
        for row in filter(any, rows):
            dress = " ".join([value or "" for value in row]).strip()
            if dress:
                yield f"{tag} {dress}"


def sheet(element: Element) -> str | None:
    """Spell which style sheet an element is, or refers to; None if it is none."""
    if element.tag == "style":
        return str(digest([element.text]))
    rel = element.attr("rel") if element.tag == "link" else None
    is_sheet = rel == "stylesheet" or (rel is not None and "stylesheet" in rel.lower().split())
    return steady(element.attr("href") or "") if is_sheet else None
