"""Small pages for tests of change detection."""

from sanderling.changes.classify import PageChange, compare_fingerprints
from sanderling.changes.noise_model import NoiseModel
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html

TEXT = [
    "Sanderlings are small waders that run along the edge of the waves.",
    "They breed in the far north and winter on sandy beaches all over the world.",
    "A flock turns as one bird when a wave comes in, and follows it out again.",
    "They eat small crabs and other animals that the water leaves behind.",
    "Ringed birds have been seen again after twelve years and many journeys.",
]
HEAD = (
    '<head><title>Birds</title><link rel="stylesheet" href="/site.css?v=1"><script src="/app.js?v=1"></script></head>'
)
NAV = '<nav><a href="/">Home</a> <a href="/birds">Birds</a></nav>'
FOOT = "<footer>Rendered at 10:31:07. 1,204 visitors.</footer>"


def page(paragraphs: list[str] = TEXT, *, head: str = HEAD, nav: str = NAV, more: str = "", foot: str = FOOT) -> str:
    body = "".join(f'<p class="text">{paragraph}</p>' for paragraph in paragraphs)
    return f"<html>{head}<body>{nav}<main><h1>Sanderlings</h1>{body}{more}</main>{foot}</body></html>"


def mark(markup: str) -> bytes:
    return encode_fingerprint(fingerprint_page(parse_html(markup.encode())))


def compare(old: str, new: str, noise: NoiseModel | None = None, number: int = 0) -> PageChange:
    return compare_fingerprints(mark(old), mark(new), noise, number)
