"""The record of a rule for boilerplate or volatile text. Its examples are its tests.

The rules are in `VOLATILE_RULES` (`volatile/strip.py`) and `BOILERPLATE_RULES` (`rules/inline.py`), their words in the
language files of `data/`, their examples there under `examples` and the name of the rule.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

from sanderling.content.word_lists import list_languages, load_language, split_words

Work = TypeVar("Work", bound=Callable[..., object])
IGNORED, REPORTED, KEPT = "ignored", "reported", "kept"


class Example(Struct, frozen=True):
    """Two versions of a line, whose difference is ignored or reported; or a line that is kept as it is."""

    kind: str  # IGNORED, REPORTED, or KEPT
    old: str
    new: str
    language: str


class Rule(Struct, Generic[Work], frozen=True):
    """A rule: its name, which its examples have too, and its function."""

    name: str
    apply: Work

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples of all languages. Only tests read them."""
        return tuple(
            Example(kind, old, new or old, language)
            for language in list_languages()
            for kind, lines in load_language(language).get("examples", {}).get(self.name, {}).items()
            for old, _, new in (line.partition(" => ") for line in split_words(lines))
        )
