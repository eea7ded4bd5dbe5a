"""User rules for change detection: CSS selectors and text patterns to ignore or to watch."""

import re
from functools import cached_property
from re import Pattern

import turbohtml
from msgspec import Struct, msgpack
from xxhash import xxh3_64_intdigest

from sanderling.errors import UsageError


class UserRules(Struct, frozen=True, dict=True):
    """CSS selectors and regular expressions. If anything is watched, all other text is boilerplate."""

    ignore: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    watch_text: tuple[str, ...] = ()

    @cached_property
    def rules_hash(self) -> int:
        """Hash of the rules (0: no rules); fingerprints with different hashes are not comparable."""
        return xxh3_64_intdigest(msgpack.encode(self)) if self != NO_USER_RULES else 0

    @cached_property
    def ignore_pattern(self) -> Pattern[str] | None:
        return re.compile("|".join(f"(?:{part})" for part in self.ignore_text)) if self.ignore_text else None

    @cached_property
    def watch_pattern(self) -> Pattern[str] | None:
        return re.compile("|".join(f"(?:{part})" for part in self.watch_text)) if self.watch_text else None

    @property
    def is_watch_only(self) -> bool:
        return bool(self.watch or self.watch_text)


NO_USER_RULES = UserRules()


def validate_user_rules(user_rules: UserRules) -> UserRules:
    """Return the rules. Raises UsageError for an invalid selector or regular expression."""
    empty_page = turbohtml.parse("")
    for selector in (*user_rules.ignore, *user_rules.watch):
        try:
            empty_page.select(selector)
        except ValueError as error:
            raise UsageError(f"{selector!r} is not a valid CSS selector: {error}") from None
    for pattern in (*user_rules.ignore_text, *user_rules.watch_text):
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"{pattern!r} is not a valid regular expression: {error}") from None
    return user_rules
