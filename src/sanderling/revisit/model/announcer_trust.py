"""Which announcements of change to believe: sitemaps, feeds, Last-Modified; learned from what visits found."""

from enum import IntEnum

MIN_PRECISION = 0.25  # share of true announcements below which nothing is made of them
MAX_RECALL = 0.98  # recall
MEMORY_OBSERVATIONS = 500.0  # looks after which old experience counts half


class Announcer(IntEnum):
    """Who announces."""

    SITEMAP = 0
    FEED = 1
    PUBLISHER = 2


class AnnouncerTrust:
    """How good one kind of announcement of one site is: recall r, and false announcements a day, nu."""

    __slots__ = ("false_count", "missed_count", "observed_days", "true_count")

    def __init__(
        self, true_count: float = 2.0, missed_count: float = 1.0, false_count: float = 0.1, observed_days: float = 30.0
    ) -> None:
        self.true_count = true_count  # changes found that had been announced; a new announcer is credited with two
        self.missed_count = missed_count  # changes found that had not
        self.false_count = false_count  # announced, and nothing had changed
        self.observed_days = observed_days  # watched

    @property
    def recall(self) -> float:
        """Share of the changes that are announced; never taken for certain, so that pages are still looked at."""
        return min(self.true_count / (self.true_count + self.missed_count), MAX_RECALL)

    @property
    def false_rate(self) -> float:
        """False announcements a day and page."""
        return self.false_count / self.observed_days

    @property
    def is_trusted(self) -> bool:
        """Is enough of what it says true? Dates that are stamped at every build are not."""
        return self.precision >= MIN_PRECISION

    @property
    def precision(self) -> float:
        """Share of the announcements that are true."""
        return self.true_count / (self.true_count + self.false_count)

    def record_visit(self, was_announced: bool, has_changed: bool, days: float) -> None:
        """Enter what a visit found of a page this announcer covers."""
        keep = 1 - 1 / MEMORY_OBSERVATIONS
        self.true_count = self.true_count * keep + (was_announced and has_changed)
        self.missed_count = self.missed_count * keep + (has_changed and not was_announced)
        self.false_count = self.false_count * keep + (was_announced and not has_changed)
        self.observed_days = self.observed_days * keep + days
