"""Compare stored versions of a page."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from rich.text import Text

from sanderling.changes.change_store import load_changes
from sanderling.changes.render import render_html, render_lines, render_markdown_diff
from sanderling.changes.versions import ArchivedVersion, list_versions, read_version
from sanderling.changes.word_report import DiffReport, build_diff_report
from sanderling.config.settings import ComparisonSettings
from sanderling.config.time_format import format_short, parse_time_inclusive
from sanderling.content.user_rules import UserRules, validate_user_rules
from sanderling.errors import UsageError
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import resolve_known_url


class VersionComparison(Struct, frozen=True):
    """The differences between two versions. `has_watched_part`: False if no rule of what to watch matched."""

    url: str
    old: ArchivedVersion
    new: ArchivedVersion
    report: DiffReport
    has_watched_part: bool = True

    def render_html(self) -> str:
        """Return a page with both versions side by side."""
        return render_html(self.report, self.url, format_short(self.old.fetched_at), format_short(self.new.fetched_at))

    def render_markdown(self, *, include_boilerplate: bool = False) -> str:
        """Return the changed paragraphs as a Markdown list."""
        return render_markdown_diff(self.report, include_boilerplate=include_boilerplate)

    def render_lines(self, *, color: bool = False, include_boilerplate: bool = False) -> Iterator[Text]:
        """Yield the changed paragraphs as lines for a terminal."""
        return render_lines(self.report, color=color, include_boilerplate=include_boilerplate)


def build_user_rules(settings: ComparisonSettings) -> UserRules:
    """Build the rules of which parts to watch and to ignore. Raises UsageError."""
    ignored = settings.ignore, settings.ignore_text
    return validate_user_rules(UserRules(*ignored, settings.selector, settings.selector_text))


def list_page_versions(folder: Path, url: str) -> list[ArchivedVersion]:
    """Return every body of a known URL that differs from its predecessor, oldest first."""
    with open_collection_read_only(folder) as collection:
        return list_versions(collection, resolve_known_url(collection, url)[0])


def compare_page(folder: Path, url: str, versions: Sequence[str], settings: ComparisonSettings) -> VersionComparison:
    """Compare two versions, each a number or a time; without any the last two."""
    with open_collection_read_only(folder) as collection:
        id_, key = resolve_known_url(collection, url)
        found = list_versions(collection, id_)
        rules = build_user_rules(settings)
        old, new = _select_versions(versions, found, key, _describe_replaced_resources(collection, id_))
        before, after = (read_version(collection, one, rules) for one in (old, new))
    size = before.fingerprint.main_content_size + after.fingerprint.main_content_size
    return VersionComparison(key, old, new, build_diff_report(before, after), not rules.is_watch_only or bool(size))


def _describe_replaced_resources(collection: StoredCollection, url_id: int) -> str:
    """List resources of the page that were replaced under an unchanged URL."""
    swaps = {swap.url for one in load_changes(collection.db, url_id=url_id) for swap in one.change.resources}
    return f", only what it uses: {', '.join(sorted(swaps))}" if swaps else ""


def _select_versions(
    names: Sequence[str], stored_versions: list[ArchivedVersion], url: str, replaced_note: str
) -> tuple[ArchivedVersion, ArchivedVersion]:
    if not stored_versions:
        raise UsageError(f"no version of {url} is stored; see sanderling explain")
    if len(stored_versions) < 2:
        raise UsageError(
            f"there is only one version of {url}; it did not change since it was first seen{replaced_note}"
        )
    if not names:
        return stored_versions[-2], stored_versions[-1]
    if len(names) != 2:
        raise UsageError("give two versions, or none for the last two; --versions lists them")
    return _find_version(names[0], stored_versions), _find_version(names[1], stored_versions)


def _find_version(name: str, stored_versions: list[ArchivedVersion]) -> ArchivedVersion:
    if name.isdecimal():
        if not 1 <= int(name) <= len(stored_versions):
            raise UsageError(f"there is no version {name}; there are 1 to {len(stored_versions)}")
        return stored_versions[int(name) - 1]
    at = parse_time_inclusive(name, time.time())
    before = [one for one in stored_versions if one.fetched_at <= at]
    if not before:
        raise UsageError(f"no version before {name}; the first is from {format_short(stored_versions[0].fetched_at)}")
    return before[-1]
