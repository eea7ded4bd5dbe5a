"""What a page brings along: links, images, drawings, titles, styles; each as a set of short hashes."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat
from unicodedata import category

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.rules.share_links import is_share_link
from sanderling.content.volatile.strip import strip_build_id, strip_volatile_text
from sanderling.html.parser import Document, Element, get_attribute_values
from sanderling.html.text import normalize_text

MAX_LINKS = 10_000
HASH_SPACE = 1 << 32
REPEAT_HASH_STEP = 0x9E3779B1  # between the hashes of one target that several links have: odd, so that none comes twice
MAX_TITLE_LENGTH = 500  # characters of a title, or of what a field offers
SYMBOL_CATEGORY = (
    "So"  # what Unicode calls a sign such as a star or a red light: it says something where it stands alone
)
TITLE_PUNCTUATION = re.compile(
    r"[.,;:!?](?!\d)|(?<=[^\W\d_])[.,;:!?]"
)  # of a title, but in a number; a blank before is no other word
UNREAD_COUNTER = re.compile(r"^\W*[(\[]\d+\+?[)\]]\s*")  # of unread messages, before a title
MAX_CACHED_NAMES = 20_000  # class attributes remembered
MAX_CACHED_SOURCES = 4_096  # of pictures, remembered: most are there again in the next version
PRESENTATIONAL_TAGS, PRESENTATIONAL_ATTRIBUTES = (
    ("body", "font", "table"),
    ("bgcolor", "background", "color", "face", "size", "border"),
)
LAZY_SOURCE_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "data-srcset")
IMAGE_SOURCE_ATTRIBUTES = (
    *LAZY_SOURCE_ATTRIBUTES[:3],
    "src",
    "srcset",
    LAZY_SOURCE_ATTRIBUTES[3],
)  # where the source of a picture is looked for: a late one stands for it
IMAGE_ID_PARAMETER = re.compile(r"[?&;](?:id|file|src|url|img|image|photo|picture|pic|path)=[^&#;]*", re.IGNORECASE)
PAGE_ID_PARAMETER = re.compile(
    r"[?&;](?:id|nr|no|page_?id|article_?id|doc_?id|item_?id|p)=\d{1,9}(?=[&;]|$)", re.IGNORECASE
)
VERSION_SEGMENT = re.compile(  # of what is read: the next one has the same pages; a date is none
    r"(?<!/)/(?!(?:19|20)\d\d\.\d\d?\.\d\d?/)v?\d++(?:\.\d++)++(?=/)|(?<![/\d])/v?\d\d?(?=/\D)"
)
HTML_SUFFIXES = (".html", ".htm")  # before which there may be one
HEX_RUN = re.compile(r"[0-9a-f]{8,}", re.IGNORECASE)  # of a picture's name
HEX_DIGEST = re.compile(r"[0-9a-f]{16,}")  # in a class name
IMAGE_SIZE = re.compile(  # how large a picture is served: gull-300x200.jpg, gull@2x.jpg, /w_300,h_200/gull.jpg
    r"[-_]\d{2,4}x\d{0,4}(?=[._-]|$)|@[1-4]x(?=\.)"
    r"|(?<=/)(?=[^/]*\b(?:w|h|width|height)[=_]\d)(?:[a-zA-Z0-9]{1,12}[=_][\w.:-]{1,40}(?:,|(?=/)))++/"
)
COMMIT_HASH = re.compile(  # the hash of a commit in an address: /blob/0a1b2c3/README, gh/user/project@0a1b2c3/
    r"(?<=/)((?:commits?|blob|tree|raw|edit|blame|archive)/)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=[/.]|$)"
    r"|(?<=@)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?=/|$)"
)
IMAGE_FORMATS = frozenset(("jpg", "jpeg", "png", "gif", "webp", "avif"))
ABSOLUTE_PREFIXES = ("https://", "http://", "//")
NON_PAGE_SCHEMES = ("javascript:", "data:")
DIGIT_REMOVAL_TABLE = dict.fromkeys(range(48, 58))  # of a host: one of many that serve the same pictures
LONE_LETTER = re.compile(r"(?:^|[-_])[a-z]$")  # a letter that does the same
MIN_TOKEN_DIGITS = 9  # digits; shorter numbers are the picture's own
VOLATILE_PARAMETER = re.compile(
    r";jsessionid=[^?#]*|(?<=[?&])(?:_|t|ts|v|ver|sid|phpsessid|session_?id|token|csrf\w*|nonce|hash|utm_\w+|[gf]clid|"
    r"_g[al]|mc_[ce]id|msclkid|yclid|igshid|rnd|rand|cb|time|timestamp)=[^&#]*&?",
    re.IGNORECASE,
)


def hash_string(text: str) -> int:
    """Hash a piece of a page to 32 bits."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass"))


