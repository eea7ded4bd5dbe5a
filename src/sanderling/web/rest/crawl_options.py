"""Settings that a client of the API may give a crawl, as a type with their descriptions.

Left out are settings that read files of the server, hold secrets, reach other systems, or lower its guard:
`allow_private`, `ignore_robots`, `proxy`, `header`, `store`, and so on. The server's own settings file and environment
may set them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from sanderling.api.collection_access import has_collection
from sanderling.api.crawl_settings import Settings
from sanderling.config.loader import Setting, load_all_settings
from sanderling.errors import UsageError
from sanderling.web.rest.crawl_jobs import JobKind

MAX_LIST_ITEMS = 100
DEFAULT_LIMITS = {"limit": 10_000, "time_limit": 86_400}
"""Limits of a job where the client gives none; 0 in a request: no limit."""
VISITING = (
    "limit", "time_limit", "size_limit", "delay", "concurrency", "backoff", "contact", "max_body", "timeout", "render",
)  # fmt: skip
REVISITING = ("policy", "budget", "every", "min_interval", "max_interval", "eager", "objective")
CRAWLING = (
    "scope", "include", "exclude", "sitemaps", "depth", "limit_per_host", "keep", "order", "query", "requisites",
    "render_always", "render_never", "fields",
)  # fmt: skip
SETTINGS_BY_KIND = {
    JobKind.CRAWL: (*CRAWLING, *VISITING, *REVISITING),
    JobKind.REFRESH: (*VISITING, *REVISITING, "fields"),
    JobKind.REFRESH_ALL: (*VISITING, *REVISITING, "fields"),
    JobKind.CHECK_WATCHES: VISITING,
    JobKind.WATCH: tuple(name for name in VISITING if name not in DEFAULT_LIMITS),
}
Text = Annotated[str, Meta(max_length=2_000)]
Texts = Annotated[list[Text], Meta(max_length=MAX_LIST_ITEMS)]
DURATION = Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d|w)?$", max_length=20)
SIZE = Meta(pattern=r"^[0-9]{1,12}(kB|KB|MB|GB|KiB|MiB|GiB)?$", max_length=20)
TYPES: dict[str, Any] = {
    "text": Text,
    "texts": Texts,
    "switch": bool,
    "count": Annotated[int, Meta(ge=0, le=1_000_000_000)],
    "duration": Annotated[float, Meta(ge=0, le=1e9)] | Annotated[str, DURATION],
    "size": Annotated[int, Meta(ge=0, le=10**15)] | Annotated[str, SIZE],
    "share": Annotated[float, Meta(ge=0, le=1)],
}


def _build_type(setting: Setting) -> Any:
    kind: Any = TYPES.get(setting.kind) or Literal[setting.choices]
    return Annotated[kind, Meta(description=setting.help)] | UnsetType


def build_options_type() -> type[Struct]:
    """Build the type of the settings in a request, from the settings of the program."""
    known = load_all_settings()
    fields = [(name, _build_type(known[name]), UNSET) for name in SETTINGS_BY_KIND[JobKind.CRAWL]]
    return msgspec.defstruct("CrawlOptions", fields, frozen=True, forbid_unknown_fields=True)


CrawlOptions = build_options_type()


def get_given_options(options: Struct, kind: JobKind) -> dict[str, Any]:
    """Return the settings of a request, with default limits. Raises UsageError if the kind has no such setting."""
    values = {name: value for name, value in msgspec.structs.asdict(options).items() if value is not UNSET}
    allowed = SETTINGS_BY_KIND[kind]
    if wrong := [name for name in values if name not in allowed]:
        raise UsageError(f"a job of kind {kind} has no setting {wrong[0]!r}; it has {', '.join(allowed)}")
    return {name: value for name, value in DEFAULT_LIMITS.items() if name in allowed} | values


def build_flags(options: Mapping[str, Any]) -> list[str]:
    """Return settings as flags of the command line. A value is part of its word, so that it cannot become a flag."""
    known, flags = load_all_settings(), []
    for name, value in options.items():
        flag = known[name].flag
        if isinstance(value, bool):
            flags.append(flag if value else f"--no-{flag.removeprefix('--')}")
        else:
            flags += [f"{flag}={item}" for item in (value if isinstance(value, list) else [value])]
    return flags


def validate_options(folder: Path, kind: JobKind, urls: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Validate a job before its process starts. Raises UsageError."""
    if kind is not JobKind.CRAWL and urls:
        raise UsageError(f"a job of kind {kind} takes no urls; it visits the pages of the collection")
    if kind in (JobKind.REFRESH, JobKind.REFRESH_ALL) and not has_collection(folder):
        raise UsageError("there is nothing to refresh; start a job of kind crawl first")
    if kind is JobKind.CRAWL and not urls and not has_collection(folder):
        raise UsageError("no urls given")
    Settings(**options).validate(urls, is_new=not has_collection(folder))
