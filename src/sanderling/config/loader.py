"""Load settings from flags, environment variables and a TOML file.

`--time-limit 2h`, `SANDERLING_TIME_LIMIT=2h` and `time_limit = "2h"` are equivalent, in order of precedence.
"""

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from sanderling.config.settings import AUTO_WORKERS, SETTING_GROUPS
from sanderling.errors import UsageError

ENVIRONMENT_PREFIX = "SANDERLING_"
RESERVED_NAMES = frozenset({"suites", "traces", "pywb", "settings"})  # environment variables that are not settings
SURROGATES = re.compile("[\ud800-\udfff]").search  # how Python decodes arguments that are not UTF-8

MAX_NUMBER = 2**53  # integers below it are exact as floats and in JSON

SETTING_ALIASES = {
    "accept_regex": "include", "allow": "include", "reject_regex": "exclude", "deny": "exclude",
    "closespider_pagecount": "limit", "max_pages": "limit", "max_requests": "limit", "page_limit": "limit",
    "closespider_timeout": "time_limit", "quota": "size_limit", "scope_type": "scope",
    "depth_limit": "depth", "level": "depth", "max_depth": "depth",
    "concurrent_requests": "concurrency", "concurrent_requests_per_domain": "concurrency",
    "download_delay": "delay", "rate": "delay", "rate_limit": "delay", "request_delay": "delay", "wait": "delay",
    "no_robots": "ignore_robots", "robots": "ignore_robots", "robotstxt_obey": "ignore_robots",
    "use_robots": "ignore_robots",
    "download_maxsize": "max_body", "max_size": "max_body", "download_timeout": "timeout",
    "no_check_certificate": "insecure_host", "insecure": "insecure_host",
    "page_requisites": "requisites", "resources": "requisites", "p": "requisites",
    "watch": "follow|selector", "watch_text": "selector_text", "park": "pause_crawl",
    "jobdir": "collection", "log_level": "verbose", "stats_filename": "json",
    "threads": "workers", "w": "workers", "migrants": "workers", "via": "migrant", "forget": "delete",
}  # fmt: skip
"""Names of other crawlers (Scrapy, Browsertrix, Nutch, crawl4ai, wget) and our setting of the same meaning."""

G = TypeVar("G", bound=Struct)
N = TypeVar("N", int, float)


class Setting(Struct, frozen=True):
    """Name, type and documentation of a setting."""

    name: str
    kind: str
    help: str
    default: object
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


@cache
def get_group_settings(group: type[Struct]) -> tuple[Setting, ...]:
    """Return the settings declared by the fields of a group."""
    hints = get_type_hints(group, include_extras=True)
    return tuple(_build_setting(field, hints[field.name]) for field in msgspec.structs.fields(group))


def _build_setting(field: msgspec.structs.FieldInfo, hint: Any) -> Setting:
    kind, help_text = "choice", ""
    base, *metas = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    for meta in metas:
        kind = (meta.extra or {}).get("kind", kind)
        help_text = meta.description or help_text
    choices = tuple(get_args(base)) if get_origin(base) is Literal else ()
    return Setting(field.name, kind, help_text, field.default, choices)


def load_all_settings() -> dict[str, Setting]:
    return {setting.name: setting for group in SETTING_GROUPS for setting in get_group_settings(group)}


