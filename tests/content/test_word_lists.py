"""Tests of the word lists in the language files."""

import tomllib

import pytest

from sanderling.content.phrases import PHRASE_KINDS, classify_phrase
from sanderling.content.rules.inline import BOILERPLATE_RULES
from sanderling.content.volatile.counters import is_counter_label
from sanderling.content.volatile.strip import VOLATILE_RULES, strip_volatile_text
from sanderling.content.word_lists import DATA, compute_checksum, list_languages, load_language, load_words, split_words

RULE_NAMES = {*(rule.name for rule in VOLATILE_RULES), *(rule.name for rule in BOILERPLATE_RULES)}
TEMPLATES = {
    "ago_suffix_line": "{0} xyz {1}",
    "ago_suffix": "{0} xyz {1}",
    "ago_unit_line": "{0} {1}",
    "ago_prefix_line": "{1} {0} xyz",
    "counter_noun": "{0} {1}",
    "label_noun": "{1}: {0}",
    "months": "Updated: {0} {1} 2026",
    "weekdays": "{1}, {0} May",
    "updated": "{1}: {0} May 2026",
    "generated": "{1} {0} May 2026",
    "published": "{1} 1{0}:31",
}
"""A line with a word of the group, which is stripped of it with the number before or after it."""
AMBIGUOUS = frozenset(
    ("star", "stars", "share", "shares", "vote", "votes", "rating", "ratings", "hit", "hits", "plays")
)


@pytest.mark.parametrize("language", list_languages())
def test_file_of_a_language_can_be_read(language: str) -> None:
    text = (DATA / f"{language}.toml").read_text("utf-8")
    assert text.startswith("# ")
    assert set(tomllib.loads(text)) <= {"boilerplate", "volatile", "content", "soft_404", "examples"}
    assert set(load_language(language).get("examples", {})) <= RULE_NAMES
    assert "[examples" not in text or text.index("[examples") > max(text.rfind("[volatile]"), text.rfind("[content]"))
    for table in ("boilerplate", "volatile", "content"):
        for group in load_language(language).get(table, {}).values():
            words = split_words(group)
            assert all(word.strip() and len(word) < 100 for word in words)
            assert len(words) == len(set(words))


@pytest.mark.parametrize("kind", PHRASE_KINDS)
def test_each_phrase_is_classified(kind: str) -> None:
    for phrase in load_words(f"boilerplate.{kind}"):
        found = classify_phrase(phrase)
        assert found in PHRASE_KINDS[: PHRASE_KINDS.index(kind) + 1], phrase


@pytest.mark.parametrize("group", TEMPLATES)
def test_each_word_is_recognized_in_a_line(group: str) -> None:
    """A word that is added to a language file is tested without another line."""
    for word in load_words(f"volatile.{group}"):
        old, new = (TEMPLATES[group].format(number, word) for number in (3, 4))
        assert strip_volatile_text(old) == strip_volatile_text(new) != old, old


def test_each_counter_label_is_recognized() -> None:
    assert all(map(is_counter_label, set(load_words("volatile.counter_noun")) - AMBIGUOUS))


def test_checksum_depends_on_words_only() -> None:
    words, examples = b"# X\n[volatile]\nago_suffix_line = ['a']\n", b"[examples.relative_time]\nkept = ['b']\n"
    assert compute_checksum([words]) == compute_checksum([words + examples])
    assert compute_checksum([words]) != compute_checksum([words.replace(b"'a'", b"'c'")])


def test_rule_names_are_unique() -> None:
    assert len(RULE_NAMES) == len(VOLATILE_RULES) + len(BOILERPLATE_RULES)
