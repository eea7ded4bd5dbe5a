"""Records, limits and problems of sitemaps and feeds."""

from enum import StrEnum

from msgspec import Struct

from sanderling.discovery.dates import DatePrecision


class SitemapKind(StrEnum):
    """Detected format of a file."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"  # 0.9x, 1.0 and 2.0
    ATOM = "atom"
    JSON = "json"  # jsonfeed.org
    MARKDOWN = "markdown"  # llms.txt
    UNKNOWN = "unknown"


class SitemapProblem(StrEnum):
    """Problem of a file whose valid parts are still used."""

    NOT_A_SITEMAP = "not_a_sitemap"
    NOT_WELL_FORMED = "not_well_formed"
    TRUNCATED = "cut_off"
    BAD_GZIP = "bad_gzip"
    TOO_LARGE = "too_large"  # too many bytes or tags; the rest was not read
    TOO_MANY_ENTRIES = "too_many"  # the rest was not read
    NO_LOC = "no_loc"
    BAD_LOC = "bad_loc"
    BAD_DATE = "bad_date"
    BAD_CHANGEFREQ = "bad_changefreq"
    BAD_PRIORITY = "bad_priority"


class SitemapLimits(Struct, frozen=True):
    max_bytes: int = 50 * 1024 * 1024  # sitemaps.org: uncompressed
    max_entries: int = 50_000  # sitemaps.org
    max_tags: int = 3_000_000  # more than any legitimate file of this size has
    max_parts: int = 1000  # images, videos and alternates per entry; Google accepts 1,000 images


MAX_INDEX_DEPTH = 3  # the protocol allows only sitemaps in an index, but some list indexes
RESOURCESYNC_PATH = "/.well-known/resourcesync"  # lists change lists, not pages


class AlternateLink(Struct, frozen=True, gc=False):
    """Version of a page in another language."""

    language: str
    href: str


class SitemapImage(Struct, frozen=True, gc=False):
    loc: str
    caption: str = ""
    title: str = ""
    geo_location: str = ""
    license: str = ""


class VideoPrice(Struct, frozen=True, gc=False):
    currency: str
    amount: float | None
    type: str = "own"


class SitemapVideo(Struct, frozen=True):
    thumbnail: str = ""
    title: str = ""
    description: str = ""
    content_loc: str = ""
    player_loc: str = ""
    duration: int | None = None  # seconds
    expiration: float | None = None
    publication: float | None = None
    rating: float | None = None
    view_count: int | None = None
    family_friendly: bool | None = None
    requires_subscription: bool | None = None
    live: bool | None = None
    tags: tuple[str, ...] = ()
    category: str = ""
    allowed_countries: tuple[str, ...] = ()
    denied_countries: tuple[str, ...] = ()
    gallery: str = ""
    uploader: str = ""
    prices: tuple[VideoPrice, ...] = ()


class SitemapArticle(Struct, frozen=True):
    """News extension of an entry."""

    publication_name: str = ""  # name of the newspaper
    language: str = ""
    published_at: float | None = None
    title: str = ""
    keywords: tuple[str, ...] = ()
    genres: tuple[str, ...] = ()
    stock_tickers: tuple[str, ...] = ()
    access: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether all required fields are present."""
        return bool(self.publication_name and self.language and self.title and self.published_at is not None)


class SitemapEntry(Struct, frozen=True):
    """Page of a sitemap or feed, or sitemap of an index. URLs are as written."""

    loc: str
    lastmod: float | None = None  # seconds since 1970; None: missing or invalid
    lastmod_precision: DatePrecision = DatePrecision.SECOND
    changefreq: str = ""  # one of `CHANGEFREQS`, or ""
    priority: float | None = None
    alternates: tuple[AlternateLink, ...] = ()
    images: tuple[SitemapImage, ...] = ()
    videos: tuple[SitemapVideo, ...] = ()
    news: SitemapArticle | None = None
    is_mobile: bool = False


class SitemapReport(Struct, frozen=True):
    """Parsed content of a file."""

    kind: SitemapKind
    entries: tuple[SitemapEntry, ...] = ()  # pages
    sitemaps: tuple[SitemapEntry, ...] = ()  # of an index
    updated_at: float | None = None  # last change of a feed, as stated in it
    problems: dict[SitemapProblem, int] = {}
    bytes_read: int = 0  # uncompressed
