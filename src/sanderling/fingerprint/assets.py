"""Hashes of images, media, drawings, title, and styles of a page, each as a set."""

import re
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat
from unicodedata import category

from xxhash import xxh3_64_intdigest, xxh32_intdigest

from sanderling.content.plugin_rules import apply_content_rules, load_content_rules
from sanderling.content.volatile.strip import strip_build_id, strip_volatile_text
from sanderling.html.native_tables import IMAGE_ID_PARAMETERS
from sanderling.html.parser import Document, Element, get_attribute_values
from sanderling.html.text import normalize_text

MAX_LINKS = 10_000
MAX_TITLE_LENGTH = 500  # characters of a title, or of the value of a form field
SYMBOL_CATEGORY = "So"  # Unicode category of symbols such as a star or a red circle: a word of its own
TITLE_PUNCTUATION = re.compile(r"[.,;:!?](?!\d)|(?<=[^\W\d_])[.,;:!?]")  # except inside numbers
UNREAD_COUNTER = re.compile(r"^\W*[(\[]\d+\+?[)\]]\s*")  # "(3) Inbox"
MAX_CACHED_NAMES = 20_000
MAX_CACHED_SOURCES = 4_096  # most images recur in the next version
PRESENTATIONAL_TAGS, PRESENTATIONAL_ATTRIBUTES = (
    ("body", "font", "table"),
    ("bgcolor", "background", "color", "face", "size", "border"),
)
LAZY_SOURCE_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "data-srcset")
# In order of preference: with lazy loading, `src` is a placeholder.
IMAGE_SOURCE_ATTRIBUTES = (*LAZY_SOURCE_ATTRIBUTES[:3], "src", "srcset", LAZY_SOURCE_ATTRIBUTES[3])
IMAGE_ID_PARAMETER = re.compile(rf"[?&;](?:{'|'.join(IMAGE_ID_PARAMETERS)})[^&#;]*", re.IGNORECASE)
HEX_RUN = re.compile(r"[0-9a-f]{8,}", re.IGNORECASE)  # in the name of an image
HEX_DIGEST = re.compile(r"[0-9a-f]{16,}")  # in a class name
IMAGE_SIZE = re.compile(  # gull-300x200.jpg, gull@2x.jpg, /w_300,h_200/gull.jpg
    r"[-_]\d{2,4}x\d{0,4}(?=[._-]|$)|@[1-4]x(?=\.)"
    r"|(?<=/)(?=[^/]*\b(?:w|h|width|height)[=_]\d)(?:[a-zA-Z0-9]{1,12}[=_][\w.:-]{1,40}(?:,|(?=/)))++/"
)
IMAGE_FORMATS = frozenset(("jpg", "jpeg", "png", "gif", "webp", "avif"))
ABSOLUTE_PREFIXES = ("https://", "http://", "//")
DIGIT_REMOVAL_TABLE = dict.fromkeys(range(48, 58))  # img1.example.org and img2.example.org serve the same images
LONE_LETTER = re.compile(r"(?:^|[-_])[a-z]$")  # img-a.example.org
MIN_TOKEN_DIGITS = 9  # shorter numbers identify the image


