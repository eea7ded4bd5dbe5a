"""Query expansion by aliases."""

from pathlib import Path

from sanderling.search.engine import SearchEngine
from sanderling.search.index import open_search_index
from sanderling.search.query import parse_query
from sanderling.search.query_expansion import AliasExpander, expand_aliases, load_aliases, save_aliases
from sanderling.search.search_types import Document, SearchRequest

NAMES = {"new york city": ["Big Apple"], "mumbai": ["Bombay"]}


def expand(query: str) -> list[list[str]]:
    return [[term.text for term in group] for group in expand_aliases(parse_query(query, 0.0), NAMES).term_groups]


def test_words_of_a_name_get_its_aliases_as_alternatives() -> None:
    assert expand("Mumbai trains") == [["Mumbai", "Bombay"], ["trains"]]
    assert expand("new york city hotels")[0][-1] == "Big Apple"
    assert expand('"new york city"')[0][-1] == "Big Apple"
    assert expand("new york") == [["new"], ["york"]]
    assert expand("mumbai OR pune") == [["mumbai", "pune"]]


def test_aliases_are_saved_and_removed(tmp_path: Path) -> None:
    assert load_aliases(tmp_path) == {}
    save_aliases(tmp_path, {"Mumbai": ["Bombay"], "Pune": ["Poona"]})
    save_aliases(tmp_path, {"Pune": []})
    assert load_aliases(tmp_path) == {"mumbai": ["Bombay"]}
    (tmp_path / "aliases.json").write_text("[")
    assert load_aliases(tmp_path) == {}


def test_page_is_found_by_an_alias_after_it_is_saved(tmp_path: Path) -> None:
    index = open_search_index(tmp_path, write=True)
    assert index is not None
    index.replace([Document("http://a/", title="Trains", body="The trains of Bombay are full")])
    index.commit(1)
    engine = SearchEngine(index, expand_query=AliasExpander(tmp_path))
    assert engine.search(SearchRequest("mumbai", now=2.0)).total == 0
    save_aliases(tmp_path, NAMES)
    assert engine.search(SearchRequest("mumbai", now=2.0)).total == 1
    index.close()
