"""An extractor: compute a value of a page. It is called for every stored version, also of the past."""

from sanderling import PageSource

WORDS_PER_MINUTE = 220


def estimate_reading_time(source: PageSource) -> float | None:
    """Return the minutes it takes to read a page; None: it is not HTML."""
    if not source.is_html:
        return None
    return round(len(source.text.split()) / WORDS_PER_MINUTE, 2)
