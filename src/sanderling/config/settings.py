"""What can be set: each group is what one room asks for. `config/loader.py` reads what was set.

Numbers that limit something: 0 means no limit, except depth, where -1 means no limit.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

AUTO_WORKERS = -1  # migrants: as many as there is work for

Text = Annotated[str, Meta(extra={"kind": "text"})]
Count = Annotated[int, Meta(extra={"kind": "count"})]
Seconds = Annotated[float, Meta(extra={"kind": "duration"})]
Bytes = Annotated[int, Meta(extra={"kind": "size"})]
Switch = Annotated[bool, Meta(extra={"kind": "switch"})]
Share = Annotated[float, Meta(extra={"kind": "share"})]
WorkerCount = Annotated[int, Meta(extra={"kind": "workers"})]
Texts = Annotated[tuple[str, ...], Meta(extra={"kind": "texts"})]


class ScopeSettings(Struct, frozen=True):
    """Which URLs belong to the crawl."""

    scope: Annotated[
        Literal["page", "prefix", "host", "domain", "any"],
        Meta(description="how far to go from the seeds (default host)"),
    ] = "host"
    include: Annotated[Texts, Meta(description="only URLs that match this regular expression (repeatable)")] = ()
    sitemaps: Annotated[Switch, Meta(description="also look for pages in sitemaps and feeds (default on)")] = True
    exclude: Annotated[Texts, Meta(description="no URLs that match this regular expression (repeatable)")] = ()


class LimitSettings(Struct, frozen=True):
    """When to stop."""

    depth: Annotated[Text, Meta(description="links from the seeds: a number, or poisson:10 (-1: no limit)")] = "-1"
    limit: Annotated[Count, Meta(description="pages visited in one pass, unchanged ones too (0: no limit)")] = 0
    limit_per_host: Annotated[Count, Meta(description="pages the collection may hold of one host (0: no limit)")] = 0
    time_limit: Annotated[Seconds, Meta(description="e.g. 90, 30m, 2h (0: no limit)")] = 0.0
    keep: Annotated[
        Count, Meta(description="pages the collection keeps: a better new one evicts the worst (0: no limit)")
    ] = 0
    size_limit: Annotated[Bytes, Meta(description="bytes to download, e.g. 500MB (0: no limit)")] = 0


class OrderingSettings(Struct, frozen=True):
    """Which page first."""

    order: Annotated[
        Text, Meta(description="breadth, opic ... or a mix such as 0.7*opic+0.3*breadth (default pagerank)")
    ] = ""
    query: Annotated[Text, Meta(description="words the crawl is about: what speaks of them goes first")] = ""
    like_text: Annotated[Text, Meta(description="file of plain text: what speaks of the same goes first")] = ""
    access_log: Annotated[Texts, Meta(description="access log of the site, for --order popularity (repeatable)")] = ()


class PolitenessSettings(Struct, frozen=True):
    """How gently to knock."""

    delay: Annotated[Seconds, Meta(description="between two requests to one host (default 1)")] = 1.0
    concurrency: Annotated[Count, Meta(description="connections to one host (default 1; 16 with --delay 0)")] = 0
    backoff: Annotated[Seconds, Meta(description="first rest of a host that says 429 or 503 (default 60)")] = 60.0
    user_agent: Annotated[Text, Meta(description="name for robots.txt and the User-Agent header")] = ""
    contact: Annotated[Text, Meta(description="URL or mail address where site owners reach you")] = ""
    ignore_robots: Annotated[
        Texts, Meta(description="host of your own whose robots.txt forbids us nothing (repeatable)")
    ] = ()


class HttpSettings(Struct, frozen=True):
    """How to talk to servers."""

    allow_private: Annotated[Switch, Meta(description="allow loopback, private and other non-global addresses")] = False
    max_body: Annotated[Bytes, Meta(description="largest body kept, content coding removed (default 20MB)")] = (
        20_000_000
    )
    timeout: Annotated[Seconds, Meta(description="for one whole request (default 60)")] = 60.0
    proxy: Annotated[Text, Meta(description="e.g. http://127.0.0.1:3128 or socks5://...")] = ""
    header: Annotated[Texts, Meta(description='extra request header, "Name: value" (repeatable)')] = ()
    basic_auth: Annotated[Texts, Meta(description="HOST=USER:PASSWORD (repeatable)")] = ()
    cookies: Annotated[Switch, Meta(description="keep cookies during a crawl (default off)")] = False
    insecure_host: Annotated[Texts, Meta(description="host whose TLS certificate is not checked (repeatable)")] = ()
    digest: Annotated[Literal["sha256", "sha1"], Meta(description="digest in WARC records (default sha256)")] = "sha256"
    resources: Annotated[
        Switch, Meta(description="also visit images, scripts and style sheets of pages, to see them replaced")
    ] = False


class WorkerSettings(Struct, frozen=True):
    """Who does the work."""

    workers: Annotated[WorkerCount, Meta(description="worker processes, or auto (default: one per core)")] = 0
    engine: Annotated[
        Literal["processes", "ray"], Meta(description="where migrants live: on this machine, or on a Ray cluster")
    ] = "processes"
    address: Annotated[Text, Meta(description="of the Ray cluster, e.g. 10.0.0.1:6379 (default: start one here)")] = ""
    place: Annotated[Texts, Meta(description="Ray resource label to put migrants on, in turn (repeatable)")] = ()
    store: Annotated[Text, Meta(description="catalogue and frontier in postgresql://... (default: SQLite)")] = ""
    archive: Annotated[
        Text, Meta(description="full WARC files go to s3://..., file://... (fsspec; default: they stay in -C)")
    ] = ""
    lease: Annotated[
        Seconds, Meta(description="how long a silent worker keeps its URLs (default 2m, at least 10s)")
    ] = 120.0
    park: Annotated[Texts, Meta(description="folder of a crawl whose workers rest meanwhile (repeatable)")] = ()
    migrant: Annotated[Texts, Meta(description="host beside the web server, https://host:8443 (repeatable)")] = ()
    key: Annotated[
        Text, Meta(description="file with our private key for --migrant (see sanderling migrant keygen)")
    ] = ""
    migrant_ca: Annotated[Text, Meta(description="certificates to trust for --migrant (default: the system's)")] = ""
    migrant_check: Annotated[
        Count,
        Meta(description="fetch one in so many pages that a host calls unchanged from here; 0: none (default 200)"),
    ] = 200


class UrlCacheSettings(Struct, frozen=True):
    """What is kept in memory."""

    url_cache: Annotated[
        Literal["lfu", "lru"],
        Meta(description="which known URLs leave the cache: the rarest, or those met longest ago (default lfu)"),
    ] = "lfu"
    url_cache_size: Annotated[Count, Meta(description="known URLs in it (default 120000, about 20 MB)")] = 120_000


class AssignmentSettings(Struct, frozen=True):
    """Who gets the next URLs."""

    schedule: Annotated[
        Literal["ahp", "round-robin", "random", "hash", "consistent-hash", "wrr", "fuzzy", "least-loaded"],
        Meta(description="how the next worker is chosen (default ahp)"),
    ] = "ahp"
    criteria: Annotated[Texts, Meta(description="what ahp judges by, best in the settings file (repeatable)")] = ()
    sets: Annotated[Texts, Meta(description="workers of their own for pages due hourly, daily ... (repeatable)")] = ()
    judgments: Annotated[Texts, Meta(description='one row of its matrix, "1 1/3 5" (repeatable)')] = ()


class RevisitSettings(Struct, frozen=True):
    """When to come back."""

    policy: Annotated[Text, Meta(description="how the next visit of a page is chosen (default learned)")] = "learned"
    budget: Annotated[Text, Meta(description="most to spend, e.g. 5000/day or 200MB/day (default: no limit)")] = ""
    threshold: Annotated[
        Share, Meta(description="of pages a site's list of changes names, visit those above this priority (0: all)")
    ] = 0.0


class IndexSettings(Struct, frozen=True):
    """What a crawl does for search."""

    index: Annotated[
        Switch, Meta(description="keep the full-text index up to date while crawling, where the search extra is there")
    ] = True


class ComparisonSettings(Struct, frozen=True):
    """What of a page counts when versions are compared."""

    ignore: Annotated[Texts, Meta(description="CSS selector of parts that do not count (repeatable)")] = ()
    ignore_text: Annotated[Texts, Meta(description="regular expression of text that does not count (repeatable)")] = ()
    watch: Annotated[Texts, Meta(description="CSS selector of parts that alone count (repeatable)")] = ()
    watch_text: Annotated[Texts, Meta(description="regular expression of lines that alone count (repeatable)")] = ()


class CollectionSettings(Struct, frozen=True):
    """Where things are kept."""

    collection: Annotated[Text, Meta(description="folder of the collection, -C for short")] = "collection"


SETTING_GROUPS: list[type[Struct]] = [
    ScopeSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    HttpSettings,
    WorkerSettings,
    UrlCacheSettings,
    AssignmentSettings,
    RevisitSettings,
    IndexSettings,
    ComparisonSettings,
    CollectionSettings,
]
"""Every group of settings; a room that has its own adds it here."""
