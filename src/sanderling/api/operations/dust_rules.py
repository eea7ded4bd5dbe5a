"""Rules for URL variants that return the same page (DUST): learn, use, add, delete."""

from collections.abc import Sequence
from pathlib import Path

from sanderling.db.connection import transaction
from sanderling.errors import UsageError
from sanderling.storage.collection import StoredCollection, open_collection, open_collection_read_only
from sanderling.storage.reports import load_dust_samples
from sanderling.urls.dust import (
    RULE_FORMS,
    DustRule,
    DustRuleKind,
    get_site_name,
    learn_rules,
    load_rules,
    parse_rules,
    save_rules,
)
from sanderling.urls.normalize import normalize_url
from sanderling.urls.scope import is_wildcard_match

__all__ = [
    "RULE_FORMS",
    "DustRule",
    "DustRuleKind",
    "add_url_rules",
    "delete_url_rules",
    "load_url_rules",
    "use_url_rules",
]


def load_url_rules(folder: Path, site: str | None = None, *, used: bool = False) -> list[DustRule]:
    """Learn rules from the stored pages, or with `used` load those in use; of sites that match a pattern."""
    with open_collection_read_only(folder) as collection:
        found = load_rules(collection.db) if used else learn_rules(load_dust_samples(collection.db))
    return [rule for rule in found if site is None or _matches_site(site, rule.site)]


def use_url_rules(folder: Path, rules: Sequence[DustRule]) -> None:
    """Apply learned rules before fetching, in place of the learned rules of their sites."""
    with open_collection(folder) as collection:
        sites = {rule.site for rule in rules}
        remaining = [rule for rule in load_rules(collection.db) if rule.site not in sites or not rule.support_count]
        _save(collection, [*remaining, *rules])


def add_url_rules(folder: Path, site: str, forms: Sequence[str]) -> list[DustRule]:
    """Add rules for a site, such as `slash` and `parameter=sid`, without verification."""
    name = _parse_site(site)
    if not name:
        raise UsageError("--add needs --site with the name of one site, such as example.org")
    try:
        rules = [rule for text in forms for rule in parse_rules(name, text)]
    except ValueError as wrong:
        raise UsageError(f"--add: {wrong}") from None
    with open_collection(folder) as collection:
        known = {(rule.site, rule.kind, rule.name) for rule in rules}
        remaining = [rule for rule in load_rules(collection.db) if (rule.site, rule.kind, rule.name) not in known]
        _save(collection, [*remaining, *rules])
    return rules


def delete_url_rules(folder: Path, pattern: str) -> tuple[int, int]:
    """Delete the rules of matching sites. Returns the number of deleted rules, and of those left."""
    with open_collection(folder) as collection:
        rules = load_rules(collection.db)
        remaining = [rule for rule in rules if not _matches_site(pattern, rule.site)]
        _save(collection, remaining)
    return len(rules) - len(remaining), len(remaining)


def _save(collection: StoredCollection, rules: list[DustRule]) -> None:
    with transaction(collection.db):
        save_rules(collection.db, rules)


def _matches_site(pattern: str, site: str) -> bool:
    name = _parse_site(pattern) if "://" in pattern else pattern.lower()
    return is_wildcard_match(site, name or pattern)


def _parse_site(text: str) -> str:
    """Return the name of a site; empty if the text is a pattern or no URL."""
    url = normalize_url(text if "://" in text else f"http://{text}")
    is_pattern = "*" in text or ("?" in text and "://" not in text)
    return "" if url is None or is_pattern else get_site_name(url.url)
