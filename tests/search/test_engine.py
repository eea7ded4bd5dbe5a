"""The search engine on a real index."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.documents import DAY, NOW, page

from sanderling.search.engine import BehaviorModel, SearchEngine
from sanderling.search.fields import compute_page_id
from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.search_types import SearchHit, SearchRequest, SearchResults


def search(index: SearchIndex, text: str, **options: int | bool) -> SearchResults:
    return SearchEngine(index).search(SearchRequest(text, now=NOW, **options))  # type: ignore[arg-type]


def names(results: SearchResults) -> list[str]:
    return [hit.url.rsplit("/", 1)[1] for hit in results.hits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dunlin", {"dunlin"}),
        ("sanderlings", {"sanderling", "today"}),
        ('"tide line"', {"sanderling"}),
        ('"line tide"', set()),
        ("sanderling -today", {"sanderling"}),
        ("sanderling site:news.example.org", {"today"}),
        ("sanderling site:example.org", {"sanderling", "today"}),
        ("sanderling -site:news.example.org", {"sanderling"}),
        ("site:https://birds.example.org/dun", {"dunlin"}),
        ("tide type:pdf", {"tide.pdf"}),
        ("tide type:application/pdf", {"tide.pdf"}),
        ("tide -type:pdf", {"sanderling"}),
        ("intitle:tide", {"tide.pdf"}),
        ("inurl:dunlin", {"dunlin"}),
        ("c++", {"cpp"}),
        ("foo_bar", {"cpp"}),
        ("haus", {"vogel"}),
        ("Vogel lang:de", {"vogel"}),
        ("東京", {"tokyo"}),
        ("changed:7d", {"today"}),
        ("sanderling changed:7d", {"today"}),
        ("dunlin OR vogel", {"dunlin", "vogel"}),
        ("the", {"sanderling", "dunlin"}),
        ("zzzzqqqq", set()),
        ("", set()),
        ("((( ***", set()),
    ],
)
def test_query_finds_the_expected_pages(index: SearchIndex, text: str, expected: set[str]) -> None:
    assert set(names(search(index, text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("site:docs.example.org/de-DE/", {"start"}),
        ("site:https://Docs.Example.org/de-DE/sta", {"start"}),
        ("site:docs.example.org/de-de/", set()),
        ("-site:docs.example.org/de-DE/ tide", {"rest"}),
        ("site:docs.example.org/größe/", {"rest"}),
        ("site:docs.example.org/gr%c3%b6%C3%9Fe", {"rest"}),
        ("site:bücher.example", {"shelf"}),
        ("site:Bücher.example/A/", {"shelf"}),
    ],
)
def test_site_filter_normalizes_paths_like_urls(tmp_path: Path, text: str, expected: set[str]) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    index.replace([
        page("https://docs.example.org/de-DE/start", body="tide"),
        page("https://docs.example.org/gr%C3%B6%C3%9Fe/rest", body="tide"),
        page("https://xn--bcher-kva.example/A/shelf", body="books"),
    ])  # fmt: skip
    index.commit(1)
    assert set(names(search(index, text))) == expected
    index.close()


CHINESE = {
    "both": "管理 用户 的 账号 。",
    "exact": "用户账号的设置",
    "other": "天气预报：今天下雨。",
    "phone": "新的iPhone手机在这里。",
    "birds": "这里有鸟。",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("用户账号", ["exact", "both"]),
        ("用户 账号", ["both", "exact"]),
        ('"用户账号"', ["exact"]),
        ("-用户账号 iphone", ["phone"]),
        ("鸟", ["birds"]),
        ("雨", ["other"]),
        ("天", ["other"]),
        ("iphone", ["phone"]),
        ("iPhone手机", ["phone"]),
        ("猫", []),
    ],
)
def test_unspaced_text_matches_whole_partial_and_single_character(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    index.replace(page(f"https://zh.example/{name}", body=body, language="zh") for name, body in CHINESE.items())
    index.commit(1)
    found = search(index, text, explain=True)
    assert (found.hits[0].url.rsplit("/", 1)[1] if found.hits else "") == (expected[0] if expected else "")
    assert set(names(found)) == set(expected)
    index.close()


def test_typo_is_corrected_and_reported(index: SearchIndex) -> None:
    found = search(index, "sandrling")
    assert found.corrected_query == "sanderling"
    assert "sanderling" in names(found)


def test_correction_is_similar_and_occurs_with_the_other_terms(tmp_path: Path) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    index.replace(page(f"https://a.test/secure{i}", body="security of a query " * 5) for i in range(30))
    index.replace([
        page("https://a.test/recursive", body="A recursive query refers to itself."),
        page("https://a.test/tide", body="The tide table of the harbour."),
        *(page(f"https://a.test/cable{i}", body="cable cable cable") for i in range(30)),
    ])  # fmt: skip
    index.commit(1)
    assert search(index, "recusive query").corrected_query == "recursive query"
    assert search(index, "recursivw query").corrected_query == "recursive query"
    assert search(index, "tide tabke").corrected_query == "tide table"
    assert search(index, "recusive harbour").corrected_query == ""
    index.close()


def test_query_is_relaxed_if_few_pages_have_all_terms(index: SearchIndex) -> None:
    found = search(index, "sanderling dunlin")
    assert found.is_relaxed
    assert set(names(found)) == {"sanderling", "dunlin", "today"}


def test_facets_count_all_matches(index: SearchIndex) -> None:
    facets = search(index, "sanderling OR dunlin OR tide", limit=1).facets
    assert {(c.value, c.count) for c in facets["site"]} == {
        ("birds.example.org", 2), ("news.example.org", 1), ("code.example.net", 1)
    }  # fmt: skip
    assert {(c.value, c.count) for c in facets["type"]} == {("html", 3), ("pdf", 1)}
    assert {(c.value, c.count) for c in facets["changed"]} == {("day", 1), ("week", 1), ("month", 1), ("year", 1)}


def test_result_pages_do_not_overlap(index: SearchIndex) -> None:
    index.replace(page(f"https://many.example/{i}", f"Gull {i}", "gull " * (i % 5 + 1)) for i in range(250))
    index.commit(2)
    seen = [url for offset in range(0, 250, 25) for url in names(search(index, "gull", offset=offset, limit=25))]
    assert len(seen) == len(set(seen)) == 250


def test_field_scores_add_up_to_the_text_score(index: SearchIndex) -> None:
    hit: SearchHit = search(index, "sanderling lang:en", explain=True).hits[0]
    assert {field for _, field, _ in hit.score_parts.field_scores} == {"title", "body", "address"}
    assert sum(value for *_, value in hit.score_parts.field_scores) == pytest.approx(hit.score_parts.text, rel=1e-3)
    parts = hit.score_parts
    assert parts.score == pytest.approx(parts.text * parts.link * parts.freshness * parts.behavior)


def test_behavior_weights_reorder_results(index: SearchIndex) -> None:
    plain = names(search(index, "sanderling"))
    last_id = compute_page_id("https://news.example.org/today")
    engine = SearchEngine(index, lambda _: lambda page: 1.0 if page == last_id else -1.0)
    hits = engine.search(SearchRequest("sanderling", now=NOW)).hits
    assert (plain[0], hits[0].url) == ("sanderling", "https://news.example.org/today")
    assert [hit.score_parts.behavior for hit in hits] == [2.0, 0.5]


def test_past_versions_are_searchable(index: SearchIndex) -> None:
    url = "https://birds.example.org/dunlin"
    index.replace([page(url, "Dunlin", "Now about penguins.", changed_at=NOW - DAY)])
    index.commit(2)
    assert search(index, "wader").total == 0
    assert names(search(index, "wader asof:30d")) == ["dunlin"]
    assert names(search(index, "wader asof:30d site:birds.example.org/dun")) == ["dunlin"]
    assert search(index, "penguins asof:30d").total == 0
    assert names(search(index, "penguins")) == ["dunlin"]
    index.mark_gone([url], at=NOW)
    index.commit(3)
    assert search(index, "penguins").total == 0
    assert names(search(index, "penguins asof:12h")) == ["dunlin"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(
        st.sampled_from(["site:", "-", '"', "OR", "type:", "lang:", "changed:", "asof:", "inurl:", " ", "tide"])
        | st.text(max_size=12),
        max_size=12,
    ).map("".join)
)
def test_any_query_can_be_run(index: SearchIndex, text: str) -> None:
    assert search(index, text, explain=True).total >= 0


def test_long_query_gets_related_terms(index: SearchIndex) -> None:
    index.replace(page(f"https://more.example/{i}", "Filler", f"filler number {i}") for i in range(60))
    birds = "plover waders feed on intertidal mudflats in winter"
    index.replace(page(f"https://mud.example/{i}", "Plover", birds) for i in range(5))
    index.commit(2)
    short = search(index, "plover waders", explain=True)
    assert not [field for hit in short.hits for _, field, _ in hit.score_parts.field_scores if field == "related"]
    long = search(index, "where do plover waders usually feed outdoors", explain=True)
    words = {word for hit in long.hits for word, field, _ in hit.score_parts.field_scores if field == "related"}
    assert "mudflat" in words
    assert long.total == search(index, "plover OR waders OR usually OR feed OR outdoors").total


def test_skipped_page_contributes_no_related_terms(tmp_path: Path) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    query = "which birds run along water"
    index.replace([
        page("https://a.test/liked", body="birds run along water with whimbrels " + "whimbrels " * 5),
        page("https://a.test/passed", body="birds run along water with marathons " + "marathons " * 5),
        page("https://a.test/third", body="birds that run with whimbrels"),
        page("https://a.test/fourth", body="birds that run with marathons"),
        *(page(f"https://a.test/other{number}", body=f"something else {number}") for number in range(40)),
    ])  # fmt: skip
    index.commit(1)
    skipped_id = compute_page_id(page("https://a.test/passed").url)

    def order(behavior: BehaviorModel) -> list[str]:
        result_names = names(SearchEngine(index, behavior).search(SearchRequest(query, now=NOW)))
        return [name for name in result_names if name in ("third", "fourth")]

    assert order(lambda _: lambda page: -1.0 if page == skipped_id else 0.0) == ["third", "fourth"]
    liked_id = compute_page_id(page("https://a.test/liked").url)
    assert order(lambda _: lambda page: -1.0 if page == liked_id else 0.0) == ["fourth", "third"]
    index.close()
