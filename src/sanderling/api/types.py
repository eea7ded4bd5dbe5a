"""Types of the results and parameters of the API, for annotations; each is imported at its first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sanderling.changes.change_query import ChangeFilter as ChangeFilter
    from sanderling.changes.changed_text import ChangedText as ChangedText
    from sanderling.changes.classify import ChangeKind as ChangeKind
    from sanderling.changes.feed import ReportedChange as ReportedChange
    from sanderling.changes.word_diff import DiffOperation as DiffOperation
    from sanderling.changes.word_report import DiffReport as DiffReport
    from sanderling.crawl.coordinator import Coordinator as Coordinator
    from sanderling.crawl.refresh import RefreshMode as RefreshMode
    from sanderling.crawl.refresh import RefreshSummary as RefreshSummary
    from sanderling.crawl.request import CrawlRequest as CrawlRequest
    from sanderling.crawl.request import CrawlSummary as CrawlSummary
    from sanderling.crawl.stop import CrawlProgress as CrawlProgress
    from sanderling.crawl.stop import FinishReason as FinishReason
    from sanderling.models import Outcome as Outcome
    from sanderling.models import Reason as Reason
    from sanderling.models import UrlState as UrlState
    from sanderling.monitor.watch import Watch as Watch
    from sanderling.search.feedback.events import UserAction as UserAction
    from sanderling.search.feedback.events import UserEvent as UserEvent
    from sanderling.search.feedback.unmet_queries import UnmetQuery as UnmetQuery
    from sanderling.search.search_types import SearchHit as SearchHit
    from sanderling.search.search_types import SearchRequest as SearchRequest
    from sanderling.search.search_types import SearchResults as SearchResults
    from sanderling.search.search_types import TextRun as TextRun
    from sanderling.warc.warc_reader import StoredRecord as StoredRecord

_MODULES = {
    "ChangeFilter": "changes.change_query",
    "ChangeKind": "changes.classify",
    "ChangedText": "changes.changed_text",
    "Coordinator": "crawl.coordinator",
    "CrawlProgress": "crawl.stop",
    "CrawlRequest": "crawl.request",
    "CrawlSummary": "crawl.request",
    "DiffOperation": "changes.word_diff",
    "DiffReport": "changes.word_report",
    "FinishReason": "crawl.stop",
    "Outcome": "models",
    "Reason": "models",
    "RefreshMode": "crawl.refresh",
    "RefreshSummary": "crawl.refresh",
    "ReportedChange": "changes.feed",
    "SearchHit": "search.search_types",
    "SearchRequest": "search.search_types",
    "SearchResults": "search.search_types",
    "StoredRecord": "warc.warc_reader",
    "TextRun": "search.search_types",
    "UnmetQuery": "search.feedback.unmet_queries",
    "UrlState": "models",
    "UserAction": "search.feedback.events",
    "UserEvent": "search.feedback.events",
    "Watch": "monitor.watch",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'sanderling.api.types' has no attribute {name!r}")
    return getattr(import_module(f"sanderling.{_MODULES[name]}"), name)
