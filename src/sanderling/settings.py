"""Settings: flag = TOML key = environment variable, one name for all three; read once, handed out per room.

`--time-limit 2h`, `time_limit = "2h"` in sanderling.toml and `SANDERLING_TIME_LIMIT=2h` mean the same. A flag beats the
environment, the environment beats the file, the file beats the default. An unknown name is an error that names the
nearest known one. Numbers that limit something: 0 means no limit, except depth, where -1 means no limit.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from sanderling.errors import UsageError

ENVIRONMENT = "SANDERLING_"
AUTO = -1  # migrants: as many as there is work for
RESERVED = frozenset({"suites", "traces", "settings", "collection"})  # names in the environment that are no settings

Text = Annotated[str, Meta(extra={"kind": "text"})]
Count = Annotated[int, Meta(extra={"kind": "count"})]
Seconds = Annotated[float, Meta(extra={"kind": "duration"})]
Bytes = Annotated[int, Meta(extra={"kind": "size"})]
Switch = Annotated[bool, Meta(extra={"kind": "switch"})]
Share = Annotated[float, Meta(extra={"kind": "share"})]
Crew = Annotated[int, Meta(extra={"kind": "crew"})]
Texts = Annotated[tuple[str, ...], Meta(extra={"kind": "texts"})]


class Scope(Struct, frozen=True):
    """Which URLs belong to the crawl."""

    scope: Annotated[
        Literal["page", "prefix", "host", "domain", "any"],
        Meta(description="how far to go from the seeds (default host)"),
    ] = "host"
    include: Annotated[Texts, Meta(description="only URLs that match this regular expression (repeatable)")] = ()
    sitemaps: Annotated[Switch, Meta(description="also look for pages in sitemaps and feeds (default on)")] = True
    exclude: Annotated[Texts, Meta(description="no URLs that match this regular expression (repeatable)")] = ()


class Limits(Struct, frozen=True):
    """When to stop."""

    depth: Annotated[Text, Meta(description="links from the seeds: a number, or poisson:10 (-1: no limit)")] = "-1"
    limit: Annotated[Count, Meta(description="pages (0: no limit)")] = 0
    time_limit: Annotated[Seconds, Meta(description="e.g. 90, 30m, 2h (0: no limit)")] = 0.0
    keep: Annotated[
        Count, Meta(description="pages the collection keeps: a better new one evicts the worst (0: no limit)")
    ] = 0
    size_limit: Annotated[Bytes, Meta(description="bytes to download, e.g. 500MB (0: no limit)")] = 0


class Order(Struct, frozen=True):
    """Which page first."""

    order: Annotated[
        Text, Meta(description="breadth, opic ... or a mix such as 0.7*opic+0.3*breadth (default pagerank)")
    ] = ""
    query: Annotated[Text, Meta(description="words the crawl is about: what speaks of them goes first")] = ""
    like_text: Annotated[Text, Meta(description="file of plain text: what speaks of the same goes first")] = ""
    access_log: Annotated[Texts, Meta(description="access log of the site, for --order popularity (repeatable)")] = ()


class Politeness(Struct, frozen=True):
    """How gently to knock."""

    delay: Annotated[Seconds, Meta(description="between two requests to one host (default 1)")] = 1.0
    concurrency: Annotated[Count, Meta(description="connections to one host (default 1; 16 with --delay 0)")] = 0
    backoff: Annotated[Seconds, Meta(description="first rest of a host that says 429 or 503 (default 60)")] = 60.0
    user_agent: Annotated[Text, Meta(description="name for robots.txt and the User-Agent header")] = ""
    contact: Annotated[Text, Meta(description="URL or mail address where site owners reach you")] = ""


class Fetching(Struct, frozen=True):
    """How to talk to servers."""

    allow_private: Annotated[Switch, Meta(description="allow loopback, private and other non-global addresses")] = False
    max_body: Annotated[Bytes, Meta(description="largest body kept, content coding removed (default 20MB)")] = (
        20_000_000
    )
    timeout: Annotated[Seconds, Meta(description="for one whole request (default 60)")] = 60.0
    proxy: Annotated[Text, Meta(description="e.g. http://127.0.0.1:3128 or socks5://...")] = ""
    header: Annotated[Texts, Meta(description='extra request header, "Name: value" (repeatable)')] = ()
    basic_auth: Annotated[Texts, Meta(description="HOST=USER:PASSWORD (repeatable)")] = ()
    cookies: Annotated[Switch, Meta(description="keep cookies during a crawl (default off)")] = False
    insecure_host: Annotated[Texts, Meta(description="host whose TLS certificate is not checked (repeatable)")] = ()
    digest: Annotated[Literal["sha256", "sha1"], Meta(description="digest in WARC records (default sha256)")] = "sha256"
    resources: Annotated[
        Switch, Meta(description="also visit images, scripts and style sheets of pages, to see them replaced")
    ] = False


class Workers(Struct, frozen=True):
    """Who does the work."""

    migrants: Annotated[Crew, Meta(description="worker processes, or auto (default: one per core)")] = 0
    engine: Annotated[
        Literal["processes", "ray"], Meta(description="where migrants live: on this machine, or on a Ray cluster")
    ] = "processes"
    address: Annotated[Text, Meta(description="of the Ray cluster, e.g. 10.0.0.1:6379 (default: start one here)")] = ""
    place: Annotated[Texts, Meta(description="Ray resource label to put migrants on, in turn (repeatable)")] = ()
    store: Annotated[Text, Meta(description="catalogue and frontier in postgresql://... (default: SQLite)")] = ""
    archive: Annotated[
        Text, Meta(description="full WARC files go to s3://..., file://... (fsspec; default: they stay in -C)")
    ] = ""
    lease: Annotated[Seconds, Meta(description="how long a silent worker keeps its URLs (default 2m)")] = 120.0
    park: Annotated[Texts, Meta(description="folder of a crawl whose workers rest meanwhile (repeatable)")] = ()
    via: Annotated[Texts, Meta(description="host beside the web server, https://host:8443 (repeatable)")] = ()
    key: Annotated[Text, Meta(description="file with our private key for --via (see sanderling host keygen)")] = ""
    via_ca: Annotated[Text, Meta(description="certificates to trust for --via (default: the system's)")] = ""
    via_check: Annotated[
        Count,
        Meta(description="fetch one in so many pages that a host calls unchanged from here; 0: none (default 200)"),
    ] = 200


class Memory(Struct, frozen=True):
    """What is kept in memory."""

    url_cache: Annotated[
        Literal["lfu", "lru"],
        Meta(description="which known URLs leave the cache: the rarest, or those met longest ago (default lfu)"),
    ] = "lfu"
    url_cache_size: Annotated[Count, Meta(description="known URLs in it (default 120000, about 20 MB)")] = 120_000


class Scheduling(Struct, frozen=True):
    """Who gets the next URLs."""

    schedule: Annotated[
        Literal["ahp", "round-robin", "random", "hash", "consistent-hash", "wrr", "fuzzy", "least-loaded"],
        Meta(description="how the next worker is chosen (default ahp)"),
    ] = "ahp"
    criteria: Annotated[Texts, Meta(description="what ahp judges by, best in the settings file (repeatable)")] = ()
    sets: Annotated[Texts, Meta(description="workers of their own for pages due hourly, daily ... (repeatable)")] = ()
    judgements: Annotated[Texts, Meta(description='one row of its matrix, "1 1/3 5" (repeatable)')] = ()


class Revisit(Struct, frozen=True):
    """When to come back."""

    policy: Annotated[Text, Meta(description="how the next visit of a page is chosen (default learned)")] = "learned"
    budget: Annotated[Text, Meta(description="most to spend, e.g. 5000/day or 200MB/day (default: no limit)")] = ""
    threshold: Annotated[
        Share, Meta(description="of pages a site's list of changes names, visit those above this priority (0: all)")
    ] = 0.0


class Searching(Struct, frozen=True):
    """What a crawl does for search."""

    index: Annotated[
        Switch, Meta(description="keep the full-text index up to date while crawling, where the search extra is there")
    ] = True


class Watching(Struct, frozen=True):
    """What of a page counts when versions are compared."""

    ignore: Annotated[Texts, Meta(description="CSS selector of parts that do not count (repeatable)")] = ()
    ignore_text: Annotated[Texts, Meta(description="regular expression of text that does not count (repeatable)")] = ()
    watch: Annotated[Texts, Meta(description="CSS selector of parts that alone count (repeatable)")] = ()
    watch_text: Annotated[Texts, Meta(description="regular expression of lines that alone count (repeatable)")] = ()


GROUPS: list[type[Struct]] = [
    Scope,
    Limits,
    Order,
    Politeness,
    Fetching,
    Workers,
    Memory,
    Scheduling,
    Revisit,
    Searching,
    Watching,
]
"""Every group of settings; a room that has its own adds it here."""

G = TypeVar("G", bound=Struct)


class Setting(Struct, frozen=True):
    """One setting, as a flag, a TOML key or an environment variable would name it."""

    name: str
    kind: str
    help: str
    default: object
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


def settings_of(group: type[Struct]) -> list[Setting]:
    """Read the settings of a group off its fields."""
    hints = get_type_hints(group, include_extras=True)
    return [_setting(field, hints[field.name]) for field in msgspec.structs.fields(group)]


def _setting(field: msgspec.structs.FieldInfo, hint: Any) -> Setting:
    kind, help_text = "choice", ""
    base, *metas = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    for meta in metas:
        kind = (meta.extra or {}).get("kind", kind)
        help_text = meta.description or help_text
    choices = tuple(get_args(base)) if get_origin(base) is Literal else ()
    return Setting(field.name, kind, help_text, field.default, choices)


def known() -> dict[str, Setting]:
    """Every setting there is, by name."""
    return {setting.name: setting for group in GROUPS for setting in settings_of(group)}


UNITS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SIZES = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "kib": 2**10, "m": 10**6, "mb": 10**6, "mib": 2**20}
SIZES |= {"g": 10**9, "gb": 10**9, "gib": 2**30, "t": 10**12, "tb": 10**12, "tib": 2**40}


def _scaled(text: str, units: Mapping[str, int], what: str) -> float:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", text)
    if not match or match[2].lower() not in units:
        raise ValueError(f"{text!r} is no {what}")
    return float(match[1]) * units[match[2].lower()]


def duration(text: str) -> float:
    """Read `90`, `1.5h` or `2d` as seconds."""
    return _scaled(text, UNITS, "duration (write 90, 30m, 2h, 1d)")


def size(text: str) -> int:
    """Read `500MB` or `2GiB` as bytes."""
    return int(_scaled(text, SIZES, "size (write 1000000, 500MB, 2GiB)"))


def _count(text: str) -> int:
    if not re.fullmatch(r"\d+", text.strip()):
        raise ValueError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _share(text: str) -> float:
    if not re.fullmatch(r"0*(0|1|0?\.\d{1,9}|1\.0{1,9})", text.strip()):
        raise ValueError(f"{text!r} is no number from 0 to 1")
    return float(text)


def _crew(text: str) -> int:
    return AUTO if text.strip() in ("auto", str(AUTO)) else _count(text)


def _switch(text: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in ("1", "true", "yes", "on")


READERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "count": _count,
    "crew": _crew,
    "share": _share,
    "duration": duration,
    "size": size,
    "switch": _switch,
    "texts": lambda text: tuple(part for part in text.split("\n") if part),
}


def read_value(setting: Setting, raw: object, where: str) -> object:
    """Turn what a flag, the environment or a file said into a value, or say what is wrong with it."""
    if setting.kind == "texts" and isinstance(raw, list | tuple):
        return tuple(str(item) for item in raw)
    text = str(raw).lower() if isinstance(raw, bool) else str(raw)
    if setting.choices:
        if text not in setting.choices:
            raise UsageError(f"{where}: {setting.name} is one of {', '.join(setting.choices)}, not {text!r}")
        return text
    try:
        return READERS[setting.kind](text)
    except ValueError as error:
        named = where if where.startswith(("--", ENVIRONMENT)) else f"{where}: {setting.name}"
        raise UsageError(f"{named}: {error}") from None


def nearest(name: str, names: Sequence[str]) -> str:
    """The known name that looks most like this one, as a hint; empty if none does."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(names))}"


