"""What a sitemap or a feed says: entries, and what was wrong with it."""

from enum import StrEnum

from msgspec import Struct

from sanderling.discovery.dates import Precision


class Kind(StrEnum):
    """What a file turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"  # 0.9x, 1.0 and 2.0
    ATOM = "atom"
    JSON = "json"  # a feed, by jsonfeed.org
    UNKNOWN = "unknown"


class Problem(StrEnum):
    """What was wrong with a file; what could be read was read all the same."""

    NOT_A_SITEMAP = "not_a_sitemap"
    NOT_WELL_FORMED = "not_well_formed"
    CUT_OFF = "cut_off"
    BAD_GZIP = "bad_gzip"
    TOO_LARGE = "too_large"  # too many bytes or tags: the rest was not read
    TOO_MANY = "too_many"  # the rest was not read
    NO_LOC = "no_loc"
    BAD_LOC = "bad_loc"
    BAD_DATE = "bad_date"
    BAD_CHANGEFREQ = "bad_changefreq"
    BAD_PRIORITY = "bad_priority"


class Limits(Struct, frozen=True):
    """How much of one file is read."""

    bytes: int = 50 * 1024 * 1024  # sitemaps.org: uncompressed
    entries: int = 50_000  # sitemaps.org
    tags: int = 3_000_000  # more than any honest file of this size has
    parts: int = 1000  # images, videos and alternates of one entry; Google takes 1,000 images


INDEX_DEPTH_LIMIT = 3  # an index may name sitemaps only, by the protocol; some name indexes
RESOURCESYNC = "/.well-known/resourcesync"  # names lists, not pages


class Alternate(Struct, frozen=True, gc=False):
    """The same page in another language."""

    language: str
    href: str


class Image(Struct, frozen=True, gc=False):
    """An image of a page."""

    loc: str
    caption: str = ""
    title: str = ""
    geo_location: str = ""
    license: str = ""


class Price(Struct, frozen=True, gc=False):
    """What a video costs."""

    currency: str
    amount: float | None
    type: str = "own"


class Video(Struct, frozen=True):
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
    prices: tuple[Price, ...] = ()


class News(Struct, frozen=True):
    """A page as a news article."""

    name: str = ""  # of the paper
    language: str = ""
    date: float | None = None
    title: str = ""
    keywords: tuple[str, ...] = ()
    genres: tuple[str, ...] = ()
    stock_tickers: tuple[str, ...] = ()
    access: str = ""

    @property
    def is_valid(self) -> bool:
        """Tell whether all that the format demands is there."""
        return bool(self.name and self.language and self.title and self.date is not None)


class Entry(Struct, frozen=True):
    """One URL of a sitemap or a feed, or one sitemap of an index, as written: not yet resolved, not yet normalised."""

    loc: str
    lastmod: float | None = None  # seconds since 1970; None if there is none that can be read
    lastmod_precision: Precision = Precision.SECOND
    changefreq: str = ""  # one of changefreq.CLASSES, or nothing
    priority: float | None = None
    alternates: tuple[Alternate, ...] = ()
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()
    news: News | None = None
    mobile: bool = False


class SitemapReport(Struct, frozen=True):
    """All that one file says."""

    kind: Kind
    entries: tuple[Entry, ...] = ()  # pages
    sitemaps: tuple[Entry, ...] = ()  # of an index
    updated: float | None = None  # when a feed says it was last changed itself
    problems: dict[Problem, int] = {}
    bytes_read: int = 0  # uncompressed
