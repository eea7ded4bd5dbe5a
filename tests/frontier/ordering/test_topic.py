"""How much a text speaks of a topic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import UsageError
from sanderling.frontier.ordering.topic import (
    Topic,
    TopicScorer,
    build_topic_from_query,
    build_topic_from_text,
    count_occurrences,
    pack_relevance,
    strip_plural,
    unpack_relevance,
)


def test_a_word_is_found_with_a_short_ending_but_not_inside_another() -> None:
    assert count_occurrences("index", "an index, two indexes, indexed; reindex indexability", 20) == 3
    assert count_occurrences("index", "index " * 50, 20) == 20


def test_scripts_without_spaces_are_searched_as_they_are() -> None:
    assert count_occurrences("索引", "数据库索引的使用", 20) == 1


def test_the_words_of_a_query_have_one_weight_and_common_words_none() -> None:
    assert build_topic_from_query("the Database Indexes").words == {"database": 0.5, "indexe": 0.5}
    assert strip_plural("queries") == "quer"
    assert strip_plural("class") == "class"


@pytest.mark.parametrize("query", ["", "the of and", "!!!", "12 345"])
def test_a_query_without_a_word_gets_a_sentence_with_an_example(query: str) -> None:
    with pytest.raises(UsageError, match="no usable word; write for example --query"):
        build_topic_from_query(query)


def test_a_text_gives_the_words_it_uses_most() -> None:
    topic = build_topic_from_text(
        "Vacuum removes dead rows. The vacuum of a table. Autovacuum and vacuum.", "sample.txt"
    )
    assert max(topic.words, key=topic.words.__getitem__) == "vacuum"
    assert sum(topic.words.values()) == pytest.approx(1)
    with pytest.raises(UsageError, match=r"--like-text empty\.txt contains no usable word"):
        build_topic_from_text(" - 1 2 3 -", "empty.txt")


def test_more_words_and_a_title_make_a_page_more_relevant() -> None:
    topic = build_topic_from_query("vacuum table")
    some = topic.score_page("the vacuum runs at night", "")
    more = topic.score_page("the vacuum of a table, and again: vacuum, table", "")
    assert 0 < some < more < topic.score_page("the vacuum of a table, and again: vacuum, table", "Vacuum") < 1
    assert topic.score_page("something else", "") == 0
    assert topic.score_page("vacuum " + "other words " * 9000) < topic.score_page("vacuum")


def test_a_link_promises_by_its_own_words_first() -> None:
    topic = build_topic_from_query("vacuum table")
    own, near, none = (
        topic.score_link("Vacuum", ""),
        topic.score_link("more", "on vacuum"),
        topic.score_link("more", "here"),
    )
    assert own > near > none == 0


@given(st.text(max_size=200), st.text(max_size=40))
def test_any_text_has_a_relevance_between_0_and_1(text: str, title: str) -> None:
    value = Topic({"a": 0.5, "word": 0.5}).score_page(text, title)
    assert 0 <= value <= 1
    assert unpack_relevance(pack_relevance(value)) == pytest.approx(value, abs=1e-4)


def test_a_word_that_all_pages_have_loses_its_weight() -> None:
    listener = TopicScorer(build_topic_from_query("virtual table"))
    for _ in range(50):
        listener.score_page("a table of things")
    assert listener.topic.words["table"] < 0.25
    assert listener.score_link("virtual", "") > listener.score_link("table", "") + 0.4
    assert sum(listener.topic.words.values()) == pytest.approx(1)


def test_a_page_with_all_words_says_more_than_one_with_one_of_them_twice_as_often() -> None:
    topic = build_topic_from_query("hash bucket")
    both, one = topic.score_page("hash bucket " * 2), topic.score_page("hash " * 8)
    assert both > 1.5 * one
