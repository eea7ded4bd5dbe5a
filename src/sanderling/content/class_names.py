"""Classify class names and ids that indicate boilerplate, and find the elements that carry them."""

import re
from itertools import compress

from msgspec import Struct

from sanderling.html.parser import Document, Element, get_attribute_values

BOILERPLATE_SUBSTRINGS = ("cookie", "consent", "onetrust", "newsletter", "advert", "breadcrumb")  # anywhere in a name
BOILERPLATE_SUFFIXES = (
    "banner",
    "popup",
    "modal",
    "promo",
    "sidebar",
    "footer",
    "navbar",
    "menu",
    "menubar",
)  # at the end of a word
INLINE_SUBSTRINGS = (  # anywhere in a name, without separators
    *("breadcrumb", "newsletter", "subscribeform", "signupform", "relatedarticle", "relatedpost", "relatedcontent"),
    *("relatedstor", "relatedtopic", "relatedread", "relatedpage", "relatednews", "relatedlink", "relateditem"),
    *("recentarticle", "recentpost", "recentlyviewed", "articlerelatives", "popularpost", "populararticle"),
    *("recommendedarticle", "recommendedpost", "recommendedcontent", "recommendedread", "recommendedstor"),
    *("recommendedfor", "recommendations", "recirc", "youmayalso", "youmightalso", "readnext"),
    *("morestories", "morearticles", "sharebutton", "sharebar", "sharelink", "shareicon", "sharetool", "sharethis"),
    *("sharearticle", "sharepage", "sharepost", "sharesocial", "sharecontainer", "sharewrapper", "sharelist"),
    *("socialshare", "socialsharing", "socialbutton", "socialbar"),
    *("socialchannels", "addtoany", "addthis", "articlevotes", "articlevoting", "articlefeedback", "articlerating"),
    *("pagefeedback", "pagerating", "pagehelpful", "articlehelpful", "wasthis", "washelpful", "helpfulness"),
    *("feedbackform", "feedbackbox", "feedbackwidget", "contentfeedback", "contentrating", "backtotop", "returntotop"),
    "advert",
    *("scrolltotop", "gototop", "prevnext", "previousnext", "postnavigation", "articlepagination"),
)
AD_SLOT = "adslot"  # only at the start of a word: not uploadslot
BOILERPLATE, INLINE_BOILERPLATE, COMMENTS, SIDEBAR, CONSENT, STREAMED = 1, 2, 4, 8, 16, 32
CONSENT_SUBSTRINGS = ("cookie", "consent")  # may also name a section of a policy: see `is_consent_section`
QUALIFIERS = frozenset(("with", "without", "w", "wo", "has", "have", "no", "not", "non", "and", "show", "hide"))
STATE_SUFFIXES = frozenset(("parent", "layout", "page", "open", "opened", "enabled", "disabled", "present", "visible"))
"""Suffixes that describe the state of an enclosing element: sidebar-parent, menu-open."""
is_qualified = re.compile(
    rf"(?:with|without|has|no|hide|show)(?:left|right|main)?(?:{'|'.join(BOILERPLATE_SUFFIXES)})"
).fullmatch
is_streamed_id = re.compile(r"S:[0-9a-f]+").fullmatch  # id of a part streamed by React
HEADING_SELECTOR, CONTROL_SELECTOR = "h2,h3,h4,h5,h6,table", "button,input,[role=button]"
REQUIRED_SUBSTRINGS = tuple(
    map(str.encode, (*BOILERPLATE_SUBSTRINGS, *BOILERPLATE_SUFFIXES, *INLINE_SUBSTRINGS, AD_SLOT))
)
PREFILTER_SUBSTRINGS = tuple(  # each required substring contains one of these
    b"shar arti ated back comm cial elpf next otop post addt also atin form menu adcr adve anne asth avba cent circ "
    b"cons cook deba dslo esto etru ette foot moda opup prom".split()
)
search_inline_name = re.compile("|".join(INLINE_SUBSTRINGS)).search
search_ad_slot = re.compile(r"\bad ?slot").search
search_required_substring = re.compile("|".join((*map(bytes.decode, REQUIRED_SUBSTRINGS), "omment", "disqus"))).search
NON_LETTERS = re.compile("[^a-z]+")
NON_LETTER_BYTES = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
COMMENT_SUBSTRINGS = (b"omment", b"disqus")
COMMENT_SELECTOR = '[id*="omment"],[class*="omment"],[id^="disqus"]'
is_comment_name = re.compile(  # not has-comments and the like
    r"(?!no|has|with|show|hide)(?:\w*(?:comments|kommentare|commentaires|commenti)"
    r"|\w*comments?(?:list|section|area|thread|wrap|wrapper|block|container|box|module|widget)|disqus\w*)"
).fullmatch
CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[a-z]+")
NEVER_BOILERPLATE_TAGS = frozenset(("html", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td"))
BLOCK_TAGS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "dl"))
MAX_CACHED_NAMES = 20_000  # a site uses the same names on every page


