from sanderling.frontier import url_filter as judge_module
from sanderling.frontier.url_filter import UrlFilter
from sanderling.models import CandidateUrl, Host, Reason, Url, UrlSource, UrlState
from sanderling.urls.scope import Scope, build_scope_rule


def judge(depth: int = -1) -> UrlFilter:
    return UrlFilter(build_scope_rule([Url("http://a.org/")], Scope.HOST, exclude=["secret"]), depth)


def reason(candidate: CandidateUrl, court: UrlFilter, nofollow: bool = False) -> Reason:
    entry = court.admit(candidate, nofollow, 0.0)
    assert entry is not None
    return entry.reason


def test_reasons_are_named() -> None:
    court = judge(depth=2)
    assert reason(CandidateUrl(Url("http://a.org/x"), depth=2), court) is Reason.NONE
    assert reason(CandidateUrl(Url("http://b.org/")), court) is Reason.OUT_OF_SCOPE
    assert reason(CandidateUrl(Url("http://a.org/secret")), court) is Reason.EXCLUDED
    assert reason(CandidateUrl(Url("http://a.org/x"), depth=3), court) is Reason.DEPTH
    assert reason(CandidateUrl(Url("http://a.org/x")), court, nofollow=True) is Reason.NOFOLLOW
    assert reason(CandidateUrl(Url("http://a.org/x/x/x/x/x")), court) is Reason.TRAP


def test_a_seed_may_look_like_a_trap() -> None:
    assert reason(CandidateUrl(Url("http://a.org/x/x/x/x/x"), source=UrlSource.SEED), judge()) is Reason.NONE


def test_new_urls_of_a_condemned_host_are_not_queued() -> None:
    court = judge()
    court.failed_hosts[Host("http://a.org")] = Reason.DNS
    entry = court.admit(CandidateUrl(Url("http://a.org/x")), False, 0.0)
    assert entry is not None
    assert (entry.state, entry.reason) == (UrlState.SKIPPED, Reason.DNS)


def test_endless_skipped_urls_are_counted_not_listed() -> None:
    court = judge()
    for n in range(judge_module.MAX_RECORDED_SKIPS + 5):
        court.admit(CandidateUrl(Url(f"http://b.org/{n}")), False, 0.0)
    assert court.unrecorded_skips == 5


def test_urls_that_are_too_long_are_listed_up_to_a_bound_for_all_hosts_together() -> None:
    court = judge()
    entries = [
        court.admit(CandidateUrl(Url(f"http://h{n}.org/{'a' * 2100}")), False, 0.0)
        for n in range(judge_module.MAX_RECORDED_LONG_URLS + 5)
    ]
    assert sum(entry is not None for entry in entries) == judge_module.MAX_RECORDED_LONG_URLS
    assert entries[0] is not None
    assert (entries[0].reason, entries[0].detail) == (Reason.TOO_LONG, "URL truncated")
