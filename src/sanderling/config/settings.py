"""All settings, in groups; the docstring of a group is its heading in `--help`.

A limit of 0 means no limit; for depth it is -1.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

AUTO_WORKERS = -1  # as many workers as there is work for

Text = Annotated[str, Meta(extra={"kind": "text"})]
Count = Annotated[int, Meta(extra={"kind": "count"})]
Seconds = Annotated[float, Meta(extra={"kind": "duration"})]
Bytes = Annotated[int, Meta(extra={"kind": "size"})]
Switch = Annotated[bool, Meta(extra={"kind": "switch"})]
Share = Annotated[float, Meta(extra={"kind": "share"})]
WorkerCount = Annotated[int, Meta(extra={"kind": "workers"})]
Texts = Annotated[tuple[str, ...], Meta(extra={"kind": "texts"})]


class ScopeSettings(Struct, frozen=True):
    """Crawl scope."""

    scope: Annotated[
        Literal["page", "prefix", "host", "domain", "any"],
        Meta(description="which links to follow, relative to the seeds (default host)"),
    ] = "host"
    include: Annotated[Texts, Meta(description="crawl only URLs that match this regular expression (repeatable)")] = ()
    sitemaps: Annotated[Switch, Meta(description="also discover pages in sitemaps and feeds (default on)")] = True
    exclude: Annotated[Texts, Meta(description="skip URLs that match this regular expression (repeatable)")] = ()
    filter: Annotated[Texts, Meta(description="URL filter of a plugin; see sanderling plugins (repeatable)")] = ()
    forms: Annotated[
        Literal["off", "select", "search"],
        Meta(description="also fetch results of GET forms: those with lists of values, or search boxes too"),
    ] = "off"
    form_limit: Annotated[
        Count, Meta(description="maximum number of form requests per site (default 200, 0: no limit)")
    ] = 200
    recipe: Annotated[Text, Meta(description="TOML file with your forms to query and your logins")] = ""


class LimitSettings(Struct, frozen=True):
    """Limits."""

    depth: Annotated[Text, Meta(description="maximum number of links from a seed, or poisson:10 (-1: no limit)")] = "-1"
    limit: Annotated[
        Count,
        Meta(description="maximum number of pages visited, including those of a resumed run (0: no limit)"),
    ] = 0
    limit_per_host: Annotated[Count, Meta(description="maximum number of stored pages per host (0: no limit)")] = 0
    repeat_limit: Annotated[
        Count, Meta(description="skip a URL pattern after this many pages without new content (default 200, 0: never)")
    ] = 200
    time_limit: Annotated[Seconds, Meta(description="stop after this time, e.g. 90, 30m, 2h (0: no limit)")] = 0.0
    keep: Annotated[
        Count, Meta(description="maximum number of stored pages; better new pages evict the worst (0: no limit)")
    ] = 0
    size_limit: Annotated[Bytes, Meta(description="stop after downloading this much, e.g. 500MB (0: no limit)")] = 0


class OrderingSettings(Struct, frozen=True):
    """Crawl order."""

    order: Annotated[
        Text, Meta(description="breadth, opic ... or a weighted sum such as 0.7*opic+0.3*breadth (default pagerank)")
    ] = ""
    query: Annotated[Text, Meta(description="topic of a focused crawl: relevant pages first")] = ""
    like_text: Annotated[Text, Meta(description="plain text file that describes the topic of a focused crawl")] = ""
    access_log: Annotated[Texts, Meta(description="access log of the site, for --order popularity (repeatable)")] = ()


class PolitenessSettings(Struct, frozen=True):
    """Politeness."""

    delay: Annotated[Seconds, Meta(description="crawl delay between two requests to a host (default 1)")] = 1.0
    concurrency: Annotated[Count, Meta(description="connections per host (default 1; 16 with --delay 0)")] = 0
    backoff: Annotated[Seconds, Meta(description="first back-off after status 429 or 503 (default 60)")] = 60.0
    user_agent: Annotated[Text, Meta(description="name for robots.txt and the User-Agent header")] = ""
    contact: Annotated[Text, Meta(description="URL or email address where site owners can reach you")] = ""
    sign: Annotated[
        Text, Meta(description="sign requests with this key file (Web Bot Auth); see sanderling identity")
    ] = ""
    signature_agent: Annotated[Text, Meta(description="https URL of the site that publishes your key directory")] = ""
    purpose: Annotated[
        Literal["search", "archive", "ai-input", "ai-train"],
        Meta(description="what the pages are for: skip those whose owner denies it (default search)"),
    ] = "search"
    ignore_robots: Annotated[Texts, Meta(description="own host whose robots.txt is ignored (repeatable)")] = ()


class HttpSettings(Struct, frozen=True):
    """HTTP requests."""

    allow_private: Annotated[Switch, Meta(description="allow loopback, private and other non-global addresses")] = False
    max_body: Annotated[Bytes, Meta(description="maximum size of a decoded body (default 20MB)")] = 20_000_000
    timeout: Annotated[Seconds, Meta(description="timeout of a request (default 60)")] = 60.0
    proxy: Annotated[Text, Meta(description="proxy server, e.g. http://127.0.0.1:3128 or socks5://...")] = ""
    header: Annotated[
        Texts, Meta(description='extra request header, "Name: value" or "Name: env:NAME" (repeatable)')
    ] = ()
    basic_auth: Annotated[
        Texts, Meta(description="USER:PASSWORD, as HOST=env:NAME or HOST=file:PATH (repeatable)")
    ] = ()
    bearer: Annotated[Texts, Meta(description="token of a host, HOST=env:NAME or HOST=file:PATH (repeatable)")] = ()
    cookies: Annotated[Switch, Meta(description="store and send cookies during a crawl (default off)")] = False
    cookie_file: Annotated[
        Text, Meta(description="send the cookies of this file (Netscape format), with --cookies")
    ] = ""
    insecure_host: Annotated[Texts, Meta(description="host whose TLS certificate is not checked (repeatable)")] = ()
    digest: Annotated[Literal["sha256", "sha1"], Meta(description="digest in WARC records (default sha256)")] = "sha256"
    requisites: Annotated[
        Switch,
        Meta(
            description="also fetch what pages need to be shown, from any host: images, styles, fonts, scripts, frames"
        ),
    ] = False


class RenderSettings(Struct, frozen=True):
    """JavaScript."""

    render: Annotated[
        Literal["default", "auto", "never", "always"],
        Meta(
            description="run the scripts of pages in a browser: always, never, or where they add text or links (auto;"
            " the default if a browser is installed)"
        ),
    ] = "default"
    render_always: Annotated[
        Texts, Meta(description="render URLs that match this regular expression (repeatable)")
    ] = ()
    render_never: Annotated[
        Texts, Meta(description="do not render URLs that match this regular expression (repeatable)")
    ] = ()
    screenshots: Annotated[Switch, Meta(description="also store a picture of every rendered page (default off)")] = (
        False
    )
    tabs: Annotated[Count, Meta(description="pages in the browser of a worker at once (default 4)")] = 4


class WorkerSettings(Struct, frozen=True):
    """Workers and storage."""

    workers: Annotated[WorkerCount, Meta(description="number of worker processes, or auto (default: one per core)")] = 0
    shards: Annotated[
        Count,
        Meta(description="divide a new collection by domain into N shards, each with a coordinator and these workers"),
    ] = 0
    engine: Annotated[
        Literal["processes", "ray"],
        Meta(description="run workers (with --shards: coordinators) as local processes or on a Ray cluster"),
    ] = "processes"
    address: Annotated[
        Text, Meta(description="address of the Ray cluster, e.g. 10.0.0.1:6379 (default: start a local one)")
    ] = ""
    place: Annotated[Texts, Meta(description="Ray resource label for workers, assigned round-robin (repeatable)")] = ()
    store: Annotated[
        Text,
        Meta(
            description="database, postgresql://... or a plugin's scheme (default: SQLite); for --shards also several"
        ),
    ] = ""
    archive: Annotated[
        Text, Meta(description="move completed WARC files to s3://..., file://... (fsspec; default: the collection)")
    ] = ""
    dedup_from: Annotated[
        Texts,
        Meta(description="collection whose stored bodies are referred to instead of stored again (repeatable)"),
    ] = ()
    lease: Annotated[
        Seconds, Meta(description="lease time of URLs without a worker heartbeat (default 2m, at least 10s)")
    ] = 120.0
    pause_crawl: Annotated[
        Texts, Meta(description="folder of another crawl whose workers are paused meanwhile (repeatable)")
    ] = ()
    migrant: Annotated[Texts, Meta(description="migrant on a web server, https://host:8443 (repeatable)")] = ()
    key: Annotated[
        Text, Meta(description="file with the private key for --migrant (see sanderling migrant keygen)")
    ] = ""
    migrant_ca: Annotated[Text, Meta(description="CA certificates for --migrant (default: those of the system)")] = ""
    migrant_check: Annotated[
        Count,
        Meta(description="verify one in N pages that a migrant reports as unchanged (0: none, default 200)"),
    ] = 200


class UrlCacheSettings(Struct, frozen=True):
    """URL cache."""

    url_cache: Annotated[
        Literal["lfu", "lru"],
        Meta(description="evict the least frequently or least recently used URLs (default lfu)"),
    ] = "lfu"
    url_cache_size: Annotated[
        Count, Meta(description="maximum number of cached URLs (default 120000, about 20 MB)")
    ] = 120_000


class AssignmentSettings(Struct, frozen=True):
    """Worker assignment."""

    schedule: Annotated[
        Literal["ahp", "round-robin", "random", "hash", "consistent-hash", "wrr", "fuzzy", "least-loaded"],
        Meta(description="how the worker of the next batch is chosen (default ahp)"),
    ] = "ahp"
    criteria: Annotated[Texts, Meta(description="criteria of ahp, best in the settings file (repeatable)")] = ()
    sets: Annotated[Texts, Meta(description="separate workers for pages due hourly, daily ... (repeatable)")] = ()
    judgments: Annotated[Texts, Meta(description='row of the comparison matrix of ahp, "1 1/3 5" (repeatable)')] = ()


class RevisitSettings(Struct, frozen=True):
    """Revisit policy."""

    policy: Annotated[Text, Meta(description="how the next visit of a page is scheduled (default learned)")] = "learned"
    budget: Annotated[
        Text, Meta(description="maximum pages or bytes per period, e.g. 5000/day or 200MB/day (default: no limit)")
    ] = ""
    every: Annotated[
        Texts,
        Meta(description="check every 1h; with a regular expression only URLs it matches: '1h /prices/' (repeatable)"),
    ] = ()
    min_interval: Annotated[Seconds, Meta(description="shortest time between two checks of a page (default 1h)")] = 0.0
    max_interval: Annotated[
        Seconds, Meta(description="longest time between two checks, without a budget (default 30d)")
    ] = 0.0
    eager: Annotated[Text, Meta(description="how often to check: thrifty, normal or fresh (default normal)")] = ""
    objective: Annotated[
        Text,
        Meta(
            description="delay (report changes soon; default without a budget) or freshness (keep the copy up to date;"
            " default with one)"
        ),
    ] = ""
    threshold: Annotated[
        Share, Meta(description="visit pages of a site's change list above this priority (0: all)")
    ] = 0.0


class IndexSettings(Struct, frozen=True):
    """Search index."""

    index: Annotated[
        Switch, Meta(description="update the full-text index while crawling, if the search extra is installed")
    ] = True


class ComparisonSettings(Struct, frozen=True):
    """Change detection."""

    ignore: Annotated[Texts, Meta(description="CSS selector of parts to ignore (repeatable)")] = ()
    ignore_text: Annotated[Texts, Meta(description="regular expression of text to ignore (repeatable)")] = ()
    selector: Annotated[Texts, Meta(description="CSS selector of the only parts to compare (repeatable)")] = ()
    selector_text: Annotated[Texts, Meta(description="regular expression of the only lines to compare")] = ()


class FieldSettings(Struct, frozen=True):
    """Fields of pages."""

    fields: Annotated[
        Texts,
        Meta(
            description="value to extract from each page, NAME=SELECTOR or NAME:TYPE=SELECTOR, e.g."
            " price:price='css:.price' (repeatable)"
        ),
    ] = ()


class CollectionSettings(Struct, frozen=True):
    """Collection."""

    collection: Annotated[Text, Meta(description="folder of the collection (short: -C)")] = "collection"


CRAWL_GROUPS: list[type[Struct]] = [
    ScopeSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    HttpSettings,
    RenderSettings,
    WorkerSettings,
    UrlCacheSettings,
    AssignmentSettings,
    RevisitSettings,
    IndexSettings,
    FieldSettings,
]
"""Groups of settings of a crawl, in the order of `--help`."""
SETTING_GROUPS = [*CRAWL_GROUPS[:-1], ComparisonSettings, FieldSettings, CollectionSettings]
