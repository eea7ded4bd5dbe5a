"""Class names and ids that sound like furniture, or like what is furniture inside a text; and who has them."""

import re
from itertools import compress

from msgspec import Struct

from sanderling.html.parser import Document, Element, values

TELLING = ("cookie", "consent", "onetrust", "newsletter", "advert", "breadcrumb")  # wherever in a name
ENDINGS = ("banner", "popup", "modal", "promo", "sidebar", "footer", "navbar", "menu", "menubar")  # of a word of a name
INSIDE = (  # wherever in the name of a part of the text
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
AD = "adslot"  # at the beginning of a word: an upload has slots, too
FURNITURE, TRIMMING, COMMENTS, SIDEBAR, CONSENT, STREAMED = 1, 2, 4, 8, 16, 32
CONSENTING = ("cookie", "consent")  # also name a section of a policy; `is_section` decides
QUALIFIERS = frozenset(("with", "without", "w", "wo", "has", "have", "no", "not", "non", "and", "show", "hide"))
STATES = frozenset(("parent", "layout", "page", "open", "opened", "enabled", "disabled", "present", "visible"))
"""Words behind a name that make it a property of the element around the named one: sidebar-parent, menu-open."""
is_qualified = re.compile(rf"(?:with|without|has|no|hide|show)(?:left|right|main)?(?:{'|'.join(ENDINGS)})").fullmatch
is_streamed = re.compile(r"S:[0-9a-f]+").fullmatch  # id of a part that React moves into its place
HEADED, CONTROLLED = "h2,h3,h4,h5,h6,table", "button,input,[role=button]"
SIGNS = tuple(map(str.encode, (*TELLING, *ENDINGS, *INSIDE, AD)))  # letters without which no name is telling
PIECES = tuple(  # each sign has one of them: they are fewer
    b"shar arti ated back comm cial elpf next otop post addt also atin form menu adcr adve anne asth avba cent circ "
    b"cons cook deba dslo esto etru ette foot moda opup prom".split()
)
inside = re.compile("|".join(INSIDE)).search
is_ad = re.compile(r"\bad ?slot").search
NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
SPEAKING = (b"omment", b"disqus")  # letters without which no name is one of comments
SPOKEN = '[id*="omment"],[class*="omment"],[id^="disqus"]'  # what may be called so
is_spoken = re.compile(  # a name of what readers say about a page; that it has some says nothing
    r"(?!no|has|with|show|hide)(?:\w*(?:comments|kommentare|commentaires|commenti)"
    r"|\w*comments?(?:list|section|area|thread|wrap|wrapper|block|container|box|module|widget)|disqus\w*)"
).fullmatch
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[a-z]+")
NEVER = frozenset(("html", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td"))
PARTS = frozenset(("div", "section", "article", "aside", "form", "p", "ul", "ol", "dl"))  # on lines of their own
MAX_KNOWN = 20_000  # class names remembered; a site uses the same ones on every page


class _Known(dict[str, int]):
    """What a class name or id sounds like, remembered."""

    def __missing__(self, name: str) -> int:
        if len(self) >= MAX_KNOWN:
            self.clear()
        value = self[name] = _sound(name)
        return value


def _sound(name: str) -> int:
    words = WORD.findall(CAMEL.sub(" ", name).lower())
    whole = "".join(words)
    own = [word for one in name.split() for word in _naming(one)]
    is_part = any(word.endswith(ENDINGS) for word in own)
    telling = [part for part in TELLING if part in "".join(own)]
    is_furniture = is_part or bool(telling)
    is_consent = not is_part and bool(telling) and set(telling).issubset(CONSENTING)
    is_sidebar = any(word.endswith("sidebar") for word in own)
    is_trimming = inside(whole) is not None or (AD in whole and is_ad(" ".join(words)) is not None)
    is_said = any(is_spoken("".join(WORD.findall(one.lower()))) for one in name.split())
    found = FURNITURE * is_furniture | TRIMMING * is_trimming | COMMENTS * is_said
    return found | SIDEBAR * is_sidebar | CONSENT * is_consent | STREAMED * (is_streamed(name) is not None)


def _naming(name: str) -> list[str]:
    """Return the words of one class name that name its element; `with-sidebar` and `no-footer` only qualify it."""
    words = WORD.findall(CAMEL.sub(" ", name).lower())
    if words and words[-1] in STATES:
        return []
    ahead = next((n for n, word in enumerate(words) if word in QUALIFIERS or is_qualified(word)), len(words))
    return words[:ahead]


def is_section(element: Element, sounds: int) -> bool:
    """Return whether an element named after cookies or consent is a section of a document.

    A section has a heading or a table and no controls; a banner asks for an answer.
    """
    if not sounds & CONSENT:
        return False
    return element.select_one(HEADED) is not None and element.select_one(CONTROLLED) is None


_known = _Known({"": 0})


def sound(name: str) -> int:
    """Say what a class name or id sounds like: menus and banners, what stands inside a text, what readers say of it."""
    return _known[name]


def hinted_inside(part: Element) -> list[Element]:
    """Find the elements whose class sounds like furniture inside a text."""
    found = _telling(part.select("[class]"), "class")
    return [element for element, sounds in found if sounds & TRIMMING and element.tag in PARTS]


def commenting(tree: Document) -> list[Element]:
    """Find the elements whose class or id sounds like comments of readers, where no other names are asked for."""
    found = (one for one in tree.select(SPOKEN) if one.tag in PARTS)
    return [one for one in found if (sound(one.attr("class") or "") | sound(one.attr("id") or "")) & COMMENTS]


class Hinted(Struct, frozen=True):
    """Elements that are known by their names, and the classes of all elements that have some, in document order."""

    furniture: list[Element]
    trimmings: list[Element]  # inside a text
    comments: list[Element]  # of readers
    sidebars: list[Element]  # also in `furniture`
    classes: list[str]


def hinted(tree: Document) -> Hinted:
    """Find the elements whose class or id sounds like furniture, like it inside a text, or like comments of readers."""
    elements = tree.select("[class]")
    classes = values(elements, "class")
    found = [*_chosen(elements, classes), *_telling(tree.select("[id]"), "id")]
    known = [(element, sounds) for element, sounds in found if sounds & FURNITURE and element.tag not in NEVER]
    furniture = [element for element, sounds in known if not is_section(element, sounds)]
    sidebars = [element for element, sounds in known if sounds & SIDEBAR]
    trimmings, comments = (
        [element for element, sounds in found if sounds & sort and element.tag in PARTS]
        for sort in (TRIMMING, COMMENTS)
    )
    furniture, trimmings, comments = (list(dict.fromkeys(some)) for some in (furniture, trimmings, comments))
    return Hinted(furniture, trimmings, comments, list(dict.fromkeys(sidebars)), classes)


def _telling(elements: list[Element], name: str) -> list[tuple[Element, int]]:
    """Choose the elements whose attribute of this name sounds like furniture; classes are few, most ids are new."""
    names = values(elements, name)
    return [] if name == "id" and not _may_tell(names) else _chosen(elements, names)


def _chosen(elements: list[Element], names: list[str]) -> list[tuple[Element, int]]:
    sounds = {one: heard for one in set(names) if (heard := _known[one])}
    chosen = compress(zip(elements, names, strict=True), map(sounds.__contains__, names)) if sounds else ()
    return [(element, sounds[one]) for element, one in chosen]


def _may_tell(names: list[str]) -> bool:
    """Say whether one of many names may sound like furniture: the letters of such a name are there."""
    letters = "\n".join(names).lower().encode("utf-8", "replace").translate(None, NO_LETTERS)
    is_sign = any(map(letters.__contains__, PIECES)) and any(map(letters.__contains__, SIGNS))
    return is_sign or any(map(letters.__contains__, SPEAKING))
