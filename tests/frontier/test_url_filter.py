"""URL filter: reasons to skip a URL."""

from sanderling.frontier import url_filter as module
from sanderling.frontier.url_filter import UrlFilter
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlSource, UrlState
from sanderling.urls.scope import Scope, build_scope_rule


def build_filter(depth: int = -1) -> UrlFilter:
    return UrlFilter(build_scope_rule([Url("http://a.org/")], Scope.HOST, exclude=["secret"]), depth)


def get_reason(candidate: CandidateUrl, url_filter: UrlFilter, nofollow: bool = False) -> Reason:
    entry = url_filter.admit(candidate, nofollow, 0.0)
    assert entry is not None
    return entry.reason


def test_rejection_reasons() -> None:
    url_filter = build_filter(depth=2)
    assert get_reason(CandidateUrl(Url("http://a.org/x"), depth=2), url_filter) is Reason.NONE
    assert get_reason(CandidateUrl(Url("http://b.org/")), url_filter) is Reason.OUT_OF_SCOPE
    assert get_reason(CandidateUrl(Url("http://a.org/secret")), url_filter) is Reason.EXCLUDED
    assert get_reason(CandidateUrl(Url("http://a.org/x"), depth=3), url_filter) is Reason.DEPTH
    assert get_reason(CandidateUrl(Url("http://a.org/x")), url_filter, nofollow=True) is Reason.NOFOLLOW
    assert get_reason(CandidateUrl(Url("http://a.org/x/x/x/x/x")), url_filter) is Reason.TRAP


def test_seed_is_not_checked_for_traps() -> None:
    assert get_reason(CandidateUrl(Url("http://a.org/x/x/x/x/x"), source=UrlSource.SEED), build_filter()) is Reason.NONE


def test_urls_of_a_failed_host_are_skipped() -> None:
    url_filter = build_filter()
    url_filter.failed_hosts[Host("http://a.org")] = Reason.DNS
    entry = url_filter.admit(CandidateUrl(Url("http://a.org/x")), False, 0.0)
    assert entry is not None
    assert (entry.state, entry.reason) == (UrlState.SKIPPED, Reason.DNS)


def test_recorded_skips_are_limited() -> None:
    url_filter = build_filter()
    for n in range(module.MAX_RECORDED_SKIPS + 5):
        url_filter.admit(CandidateUrl(Url(f"http://b.org/{n}")), False, 0.0)
    assert url_filter.unrecorded_skips == 5


def test_recorded_long_urls_are_limited_for_all_hosts() -> None:
    url_filter = build_filter()
    entries = [
        url_filter.admit(CandidateUrl(Url(f"http://h{n}.org/{'a' * 2100}")), False, 0.0)
        for n in range(module.MAX_RECORDED_LONG_URLS + 5)
    ]
    assert sum(entry is not None for entry in entries) == module.MAX_RECORDED_LONG_URLS
    assert entries[0] is not None
    assert (entries[0].reason, entries[0].detail) == (Reason.TOO_LONG, "URL truncated")
