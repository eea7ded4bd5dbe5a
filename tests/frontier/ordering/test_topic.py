"""How much a text speaks of a topic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import UsageError
from sanderling.frontier.ordering.topic import (
    Listener,
    Topic,
    occurrences,
    pack_relevance,
    stem,
    topic_of_query,
    topic_of_text,
    unpack_relevance,
)


def test_a_word_is_found_with_a_short_ending_but_not_inside_another() -> None:
    assert occurrences("index", "an index, two indexes, indexed; reindex indexability", 20) == 3
    assert occurrences("index", "index " * 50, 20) == 20


def test_scripts_without_spaces_are_searched_as_they_are() -> None:
    assert occurrences("索引", "数据库索引的使用", 20) == 1


def test_the_words_of_a_query_have_one_weight_and_common_words_none() -> None:
    assert topic_of_query("the Database Indexes").words == {"database": 0.5, "indexe": 0.5}
    assert stem("queries") == "quer"
    assert stem("class") == "class"


@pytest.mark.parametrize("query", ["", "the of and", "!!!", "12 345"])
def test_a_query_without_a_word_gets_a_sentence_with_an_example(query: str) -> None:
    with pytest.raises(UsageError, match="no word to look for; write for example --query"):
        topic_of_query(query)


def test_a_text_gives_the_words_it_uses_most() -> None:
    topic = topic_of_text("Vacuum removes dead rows. The vacuum of a table. Autovacuum and vacuum.", "sample.txt")
    assert max(topic.words, key=topic.words.__getitem__) == "vacuum"
    assert sum(topic.words.values()) == pytest.approx(1)
    with pytest.raises(UsageError, match=r"--like-text empty\.txt has no word"):
        topic_of_text(" - 1 2 3 -", "empty.txt")


def test_more_words_and_a_title_make_a_page_more_relevant() -> None:
    topic = topic_of_query("vacuum table")
    some = topic.relevance("the vacuum runs at night", "")
    more = topic.relevance("the vacuum of a table, and again: vacuum, table", "")
    assert 0 < some < more < topic.relevance("the vacuum of a table, and again: vacuum, table", "Vacuum") < 1
    assert topic.relevance("something else", "") == 0
    assert topic.relevance("vacuum " + "other words " * 9000) < topic.relevance("vacuum")


def test_a_link_promises_by_its_own_words_first() -> None:
    topic = topic_of_query("vacuum table")
    own, near, none = topic.promise("Vacuum", ""), topic.promise("more", "on vacuum"), topic.promise("more", "here")
    assert own > near > none == 0


@given(st.text(max_size=200), st.text(max_size=40))
def test_any_text_has_a_relevance_between_0_and_1(text: str, title: str) -> None:
    value = Topic({"a": 0.5, "word": 0.5}).relevance(text, title)
    assert 0 <= value <= 1
    assert unpack_relevance(pack_relevance(value)) == pytest.approx(value, abs=1e-4)


def test_a_word_that_all_pages_have_loses_its_weight() -> None:
    listener = Listener(topic_of_query("virtual table"))
    for _ in range(50):
        listener.relevance("a table of things")
    assert listener.topic.words["table"] < 0.25
    assert listener.promise("virtual", "") > listener.promise("table", "") + 0.4
    assert sum(listener.topic.words.values()) == pytest.approx(1)


def test_a_page_with_all_words_says_more_than_one_with_one_of_them_twice_as_often() -> None:
    topic = topic_of_query("hash bucket")
    both, one = topic.relevance("hash bucket " * 2), topic.relevance("hash " * 8)
    assert both > 1.5 * one
