"""Settings of the Python API: the names and values of the command line, as keyword arguments."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

import msgspec
from msgspec import Struct

from sanderling.config.loader import build_group, load_all_settings, parse_value, read_settings, suggest_or_list_names
from sanderling.config.settings import SETTING_GROUPS
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import validate_request
from sanderling.errors import UsageError

Duration = float | str  # seconds, or "30m"
Size = int | str  # bytes, or "500MB"


COMMAND_SETTING = "shards"  # a crawl of shards is a process for each, and has no pages to iterate over


class SettingValues(TypedDict, total=False):
    """Keyword arguments of crawls and refreshes; docs/reference/settings.md explains each."""

    scope: Literal["page", "prefix", "host", "domain", "any"]
    include: Sequence[str]
    exclude: Sequence[str]
    filter: Sequence[str]
    forms: Literal["off", "select", "search"]
    form_limit: int
    recipe: str
    sitemaps: bool
    depth: int | str
    limit: int
    limit_per_host: int
    repeat_limit: int
    time_limit: Duration
    keep: int
    size_limit: Size
    order: str
    query: str
    like_text: str
    access_log: Sequence[str]
    delay: Duration
    concurrency: int
    backoff: Duration
    user_agent: str
    contact: str
    sign: str
    purpose: Literal["search", "archive", "ai-input", "ai-train"]
    signature_agent: str
    ignore_robots: Sequence[str]
    allow_private: bool
    max_body: Size
    timeout: Duration
    proxy: str
    header: Sequence[str]
    basic_auth: Sequence[str]
    bearer: Sequence[str]
    cookies: bool
    cookie_file: str
    insecure_host: Sequence[str]
    digest: Literal["sha256", "sha1"]
    requisites: bool
    dedup_from: Sequence[str]
    render: Literal["default", "auto", "never", "always"]
    render_always: Sequence[str]
    render_never: Sequence[str]
    screenshots: bool
    tabs: int
    workers: int | Literal["auto"]
    engine: Literal["processes", "ray"]
    address: str
    place: Sequence[str]
    store: str
    archive: str
    lease: Duration
    pause_crawl: Sequence[str]
    migrant: Sequence[str]
    key: str
    migrant_ca: str
    migrant_check: int
    url_cache: Literal["lfu", "lru"]
    url_cache_size: int
    schedule: str
    criteria: Sequence[str]
    sets: Sequence[str]
    judgments: Sequence[str]
    policy: str
    budget: str
    every: Sequence[str]
    min_interval: Duration
    max_interval: Duration
    eager: str
    objective: Literal["", "delay", "freshness"]
    threshold: float
    fields: Mapping[str, str] | Sequence[str]


class Settings:
    """Validated settings of crawls and refreshes.

    >>> Settings(limit=500, delay="200ms").values
    {'limit': 500, 'delay': 0.2}
    >>> Settings(limit=-1)
    Traceback (most recent call last):
    ...
    sanderling.errors.UsageError: setting: limit: '-1' is not a whole number of 0 or more
    """

    def __init__(self, **values: Unpack[SettingValues]) -> None:
        self.values: dict[str, object] = _parse_values(values)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a TOML file with the names of the command line: `time_limit = "2h"`."""
        return cls._from_parsed(read_settings({}, {}, Path(path)))

    @classmethod
    def from_environment(cls) -> Self:
        """Read the environment variables SANDERLING_*."""
        return cls._from_parsed(read_settings({}, os.environ))

    @classmethod
    def _from_parsed(cls, values: Mapping[str, object]) -> Self:
        settings = cls()
        settings.values = {name: value for name, value in values.items() if name in SettingValues.__annotations__}
        return settings

    def merge(self, **values: Unpack[SettingValues]) -> "Settings":
        """Return these settings with some replaced."""
        return Settings._from_parsed({**self.values, **_parse_values(values)})

    def validate(self, urls: Sequence[str], *, is_new: bool) -> None:
        """Raise UsageError if a crawl with these settings cannot start. `is_new`: there is no collection yet."""
        validate_request(self.build_request(urls), is_new=is_new)

    def build_request(self, seeds: Sequence[str] = (), stored: Mapping[str, object] | None = None) -> CrawlRequest:
        """Build the request of a crawl. `stored`: settings of the last crawl, for those that are not set."""
        return build_crawl_request(self.values, seeds, stored, "Python API")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.values == other.values

    __hash__: None  # type: ignore[assignment]  # mutable mapping inside

    def __repr__(self) -> str:
        return f"Settings({', '.join(sorted(self.values))})"  # values may contain passwords


def _parse_values(values: Mapping[str, Any]) -> dict[str, object]:
    known = load_all_settings()
    parsed: dict[str, object] = {}
    for name, raw in values.items():
        if name == COMMAND_SETTING and raw:
            raise UsageError("a set of shards is crawled by the command: sanderling crawl URL --shards N")
        if name not in SettingValues.__annotations__:
            raise UsageError(
                f"there is no setting {name!r}{suggest_or_list_names(name, list(SettingValues.__annotations__))}"
            )
        if raw is not None:
            raw = raw if isinstance(raw, str | int | float | Mapping) else list(raw)
            parsed[name] = parse_value(known[name], [raw] if _is_single_text(known[name].kind, raw) else raw, "setting")
    return parsed


def _is_single_text(kind: str, raw: object) -> bool:
    """Return whether a single string was given for a setting that takes several."""
    return kind == "texts" and isinstance(raw, str)


def build_crawl_request(
    values: Mapping[str, object],
    seeds: Sequence[str] = (),
    stored: Mapping[str, object] | None = None,
    command: str = "",
) -> CrawlRequest:
    """Build a request from values of settings. `stored`: settings of the last crawl, for those that are not set."""
    groups: dict[str, Any] = {
        field.name: build_group(field.type, {**_convert_stored(field.type, stored or {}), **values})
        for field in msgspec.structs.fields(CrawlRequest)
        if field.type in SETTING_GROUPS
    }
    return CrawlRequest(tuple(seeds), command=command, **groups)


def _convert_stored(group: type[Struct], stored: Mapping[str, object]) -> dict[str, object]:
    """Convert the stored JSON of a crawl to values of a group."""
    names = {field.name for field in msgspec.structs.fields(group)}
    known = {name: value for name, value in stored.items() if name in names}
    return msgspec.structs.asdict(msgspec.convert(known, group)) if known else {}
