"""What samples ask for beyond their template."""

from sanderling.fingerprint.structure import build_pair_feature
from sanderling.templates.classifier import asked_for, own_lists

PLAIN, RARE = frozenset({1, 2, 3}), frozenset({1, 2, 3, 9})
MEMBERS = [PLAIN] * 57 + [RARE] * 3


def test_a_rare_block_on_all_of_three_samples_is_asked_for() -> None:
    assert asked_for([RARE] * 3, MEMBERS) == {9}


def test_one_sample_with_a_rare_block_may_be_an_accident() -> None:
    assert asked_for([RARE], MEMBERS) == frozenset()
    assert asked_for([RARE, PLAIN, RARE], MEMBERS) == frozenset()


def test_what_many_pages_have_is_not_asked_for() -> None:
    assert asked_for([RARE] * 3, [PLAIN, RARE] * 30) == frozenset()


def test_nothing_is_asked_for_where_nothing_was_found() -> None:
    assert asked_for([RARE] * 3, []) == frozenset()


HEAD, TITLE, ENTRY, FOOT = 1, 2, 40_000, 4
LISTING = frozenset(
    {
        HEAD,
        TITLE,
        ENTRY,
        FOOT,
        build_pair_feature(TITLE, ENTRY),
        build_pair_feature(ENTRY, ENTRY),
        build_pair_feature(ENTRY, FOOT),
    }
)
BARE = frozenset({HEAD, TITLE, FOOT, build_pair_feature(TITLE, FOOT)})


def test_one_sample_with_a_list_that_few_pages_have_asks_for_it() -> None:
    assert own_lists(LISTING, {LISTING: 4, BARE: 60}) == {ENTRY}
    assert own_lists(BARE, {LISTING: 4, BARE: 60}) == frozenset()


def test_a_list_on_many_pages_or_on_the_sample_alone_is_not_asked_for() -> None:
    assert own_lists(LISTING, {LISTING: 20, BARE: 60}) == frozenset()
    assert own_lists(LISTING, {LISTING: 1, BARE: 60}) == frozenset()


def test_a_list_that_stands_here_and_there_is_not_asked_for() -> None:
    elsewhere = frozenset(
        {
            HEAD,
            ENTRY,
            FOOT,
            build_pair_feature(HEAD, ENTRY),
            build_pair_feature(ENTRY, ENTRY),
            build_pair_feature(ENTRY, FOOT),
        }
    )
    assert own_lists(LISTING, {LISTING: 2, elsewhere: 2, BARE: 60}) == frozenset()