def gather(
    flags: Mapping[str, object], environ: Mapping[str, str] | None = None, file: Path | None = None
) -> dict[str, object]:
    """Everything that was set, by name: defaults are not in it."""
    settings = known()
    found: dict[str, object] = {}
    for name, raw, where in (*_from_file(file), *_from_environment(os.environ if environ is None else environ)):
        if name not in settings:
            raise UsageError(f"{where}: there is no setting {name!r}{nearest(name, list(settings))}")
        found[name] = read_value(settings[name], raw, where)
    for name, raw in flags.items():
        if raw is not None and name in settings:
            found[name] = read_value(settings[name], raw, settings[name].flag)
    return found


def _from_file(file: Path | None) -> list[tuple[str, object, str]]:
    if file is None:
        return []
    try:
        content = tomllib.loads(file.read_text())
    except OSError as error:
        raise UsageError(f"cannot read the settings file {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is no valid TOML: {error}") from None
    return [(key.replace("-", "_"), value, str(file)) for key, value in content.items()]


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, object, str]]:
    names = {key: key.removeprefix(ENVIRONMENT).lower() for key in environ if key.startswith(ENVIRONMENT)}
    return [(name, environ[key], key) for key, name in names.items() if name not in RESERVED]


def group_from(group: type[G], found: Mapping[str, object]) -> G:
    """One room's settings out of everything that was set."""
    names = {field.name for field in msgspec.structs.fields(group)}
    return group(**{name: value for name, value in found.items() if name in names})
