"""Which announcements of change to believe: sitemaps, feeds, Last-Modified; learned from what visits found."""

from enum import IntEnum

BELIEF = 0.25  # share of true announcements below which nothing is made of them
SUREST = 0.98  # recall
MEMORY = 500.0  # looks after which old experience counts half


class Kind(IntEnum):
    """Who announces."""

    SITEMAP = 0
    FEED = 1
    PUBLISHER = 2


class Trust:
    """How good one kind of announcement of one site is: recall r, and false announcements a day, nu."""

    __slots__ = ("days", "false", "hit", "missed")

    def __init__(self, hit: float = 2.0, missed: float = 1.0, false: float = 0.1, days: float = 30.0) -> None:
        self.hit = hit  # changes found that had been announced; a new announcer is credited with two
        self.missed = missed  # changes found that had not
        self.false = false  # announced, and nothing had changed
        self.days = days  # watched

    @property
    def recall(self) -> float:
        """Share of the changes that are announced; never taken for certain, so that pages are still looked at."""
        return min(self.hit / (self.hit + self.missed), SUREST)

    @property
    def false_rate(self) -> float:
        """False announcements a day and page."""
        return self.false / self.days

    @property
    def is_believed(self) -> bool:
        """Is enough of what it says true? Dates that are stamped at every build are not."""
        return self.precision >= BELIEF

    @property
    def precision(self) -> float:
        """Share of the announcements that are true."""
        return self.hit / (self.hit + self.false)

    def tell(self, announced: bool, changed: bool, days: float) -> None:
        """Enter what a visit found of a page this announcer covers."""
        keep = 1 - 1 / MEMORY
        self.hit = self.hit * keep + (announced and changed)
        self.missed = self.missed * keep + (changed and not announced)
        self.false = self.false * keep + (announced and not changed)
        self.days = self.days * keep + days
