"""URL filters of plugins. A filter that fails rejects the URL: what it did not allow is not requested."""

from collections.abc import Sequence

from sanderling.errors import UsageError
from sanderling.plugins.plugin_registry import PluginGroup, load_plugins
from sanderling.plugins.protocols import UrlRule

MAX_DETAIL_LENGTH = 200
NamedRule = tuple[str, UrlRule]


def load_url_rules(names: Sequence[str]) -> tuple[NamedRule, ...]:
    """Load URL filters by name. Raises UsageError."""
    if len(set(names)) < len(names):
        raise UsageError(f"--filter names a filter twice: {', '.join(names)}")
    return tuple(load_plugins(PluginGroup.URL_FILTERS, tuple(names)))


def find_rule_rejection(rules: Sequence[NamedRule], url: str, depth: int) -> str:
    """Return the filter that rejects a URL and its reason, or an empty string."""
    for name, rule in rules:
        try:
            reason = rule(url, depth)
        except Exception as error:  # noqa: BLE001 code of strangers must not end the crawl
            reason = f"failed with {type(error).__name__}: {error}"
        if reason:
            text = " ".join(str(reason).split())
            return f"{name}: {text}"[:MAX_DETAIL_LENGTH]
    return ""
