"""Class names and ids that sound like furniture, or like what is furniture inside a text; and who has them."""

import re
from itertools import compress

from msgspec import Struct

from sanderling.html.parser import Document, Element, get_attribute_values

BOILERPLATE_SUBSTRINGS = ("cookie", "consent", "onetrust", "newsletter", "advert", "breadcrumb")  # wherever in a name
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
)  # of a word of a name
INLINE_SUBSTRINGS = (  # wherever in the name of a part of the text
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
AD_SLOT = "adslot"  # at the beginning of a word: an upload has slots, too
BOILERPLATE, INLINE_BOILERPLATE, COMMENTS, SIDEBAR, CONSENT, STREAMED = 1, 2, 4, 8, 16, 32
CONSENT_SUBSTRINGS = ("cookie", "consent")  # also name a section of a policy; `is_section` decides
QUALIFIERS = frozenset(("with", "without", "w", "wo", "has", "have", "no", "not", "non", "and", "show", "hide"))
STATE_SUFFIXES = frozenset(("parent", "layout", "page", "open", "opened", "enabled", "disabled", "present", "visible"))
"""Words behind a name that make it a property of the element around the named one: sidebar-parent, menu-open."""
is_qualified = re.compile(
    rf"(?:with|without|has|no|hide|show)(?:left|right|main)?(?:{'|'.join(BOILERPLATE_SUFFIXES)})"
).fullmatch
is_streamed_id = re.compile(r"S:[0-9a-f]+").fullmatch  # id of a part that React moves into its place
HEADING_SELECTOR, CONTROL_SELECTOR = "h2,h3,h4,h5,h6,table", "button,input,[role=button]"
REQUIRED_SUBSTRINGS = tuple(
    map(str.encode, (*BOILERPLATE_SUBSTRINGS, *BOILERPLATE_SUFFIXES, *INLINE_SUBSTRINGS, AD_SLOT))
)  # letters without which no name is telling
PREFILTER_SUBSTRINGS = tuple(  # each sign has one of them: they are fewer
    b"shar arti ated back comm cial elpf next otop post addt also atin form menu adcr adve anne asth avba cent circ "
    b"cons cook deba dslo esto etru ette foot moda opup prom".split()
)
search_inline_name = re.compile("|".join(INLINE_SUBSTRINGS)).search
search_ad_slot = re.compile(r"\bad ?slot").search
NON_LETTER_BYTES = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
COMMENT_SUBSTRINGS = (b"omment", b"disqus")  # letters without which no name is one of comments
COMMENT_SELECTOR = '[id*="omment"],[class*="omment"],[id^="disqus"]'  # what may be called so
is_comment_name = re.compile(  # a name of what readers say about a page; that it has some says nothing
    r"(?!no|has|with|show|hide)(?:\w*(?:comments|kommentare|commentaires|commenti)"
    r"|\w*comments?(?:list|section|area|thread|wrap|wrapper|block|container|box|module|widget)|disqus\w*)"
).fullmatch
CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[a-z]+")
NEVER_BOILERPLATE_TAGS = frozenset(("html", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td"))
BLOCK_TAGS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "dl"))  # on lines of their own
MAX_CACHED_NAMES = 20_000  # class names remembered; a site uses the same ones on every page


class _NameFlagCache(dict[str, int]):
    """What a class name or id sounds like, remembered."""

    def __missing__(self, name: str) -> int:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        value = self[name] = _classify_uncached(name)
        return value


def _classify_uncached(name: str) -> int:
    words = WORD.findall(CAMEL_CASE_BOUNDARY.sub(" ", name).lower())
    whole = "".join(words)
    own = [word for one in name.split() for word in _get_naming_words(one)]
    is_part = any(word.endswith(BOILERPLATE_SUFFIXES) for word in own)
    telling = [part for part in BOILERPLATE_SUBSTRINGS if part in "".join(own)]
    is_furniture = is_part or bool(telling)
    is_consent = not is_part and bool(telling) and set(telling).issubset(CONSENT_SUBSTRINGS)
    is_sidebar = any(word.endswith("sidebar") for word in own)
    is_trimming = search_inline_name(whole) is not None or (
        AD_SLOT in whole and search_ad_slot(" ".join(words)) is not None
    )
    is_said = any(is_comment_name("".join(WORD.findall(one.lower()))) for one in name.split())
    found = BOILERPLATE * is_furniture | INLINE_BOILERPLATE * is_trimming | COMMENTS * is_said
    return found | SIDEBAR * is_sidebar | CONSENT * is_consent | STREAMED * (is_streamed_id(name) is not None)


def _get_naming_words(name: str) -> list[str]:
    """Return the words of one class name that name its element; `with-sidebar` and `no-footer` only qualify it."""
    words = WORD.findall(CAMEL_CASE_BOUNDARY.sub(" ", name).lower())
    if words and words[-1] in STATE_SUFFIXES:
        return []
    ahead = next((n for n, word in enumerate(words) if word in QUALIFIERS or is_qualified(word)), len(words))
    return words[:ahead]


def is_consent_section(element: Element, name_flags: int) -> bool:
    """Return whether an element named after cookies or consent is a section of a document.

    A section has a heading or a table and no controls; a banner asks for an answer.
    """
    if not name_flags & CONSENT:
        return False
    return element.select_one(HEADING_SELECTOR) is not None and element.select_one(CONTROL_SELECTOR) is None


_name_flag_cache = _NameFlagCache({"": 0})


def classify_name(name: str) -> int:
    """Say what a class name or id sounds like: menus and banners, what stands inside a text, what readers say of it."""
    return _name_flag_cache[name]


def find_inline_boilerplate(part: Element) -> list[Element]:
    """Find the elements whose class sounds like furniture inside a text."""
    found = _match_attribute(part.select("[class]"), "class")
    return [element for element, sounds in found if sounds & INLINE_BOILERPLATE and element.tag in BLOCK_TAGS]


def find_comment_sections(tree: Document) -> list[Element]:
    """Find the elements whose class or id sounds like comments of readers, where no other names are asked for."""
    found = (one for one in tree.select(COMMENT_SELECTOR) if one.tag in BLOCK_TAGS)
    return [
        one
        for one in found
        if (classify_name(one.attr("class") or "") | classify_name(one.attr("id") or "")) & COMMENTS
    ]


class ClassNameMatches(Struct, frozen=True):
    """Elements that are known by their names, and the classes of all elements that have some, in document order."""

    boilerplate: list[Element]
    inline_boilerplate: list[Element]  # inside a text
    comments: list[Element]  # of readers
    sidebars: list[Element]  # also in `furniture`
    class_values: list[str]


def match_class_names(tree: Document) -> ClassNameMatches:
    """Find the elements whose class or id sounds like furniture, like it inside a text, or like comments of readers."""
    elements = tree.select("[class]")
    classes = get_attribute_values(elements, "class")
    found = [*_match_names(elements, classes), *_match_attribute(tree.select("[id]"), "id")]
    known = [
        (element, sounds)
        for element, sounds in found
        if sounds & BOILERPLATE and element.tag not in NEVER_BOILERPLATE_TAGS
    ]
    furniture = [element for element, sounds in known if not is_consent_section(element, sounds)]
    sidebars = [element for element, sounds in known if sounds & SIDEBAR]
    trimmings, comments = (
        [element for element, sounds in found if sounds & sort and element.tag in BLOCK_TAGS]
        for sort in (INLINE_BOILERPLATE, COMMENTS)
    )
    furniture, trimmings, comments = (list(dict.fromkeys(some)) for some in (furniture, trimmings, comments))
    return ClassNameMatches(furniture, trimmings, comments, list(dict.fromkeys(sidebars)), classes)


def _match_attribute(elements: list[Element], attribute: str) -> list[tuple[Element, int]]:
    """Choose the elements whose attribute of this name sounds like furniture; classes are few, most ids are new."""
    names = get_attribute_values(elements, attribute)
    return [] if attribute == "id" and not _may_match(names) else _match_names(elements, names)


def _match_names(elements: list[Element], names: list[str]) -> list[tuple[Element, int]]:
    sounds = {one: heard for one in set(names) if (heard := _name_flag_cache[one])}
    chosen = compress(zip(elements, names, strict=True), map(sounds.__contains__, names)) if sounds else ()
    return [(element, sounds[one]) for element, one in chosen]


def _may_match(names: list[str]) -> bool:
    """Say whether one of many names may sound like furniture: the letters of such a name are there."""
    letters = "\n".join(names).lower().encode("utf-8", "replace").translate(None, NON_LETTER_BYTES)
    is_sign = any(map(letters.__contains__, PREFILTER_SUBSTRINGS)) and any(
        map(letters.__contains__, REQUIRED_SUBSTRINGS)
    )
    return is_sign or any(map(letters.__contains__, COMMENT_SUBSTRINGS))
