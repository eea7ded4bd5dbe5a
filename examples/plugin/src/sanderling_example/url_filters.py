"""A URL filter: return why a URL is not crawled, or an empty string."""

import re

is_calendar = re.compile(r"/(?:calendar|events)/\d{4}/\d{2}\b").search


def reject_calendars(url: str, depth: int) -> str:
    """Reject pages of a calendar, unless they are linked from a seed."""
    return "page of a calendar" if depth > 1 and is_calendar(url) else ""
