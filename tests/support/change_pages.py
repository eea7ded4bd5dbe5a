"""Small pages for the tests of changes."""

from sanderling.changes.classify import Change, detect
from sanderling.changes.noise_model import Noise
from sanderling.fingerprint.build import sign
from sanderling.fingerprint.model import write
from sanderling.html.parser import parse

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
    return write(sign(parse(markup.encode())))


def compare(old: str, new: str, noise: Noise | None = None, number: int = 0) -> Change:
    return detect(mark(old), mark(new), noise, number)
