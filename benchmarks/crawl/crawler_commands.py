"""Command lines of the compared crawlers: same start page, only that host, no delay."""

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.lib.nginx import ADDRESS
from msgspec import Struct

HERE = Path(__file__).parent
SANDERLING = "import sys; from sanderling.cli import main; sys.exit(main())"
LINK_TAGS = "a,area,frame,iframe"


class Crawler(Struct, frozen=True):
    name: str
    does: str  # apart from fetching and following links
    command: Callable[[str, Path], Sequence[str]]
    needs: str = ""  # program that must be there


def crawlers(peers: Path) -> list[Crawler]:
    """All contestants; `peers` is a virtual environment of their own."""
    scrapy, python = str(peers / "bin" / "scrapy"), str(peers / "bin" / "python")
    return [
        Crawler("sanderling", "robots, text, digests, WARC, links and catalog in a database", _sanderling),
        Crawler("wget2", "files", _wget2, "wget2"),
        Crawler("wget", "files", _wget, "wget"),
        Crawler("HTTrack", "files, links rewritten", _httrack, "httrack"),
        Crawler("Scrapy, tuned", "nothing", lambda _url, _out: _spider(scrapy, "scrapy_tuned.py"), scrapy),
        Crawler(
            "Scrapy, as documented",
            "items with title, text and links in a feed",
            lambda _url, out: [*_spider(scrapy, "scrapy_documented.py"), "-O", str(out / "items.jsonl")],
            scrapy,
        ),
        Crawler(
            "Crawlee, parsel",
            "title in a dataset in memory",
            lambda _url, _out: [python, str(HERE / "peers" / "crawlee_parsel.py")],
            python,
        ),
    ]


def is_there(crawler: Crawler) -> bool:
    """Say whether it can be run here."""
    return not crawler.needs or shutil.which(crawler.needs) is not None


def _sanderling(url: str, out: Path) -> Sequence[str]:
    call = [sys.executable, "-c", SANDERLING, "crawl", url]
    options = [
        "--delay",
        "0",
        "--allow-private",
        "--json",
        "--quiet",
        "--no-index",
        "--render",
        "never",
    ]  # as the others
    return [*call, *options, "-C", str(out / "collection")]


def _spider(scrapy: str, name: str) -> list[str]:
    return [scrapy, "runspider", str(HERE / "peers" / name)]


def _wget(url: str, out: Path) -> Sequence[str]:
    return ["wget", "-r", "-l", "inf", "-q", f"--follow-tags={LINK_TAGS}", "-P", str(out), url]


def _wget2(url: str, out: Path) -> Sequence[str]:
    skipped = "img,link,script,source,input,object,embed,video,audio,body,table,td,tr,th"
    return ["wget2", "-r", "-l", "inf", "-q", "--max-threads=8", f"--ignore-tags={skipped}", "-P", str(out), url]


def _httrack(url: str, out: Path) -> Sequence[str]:
    """Without its speed limits."""
    fast = ["--disable-security-limits", "--max-rate=0", "--sockets=32", "-%c10000", "--connection-per-second=10000"]
    pages = ["-*", f"+{ADDRESS}*.html", f"+{ADDRESS}*.htm", f"+{ADDRESS}*/"]
    return ["httrack", url, "-O", str(out), "-q", "-I0", "--near=0", *fast, *pages]
