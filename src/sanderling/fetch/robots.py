"""robots.txt: RFC 9309, with protego as the matcher.

Before parsing, a file is truncated and reduced to our groups, which bounds the work and matches agents by whole product
tokens. HTML bodies are read without tags. `fetch_loop` requests the file before all others of a host, `crawl/stages`
stores it (`robots_files`), and `html/robots_meta.py` reads the header and meta tags of pages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs
from protego import Protego

from sanderling.fetch.response import classify_status, classify_transport_error, decode_header, parse_retry_after
from sanderling.fetch.transport import FetchResponse
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import Host, Outcome, Reason, RobotsTxt
from sanderling.urls.normalize import resolve_url

MAX_BODY_BYTES = 500 * 1024  # RFC 9309, 2.5: at least 500 kibibytes
MAX_CRAWL_DELAY = 30.0  # seconds, as in Nutch and StormCrawler; longer delays are capped
MAX_SITEMAPS = 1000
DAY, HOUR, MINUTE = 86400.0, 3600.0, 60.0
ERROR_LIFETIME = 10 * MINUTE  # after 5xx, 429 or no response: do not crawl, and retry then

_FIELD_VARIANTS = {
    "user-agent": ("user-agent", "useragent", "user agent"),
    "allow": ("allow",),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow"),
    "sitemap": ("sitemap", "sitemaps", "site-map"),
    "crawl-delay": ("crawl-delay", "crawl delay"),
    "request-rate": ("request-rate", "request rate"),
}
_FIELD_BY_VARIANT = {name: field for field, names in _FIELD_VARIANTS.items() for name in names}
NON_RULE_FIELDS = ("crawl-delay", "request-rate")  # belong to a group, but are not in RFC 9309
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_ANY_VARIANT = "|".join(name.replace(" ", r"\s+") for name in sorted(_FIELD_BY_VARIANT, key=len, reverse=True))
_match_field = re.compile(rf"\s*({_ANY_VARIANT})\s*:(.*)", re.IGNORECASE | re.DOTALL).fullmatch
# Fields whose colon is missing.
_match_loose_field = re.compile(rf"\s*({_ANY_VARIANT})\s(.*)", re.IGNORECASE | re.DOTALL).fullmatch
_TOKEN = re.compile(r"[\w\-]+")  # RFC 9309: letters, `-` and `_`; but names like 1bot exist
_match_markup = re.compile(r"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE).match
_BYTE_ORDER_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?(?=[A-Za-z#\s])")  # complete, or truncated by some editors
_TAG = re.compile(r"<[^<>]*>")
_search_max_age = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE).search


class RobotsRules:
    """Rules of a host for our agent; see `build_robots_rules`."""

    def __init__(self, allows_by_default: bool, parsed: Protego | None = None, sitemaps: tuple[str, ...] = ()) -> None:
        self._allows_by_default = allows_by_default  # without rules
        self._parsed = parsed
        self.sitemaps = sitemaps  # request URLs

    def is_allowed(self, url: str) -> bool:
        return self._allows_by_default if self._parsed is None else self._parsed.can_fetch(url, _OWN_AGENT)

    def get_crawl_delay(self) -> float | None:
        """Return the requested seconds, at most `MAX_CRAWL_DELAY`, or None."""
        if self._parsed is None:
            return None
        rate = self._parsed.request_rate(_OWN_AGENT)
        delays = [self._parsed.crawl_delay(_OWN_AGENT), rate and rate.seconds / rate.requests]
        return max((min(delay, MAX_CRAWL_DELAY) for delay in delays if delay is not None), default=None)


def build_robots_rules(robots: RobotsTxt, agent_token: str) -> RobotsRules:
    """Build the rules from a robots.txt response, following RFC 9309, 2.3.1."""
    if not robots.is_reachable:
        return RobotsRules(allows_by_default=False)
    if not 200 <= robots.status < 300:
        return RobotsRules(allows_by_default=True)
    fields = list(_parse_fields(decode_robots_body(robots.body)))
    sitemaps = _resolve_sitemaps(robots.host, fields)
    own_groups = _reduce_to_own_groups(fields, agent_token)
    return RobotsRules(True, Protego.parse(own_groups) if own_groups else None, sitemaps)


def compute_robots_expiry(status: int, headers: Mapping[str, str], now: float) -> float:
    """Return when a robots.txt expires: by Cache-Control, at most a day (RFC 9309, 2.4)."""
    if not (200 <= status < 500 and status != 429):
        return now + ERROR_LIFETIME
    control = next((value for name, value in headers.items() if name.lower() == "cache-control"), "")
    if match := _search_max_age(control):
        return now + min(max(float(match[1]), MINUTE), DAY)
    return now + (HOUR if "no-cache" in control.lower() or "no-store" in control.lower() else DAY)


def find_deciding_line(robots: RobotsTxt, agent_token: str, url: str) -> str:
    """Return the line that decides about a URL, with its user agent, or ""."""
    if not 200 <= robots.status < 300:
        return ""
    field = "allow" if build_robots_rules(robots, agent_token).is_allowed(url) else "disallow"
    group_agent, group = _select_group(
        _reduce_to_own_groups(list(_parse_fields(decode_robots_body(robots.body))), agent_token).splitlines()
    )
    patterns = [value for name, value in group if name == field and value and _matches(value, url)]
    agent = agent_token if group_agent == _OWN_AGENT else "*"
    return f"{field.capitalize()}: {max(patterns, key=len)} (User-agent: {agent})" if patterns else ""


def _select_group(lines: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
    """Return the rules for our agent, or those for `*`."""
    groups: dict[str, list[tuple[str, str]]] = {}
    agents: list[str] = []
    follows_agent = False  # the previous line was a user-agent line
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "user-agent":
            agents = [*agents, value] if follows_agent else [value]
            groups.setdefault(value, [])
        else:
            for agent in agents:
                groups[agent].append((name, value))
        follows_agent = name == "user-agent"
    selected = _OWN_AGENT if _OWN_AGENT in groups else "*"
    return selected, groups.get(selected, [])


def _matches(pattern: str, url: str) -> bool:
    return not Protego.parse(f"user-agent: *\ndisallow: {pattern}").can_fetch(url, _OWN_AGENT)


# Agent names passed to protego: our agent, and a stand-in for all others.
_OWN_AGENT, _OTHER_AGENT = "us", "others"


def decode_robots_body(body: bytes) -> str:
    if len(body) > MAX_BODY_BYTES:
        end = max(body.rfind(b"\n", 0, MAX_BODY_BYTES), body.rfind(b"\r", 0, MAX_BODY_BYTES))
        body = body[: end + 1]  # a truncated line may mean the opposite
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return body.decode("utf-16", "replace")
    text = _BYTE_ORDER_MARK.sub(b"", body, count=1).decode("utf-8", "replace").replace("\0", "")
    return _TAG.sub("\n", text) if _match_markup(text) else text


def _parse_fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield known fields; other lines do not end a group."""
    for line in _LINE_ENDS.split(text):
        rule = line.partition("#")[0]
        match = _match_field(rule) or _match_loose_field(rule)
        if match:
            yield _FIELD_BY_VARIANT[" ".join(match[1].lower().split())], " ".join(match[2].split())


