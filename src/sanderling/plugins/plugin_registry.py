"""Find plugins by their entry points and load them. An error names the plugin and its package, and affects no other."""

from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sanderling.errors import SanderlingError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

MAX_ERROR_LENGTH = 300


class PluginGroup(StrEnum):
    """Groups of entry points."""

    URL_FILTERS = "sanderling.url_filters"  # a UrlRule
    EXTRACTORS = "sanderling.extractors"  # an Extractor
    SINKS = "sanderling.sinks"  # by scheme: SinkOptions -> Sink
    ORDERINGS = "sanderling.orderings"  # () -> Ordering
    REVISIT_POLICIES = "sanderling.revisit_policies"  # a RevisitPolicy
    NOTIFIERS = "sanderling.notifiers"  # by scheme: a Notifier
    DOCUMENT_READERS = "sanderling.document_readers"  # by media type: a DocumentReader
    CONTENT_RULES = "sanderling.content_rules"  # a ContentRule
    STORAGE = "sanderling.storage"  # by scheme of a URL: a StorageBackend


def entry_points(group: str, name: str = "") -> "EntryPoints":
    """Return the entry points of a group, or those of a name."""
    from importlib import metadata  # slow import, not needed without plugins

    found = metadata.entry_points(group=group)
    return found.select(name=name) if name else found


class Plugin(Struct, frozen=True):
    """An installed plugin. `error`: why it cannot be loaded; empty: it can."""

    group: PluginGroup
    name: str
    package: str
    version: str
    target: str  # module:attribute
    error: str = ""


def list_plugins() -> list[Plugin]:
    """Return all installed plugins, by group and name. Each is imported, to report errors."""
    found = []
    for group in PluginGroup:
        for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
            try:
                _load_entry(entry)
                error = ""
            except UsageError as problem:
                error = str(problem)
            found.append(Plugin(group, entry.name, *_get_package(entry), entry.value, error))
    return found


@lru_cache
def list_plugin_names(group: PluginGroup) -> tuple[str, ...]:
    """Return the names of the installed plugins of a group, without importing them."""
    return tuple(sorted({entry.name for entry in entry_points(group=group)}))


def has_plugin(group: PluginGroup, name: str) -> bool:
    return name in list_plugin_names(group)


def describe_plugin(group: PluginGroup, name: str) -> str:
    """Return the name of an installed plugin with its package and version."""
    return next(map(_describe, entry_points(group=group, name=name)))


@lru_cache
def load_plugin(group: PluginGroup, name: str) -> Any:
    """Import a plugin. Raises UsageError if there is none of this name, or if it cannot be loaded."""
    entries = tuple(entry_points(group=group, name=name))
    if not entries:
        kind, names = group.removeprefix("sanderling.").replace("_", " "), list_plugin_names(group)
        known = f"; installed: {', '.join(names)}" if names else "; no package with such a plugin is installed"
        raise UsageError(f"there is no plugin {name!r} among the {kind}{known}")
    if len({entry.value for entry in entries}) > 1:
        packages = " and ".join(sorted({_get_package(entry)[0] for entry in entries}))
        raise UsageError(f"the plugin {name!r} is in several packages: {packages}; uninstall all but one")
    return _load_entry(entries[0])


def load_plugins(group: PluginGroup, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield plugins with their names."""
    for name in names:
        yield name, load_plugin(group, name)


def _load_entry(entry: "EntryPoint") -> Any:
    try:
        plugin = entry.load()
    except SanderlingError as error:
        raise UsageError(f"{_describe(entry)} cannot be used: {error}") from None
    except Exception as error:
        text = f"{type(error).__name__}: {error}"[:MAX_ERROR_LENGTH]
        raise UsageError(f"{_describe(entry)} cannot be loaded: {text}") from error
    if not callable(plugin) and entry.group != PluginGroup.REVISIT_POLICIES:
        raise UsageError(f"{_describe(entry)} is not callable: {entry.value}")
    return plugin


def _describe(entry: "EntryPoint") -> str:
    package, version = _get_package(entry)
    return f"the plugin {entry.name!r} of {package} {version}"


def _get_package(entry: "EntryPoint") -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("an unknown package", "")
