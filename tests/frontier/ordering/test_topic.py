"""Topic relevance of pages and links."""

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


def test_word_matches_with_short_suffix_at_word_start() -> None:
    assert count_occurrences("index", "an index, two indexes, indexed; reindex indexability", 20) == 3
    assert count_occurrences("index", "index " * 50, 20) == 20


def test_scripts_without_spaces_match_anywhere() -> None:
    assert count_occurrences("索引", "数据库索引的使用", 20) == 1


def test_query_words_have_equal_weights_without_stopwords() -> None:
    assert build_topic_from_query("the Database Indexes").words == {"database": 0.5, "indexe": 0.5}
    assert strip_plural("queries") == "quer"
    assert strip_plural("class") == "class"


@pytest.mark.parametrize("query", ["", "the of and", "!!!", "12 345"])
def test_query_without_words_is_a_usage_error(query: str) -> None:
    with pytest.raises(UsageError, match="no usable word; write for example --query"):
        build_topic_from_query(query)


def test_topic_of_text_has_most_frequent_words() -> None:
    topic = build_topic_from_text(
        "Vacuum removes dead rows. The vacuum of a table. Autovacuum and vacuum.", "sample.txt"
    )
    assert max(topic.words, key=topic.words.__getitem__) == "vacuum"
    assert sum(topic.words.values()) == pytest.approx(1)
    with pytest.raises(UsageError, match=r"--like-text empty\.txt contains no usable word"):
        build_topic_from_text(" - 1 2 3 -", "empty.txt")


def test_occurrences_and_title_raise_relevance() -> None:
    topic = build_topic_from_query("vacuum table")
    lower = topic.score_page("the vacuum runs at night", "")
    higher = topic.score_page("the vacuum of a table, and again: vacuum, table", "")
    assert 0 < lower < higher < topic.score_page("the vacuum of a table, and again: vacuum, table", "Vacuum") < 1
    assert topic.score_page("something else", "") == 0
    assert topic.score_page("vacuum " + "other words " * 9000) < topic.score_page("vacuum")


def test_link_text_counts_more_than_context() -> None:
    topic = build_topic_from_query("vacuum table")
    own, near, none = (
        topic.score_link("Vacuum", ""),
        topic.score_link("more", "on vacuum"),
        topic.score_link("more", "here"),
    )
    assert own > near > none == 0


@given(st.text(max_size=200), st.text(max_size=40))
def test_relevance_is_between_0_and_1(text: str, title: str) -> None:
    value = Topic({"a": 0.5, "word": 0.5}).score_page(text, title)
    assert 0 <= value <= 1
    assert unpack_relevance(pack_relevance(value)) == pytest.approx(value, abs=1e-4)


def test_word_on_all_pages_loses_weight() -> None:
    scorer = TopicScorer(build_topic_from_query("virtual table"))
    for _ in range(50):
        scorer.score_page("a table of things")
    assert scorer.topic.words["table"] < 0.25
    assert scorer.score_link("virtual", "") > scorer.score_link("table", "") + 0.4
    assert sum(scorer.topic.words.values()) == pytest.approx(1)


def test_page_with_all_words_beats_repeated_single_word() -> None:
    topic = build_topic_from_query("hash bucket")
    both, single = topic.score_page("hash bucket " * 2), topic.score_page("hash " * 8)
    assert both > 1.5 * single
