"""What a host's robots.txt lets us do: RFC 9309, with protego as the matcher.

Before protego sees a file it is cut to size and reduced to the groups that speak to us. That bounds the work (thousands
of agents times thousands of rules in one group would fill memory), and it makes agents match by whole product tokens,
as the RFC says. A body that is a web page is read without its tags: what looks like a rule is a rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs
from protego import Protego

from sanderling.fetch.curl_transfer import FetchResponse
from sanderling.fetch.response import classify_status, classify_transport_error, decode_header, parse_retry_after
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import Host, Outcome, Reason, RobotsTxt
from sanderling.urls.normalize import resolve_url

MAX_BODY_BYTES = 500 * 1024  # RFC 9309, 2.5: at least 500 kibibytes
MAX_CRAWL_DELAY = 30.0  # seconds; what Nutch and StormCrawler take at most. A longer wish is granted up to here
MAX_SITEMAPS = 1000
DAY, HOUR, MINUTE = 86400.0, 3600.0, 60.0
ERROR_LIFETIME = 10 * MINUTE  # after a 5xx, a 429 or no answer: keep out, and ask again then

_FIELD_VARIANTS = {
    "user-agent": ("user-agent", "useragent", "user agent"),
    "allow": ("allow",),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow"),
    "sitemap": ("sitemap", "sitemaps", "site-map"),
    "crawl-delay": ("crawl-delay", "crawl delay"),
    "request-rate": ("request-rate", "request rate"),
}
_FIELD_BY_VARIANT = {name: field for field, names in _FIELD_VARIANTS.items() for name in names}
NON_RULE_FIELDS = ("crawl-delay", "request-rate")  # of a group, though not of RFC 9309
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_ANY_VARIANT = "|".join(name.replace(" ", r"\s+") for name in sorted(_FIELD_BY_VARIANT, key=len, reverse=True))
_match_field = re.compile(rf"\s*({_ANY_VARIANT})\s*:(.*)", re.IGNORECASE | re.DOTALL).fullmatch
_match_loose_field = re.compile(
    rf"\s*({_ANY_VARIANT})\s(.*)", re.IGNORECASE | re.DOTALL
).fullmatch  # the colon was forgotten
_TOKEN = re.compile(r"[\w\-]+")  # RFC 9309 has letters, `-` and `_`; names like 1bot exist
_match_markup = re.compile(r"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE).match
_BYTE_ORDER_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?(?=[A-Za-z#\s])")  # whole, or cut as some editors leave it
_TAG = re.compile(r"<[^<>]*>")
_search_max_age = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE).search


class RobotsRules:
    """What one host allows us. Made by `rules_for`."""

    def __init__(self, allows_by_default: bool, parsed: Protego | None = None, sitemaps: tuple[str, ...] = ()) -> None:
        self._allows_by_default = allows_by_default  # what holds where there are no rules
        self._parsed = parsed
        self.sitemaps = sitemaps  # as wire URLs

    def is_allowed(self, url: str) -> bool:
        """Tell whether we may ask for this URL of the host."""
        return self._allows_by_default if self._parsed is None else self._parsed.can_fetch(url, _OWN_AGENT)

    def get_crawl_delay(self) -> float | None:
        """Give the pause the host asks for between requests, at most CRAWL_DELAY_CAP seconds; None if it asks none."""
        if self._parsed is None:
            return None
        rate = self._parsed.request_rate(_OWN_AGENT)
        wishes = [self._parsed.crawl_delay(_OWN_AGENT), rate and rate.seconds / rate.requests]
        return max((min(wish, MAX_CRAWL_DELAY) for wish in wishes if wish is not None), default=None)


def build_robots_rules(robots: RobotsTxt, agent_token: str) -> RobotsRules:
    """Read an answer to the request for robots.txt as RFC 9309, 2.3.1, says."""
    if not robots.is_reachable:
        return RobotsRules(allows_by_default=False)
    if not 200 <= robots.status < 300:
        return RobotsRules(allows_by_default=True)
    lines = list(_parse_fields(_decode_body(robots.body)))
    sitemaps = _resolve_sitemaps(robots.host, lines)
    for_us = _reduce_to_own_groups(lines, agent_token)
    return RobotsRules(True, Protego.parse(for_us) if for_us else None, sitemaps)


def compute_robots_expiry(status: int, headers: Mapping[str, str], now: float) -> float:
    """Say until when an answer is believed: Cache-Control between a minute and a day (RFC 9309, 2.4), else a day."""
    if not (200 <= status < 500 and status != 429):
        return now + ERROR_LIFETIME
    control = next((value for name, value in headers.items() if name.lower() == "cache-control"), "")
    if found := _search_max_age(control):
        return now + min(max(float(found[1]), MINUTE), DAY)
    return now + (HOUR if "no-cache" in control.lower() or "no-store" in control.lower() else DAY)


def find_deciding_line(robots: RobotsTxt, agent_token: str, url: str) -> str:
    """Give the line that decides about a URL, and for whom it was written; nothing if no line speaks of it."""
    if not 200 <= robots.status < 300:
        return ""
    field = "allow" if build_robots_rules(robots, agent_token).is_allowed(url) else "disallow"
    whom, group = _select_group(
        _reduce_to_own_groups(list(_parse_fields(_decode_body(robots.body))), agent_token).splitlines()
    )
    patterns = [value for name, value in group if name == field and value and _matches(value, url)]
    who = agent_token if whom == _OWN_AGENT else "*"
    return f"{field.capitalize()}: {max(patterns, key=len)} (User-agent: {who})" if patterns else ""


def _select_group(lines: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
    """Take together the rules for us, or if nobody names us those for all."""
    groups: dict[str, list[tuple[str, str]]] = {}
    agents: list[str] = []
    named = False  # was the line before the name of an agent?
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "user-agent":
            agents = [*agents, value] if named else [value]
            groups.setdefault(value, [])
        else:
            for agent in agents:
                groups[agent].append((name, value))
        named = name == "user-agent"
    whom = _OWN_AGENT if _OWN_AGENT in groups else "*"
    return whom, groups.get(whom, [])


def _matches(pattern: str, url: str) -> bool:
    return not Protego.parse(f"user-agent: *\ndisallow: {pattern}").can_fetch(url, _OWN_AGENT)


# The one agent protego is asked about, and the one that stands for all others.
_OWN_AGENT, _OTHER_AGENT = "us", "others"


def _decode_body(body: bytes) -> str:
    if len(body) > MAX_BODY_BYTES:
        end = max(body.rfind(b"\n", 0, MAX_BODY_BYTES), body.rfind(b"\r", 0, MAX_BODY_BYTES))
        body = body[: end + 1]  # a line cut in half may say the opposite
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return body.decode("utf-16", "replace")
    text = _BYTE_ORDER_MARK.sub(b"", body, count=1).decode("utf-8", "replace").replace("\0", "")
    return _TAG.sub("\n", text) if _match_markup(text) else text


def _parse_fields(text: str) -> Iterator[tuple[str, str]]:
    """Give the known fields with their values, in order; other lines do not end a group, and are left out."""
    for line in _LINE_ENDS.split(text):
        rule = line.partition("#")[0]
        found = _match_field(rule) or _match_loose_field(rule)
        if found:
            yield _FIELD_BY_VARIANT[" ".join(found[1].lower().split())], " ".join(found[2].split())


def _reduce_to_own_groups(lines: list[tuple[str, str]], agent: str) -> str:
    """Reduce a file to the groups for our agent and for all agents; nothing if no rule is left."""
    ours = _find_best_token({value for name, value in lines if name == "user-agent"}, agent)
    group = _GroupWriter()
    for name, value in lines:
        if name == "user-agent":
            group.add_agents(_parse_agents(value, ours))
        elif name != "sitemap":
            group.add_record(name, value)
    return "\n".join(group.finish())


class _GroupWriter:
    """Writes groups so that a parser that ends a group at any record reads them right.

    Only `Allow` and `Disallow` end the list of agents of a group (RFC 9309, 2.1; other records must not interfere,
    2.2.4). A delay between two `User-agent` lines is for the agents named since the last delay.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._agents: set[str] = set()  # of the group
        self._recent_agents: set[str] = set()  # of them, named since the last delay
        self._written_agents: set[str] = set()  # whom the last line was written for
        self._last_field = ""  # field of the last record

    def add_agents(self, agents: Iterable[str]) -> None:
        """Let agents join the group, or begin another one after a rule."""
        is_open = self._last_field in ("user-agent", *NON_RULE_FIELDS)
        self._agents = self._agents.union(agents) if is_open else set(agents)
        self._recent_agents = self._recent_agents.union(agents) if self._last_field == "user-agent" else set(agents)
        self._last_field = "user-agent"

    def add_record(self, name: str, value: str) -> None:
        """Add a record for the agents it concerns."""
        if name not in NON_RULE_FIELDS:
            self._recent_agents = self._agents
        self._write_agents(self._recent_agents)
        self._lines.append(f"{name}: {value}")
        if self._last_field in ("user-agent", *NON_RULE_FIELDS) or name not in NON_RULE_FIELDS:
            self._last_field = name

    def finish(self) -> list[str]:
        """Return all lines; agents without any record are named too."""
        self._write_agents(self._agents)
        return self._lines

    def _write_agents(self, agents: set[str]) -> None:
        if agents != self._written_agents:
            self._lines += [f"user-agent: {who}" for who in sorted(agents)]
            self._written_agents = agents


