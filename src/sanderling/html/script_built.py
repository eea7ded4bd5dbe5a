"""Notice pages that look built by scripts, from the bytes that the server sent.

The check decides whether a browser is worth starting. It prefers to miss a page that scripts only complete over naming
one that is complete; comparisons (`workers/browser`) decide what is rendered.
"""

import re
from itertools import islice

MAX_SCANNED_BYTES = 2_000_000
MIN_WORDS = 25  # of all text: fewer are no text
MAX_OWN_LINKS = 4  # outside of navigation, header and footer; more are a list that is complete
MAX_OWN_WORDS = 9  # likewise; "Loading" or a heading, with a script that builds pages
MAX_ANY_WORDS = 4  # likewise, with any script
SUFFICIENT_WORDS, SUFFICIENT_LINKS, SUFFICIENT_TAGS = 60, 10, 1_000  # no more are counted
SCRIPT_PARTS = (b"<script", b"javascript:", b"hx-get")

REFRESH = re.compile(rb"http-equiv=[\"']?refresh")
TAG = re.compile(rb"<(/?)([a-z][^\s/<>]*+)[^<>]*>([^<]*)")
HIDDEN_TAGS = frozenset((b"script", b"style", b"noscript", b"template", b"title", b"svg", b"select", b"iframe"))
FRAME_TAGS = frozenset((b"nav", b"header", b"footer", b"aside", b"button", b"label", b"form"))

EMPTY = rb"[^<>]{0,500}>\s*+(?:<!--[^<>]{0,300}-->\s*+)?</"
ROOT_IDS = rb"(?:app|root|main|content|application|__next|__nuxt|___gatsby|svelte|react-root|app-root|q-app|mount)"
# On complete pages, these are found by mistake only: an element for content, and no content.
MISSING_CONTENT = (  # a literal for a fast search, and the expression
    *((b"<" + tag, re.compile(b"<" + tag + rb"\b" + EMPTY + tag)) for tag in (b"main", b"article", b"tbody")),
    (b" id=", re.compile(rb" id=[\"']?" + ROOT_IDS + rb"(?=[\"'\s>])" + EMPTY + rb"div")),
    (b"<turbo-frame", re.compile(rb"<turbo-frame\b[^<>]{0,300}?\ssrc=")),
    (b"hx-trigger", re.compile(rb"hx-trigger=[\"'][^\"'<>]{0,200}?\b(?:load|revealed|intersect)\b")),
)
# Complete pages have these, too, for search results and languages: they count on a page with little text.
EMPTY_LIST = re.compile(
    rb"<([uo]l)\b[^<>]{0,300}?\sid=" + EMPTY + rb"\1|\saria-busy=[\"']?true|\s(?:v-for|x-for|ng-repeat|\*ngfor)="
)
PARAGRAPH = re.compile(rb"<p\b[^<>]{0,200}>[^<>]{120}")
MAX_PARAGRAPHS = 2  # of a page without its content: a footer and a consent banner
# These are common: they count only on a page without text.
BUILDING_SCRIPT = re.compile(
    rb"<noscript\b[^<>]*>\s*+[^\s<]|<noscript\b[^<>]*>\s*+<(?:p|div|strong|h\d|b|span)\b"  # asks for JavaScript
    rb"|\bfetch\(|xmlhttprequest|\$\.(?:get|getjson|ajax|post|load)\(|\baxios\b|<script[^<>]{0,200}?\stype=.?module"
    rb"|\b(?:createapp|createroot|hydrateroot|bootstrapapplication)\(|reactdom\.|\bnew vue\(|customelements\.define"
    rb"|\.innerhtml\b|insertadjacenthtml|document\.write(?:ln)?\(|\.append\("
    rb"|<div\b[^<>]{0,300}?\sid=" + EMPTY + rb"div|<([a-z]{1,40}(?:-[a-z0-9]{1,40}){1,4}+)\b" + EMPTY + rb"\1"
)


def looks_built_by_scripts(body: bytes) -> bool:
    """Return whether a page has scripts and lacks content that they may add."""
    lowered = body[:MAX_SCANNED_BYTES].lower()
    if not any(part in lowered for part in SCRIPT_PARTS):
        return False
    paragraphs = sum(1 for _ in islice(PARAGRAPH.finditer(lowered), MAX_PARAGRAPHS + 1))
    if paragraphs > MAX_PARAGRAPHS:
        return False
    if not paragraphs and _is_sparse(lowered):
        return True
    return any(literal in lowered and pattern.search(lowered) for literal, pattern in MISSING_CONTENT)


def _is_sparse(lowered: bytes) -> bool:
    """Return whether a page has too little text, and scripts that may add some."""
    _, words, links = _count_content(lowered)
    is_empty = links <= MAX_OWN_LINKS and words <= MAX_OWN_WORDS and not REFRESH.search(lowered)
    if is_empty and (words <= MAX_ANY_WORDS or BUILDING_SCRIPT.search(lowered)):
        return True
    return words < SUFFICIENT_WORDS and links < SUFFICIENT_LINKS and bool(EMPTY_LIST.search(lowered))


def has_text(body: bytes) -> bool:
    """Return whether the HTML has text without its scripts."""
    return _count_content(body[:MAX_SCANNED_BYTES].lower())[0] >= MIN_WORDS


def _count_content(lowered: bytes) -> tuple[int, int, int]:
    """Return the words of all text, and the words and links that are not around the content; counted until enough."""
    words = own_words = own_links = depth = position = 0
    is_link = False
    for _ in range(SUFFICIENT_TAGS):
        match = TAG.search(lowered, position)
        if match is None or own_words >= SUFFICIENT_WORDS or own_links >= SUFFICIENT_LINKS:
            return words, own_words, own_links
        end, tag, text = match.groups()
        position = match.end()
        if tag in HIDDEN_TAGS and not end:
            position = lowered.find(b"</" + tag, position)
            if position < 0:
                return words, own_words, own_links
            continue
        if tag in FRAME_TAGS:
            depth = max(0, depth + (-1 if end else 1))
        elif tag == b"a":
            is_link = not end
            own_links += is_link and not depth
        if len(text) > 1 and (count := len(text.split())):
            words += count
            own_words += 0 if is_link or depth else count
    return words, SUFFICIENT_WORDS, SUFFICIENT_LINKS  # too many tags for a shell
