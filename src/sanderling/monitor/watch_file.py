"""Read watches from the `[[watch]]` tables of a TOML file."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sanderling.config.loader import parse_duration, suggest_or_list_names
from sanderling.errors import UsageError
from sanderling.monitor.delivery import validate_target
from sanderling.monitor.watch import Watch, validate_watch
from sanderling.urls.normalize import get_host, normalize_url

DURATIONS = ("every", "digest")
LISTS = ("urls", "sites", "selector", "ignore", "kinds", "conditions", "notify")
JOINED = ("days", "hours")
SYNONYMS = {
    "url": "urls", "site": "sites", "selectors": "selector", "condition": "conditions", "kind": "kinds",
    "targets": "notify", "target": "notify", "active_hours": "hours", "active_days": "days", "time_zone": "timezone",
    "significance": "min_significance", "interval": "every", "digest_every": "digest",
}  # fmt: skip
PREFIXED = {"xpath": "xpath:", "json_path": "json:", "regex": "re:", "css": "css:"}  # keys for a selector language
INTERNAL = ("added_at", "baseline_at")


def load_watch_file(file: Path, now: float) -> list[Watch]:
    """Load all watches of a file. Raises UsageError for the first that is invalid."""
    tables = _read_toml(file).get("watch", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        return []
    watches = []
    for number, table in enumerate(tables, 1):
        try:
            watches.append(build_watch(table, now))
        except UsageError as error:
            raise UsageError(f"{file}, watch {table.get('name', number)!r}: {error}") from None
    names = [watch.name for watch in watches]
    if duplicate := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"{file}: two watches are named {duplicate!r}")
    return watches


def load_watch_digest(file: Path) -> tuple[float, tuple[str, ...]] | None:
    """Load interval and targets of `[watch_digest]`, the digest of all watches; None: the file has none."""
    table = _read_toml(file).get("watch_digest")
    if table is None:
        return None
    if not isinstance(table, dict) or set(table) - {"every", "notify"}:
        raise UsageError(f"{file}: [watch_digest] has the keys every and notify")
    every, notify = parse_interval("every", table.get("every", "1d")), table.get("notify", [])
    targets = tuple(validate_target(str(one)) for one in (notify if isinstance(notify, list) else [notify]))
    if not targets or every <= 0:
        raise UsageError(f"{file}: [watch_digest] needs notify, and an interval longer than 0")
    return every, targets


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from None


def build_watch(table: Mapping[str, Any], now: float) -> Watch:
    """Build a watch from user input and validate it. Raises UsageError."""
    known = [field.name for field in msgspec.structs.fields(Watch) if field.name not in INTERNAL]
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = SYNONYMS.get(key.replace("-", "_"), key.replace("-", "_"))
        if name in PREFIXED:
            parts = value if isinstance(value, list) else [value]
            values["selector"] = (*values.get("selector", ()), *(f"{PREFIXED[name]}{part}" for part in parts))
        elif name not in known:
            raise UsageError(f"there is no setting {key!r} of a watch{suggest_or_list_names(key, known)}")
        elif name in LISTS:
            texts = value if isinstance(value, (list, tuple)) else [value]
            values[name] = (*values.get(name, ()), *map(str, texts))
        elif name in JOINED and isinstance(value, list):
            values[name] = ",".join(map(str, value))
        else:
            values[name] = parse_interval(name, value) if name in DURATIONS else value
            if name == "every" and isinstance(value, str) and values[name] <= 0:
                raise UsageError("every: the interval must be longer than 0; leave it out to follow the changes")
    urls, sites = (tuple(map(_normalize, values.get(name, ()))) for name in ("urls", "sites"))
    values |= {"urls": urls, "sites": sites, "added_at": now}
    if sites and not values.get("pattern"):
        values["pattern"] = f"{get_host(normalize_known(sites[0]))}/*"
    values.setdefault("name", next(iter((*urls, *sites)), values.get("pattern", "")))
    try:
        watch = msgspec.convert(values, Watch)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from None
    for target in watch.notify:
        validate_target(target)
    return validate_watch(watch)


def normalize_known(url: str) -> Any:
    """Return the key of a URL that was normalized before."""
    found = normalize_url(url)
    assert found is not None
    return found.url


def _normalize(text: str) -> str:
    url = normalize_url(text if "://" in text else f"https://{text}")
    if url is None:
        raise UsageError(f"{text!r} cannot be watched: not a valid http or https URL")
    return url.url


def parse_interval(name: str, value: object) -> float:
    try:
        return float(value) if isinstance(value, (int, float)) else parse_duration(str(value))
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
