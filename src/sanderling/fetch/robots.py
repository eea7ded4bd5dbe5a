"""What a host's robots.txt lets us do: RFC 9309, with protego as the matcher.

Before protego sees a file it is cut to size and reduced to the groups that speak to us. That bounds the work (thousands
of agents times thousands of rules in one group would fill memory), and it makes agents match by whole product tokens,
as the RFC says. A body that is a web page is read without its tags: what looks like a rule is a rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs
from protego import Protego

from sanderling.fetch.curl_transfer import Reply
from sanderling.fetch.response import fault, judge, retry_after, text
from sanderling.http.decoding import decoded
from sanderling.http.head import read_head
from sanderling.models import Host, Outcome, Reason, Robots
from sanderling.urls.normalize import resolve

BODY_LIMIT = 500 * 1024  # RFC 9309, 2.5: at least 500 kibibytes
CRAWL_DELAY_CAP = 30.0  # seconds; what Nutch and StormCrawler take at most. A longer wish is granted up to here
SITEMAPS_LIMIT = 1000
DAY, HOUR, MINUTE = 86400.0, 3600.0, 60.0
ERROR_LIFETIME = 10 * MINUTE  # after a 5xx, a 429 or no answer: keep out, and ask again then

_FIELDS = {
    "user-agent": ("user-agent", "useragent", "user agent"),
    "allow": ("allow",),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow"),
    "sitemap": ("sitemap", "sitemaps", "site-map"),
    "crawl-delay": ("crawl-delay", "crawl delay"),
    "request-rate": ("request-rate", "request rate"),
}
_NAMES = {name: field for field, names in _FIELDS.items() for name in names}
OTHER_RECORDS = ("crawl-delay", "request-rate")  # of a group, though not of RFC 9309
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_ANY_NAME = "|".join(name.replace(" ", r"\s+") for name in sorted(_NAMES, key=len, reverse=True))
_FIELD = re.compile(rf"\s*({_ANY_NAME})\s*:(.*)", re.IGNORECASE | re.DOTALL).fullmatch
_LOOSE_FIELD = re.compile(rf"\s*({_ANY_NAME})\s(.*)", re.IGNORECASE | re.DOTALL).fullmatch  # the colon was forgotten
_TOKEN = re.compile(r"[\w\-]+")  # RFC 9309 has letters, `-` and `_`; names like 1bot exist
_MARKUP = re.compile(r"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE).match
_BYTE_ORDER_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?(?=[A-Za-z#\s])")  # whole, or cut as some editors leave it
_TAG = re.compile(r"<[^<>]*>")
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE).search


class Rules:
    """What one host allows us. Made by `rules_for`."""

    def __init__(self, everything: bool, parsed: Protego | None = None, sitemaps: tuple[str, ...] = ()) -> None:
        self._everything = everything  # what holds where there are no rules
        self._parsed = parsed
        self.sitemaps = sitemaps  # as wire URLs

    def allowed(self, url: str) -> bool:
        """Tell whether we may ask for this URL of the host."""
        return self._everything if self._parsed is None else self._parsed.can_fetch(url, _US)

    def crawl_delay(self) -> float | None:
        """Give the pause the host asks for between requests, at most CRAWL_DELAY_CAP seconds; None if it asks none."""
        if self._parsed is None:
            return None
        rate = self._parsed.request_rate(_US)
        wishes = [self._parsed.crawl_delay(_US), rate and rate.seconds / rate.requests]
        return max((min(wish, CRAWL_DELAY_CAP) for wish in wishes if wish is not None), default=None)


def rules_for(robots: Robots, agent_token: str) -> Rules:
    """Read an answer to the request for robots.txt as RFC 9309, 2.3.1, says."""
    if not robots.reachable:
        return Rules(everything=False)
    if not 200 <= robots.status < 300:
        return Rules(everything=True)
    lines = list(_lines(_text(robots.body)))
    sitemaps = _sitemaps(robots.host, lines)
    for_us = _for_us(lines, agent_token)
    return Rules(True, Protego.parse(for_us) if for_us else None, sitemaps)


def expiry(status: int, headers: Mapping[str, str], now: float) -> float:
    """Say until when an answer is believed: Cache-Control between a minute and a day (RFC 9309, 2.4), else a day."""
    if not (200 <= status < 500 and status != 429):
        return now + ERROR_LIFETIME
    control = next((value for name, value in headers.items() if name.lower() == "cache-control"), "")
    if found := _MAX_AGE(control):
        return now + min(max(float(found[1]), MINUTE), DAY)
    return now + (HOUR if "no-cache" in control.lower() or "no-store" in control.lower() else DAY)


def deciding_line(robots: Robots, agent_token: str, url: str) -> str:
    """Give the line that decides about a URL, and for whom it was written; nothing if no line speaks of it."""
    if not 200 <= robots.status < 300:
        return ""
    field = "allow" if rules_for(robots, agent_token).allowed(url) else "disallow"
    whom, group = _group(_for_us(list(_lines(_text(robots.body))), agent_token).splitlines())
    patterns = [value for name, value in group if name == field and value and _matches(value, url)]
    who = agent_token if whom == _US else "*"
    return f"{field.capitalize()}: {max(patterns, key=len)} (User-agent: {who})" if patterns else ""


def _group(lines: Iterable[str]) -> tuple[str, list[tuple[str, str]]]:
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
    whom = _US if _US in groups else "*"
    return whom, groups.get(whom, [])


def _matches(pattern: str, url: str) -> bool:
    return not Protego.parse(f"user-agent: *\ndisallow: {pattern}").can_fetch(url, _US)


# The one agent protego is asked about, and the one that stands for all others.
_US, _OTHERS = "us", "others"


def _text(body: bytes) -> str:
    if len(body) > BODY_LIMIT:
        end = max(body.rfind(b"\n", 0, BODY_LIMIT), body.rfind(b"\r", 0, BODY_LIMIT))
        body = body[: end + 1]  # a line cut in half may say the opposite
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return body.decode("utf-16", "replace")
    text = _BYTE_ORDER_MARK.sub(b"", body, count=1).decode("utf-8", "replace").replace("\0", "")
    return _TAG.sub("\n", text) if _MARKUP(text) else text


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Give the known fields with their values, in order; other lines do not end a group, and are left out."""
    for line in _LINE_ENDS.split(text):
        rule = line.partition("#")[0]
        found = _FIELD(rule) or _LOOSE_FIELD(rule)
        if found:
            yield _NAMES[" ".join(found[1].lower().split())], " ".join(found[2].split())