def hash_string(text: str) -> int:
    """Hash a string to 32 bits."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass"))


def pack_hashes(hashes: Iterable[int]) -> bytes:
    """Encode a set of hashes, sorted, in four little-endian bytes each."""
    return array("I", sorted(set(hashes))).tobytes()


def unpack_hashes(data: bytes) -> set[int]:
    return set(array("I", data))


def hash_sequence(parts: Iterable[str]) -> int:
    """Hash strings in order to 64 bits."""
    return xxh3_64_intdigest("\n".join(parts).encode("utf-8", "surrogatepass"))


def hash_images(elements: Iterable[Element]) -> set[int]:
    """Hash image sources and alternative texts, without tracking pixels."""
    found = set()
    for element in elements:
        source = get_image_source(element)
        if source and not _is_tracking_pixel(element):
            found.add(hash_string(f"{normalize_image_source(source)} {element.attr('alt') or ''}"))
    return found


def get_image_source(image: Element) -> str:
    """Return the source of an image, lazily loaded or not; empty if it is inline."""
    return next(
        (value for name in IMAGE_SOURCE_ATTRIBUTES if (value := image.attr(name)) and not value.startswith("data:")), ""
    )


def hash_media(tree: Document) -> set[int]:
    return hash_images(tree.find_all("img")) | hash_audio_and_video(tree) | hash_drawings(tree)


def hash_audio_and_video(tree: Document) -> set[int]:
    """Hash sources and poster images."""
    found: set[int] = set()
    for tag in ("video", "audio", "source"):
        for element in tree.find_all(tag):
            sources = (element.attr(name) for name in ("src", "srcset", "poster"))
            found.update(hash_string(f"{tag} {normalize_image_source(source)}") for source in sources if source)
    return found


def hash_drawings(tree: Document) -> set[int]:
    """Hash paths and references of inline SVG."""
    paths = map(Element.attr, tree.find_all("path")[:MAX_LINKS], repeat("d"))
    references = (use.attr("href") or use.attr("xlink:href") for use in tree.find_all("use")[:MAX_LINKS])
    return set(map(hash_string, filter(None, paths))) | {
        hash_string(f"use {strip_build_id(reference)}") for reference in filter(None, references)
    }


def hash_title_words(tree: Document, ignore_pattern: re.Pattern[str] | None = None) -> set[int]:
    """Hash the title words, ignoring case, punctuation, counters, volatile text, and text a user ignores."""
    title = tree.find("title")
    text = (
        strip_volatile_text(UNREAD_COUNTER.sub("", " ".join(title.text[:MAX_TITLE_LENGTH].split())))
        if title is not None
        else ""
    )
    text = apply_content_rules([text])[0] if load_content_rules() else text
    text = text if ignore_pattern is None else ignore_pattern.sub("", text)
    words = TITLE_PUNCTUATION.sub("", normalize_text("\n".join(text.split())).decode()).split("\n")
    return {
        hash_string(word) for word in words if any(char.isalnum() or category(char) == SYMBOL_CATEGORY for char in word)
    }


def normalize_image_source(source: str) -> str:
    """Strip build ids, tokens, size, and format from an image URL; keep parameters that identify the image."""
    return (
        _normalize_image_source(source)
        if len(source) <= MAX_TITLE_LENGTH
        else _normalize_image_source.__wrapped__(source)
    )


@lru_cache(maxsize=MAX_CACHED_SOURCES)
def _normalize_image_source(source: str) -> str:
    source = source.strip().split(None, 1)[0] if source.strip() else ""
    path, _, query = source.partition("#")[0].partition("?")
    path = _strip_image_format(_strip_image_format(IMAGE_SIZE.sub("", path)))  # gull.jpg.webp is made of gull.jpg
    image_id = "".join(IMAGE_ID_PARAMETER.findall(f"?{query}")) if query else ""
    _, _, location = HEX_RUN.sub(_drop_hex_token, path).rpartition("//")
    host, slash, rest_path = location.partition("/")
    return f"{_strip_host_number(host) if path.startswith(ABSOLUTE_PREFIXES) else host}{slash}{rest_path}{image_id}"


def _strip_image_format(path: str) -> str:
    name, _, ending = path.rpartition(".")
    return name if ending.lower() in IMAGE_FORMATS else path


def _strip_host_number(host: str) -> str:
    """Strip the number of an image server; site names and IP addresses are kept."""
    first, dot, rest = host.partition(".")
    is_one_of_many = "." in rest and not rest.rpartition(".")[2].partition(":")[0].isdigit()
    return f"{LONE_LETTER.sub('', first.translate(DIGIT_REMOVAL_TABLE))}{dot}{rest}" if is_one_of_many else host


def _drop_hex_token(match: re.Match[str]) -> str:
    """Drop build ids and tokens; words and short numbers are names."""
    token = match[0]
    return token if token.isalpha() or (token.isdigit() and len(token) < MIN_TOKEN_DIGITS) else ""


def _is_tracking_pixel(element: Element) -> bool:
    return element.attr("width") in ("0", "1") or element.attr("height") in ("0", "1")


class _ClassNames(dict[str, str]):
    """Cache of class attributes, sorted and without digests, which change at every visit."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        names = self[value] = " ".join(sorted({HEX_DIGEST.sub("", name) for name in value.split()}))
        return names


_class_names = _ClassNames()


def hash_styles(tree: Document, class_values: list[str] | None = None) -> tuple[int, int]:
    """Hash classes, inline styles, and style sheets: in order, and as a set."""
    classes = list(
        map(
            _class_names.__getitem__,
            get_attribute_values(tree.select("[class]"), "class") if class_values is None else class_values,
        )
    )
    styles = get_attribute_values(tree.select("[style]"), "style")
    identified = (identify_style_sheet(element) for tag in ("link", "style") for element in tree.find_all(tag))
    sheets = [sheet for sheet in identified if sheet is not None]
    return hash_sequence([*classes, *styles, *sheets]), hash_sequence(sorted({*classes, *styles, *sheets}))


def list_presentational_attributes(tree: Document) -> Iterator[str]:
    """List attributes of old pages such as `bgcolor`."""
    for tag in PRESENTATIONAL_TAGS:
        elements = tree.find_all(tag)[:MAX_LINKS]
        rows = zip(*(map(Element.attr, elements, repeat(name)) for name in PRESENTATIONAL_ATTRIBUTES), strict=True)
        for row in filter(any, rows):
            text = " ".join([value or "" for value in row]).strip()
            if text:
                yield f"{tag} {text}"


def identify_style_sheet(element: Element) -> str | None:
    """Return the URL or content hash of a style sheet; None for other elements."""
    if element.tag == "style":
        return str(hash_sequence([element.text]))
    rel = element.attr("rel") if element.tag == "link" else None
    is_sheet = rel == "stylesheet" or (rel is not None and "stylesheet" in rel.lower().split())
    return strip_build_id(element.attr("href") or "") if is_sheet else None