def _parse_agents(value: str, own_token: str) -> Iterable[str]:
    """Say whom a line speaks to; several names, with commas between them, are no standard and plainly meant."""
    names = value.split(",")
    return dict.fromkeys(
        "*"
        if name.split()[:1] == ["*"]
        else _OWN_AGENT
        if own_token and _parse_token(name) == own_token
        else _OTHER_AGENT
        for name in names
    )


def _find_best_token(values: set[str], agent: str) -> str:
    """Choose the longest product token of ours that some group names."""
    own = {token.lower() for token in _TOKEN.findall(agent)}
    named = {_parse_token(name) for value in values for name in value.split(",")}
    return max(own & named, key=len, default="")


def _parse_token(name: str) -> str:
    found = _TOKEN.match(name.lstrip())
    return found[0].lower() if found else ""


def _resolve_sitemaps(host: str, lines: list[tuple[str, str]]) -> tuple[str, ...]:
    found = (resolve_url(host + "/robots.txt", value) for name, value in lines if name == "sitemap" and value)
    return tuple(dict.fromkeys(spelling.request_url for spelling in found if spelling))[:MAX_SITEMAPS]


MAX_ROBOTS_REDIRECTS = 5  # redirects followed for one robots.txt (RFC 9309, 2.3.1.2); beyond them a host has none
UNREACHABLE_STATUS = 0
NOT_FOUND_STATUS = 404


