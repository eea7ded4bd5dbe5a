"""What a user wants looked at: parts and patterns to ignore, and parts and patterns to watch alone."""

import re
from functools import cached_property
from re import Pattern

import turbohtml
from msgspec import Struct, msgpack
from xxhash import xxh3_64_intdigest

from sanderling.errors import UsageError


class UserRules(Struct, frozen=True, dict=True):
    """CSS selectors and regular expressions; watching anything makes all the rest furniture."""

    ignore: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    watch_text: tuple[str, ...] = ()

    @cached_property
    def rules_hash(self) -> int:
        """Tell one attention from another: marks made under two of them cannot be compared."""
        return xxh3_64_intdigest(msgpack.encode(self)) if self != NO_USER_RULES else 0

    @cached_property
    def ignore_pattern(self) -> Pattern[str] | None:
        """One expression for all ignored text; None for none."""
        return re.compile("|".join(f"(?:{part})" for part in self.ignore_text)) if self.ignore_text else None

    @cached_property
    def watch_pattern(self) -> Pattern[str] | None:
        """One expression for all watched text; None for none."""
        return re.compile("|".join(f"(?:{part})" for part in self.watch_text)) if self.watch_text else None

    @property
    def is_watch_only(self) -> bool:
        """Say whether only watched parts count."""
        return bool(self.watch or self.watch_text)


NO_USER_RULES = UserRules()


def validate_user_rules(user_rules: UserRules) -> UserRules:
    """Refuse a selector or an expression that cannot be, and say which."""
    blank = turbohtml.parse("")
    for selector in (*user_rules.ignore, *user_rules.watch):
        try:
            blank.select(selector)
        except ValueError as error:
            raise UsageError(f"{selector!r} is no CSS selector: {error}") from None
    for pattern in (*user_rules.ignore_text, *user_rules.watch_text):
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"{pattern!r} is no regular expression: {error}") from None
    return user_rules
