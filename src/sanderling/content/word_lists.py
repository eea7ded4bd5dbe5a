"""Word lists of the rules for boilerplate and volatile text: one file per language in `data/`.

A file is read by native speakers, so it has words, not patterns, except for soft errors. The files are read once, on
first use: a first crawl needs few of them, and the command line none.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

DATA = Path(__file__).parent / "data"
_WORD = re.compile(r"[^\W\d_]+")
_GROUP = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")


@cache
def load_language(language: str) -> Mapping[str, Mapping[str, Any]]:
    """Read the word lists of a language, by table and group."""
    return tomllib.loads((DATA / f"{language}.toml").read_text("utf-8"))


@cache
def list_languages() -> tuple[str, ...]:
    """Return the languages with a file; English comes first, then the others by code."""
    names = sorted(file.stem for file in DATA.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != "en"))


@cache
def load_checksum() -> int:
    """Return the checksum of all words. Fingerprints that were made with other words are not compared."""
    return compute_checksum((DATA / f"{language}.toml").read_bytes() for language in sorted(list_languages()))


def compute_checksum(files: Iterable[bytes]) -> int:
    """Return a 16-bit checksum of language files without their examples."""
    return crc32(b"".join(file.partition(b"[examples")[0].strip() for file in files)) & 0xFFFF


def split_words(words: str | list[str]) -> list[str]:
    """Return the entries of a group: an array, or a text with one entry per line."""
    return words.split("\n")[:-1] if isinstance(words, str) else words


@cache
def load_words(*groups: str) -> tuple[str, ...]:
    """Return the words of groups such as `volatile.months` in all languages, without duplicates."""
    words: dict[str, None] = {}
    for group in groups:
        table, _, name = group.partition(".")
        for language in list_languages():
            words.update(dict.fromkeys(split_words(load_language(language).get(table, {}).get(name, []))))
    return tuple(words)


def load_patterns(group: str) -> dict[str, str]:
    """Return the patterns of a group such as `soft_404.login` by the text that each of them requires."""
    table, _, name = group.partition(".")
    return {
        hint: pattern
        for language in list_languages()
        for hint, pattern in load_language(language).get(table, {}).get(name, {}).items()
    }


def join_words(*groups: str) -> str:
    """Return a pattern that matches any word of the groups, longest first.

    In a word, `*` stands for any letters, and `+` for at least one.
    """
    words = sorted(load_words(*groups), key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, words)).replace(r"\*", r"\w*").replace(r"\+", r"\w+")


@cache
def compile_words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on first use, with the words of all languages in place of `{table.group}`. Ignores case."""
    return re.compile(_fill_groups(pattern), re.IGNORECASE)


@cache
def compile_lowercase(pattern: str) -> re.Pattern[str]:
    """Compile a pattern like `compile_words`, for lowercase text."""
    return re.compile(_fill_groups(pattern))


def _fill_groups(pattern: str) -> str:
    return _GROUP.sub(lambda match: join_words(match[1]), pattern)


def keep_groups(match: re.Match[str]) -> str:
    """Replace a match by its groups: the words around the volatile value."""
    return "".join(filter(None, match.groups()))


def find_longest_word(phrase: str) -> str:
    """Return the longest word of a phrase: a line without it does not have the phrase."""
    return max(_WORD.findall(phrase.lower()), key=len, default="")


@cache
def load_trigger_words(*groups: str) -> frozenset[str]:
    """Return the longest word of each phrase: looking up words is much cheaper than matching a pattern."""
    return frozenset(map(find_longest_word, load_words(*groups)))
