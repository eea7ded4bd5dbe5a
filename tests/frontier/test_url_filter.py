from sanderling.frontier import url_filter as judge_module
from sanderling.frontier.url_filter import Judge
from sanderling.models import Candidate, Host, Reason, Source, State, Url
from sanderling.urls.scope import Scope, scope_rule


def judge(depth: int = -1) -> Judge:
    return Judge(scope_rule([Url("http://a.org/")], Scope.HOST, exclude=["secret"]), depth)


def reason(candidate: Candidate, court: Judge, nofollow: bool = False) -> Reason:
    entry = court.judge(candidate, nofollow, 0.0)
    assert entry is not None
    return entry.reason


def test_reasons_are_named() -> None:
    court = judge(depth=2)
    assert reason(Candidate(Url("http://a.org/x"), depth=2), court) is Reason.NONE
    assert reason(Candidate(Url("http://b.org/")), court) is Reason.OUT_OF_SCOPE
    assert reason(Candidate(Url("http://a.org/secret")), court) is Reason.EXCLUDED
    assert reason(Candidate(Url("http://a.org/x"), depth=3), court) is Reason.DEPTH
    assert reason(Candidate(Url("http://a.org/x")), court, nofollow=True) is Reason.NOFOLLOW
    assert reason(Candidate(Url("http://a.org/x/x/x/x/x")), court) is Reason.TRAP


def test_a_seed_may_look_like_a_trap() -> None:
    assert reason(Candidate(Url("http://a.org/x/x/x/x/x"), source=Source.SEED), judge()) is Reason.NONE


def test_new_urls_of_a_condemned_host_are_not_queued() -> None:
    court = judge()
    court.condemned[Host("http://a.org")] = Reason.DNS
    entry = court.judge(Candidate(Url("http://a.org/x")), False, 0.0)
    assert entry is not None
    assert (entry.state, entry.reason) == (State.SKIPPED, Reason.DNS)


def test_endless_skipped_urls_are_counted_not_listed() -> None:
    court = judge()
    for n in range(judge_module.MAX_LISTED + 5):
        court.judge(Candidate(Url(f"http://b.org/{n}")), False, 0.0)
    assert court.unlisted == 5


def test_urls_that_are_too_long_are_listed_up_to_a_bound_for_all_hosts_together() -> None:
    court = judge()
    entries = [
        court.judge(Candidate(Url(f"http://h{n}.org/{'a' * 2100}")), False, 0.0)
        for n in range(judge_module.MAX_LONG + 5)
    ]
    assert sum(entry is not None for entry in entries) == judge_module.MAX_LONG
    assert entries[0] is not None
    assert (entries[0].reason, entries[0].note) == (Reason.TOO_LONG, "this is its beginning")
