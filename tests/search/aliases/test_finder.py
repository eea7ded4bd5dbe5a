"""Aliases in running text."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import UsageError
from sanderling.search.aliases.cues import CUES, build_scanner, parse_pattern
from sanderling.search.aliases.finder import find_aliases
from sanderling.search.aliases.mentions import NameMatcher, find_mentions, fold_name


def find_pairs(text: str, *names: str, patterns: tuple[str, ...] = ()) -> set[tuple[str, str]]:
    matcher = NameMatcher(names, [parse_pattern(pattern) for pattern in patterns] or CUES)
    return {(mention.name, mention.alias) for mention in find_mentions("s", text, matcher)}


@pytest.mark.parametrize(
    ("text", "name", "alias"),
    [
        # the five patterns of the paper
        ("Edson Arantes better known as Pelé, scored.", "Edson Arantes", "Pelé"),
        ("Edson Arantes also known as Pelé scored.", "Edson Arantes", "Pelé"),
        ("CR7 aka Cristiano Ronaldo scored.", "Cristiano Ronaldo", "CR7"),
        ("Cristiano Ronaldo aka CR7 scored.", "Cristiano Ronaldo", "CR7"),
        ("Sachin Tendulkar popularly known as Master Blaster retired.", "Sachin Tendulkar", "Master Blaster"),
        # filler words, parentheses and appositions between
        ("Cristiano Ronaldo (born 1985), who is better known as CR7, scored.", "Cristiano Ronaldo", "CR7"),
        ("Marie Skłodowska, a physicist, also known as Marie Curie.", "Marie Skłodowska", "Marie Curie"),
        ("Bombay (now known as Mumbai) is a city.", "Bombay", "Mumbai"),
        ("Mumbai, formerly Bombay, is a city.", "Mumbai", "Bombay"),
        ("Mumbai (formerly known as Bombay)", "Mumbai", "Bombay"),
        ("Aspirin, also known as acetylsalicylic acid, is a drug.", "aspirin", "acetylsalicylic acid"),
        ("Paracetamol, sold under the brand name Tylenol among others", "paracetamol", "Tylenol"),
        ("A.K.A. at the start. Snoop, A.K.A. Calvin Broadus", "Snoop", "Calvin Broadus"),
        ('George Ruth, nicknamed "the Babe", played.', "George Ruth", "the Babe"),
        ("The Big Apple, also called “New York City”, sleeps.", "Big Apple", "New York City"),
        # the name follows the cue
        ("Calvin Broadus, better known as Snoop Dogg, raps.", "Snoop Dogg", "Calvin Broadus"),
        ("the insertion point, also known as the caret", "caret", "insertion point"),
        # code
        ("ISO_A4\nAn alias for ISO_A4_WHITE.", "ISO_A4", "ISO_A4_WHITE"),
        ("SOME is a synonym for ANY.", "ANY", "SOME"),
        ("is_safe_url() is renamed to url_has_allowed_host().", "is_safe_url()", "url_has_allowed_host()"),
        ("GEOS stands for Geometry Engine - Open Source,", "GEOS", "Geometry Engine - Open Source"),
        ("mercurial (a.k.a. “hg”), or", "mercurial", "hg"),
    ],
)
def test_alias_is_found(text: str, name: str, alias: str) -> None:
    assert (name, alias) in find_pairs(text, name)


@pytest.mark.parametrize(
    "text",
    [
        "Ronaldo scored. Also known as the league, it is old.",
        "Ronaldo was formerly passed as a blob",
        "Ronaldo knows a takaful. unknown assets",
        "Ronaldo aka",
        "also known as",
        "Ronaldo, better known as , and",
    ],
)
def test_text_without_alias_gives_none(text: str) -> None:
    assert find_pairs(text, "Ronaldo") == set()


def test_several_aliases_in_one_sentence() -> None:
    text = 'The parameters, also called "host parameter names" or "SQL parameters", bind.'
    assert find_pairs(text, "parameters") == {("parameters", "host parameter names"), ("parameters", "SQL parameters")}


def test_many_names_are_ranked_with_counts_and_sources() -> None:
    texts = [
        ("a", "Pelé aka The King. Mumbai, formerly Bombay, grows."),
        ("b", "Pelé, also known as the King, and Pelé aka O Rei."),
        ("c", "pelé aka O Rei aka O Rei"),
    ]
    answer = find_aliases(texts, ["Pelé", "Mumbai", "Unknown"])
    assert [(alias.alias, alias.count, alias.source_count) for alias in answer["Pelé"]] == [
        ("King", 2, 2),
        ("O Rei", 2, 2),
    ]
    assert answer["Pelé"][0].sources == ("a", "b")
    assert answer["Pelé"][0].sentences[0] == "Pelé aka The King."
    assert answer["Mumbai"][0].cues == ("formerly",)
    assert answer["Unknown"] == []


def test_parallel_search_gives_the_same_result() -> None:
    texts = [(str(n), f"Name{n % 7} aka Alias{n % 5}. " + "filler " * 3000) for n in range(400)]
    names = [f"Name{n}" for n in range(7)]
    alone, together = find_aliases(texts, names), find_aliases(texts, names, workers=2)
    assert {n: [(a.alias, a.count, a.source_count) for a in found] for n, found in together.items()} == {
        n: [(a.alias, a.count, a.source_count) for a in found] for n, found in alone.items()
    }


@pytest.mark.parametrize("name", ["C++", "(.*)+$", "a|b", "[x]", "\\d", "what?", "x" * 5000, "ß", "ﬁ", "%s{0}"])
def test_name_with_metacharacters_is_literal(name: str) -> None:
    assert find_pairs(f"We say {name} aka Other Thing here", name) in ({(name, "Other Thing")}, set())
    assert find_pairs("plain text aka Other Thing", name) == set()


def test_names_with_symbols_are_found() -> None:
    assert find_pairs("We write C++ aka CPlusPlus here", "C++") == {("C++", "CPlusPlus")}
    assert find_pairs("see a|b aka Other", "a|b") == {("a|b", "Other")}


def test_user_patterns() -> None:
    text = "Pelé, the artist also called The King. Bombay hoy Mumbai."
    assert find_pairs(text, "Pelé", patterns=("[name] aka *",)) == set()
    assert find_pairs("Bombay hoy Mumbai.", "Bombay", patterns=("[name] hoy *",)) == {("Bombay", "Mumbai")}
    assert find_pairs("Bombay hoy Mumbai.", "Mumbai", patterns=("[name] hoy *",)) == set()
    assert find_pairs("Bombay hoy Mumbai.", "Mumbai", patterns=("* hoy [NAME]",)) == {("Mumbai", "Bombay")}
    assert find_pairs("Bombay (.+)+ Mumbai.", "Bombay", patterns=("[name] (.+)+ *",)) == {("Bombay", "Mumbai")}


@pytest.mark.parametrize(
    "pattern",
    ["", "aka", "[name] *", "* aka *", "[name] aka [name]", "[name] , *", "*" * 50, "[name] " + "x" * 99 + " *"],
)
def test_invalid_pattern_is_rejected(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"is not a pattern: write words between \[name\] and \*"):
        parse_pattern(pattern)


def test_regex_scanner_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"He is also KNOWN AS x, a.k.a. y, AKA z, formerly called w; formerly v"
    fast = list(build_scanner(CUES)(data))
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    assert list(build_scanner(CUES)(data)) == fast
    assert len(fast) == 5


@given(st.text(max_size=300))
def test_any_text_can_be_searched(text: str) -> None:
    for mention in find_mentions("s", f"x aka {text} also known as x formerly {text}", NameMatcher(["x", "a b"])):
        assert mention.alias
        assert fold_name(mention.alias) != fold_name(mention.name)