class _NameFlagCache(dict[str, int]):
    def __missing__(self, name: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        value = self[name] = _classify_uncached(name)
        return value


def _classify_uncached(name: str) -> int:
    if not search_required_substring(NON_LETTERS.sub("", name.lower())):
        return STREAMED * (is_streamed_id(name) is not None)
    words = WORD.findall(CAMEL_CASE_BOUNDARY.sub(" ", name).lower())
    joined = "".join(words)
    naming_words = [word for one in name.split() for word in _get_naming_words(one)]
    has_suffix = any(word.endswith(BOILERPLATE_SUFFIXES) for word in naming_words)
    substrings = [part for part in BOILERPLATE_SUBSTRINGS if part in "".join(naming_words)]
    is_boilerplate = has_suffix or bool(substrings)
    is_consent = not has_suffix and bool(substrings) and set(substrings).issubset(CONSENT_SUBSTRINGS)
    is_sidebar = any(word.endswith("sidebar") for word in naming_words)
    is_inline = search_inline_name(joined) is not None or (
        AD_SLOT in joined and search_ad_slot(" ".join(words)) is not None
    )
    is_comments = any(is_comment_name("".join(WORD.findall(one.lower()))) for one in name.split())
    flags = BOILERPLATE * is_boilerplate | INLINE_BOILERPLATE * is_inline | COMMENTS * is_comments
    return flags | SIDEBAR * is_sidebar | CONSENT * is_consent | STREAMED * (is_streamed_id(name) is not None)


def _get_naming_words(name: str) -> list[str]:
    """Return the words that name the element itself; `with-sidebar` and `no-footer` only qualify it."""
    words = WORD.findall(CAMEL_CASE_BOUNDARY.sub(" ", name).lower())
    if words and words[-1] in STATE_SUFFIXES:
        return []
    end = next((n for n, word in enumerate(words) if word in QUALIFIERS or is_qualified(word)), len(words))
    return words[:end]


def is_consent_section(element: Element, name_flags: int) -> bool:
    """Return whether an element named after cookies or consent is a section of a policy.

    A section has a heading or table and no controls; a consent banner has buttons.
    """
    if not name_flags & CONSENT:
        return False
    return element.select_one(HEADING_SELECTOR) is not None and element.select_one(CONTROL_SELECTOR) is None


_name_flag_cache = _NameFlagCache({"": 0})


def classify_name(name: str) -> int:
    """Return the name flags (`BOILERPLATE`, `COMMENTS`, ...) of a class attribute or id. Cached."""
    return _name_flag_cache[name]


def find_inline_boilerplate(part: Element) -> list[Element]:
    """Return block elements whose class indicates boilerplate inside the main content."""
    matches = _match_attribute(part.select("[class]"), "class")
    return [element for element, flags in matches if flags & INLINE_BOILERPLATE and element.tag in BLOCK_TAGS]


def find_comment_sections(tree: Document) -> list[Element]:
    elements = (element for element in tree.select(COMMENT_SELECTOR) if element.tag in BLOCK_TAGS)
    return [
        element
        for element in elements
        if (classify_name(element.attr("class") or "") | classify_name(element.attr("id") or "")) & COMMENTS
    ]


class ClassNameMatches(Struct, frozen=True):
    """Elements matched by class name or id, and all class values in document order."""

    boilerplate: list[Element]
    inline_boilerplate: list[Element]
    comments: list[Element]
    sidebars: list[Element]  # also in `boilerplate`
    class_values: list[str]


def match_class_names(tree: Document) -> ClassNameMatches:
    elements = tree.select("[class]")
    classes = get_attribute_values(elements, "class")
    matches = [*_match_names(elements, classes), *_match_attribute(tree.select("[id]"), "id")]
    named = [
        (element, flags)
        for element, flags in matches
        if flags & BOILERPLATE and element.tag not in NEVER_BOILERPLATE_TAGS
    ]
    boilerplate = [element for element, flags in named if not is_consent_section(element, flags)]
    sidebars = [element for element, flags in named if flags & SIDEBAR]
    inline, comments = (
        [element for element, flags in matches if flags & flag and element.tag in BLOCK_TAGS]
        for flag in (INLINE_BOILERPLATE, COMMENTS)
    )
    boilerplate, inline, comments = (list(dict.fromkeys(matched)) for matched in (boilerplate, inline, comments))
    return ClassNameMatches(boilerplate, inline, comments, list(dict.fromkeys(sidebars)), classes)


def _match_attribute(elements: list[Element], attribute: str) -> list[tuple[Element, int]]:
    """Return the elements with name flags. Ids are prefiltered because, unlike classes, most are new."""
    names = get_attribute_values(elements, attribute)
    return [] if attribute == "id" and not _may_match(names) else _match_names(elements, names)


def _match_names(elements: list[Element], names: list[str]) -> list[tuple[Element, int]]:
    flags = {name: value for name in set(names) if (value := _name_flag_cache[name])}
    matched = compress(zip(elements, names, strict=True), map(flags.__contains__, names)) if flags else ()
    return [(element, flags[name]) for element, name in matched]


def _may_match(names: list[str]) -> bool:
    """Return whether any name may have flags, by a substring search over all names at once."""
    letters = "\n".join(names).lower().encode("utf-8", "replace").translate(None, NON_LETTER_BYTES)
    has_substring = any(map(letters.__contains__, PREFILTER_SUBSTRINGS)) and any(
        map(letters.__contains__, REQUIRED_SUBSTRINGS)
    )
    return has_substring or any(map(letters.__contains__, COMMENT_SUBSTRINGS))