DURATION_UNITS = {"": 1, "ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SIZE_UNITS = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "kib": 2**10, "m": 10**6, "mb": 10**6, "mib": 2**20}
SIZE_UNITS |= {"g": 10**9, "gb": 10**9, "gib": 2**30, "t": 10**12, "tb": 10**12, "tib": 2**40}


def _parse_with_unit(text: str, units: Mapping[str, float], expected: str) -> float:
    match = re.fullmatch(r"\s*+([0-9]*\.[0-9]++|[0-9]++)\s*+([a-zA-Z]*+)\s*+", text)
    if not match or match[2].lower() not in units:
        raise ValueError(f"{text!r} is not a {expected}")
    return _check_range(text, float(match[1]) * units[match[2].lower()])


def _check_range(text: str, number: N) -> N:
    if number >= MAX_NUMBER:
        raise ValueError(f"{text!r} is too large; the maximum is {MAX_NUMBER - 1}")
    return number


def parse_duration(text: str) -> float:
    """Parse `90`, `200ms`, `1.5h`, `1h30m` or `2d` as seconds."""
    parts = re.findall(r"(?<![\d.])[\d.]++\s*+[a-zA-Z]++", text)
    if len(parts) > 1 and "".join(parts) == text.strip():
        return sum(map(parse_duration, parts))
    return _parse_with_unit(text, DURATION_UNITS, "duration; use for example 90, 30m, 2h or 1d")


def parse_size(text: str) -> int:
    """Parse `500MB` or `2GiB` as bytes."""
    return int(_parse_with_unit(text, SIZE_UNITS, "size; use for example 1000000, 500MB or 2GiB"))


def _parse_count(text: str) -> int:
    if not re.fullmatch(r"\d+", text.strip()):
        raise ValueError(f"{text!r} is not a whole number of 0 or more")
    return _check_range(text, int(text))


def _parse_share(text: str) -> float:
    if not re.fullmatch(r"0*(0|1|0?\.\d{1,9}|1\.0{1,9})", text.strip()):
        raise ValueError(f"{text!r} is not a number from 0 to 1")
    return float(text)


def _parse_worker_count(text: str) -> int:
    return AUTO_WORKERS if text.strip() == "auto" else _parse_count(text)


def _parse_switch(text: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise ValueError(f"{text!r} is not a boolean; use true or false")
    return text.lower() in ("1", "true", "yes", "on")


VALUE_PARSERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "count": _parse_count,
    "workers": _parse_worker_count,
    "share": _parse_share,
    "duration": parse_duration,
    "size": parse_size,
    "switch": _parse_switch,
    "texts": lambda text: tuple(part for part in text.split("\n") if part),
}


def parse_value(setting: Setting, raw: object, source: str) -> object:
    """Convert a raw value. Raises UsageError if it is invalid."""
    if isinstance(raw, Mapping):  # a table of fields
        raw = [f"{name}={value}" for name, value in raw.items()]
    label = source if source.startswith(("--", ENVIRONMENT_PREFIX)) else f"{source}: {setting.name}"
    items = [str(item) for item in raw if item != ""] if isinstance(raw, list | tuple) else [str(raw)]
    if any(map(SURROGATES, items)):
        raise UsageError(f"{label}: the value is not valid UTF-8")  # not shown, because it may be a password
    if setting.kind == "texts" and isinstance(raw, list | tuple):
        return tuple(items)
    text = str(raw).lower() if isinstance(raw, bool) else str(raw)
    if setting.choices:
        if text not in setting.choices:
            raise UsageError(f"{source}: {setting.name} must be one of {', '.join(setting.choices)}, not {text!r}")
        return text
    try:
        return VALUE_PARSERS[setting.kind](text)
    except ValueError as error:
        raise UsageError(f"{label}: {error}") from None


def suggest_or_list_names(name: str, names: Sequence[str]) -> str:
    """Return a hint with the most similar known name, or with all names."""
    return suggest_name(name, names) or f"; there are {', '.join(sorted(names))}"


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Return a hint with the most similar known name, or "".

    Names of other crawlers take precedence.
    """
    known = {known_name.lstrip("-"): known_name for known_name in names}
    snake_case = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.lstrip("-")).replace("-", "_").lower()
    for alias in SETTING_ALIASES.get(snake_case, snake_case).split("|"):
        if match := known.get(alias) or known.get(alias.replace("_", "-")):
            return f"; did you mean {match}?"
    close = difflib.get_close_matches(name.lstrip("-"), known, n=1, cutoff=0.5)
    return f"; did you mean {known[close[0]]}?" if close else ""


def read_settings(
    flags: Mapping[str, object], environ: Mapping[str, str] | None = None, file: Path | None = None
) -> dict[str, object]:
    """Return all values that were set, by name, without defaults."""
    settings = load_all_settings()
    values: dict[str, object] = {}
    for name, raw, source in (*_read_file(file), *_read_environment(os.environ if environ is None else environ)):
        if name not in settings:
            raise UsageError(f"{source}: there is no setting {name!r}{suggest_or_list_names(name, list(settings))}")
        values[name] = parse_value(settings[name], raw, source)
    for name, raw in flags.items():
        if raw is not None and name in settings:
            values[name] = parse_value(settings[name], raw, settings[name].flag)
    return values


def _read_file(file: Path | None) -> list[tuple[str, object, str]]:
    if file is None:
        return []
    import tomllib  # slow import, rarely needed

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the settings file {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from None
    return [
        (key.replace("-", "_"), value, str(file)) for key, value in content.items() if not _is_table_list(key, value)
    ]


def _is_table_list(key: str, value: object) -> bool:
    """Return whether this is `[[watch]]`, which `sanderling watch` reads."""
    if key == "watch_digest":
        return isinstance(value, dict)
    return key == "watch" and isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _read_environment(environ: Mapping[str, str]) -> list[tuple[str, object, str]]:
    names = {key: key.removeprefix(ENVIRONMENT_PREFIX).lower() for key in environ if key.startswith(ENVIRONMENT_PREFIX)}
    return [(name, environ[key], key) for key, name in names.items() if name not in RESERVED_NAMES]


def build_group(group: type[G], values: Mapping[str, object]) -> G:
    names = {field.name for field in msgspec.structs.fields(group)}
    return group(**{name: value for name, value in values.items() if name in names})