def pack_hashes(hashes: Iterable[int]) -> bytes:
    """Write a set of hashes, sorted, four bytes each in this machine's order: little-endian on all we run on."""
    return array("I", sorted(set(hashes))).tobytes()


def unpack_hashes(data: bytes) -> set[int]:
    """Read the hashes that `pack` wrote."""
    return set(array("I", data))


def hash_sequence(parts: Iterable[str]) -> int:
    """Hash a sequence of pieces to 64 bits."""
    return xxh3_64_intdigest("\n".join(parts).encode("utf-8", "surrogatepass"))


def normalize_href(href: str) -> str:
    """Spell a link's target without fragment, session and cache-buster parameters."""
    href = strip_commit_hash(href.split("#", 1)[0].strip())
    return VOLATILE_PARAMETER.sub("", href).rstrip("?&") if "?" in href or ";" in href else href


def strip_commit_hash(href: str) -> str:
    """Remove the commit hash from an address in a repository: each build of a site links to its own."""
    return COMMIT_HASH.sub(_keep_path_prefix, href)


def _keep_path_prefix(match: re.Match[str]) -> str:
    return match[1] or ""


class _TargetHashes(dict[str, int]):
    """The hash of where a link leads, remembered: a site's menus are the same on every page; 0 for nowhere."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        place = normalize_href(href)
        value = self[href] = hash_string(place) if place and not place.startswith(NON_PAGE_SCHEMES) else 0
        return value


_target_hashes = _TargetHashes()


def hash_link_targets(tree: Document) -> set[int]:
    """Hash where links lead; what stays on the page or runs a script is left out."""
    hrefs = list(map(Element.attr, tree.find_all("a"), repeat("href")))
    return set(map(_target_hashes.__getitem__, filter(None, hrefs[:MAX_LINKS]))) - {0}


class _MainLinkHashes(dict[str, int]):
    """The hash of where a link of running text leads, remembered; 0 for nowhere."""

    def __missing__(self, href: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        place = normalize_link_path(href)
        nowhere = not place or place.startswith(NON_PAGE_SCHEMES) or place == "mailto:" or is_share_link(href)
        value = self[href] = 0 if nowhere else hash_string(place)
        return value


_main_link_hashes = _MainLinkHashes()


def hash_main_links(elements: Iterable[Element]) -> set[int]:
    """Hash where the links of running text lead, each as often as they do: the address alone, for queries are full of
    tokens.
    """
    hrefs = list(filter(None, map(Element.attr, list(elements)[:MAX_LINKS], repeat("href"))))
    apart = _find_numbered_prefixes(hrefs)
    times = Counter(
        hash_string("".join(_split_link_path(href)))
        if apart and _split_version_segment(href)[0] in apart
        else _main_link_hashes[href]
        for href in hrefs
    )
    times.pop(0, None)
    return {
        (place + REPEAT_HASH_STEP * number) % HASH_SPACE for place, count in times.items() for number in range(count)
    }


def _find_numbered_prefixes(hrefs: list[str]) -> set[str]:
    """Find behind what a number tells pages apart: that of an edition is the same in most links of a page."""
    numbers: dict[str, Counter[str]] = {}
    for before, number in map(_split_version_segment, hrefs):
        if number:
            numbers.setdefault(before, Counter())[number] += 1
    return {before for before, times in numbers.items() if 2 * max(times.values()) <= times.total()}


@lru_cache(maxsize=MAX_CACHED_NAMES)
def _split_version_segment(href: str) -> tuple[str, str]:
    """Find what may be the number of an edition in an address, and what stands before it; empty if there is none."""
    place, _ = _split_link_path(href)
    found = VERSION_SEGMENT.search(place) if place.endswith(HTML_SUFFIXES) else None
    return (place[: found.start()], found[0]) if found else ("", "")


def normalize_link_path(href: str) -> str:
    """Spell where a link leads without the number of an edition."""
    place, chosen = _split_link_path(href)
    return f"{VERSION_SEGMENT.sub('', place) if place.endswith(HTML_SUFFIXES) else place}{chosen}"


def _split_link_path(href: str) -> tuple[str, str]:
    """Cut scheme, query and fragment off a target, but for a number that chooses; of a relative one only the last name
    stays, however spelled.
    """
    place, _, query = href.split("#", 1)[0].partition("?")
    place = strip_commit_hash(place.split(";", 1)[0].strip()).rstrip("/")
    chosen = "".join(PAGE_ID_PARAMETER.findall(f"?{query}")) if query else ""
    _, absolute, rest = place.partition("//")
    return rest if absolute else place if place.startswith("/") else place.rpartition("/")[2], chosen


def hash_images(elements: Iterable[Element]) -> set[int]:
    """Hash which pictures are shown, lazily loaded or not, and their alternative texts."""
    found = set()
    for element in elements:
        source = get_image_source(element)
        if source and not _is_tracking_pixel(element):
            found.add(hash_string(f"{normalize_image_source(source)} {element.attr('alt') or ''}"))
    return found


def get_image_source(image: Element) -> str:
    """Find where a picture comes from; empty for one that is written into the page."""
    return next(
        (value for name in IMAGE_SOURCE_ATTRIBUTES if (value := image.attr(name)) and not value.startswith("data:")), ""
    )


def hash_media(tree: Document) -> set[int]:
    """Hash the pictures, films, sounds and drawings of a page."""
    return hash_images(tree.find_all("img")) | hash_audio_and_video(tree) | hash_drawings(tree)


def hash_audio_and_video(tree: Document) -> set[int]:
    """Hash which films and sounds can be played, and which pictures are shown in their place."""
    found: set[int] = set()
    for tag in ("video", "audio", "source"):
        for element in tree.find_all(tag):
            sources = (element.attr(name) for name in ("src", "srcset", "poster"))
            found.update(hash_string(f"{tag} {normalize_image_source(source)}") for source in sources if source)
    return found


def hash_drawings(tree: Document) -> set[int]:
    """Hash what is drawn in the page itself: the lines of its drawings, and the drawings they take from elsewhere."""
    lines = map(Element.attr, tree.find_all("path")[:MAX_LINKS], repeat("d"))
    taken = (use.attr("href") or use.attr("xlink:href") for use in tree.find_all("use")[:MAX_LINKS])
    return set(map(hash_string, filter(None, lines))) | {
        hash_string(f"use {strip_build_id(one)}") for one in filter(None, taken)
    }


def hash_title_words(tree: Document, ignore_pattern: re.Pattern[str] | None = None) -> set[int]:
    """Hash the words of a title, however spelled; counters, stamps, stops and what a user ignores do not count."""
    title = tree.find("title")
    words = (
        strip_volatile_text(UNREAD_COUNTER.sub("", " ".join(title.text[:MAX_TITLE_LENGTH].split())))
        if title is not None
        else ""
    )
    words = words if ignore_pattern is None else ignore_pattern.sub("", words)
    found = TITLE_PUNCTUATION.sub("", normalize_text("\n".join(words.split())).decode()).split("\n")
    return {
        hash_string(word) for word in found if any(char.isalnum() or category(char) == SYMBOL_CATEGORY for char in word)
    }


def normalize_image_source(source: str) -> str:
    """Spell the source of a picture without build numbers, tokens, size and format; what chooses it from many stays."""
    return (
        _normalize_image_source(source)
        if len(source) <= MAX_TITLE_LENGTH
        else _normalize_image_source.__wrapped__(source)
    )


@lru_cache(maxsize=MAX_CACHED_SOURCES)
def _normalize_image_source(source: str) -> str:
    source = source.strip().split(None, 1)[0] if source.strip() else ""
    place, _, query = source.partition("#")[0].partition("?")
    place = _strip_image_format(_strip_image_format(IMAGE_SIZE.sub("", place)))  # gull.jpg.webp is made of gull.jpg
    chosen = "".join(IMAGE_ID_PARAMETER.findall(f"?{query}")) if query else ""
    _, _, rest = HEX_RUN.sub(_drop_hex_token, place).rpartition("//")
    host, slash, path = rest.partition("/")
    return f"{_strip_host_number(host) if place.startswith(ABSOLUTE_PREFIXES) else host}{slash}{path}{chosen}"


def _strip_image_format(path: str) -> str:
    name, _, ending = path.rpartition(".")
    return name if ending.lower() in IMAGE_FORMATS else path


def _strip_host_number(host: str) -> str:
    """Spell a host without its number among many; the name of a site, and an address, stays."""
    first, dot, rest = host.partition(".")
    is_one_of_many = "." in rest and not rest.rpartition(".")[2].partition(":")[0].isdigit()
    return f"{LONE_LETTER.sub('', first.translate(DIGIT_REMOVAL_TABLE))}{dot}{rest}" if is_one_of_many else host


def _drop_hex_token(match: re.Match[str]) -> str:
    """Drop a number of a build, or a token; words and short numbers are names."""
    found = match[0]
    return found if found.isalpha() or (found.isdigit() and len(found) < MIN_TOKEN_DIGITS) else ""


def _is_tracking_pixel(element: Element) -> bool:
    return element.attr("width") in ("0", "1") or element.attr("height") in ("0", "1")


class _ClassNames(dict[str, str]):
    """Class names in one order, remembered: browsers see a set; digests in them are made anew for every visit."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        names = self[value] = " ".join(sorted({HEX_DIGEST.sub("", name) for name in value.split()}))
        return names