def _reduce_to_own_groups(fields: list[tuple[str, str]], agent: str) -> str:
    """Keep the groups for our agent and for `*`."""
    own_token = _find_best_token({value for name, value in fields if name == "user-agent"}, agent)
    writer = _GroupWriter()
    for name, value in fields:
        if name == "user-agent":
            writer.add_agents(_parse_agents(value, own_token))
        elif name != "sitemap":
            writer.add_record(name, value)
    return "\n".join(writer.finish())


class _GroupWriter:
    """Writes groups for a parser that ends a group at any record.

    By RFC 9309 only `Allow` and `Disallow` end an agent list (2.1, 2.2.4).
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._agents: set[str] = set()  # of the current group
        self._recent_agents: set[str] = set()  # named since the last delay
        self._written_agents: set[str] = set()  # of the last written line
        self._last_field = ""

    def add_agents(self, agents: Iterable[str]) -> None:
        """Add agents to the group, or start a new group after a rule."""
        is_open = self._last_field in ("user-agent", *NON_RULE_FIELDS)
        self._agents = self._agents.union(agents) if is_open else set(agents)
        self._recent_agents = self._recent_agents.union(agents) if self._last_field == "user-agent" else set(agents)
        self._last_field = "user-agent"

    def add_record(self, name: str, value: str) -> None:
        if name not in NON_RULE_FIELDS:
            self._recent_agents = self._agents
        self._write_agents(self._recent_agents)
        self._lines.append(f"{name}: {value}")
        if self._last_field in ("user-agent", *NON_RULE_FIELDS) or name not in NON_RULE_FIELDS:
            self._last_field = name

    def finish(self) -> list[str]:
        """Return all lines, including agents without records."""
        self._write_agents(self._agents)
        return self._lines

    def _write_agents(self, agents: set[str]) -> None:
        if agents != self._written_agents:
            self._lines += [f"user-agent: {agent}" for agent in sorted(agents)]
            self._written_agents = agents


def _parse_agents(value: str, own_token: str) -> Iterable[str]:
    """Return the agents of a line; comma-separated names are common."""
    names = value.split(",")
    return dict.fromkeys(
        "*"
        if name.split()[:1] == ["*"]
        else _OWN_AGENT
        if own_token and parse_agent_token(name) == own_token
        else _OTHER_AGENT
        for name in names
    )


def _find_best_token(values: set[str], agent: str) -> str:
    """Return the longest of our product tokens that some group names."""
    own = {token.lower() for token in _TOKEN.findall(agent)}
    named = {parse_agent_token(name) for value in values for name in value.split(",")}
    return max(own & named, key=len, default="")


def parse_agent_token(name: str) -> str:
    match = _TOKEN.match(name.lstrip())
    return match[0].lower() if match else ""


def _resolve_sitemaps(host: str, fields: list[tuple[str, str]]) -> tuple[str, ...]:
    resolved_urls = (resolve_url(host + "/robots.txt", value) for name, value in fields if name == "sitemap" and value)
    return tuple(dict.fromkeys(resolved.request_url for resolved in resolved_urls if resolved))[:MAX_SITEMAPS]


MAX_ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2; after more the host counts as having no robots.txt
UNREACHABLE_STATUS = 0
NOT_FOUND_STATUS = 404


def parse_robots_response(host: Host, response: FetchResponse, redirects: int, now: float) -> RobotsTxt | str:
    """Return the robots.txt, or the URL it redirects to."""
    status, fields = parse_head(response.head_lines)
    if classify_transport_error(response) is not None:
        return build_unreachable_robots(host, now)
    response_class = classify_status(status, fields, response, now)
    if response_class.outcome is Outcome.REDIRECT and redirects < MAX_ROBOTS_REDIRECTS:
        return response_class.location
    if not 200 <= status < 300:
        return _build_robots(host, status, b"", now)
    if response_class.outcome is not Outcome.FETCHED:  # partial content: a missing rule may disallow
        return build_unreachable_robots(host, now)
    body, reason = decode_body(response.body, decode_header(fields.get(b"content-encoding", b"")), MAX_BODY_BYTES + 1)
    if reason is Reason.BAD_ENCODING and not response.is_truncated:
        return build_unreachable_robots(host, now)
    lifetime = {"cache-control": decode_header(fields.get(b"cache-control", b""))}
    return _build_robots(host, status, body[: MAX_BODY_BYTES + 1], now, lifetime)


def get_retry_delay(response: FetchResponse, now: float) -> float:
    """Return the Retry-After of a failed robots.txt response in seconds."""
    return parse_retry_after(parse_head(response.head_lines)[1].get(b"retry-after", b""), now)


def build_unreachable_robots(host: Host, now: float) -> RobotsTxt:
    """Return a robots.txt that disallows everything for a short time."""
    return _build_robots(host, UNREACHABLE_STATUS, b"", now)


def waive_robots_rules(robots: RobotsTxt, agent: str) -> RobotsTxt:
    """Remove Disallow rules, for hosts of the user; keep delay and sitemaps."""
    rules = build_robots_rules(robots, agent)
    lines = [f"Sitemap: {sitemap}" for sitemap in rules.sitemaps]
    if delay := rules.get_crawl_delay():
        lines += ["User-agent: *", f"Crawl-delay: {delay:g}"]
    status = robots.status if robots.is_reachable else NOT_FOUND_STATUS
    return structs.replace(robots, status=status, body="\n".join(lines).encode())


def _build_robots(host: Host, status: int, body: bytes, now: float, headers: dict[str, str] | None = None) -> RobotsTxt:
    return RobotsTxt(host, status, body, now, compute_robots_expiry(status, headers or {}, now))