def _for_us(lines: list[tuple[str, str]], agent: str) -> str:
    """Reduce a file to the groups for our agent and for all agents; nothing if no rule is left."""
    ours = _best_token({value for name, value in lines if name == "user-agent"}, agent)
    group = _Group()
    for name, value in lines:
        if name == "user-agent":
            group.name(_agents(value, ours))
        elif name != "sitemap":
            group.add(name, value)
    return "\n".join(group.finish())


class _Group:
    """Writes groups so that a parser that ends a group at any record reads them right.

    Only `Allow` and `Disallow` end the list of agents of a group (RFC 9309, 2.1; other records must not interfere,
    2.2.4). A delay between two `User-agent` lines is for the agents named since the last delay.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._agents: set[str] = set()  # of the group
        self._latest: set[str] = set()  # of them, named since the last delay
        self._written: set[str] = set()  # whom the last line was written for
        self._before = ""  # field of the last record

    def name(self, agents: Iterable[str]) -> None:
        """Let agents join the group, or begin another one after a rule."""
        is_open = self._before in ("user-agent", *OTHER_RECORDS)
        self._agents = self._agents.union(agents) if is_open else set(agents)
        self._latest = self._latest.union(agents) if self._before == "user-agent" else set(agents)
        self._before = "user-agent"

    def add(self, name: str, value: str) -> None:
        """Add a record for the agents it concerns."""
        if name not in OTHER_RECORDS:
            self._latest = self._agents
        self._write_agents(self._latest)
        self._lines.append(f"{name}: {value}")
        if self._before in ("user-agent", *OTHER_RECORDS) or name not in OTHER_RECORDS:
            self._before = name

    def finish(self) -> list[str]:
        """Return all lines; agents without any record are named too."""
        self._write_agents(self._agents)
        return self._lines

    def _write_agents(self, agents: set[str]) -> None:
        if agents != self._written:
            self._lines += [f"user-agent: {who}" for who in sorted(agents)]
            self._written = agents


def _agents(value: str, ours: str) -> Iterable[str]:
    """Say whom a line speaks to; several names, with commas between them, are no standard and plainly meant."""
    names = value.split(",")
    return dict.fromkeys(
        "*" if name.split()[:1] == ["*"] else _US if ours and _token(name) == ours else _OTHERS for name in names
    )


def _best_token(values: set[str], agent: str) -> str:
    """Choose the longest product token of ours that some group names."""
    own = {token.lower() for token in _TOKEN.findall(agent)}
    named = {_token(name) for value in values for name in value.split(",")}
    return max(own & named, key=len, default="")


def _token(name: str) -> str:
    found = _TOKEN.match(name.lstrip())
    return found[0].lower() if found else ""


def _sitemaps(host: str, lines: list[tuple[str, str]]) -> tuple[str, ...]:
    found = (resolve(host + "/robots.txt", value) for name, value in lines if name == "sitemap" and value)
    return tuple(dict.fromkeys(spelling.wire for spelling in found if spelling))[:SITEMAPS_LIMIT]


HOPS = 5  # redirects followed for one robots.txt (RFC 9309, 2.3.1.2); beyond them a host has none
UNREACHABLE = 0
NONE_THERE = 404


def read_robots(host: Host, reply: Reply, hops: int, now: float) -> Robots | str:
    """Take the rules out of a reply; a string is the URL they moved to."""
    status, fields = read_head(reply.lines)
    if fault(reply) is not None:
        return unreachable(host, now)
    verdict = judge(status, fields, reply, now)
    if verdict.outcome is Outcome.REDIRECT and hops < HOPS:
        return verdict.location
    if not 200 <= status < 300:
        return _robots(host, status, b"", now)
    if verdict.outcome is not Outcome.FETCHED:  # a part of the rules: the one that is missing may keep us out
        return unreachable(host, now)
    body, reason = decoded(reply.body, text(fields.get(b"content-encoding", b"")), BODY_LIMIT + 1)
    if reason is Reason.BAD_ENCODING and not reply.cut:
        return unreachable(host, now)
    lifetime = {"cache-control": text(fields.get(b"cache-control", b""))}
    return _robots(host, status, body[: BODY_LIMIT + 1], now, lifetime)


def pause_asked_for(reply: Reply, now: float) -> float:
    """Give the seconds a host that could not serve its rules wants to be left alone."""
    return retry_after(read_head(reply.lines)[1].get(b"retry-after", b""), now)


def unreachable(host: Host, now: float) -> Robots:
    """Say that a host's rules could not be had: keep out for a while."""
    return _robots(host, UNREACHABLE, b"", now)


def waived(robots: Robots, agent: str) -> Robots:
    """Take a robots.txt for one that forbids nothing, as its owner says; pauses and sitemaps stay."""
    rules = rules_for(robots, agent)
    lines = [f"Sitemap: {sitemap}" for sitemap in rules.sitemaps]
    if pause := rules.crawl_delay():
        lines += ["User-agent: *", f"Crawl-delay: {pause:g}"]
    status = robots.status if robots.reachable else NONE_THERE
    return structs.replace(robots, status=status, body="\n".join(lines).encode())


def _robots(host: Host, status: int, body: bytes, now: float, headers: dict[str, str] | None = None) -> Robots:
    return Robots(host, status, body, now, expiry(status, headers or {}, now))