_class_names = _ClassNames()


def hash_styles(tree: Document, class_values: list[str] | None = None) -> tuple[int, int]:
    """Hash classes, inline styles and style sheets: in order, and as a set; `named`: the classes, if they are known."""
    classes = list(
        map(
            _class_names.__getitem__,
            get_attribute_values(tree.select("[class]"), "class") if class_values is None else class_values,
        )
    )
    styles = get_attribute_values(tree.select("[style]"), "style")
    found = (identify_style_sheet(element) for tag in ("link", "style") for element in tree.find_all(tag))
    sheets = [one for one in found if one is not None]
    return hash_sequence([*classes, *styles, *sheets]), hash_sequence(sorted({*classes, *styles, *sheets}))


def list_presentational_attributes(tree: Document) -> Iterator[str]:
    """Spell out the looks that old pages write into tags."""
    for tag in PRESENTATIONAL_TAGS:
        elements = tree.find_all(tag)[:MAX_LINKS]
        rows = zip(*(map(Element.attr, elements, repeat(name)) for name in PRESENTATIONAL_ATTRIBUTES), strict=True)
        for row in filter(any, rows):
            dress = " ".join([value or "" for value in row]).strip()
            if dress:
                yield f"{tag} {dress}"


def identify_style_sheet(element: Element) -> str | None:
    """Spell which style sheet an element is, or refers to; None if it is none."""
    if element.tag == "style":
        return str(hash_sequence([element.text]))
    rel = element.attr("rel") if element.tag == "link" else None
    is_sheet = rel == "stylesheet" or (rel is not None and "stylesheet" in rel.lower().split())
    return strip_build_id(element.attr("href") or "") if is_sheet else None
