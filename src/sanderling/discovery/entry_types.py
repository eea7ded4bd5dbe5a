"""What a sitemap or a feed says: entries, and what was wrong with it."""

from enum import StrEnum

from msgspec import Struct

from sanderling.discovery.dates import DatePrecision


class SitemapKind(StrEnum):
    """What a file turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"  # 0.9x, 1.0 and 2.0
    ATOM = "atom"
    JSON = "json"  # a feed, by jsonfeed.org
    UNKNOWN = "unknown"


class SitemapProblem(StrEnum):
    """What was wrong with a file; what could be read was read all the same."""

    NOT_A_SITEMAP = "not_a_sitemap"
    NOT_WELL_FORMED = "not_well_formed"
    TRUNCATED = "cut_off"
    BAD_GZIP = "bad_gzip"
    TOO_LARGE = "too_large"  # too many bytes or tags: the rest was not read
    TOO_MANY_ENTRIES = "too_many"  # the rest was not read
    NO_LOC = "no_loc"
    BAD_LOC = "bad_loc"
    BAD_DATE = "bad_date"
    BAD_CHANGEFREQ = "bad_changefreq"
    BAD_PRIORITY = "bad_priority"


class SitemapLimits(Struct, frozen=True):
    """How much of one file is read."""

    max_bytes: int = 50 * 1024 * 1024  # sitemaps.org: uncompressed
    max_entries: int = 50_000  # sitemaps.org
    max_tags: int = 3_000_000  # more than any honest file of this size has
    max_parts: int = 1000  # images, videos and alternates of one entry; Google takes 1,000 images


MAX_INDEX_DEPTH = 3  # an index may name sitemaps only, by the protocol; some name indexes
RESOURCESYNC_PATH = "/.well-known/resourcesync"  # names lists, not pages


class AlternateLink(Struct, frozen=True, gc=False):
    """The same page in another language."""

    language: str
    href: str


class SitemapImage(Struct, frozen=True, gc=False):
    """An image of a page."""

    loc: str
    caption: str = ""
    title: str = ""
    geo_location: str = ""
    license: str = ""


class VideoPrice(Struct, frozen=True, gc=False):
    """What a video costs."""

    currency: str
    amount: float | None
    type: str = "own"


class SitemapVideo(Struct, frozen=True):
    """A video of a page."""

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
    """A page as a news article."""

    publication_name: str = ""  # of the paper
    language: str = ""
    published_at: float | None = None
    title: str = ""
    keywords: tuple[str, ...] = ()
    genres: tuple[str, ...] = ()
    stock_tickers: tuple[str, ...] = ()
    access: str = ""

    @property
    def is_valid(self) -> bool:
        """Tell whether all that the format demands is there."""
        return bool(self.publication_name and self.language and self.title and self.published_at is not None)


class SitemapEntry(Struct, frozen=True):
    """One URL of a sitemap or a feed, or one sitemap of an index, as written: not yet resolved, not yet normalised."""

    loc: str
    lastmod: float | None = None  # seconds since 1970; None if there is none that can be read
    lastmod_precision: DatePrecision = DatePrecision.SECOND
    changefreq: str = ""  # one of changefreq.CLASSES, or nothing
    priority: float | None = None
    alternates: tuple[AlternateLink, ...] = ()
    images: tuple[SitemapImage, ...] = ()
    videos: tuple[SitemapVideo, ...] = ()
    news: SitemapArticle | None = None
    is_mobile: bool = False


class SitemapReport(Struct, frozen=True):
    """All that one file says."""

    kind: SitemapKind
    entries: tuple[SitemapEntry, ...] = ()  # pages
    sitemaps: tuple[SitemapEntry, ...] = ()  # of an index
    updated_at: float | None = None  # when a feed says it was last changed itself
    problems: dict[SitemapProblem, int] = {}
    bytes_read: int = 0  # uncompressed
