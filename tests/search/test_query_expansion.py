"""Questions widened by other names."""

from pathlib import Path

from sanderling.search.engine import SearchEngine
from sanderling.search.index import open_search_index
from sanderling.search.query import parse_query
from sanderling.search.query_expansion import AliasExpander, expand_aliases, load_aliases, save_aliases
from sanderling.search.search_types import Document, SearchRequest

NAMES = {"new york city": ["Big Apple"], "mumbai": ["Bombay"]}


def texts(question: str) -> list[list[str]]:
    return [[term.text for term in group] for group in expand_aliases(parse_query(question, 0.0), NAMES).term_groups]


def test_each_word_of_a_name_may_be_answered_by_the_other_name() -> None:
    assert texts("Mumbai trains") == [["Mumbai", "Bombay"], ["trains"]]
    assert texts("new york city hotels")[0][-1] == "Big Apple"
    assert texts('"new york city"')[0][-1] == "Big Apple"
    assert texts("new york") == [["new"], ["york"]]
    assert texts("mumbai OR pune") == [["mumbai", "pune"]]


def test_names_are_kept_beside_the_index_and_can_be_taken_back(tmp_path: Path) -> None:
    assert load_aliases(tmp_path) == {}
    save_aliases(tmp_path, {"Mumbai": ["Bombay"], "Pune": ["Poona"]})
    save_aliases(tmp_path, {"Pune": []})
    assert load_aliases(tmp_path) == {"mumbai": ["Bombay"]}
    (tmp_path / "aliases.json").write_text("[")
    assert load_aliases(tmp_path) == {}


def test_a_page_is_found_by_its_other_name_once_it_is_switched_on(tmp_path: Path) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    index.replace([Document("http://a/", title="Trains", body="The trains of Bombay are full")])
    index.commit(1)
    finder = SearchEngine(index, expand_query=AliasExpander(tmp_path))
    assert finder.search(SearchRequest("mumbai", now=2.0)).total == 0
    save_aliases(tmp_path, NAMES)
    assert finder.search(SearchRequest("mumbai", now=2.0)).total == 1
    index.close()