def parse_robots_response(host: Host, response: FetchResponse, redirects: int, now: float) -> RobotsTxt | str:
    """Take the rules out of a reply; a string is the URL they moved to."""
    status, fields = parse_head(response.head_lines)
    if classify_transport_error(response) is not None:
        return build_unreachable_robots(host, now)
    verdict = classify_status(status, fields, response, now)
    if verdict.outcome is Outcome.REDIRECT and redirects < MAX_ROBOTS_REDIRECTS:
        return verdict.location
    if not 200 <= status < 300:
        return _build_robots(host, status, b"", now)
    if verdict.outcome is not Outcome.FETCHED:  # a part of the rules: the one that is missing may keep us out
        return build_unreachable_robots(host, now)
    body, reason = decode_body(response.body, decode_header(fields.get(b"content-encoding", b"")), MAX_BODY_BYTES + 1)
    if reason is Reason.BAD_ENCODING and not response.is_truncated:
        return build_unreachable_robots(host, now)
    lifetime = {"cache-control": decode_header(fields.get(b"cache-control", b""))}
    return _build_robots(host, status, body[: MAX_BODY_BYTES + 1], now, lifetime)


def get_retry_delay(response: FetchResponse, now: float) -> float:
    """Give the seconds a host that could not serve its rules wants to be left alone."""
    return parse_retry_after(parse_head(response.head_lines)[1].get(b"retry-after", b""), now)


def build_unreachable_robots(host: Host, now: float) -> RobotsTxt:
    """Say that a host's rules could not be had: keep out for a while."""
    return _build_robots(host, UNREACHABLE_STATUS, b"", now)


def waive_robots_rules(robots: RobotsTxt, agent: str) -> RobotsTxt:
    """Take a robots.txt for one that forbids nothing, as its owner says; pauses and sitemaps stay."""
    rules = build_robots_rules(robots, agent)
    lines = [f"Sitemap: {sitemap}" for sitemap in rules.sitemaps]
    if pause := rules.get_crawl_delay():
        lines += ["User-agent: *", f"Crawl-delay: {pause:g}"]
    status = robots.status if robots.is_reachable else NOT_FOUND_STATUS
    return structs.replace(robots, status=status, body="\n".join(lines).encode())


def _build_robots(host: Host, status: int, body: bytes, now: float, headers: dict[str, str] | None = None) -> RobotsTxt:
    return RobotsTxt(host, status, body, now, compute_robots_expiry(status, headers or {}, now))
