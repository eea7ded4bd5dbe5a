"""Trust in announcers (sitemaps, feeds, change lists), learned from visits."""

from enum import IntEnum

MIN_PRECISION = 0.25
MAX_RECALL = 0.98
MEMORY_OBSERVATIONS = 500.0  # observations after which the weight is halved


class Announcer(IntEnum):
    """Source of announcements."""

    SITEMAP = 0
    FEED = 1
    PUBLISHER = 2


class AnnouncerTrust:
    """Quality of an announcer of a site: recall r, and false announcements per day, nu."""

    __slots__ = ("false_count", "missed_count", "observed_days", "true_count")

    def __init__(
        self, true_count: float = 2.0, missed_count: float = 1.0, false_count: float = 0.1, observed_days: float = 30.0
    ) -> None:
        self.true_count = true_count  # announced changes; two are credited to a new announcer
        self.missed_count = missed_count  # changes without announcement
        self.false_count = false_count  # announcements without change
        self.observed_days = observed_days

    @property
    def recall(self) -> float:
        """Share of changes that are announced; below 1, so that pages are still visited."""
        return min(self.true_count / (self.true_count + self.missed_count), MAX_RECALL)

    @property
    def false_rate(self) -> float:
        """False announcements per day and page."""
        return self.false_count / self.observed_days

    @property
    def is_trusted(self) -> bool:
        """Whether enough announcements are true; build-time dates are not."""
        return self.precision >= MIN_PRECISION

    @property
    def precision(self) -> float:
        """Share of announcements that are true."""
        return self.true_count / (self.true_count + self.false_count)

    def record_visit(self, was_announced: bool, has_changed: bool, days: float) -> None:
        """Record the visit of a page that this announcer covers."""
        keep = 1 - 1 / MEMORY_OBSERVATIONS
        self.true_count = self.true_count * keep + (was_announced and has_changed)
        self.missed_count = self.missed_count * keep + (has_changed and not was_announced)
        self.false_count = self.false_count * keep + (was_announced and not has_changed)
        self.observed_days = self.observed_days * keep + days
