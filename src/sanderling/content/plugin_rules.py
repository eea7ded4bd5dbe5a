"""Content rules of plugins: they remove text whose changes do not matter. Installed rules apply to every page.

They are part of the stored version of fingerprints, as the words of rules are: after a rule was installed, updated, or
removed, fingerprints are built again before they are compared.
"""

import logging
from functools import cache, lru_cache
from zlib import crc32

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.plugins.plugin_registry import PluginGroup, describe_plugin, list_plugin_names, load_plugin
from sanderling.plugins.protocols import ContentRule

MAX_RULE_LINE_LENGTH = 1_000  # characters; longer lines are prose
MAX_CACHED_LINES = 8_192  # a site repeats many lines on every page
_log = logging.getLogger(__name__)


class NamedRule(Struct, frozen=True):
    """A content rule, and its name and version."""

    apply: ContentRule
    description: str


@cache
def load_content_rules() -> tuple[NamedRule, ...]:
    """Load the content rules of all installed plugins, by name. One that cannot be loaded is reported and left out."""
    rules = []
    for name in list_plugin_names(PluginGroup.CONTENT_RULES):
        try:
            rules.append(
                NamedRule(
                    load_plugin(PluginGroup.CONTENT_RULES, name), describe_plugin(PluginGroup.CONTENT_RULES, name)
                )
            )
        except UsageError as error:
            _log.warning("a content rule is not applied: %s", error)
    return tuple(rules)


def compute_rules_checksum() -> int:
    """Return a 16-bit checksum of the names and versions of all rules; 0 without rules."""
    rules = load_content_rules()
    return crc32("\n".join(rule.description for rule in rules).encode()) & 0xFFFF if rules else 0


def apply_content_rules(lines: list[str]) -> list[str]:
    """Return lines without the text that rules remove. The number of lines stays the same."""
    return [_strip_line(line) if 0 < len(line) <= MAX_RULE_LINE_LENGTH else line for line in lines]


@lru_cache(maxsize=MAX_CACHED_LINES)
def _strip_line(line: str) -> str:
    for rule in load_content_rules():
        try:
            line = " ".join(rule.apply(line).split())
        except Exception as error:  # noqa: BLE001 code of strangers: a change that it does not remove is reported
            _report_error(rule.description, f"{type(error).__name__}: {error}"[:200])
    return line


@lru_cache
def _report_error(rule: str, error: str) -> None:
    """Warn once of each error."""
    _log.warning("%s failed and changed nothing: %s", rule, error)


def clear_caches() -> None:
    """Load the rules again at the next use."""
    load_content_rules.cache_clear()
    _strip_line.cache_clear()
    _report_error.cache_clear()
