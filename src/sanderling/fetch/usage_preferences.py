"""Preferences of site owners about the use of their pages, and what they mean for the purpose of a crawl.

Sources: `Content-Signal` and `Content-Usage` in robots.txt (Content Signals, IETF AIPREF), the headers `Content-Usage`,
`Content-Signal`, `TDM-Reservation` (TDMRep) and `X-Robots-Tag`, and the meta elements `robots` and `tdm-reservation`.
RSL licenses that robots.txt names and `/.well-known/tdmrep.json` are appended to robots.txt as lines `RSL-Usage` and
`TDM-Usage` (discovery/usage_licenses.py), so that they are kept as long as it. Each source can deny. Unknown categories
and values change nothing, and no preference allows what robots.txt forbids.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sanderling.discovery.usage_licenses import (
    deny_unread_license,
    find_license_urls,
    translate_license,
    translate_reservations,
)
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.robots_groups import select_agent_lines
from sanderling.fetch.transport import FetchResponse
from sanderling.html.parser import is_html, parse_html
from sanderling.http.decoding import decode_body
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Outcome, Reason, RobotsTxt, Visit
from sanderling.urls.normalize import resolve_url
from sanderling.warc.warc_reader import StoredRecord

Purpose = Literal["search", "archive", "ai-input", "ai-train"]
CATEGORIES: Mapping[Purpose, tuple[str, ...]] = {  # of each purpose: the most specific first
    "search": ("search", "bots"),
    "archive": ("archive", "bots"),
    "ai-input": ("ai-input", "ai-use", "tdm", "bots"),
    "ai-train": ("ai-train", "train-ai", "train-genai", "tdm", "bots"),
}
DENIED, ALLOWED = frozenset(("n", "no", "?0")), frozenset(("y", "yes", "?1"))
ROBOTS_WORDS = {"noai": ("ai-input", "ai-train"), "noimageai": (), "noarchive": ("archive",)}
MAX_RULES = 1_000
MAX_META_ELEMENTS = 200
SIGNAL_LINE = re.compile(r"\s*content-(signal|usage)\s*:\s*(/\S*)?\s*(.*)", re.IGNORECASE | re.DOTALL)
HEADER_NAMES = (b"content-usage", b"content-signal", b"tdm-reservation", b"x-robots-tag", b"link")
APPENDED_LINE = re.compile(r"^(RSL|TDM)-Usage: (/\S*) ([^\n#]*)", re.MULTILINE)
MAX_APPENDED = 200_000
MAX_POLICY = 1_000_000
MAX_SNIFFED = 1_000
MAX_WILDCARDS = 5  # of a path pattern
TDMREP_PATH = "/.well-known/tdmrep.json"
RSL_TYPE = "application/rsl+xml"


class UsageRule(Struct, frozen=True):
    """Preferences of a line in robots.txt, for paths that start with a prefix."""

    prefix: str
    values: dict[str, bool]  # by category: allowed
    line: str
    source: str = "content"  # or rsl, tdm: a permission of one does not lift the denial of another

    def matches(self, path: str) -> bool:
        """Return whether a path starts with the prefix, which may contain `*` and end in `$`."""
        if not set(self.prefix) & {"*", "$"}:
            return path.startswith(self.prefix)
        parts = [re.escape(part) for part in self.prefix.rstrip("$").split("*")[:MAX_WILDCARDS]]
        return re.match(".*?".join(parts) + ("$" if self.prefix.endswith("$") else ""), path) is not None


def parse_preferences(text: str) -> dict[str, bool]:
    """Parse `search=yes, ai-train=no`. Of contradictory values, the denial counts."""
    found: dict[str, bool] = {}
    for part in re.split(r"[,;]", text[:2_000]):
        name, _, value = (piece.strip().lower() for piece in part.partition("="))
        if value in DENIED or (value in ALLOWED and name not in found):
            found[name] = value in ALLOWED
    return found


def parse_robots_preferences(robots: RobotsTxt, agent: str) -> tuple[UsageRule, ...]:
    """Return the preferences that a robots.txt has for our agent, else for all."""
    rules = [
        _build_rule(match) for match in APPENDED_LINE.finditer(robots.body[-MAX_APPENDED:].decode("utf-8", "replace"))
    ]
    if not 200 <= robots.status < 300 or b"content-" not in robots.body.lower():
        return tuple(rules)
    for line in select_agent_lines(robots.body, agent, SIGNAL_LINE):
        match = SIGNAL_LINE.fullmatch(line)
        if match and (values := parse_preferences(match[3])):
            rules.append(UsageRule(match[2] or "/", values, " ".join(line.split())[:200]))
    return tuple(rules[:MAX_RULES])


def _build_rule(match: re.Match[str]) -> UsageRule:
    return UsageRule(match[2], parse_preferences(match[3]), " ".join(match[0].split())[:200], match[1].lower())


def list_policy_urls(robots: RobotsTxt, purpose: Purpose) -> list[str]:
    """Return the files that say more about the use of a host: its RSL licenses, and the reservations of TDMRep."""
    if not robots.is_reachable or APPENDED_LINE.search(robots.body[-MAX_APPENDED:].decode("utf-8", "replace")):
        return []
    urls = [resolve_url(robots.host + "/robots.txt", text) for text in find_license_urls(robots.body)]
    mined = [robots.host + TDMREP_PATH] if "tdm" in CATEGORIES[purpose] else []
    return [url.request_url for url in urls if url is not None] + mined


def append_policy(robots: RobotsTxt, url: str, response: FetchResponse) -> RobotsTxt:
    """Return a robots.txt with the lines of usage that a license or a file of reservations stands for."""
    status, fields = parse_head(response.head_lines)
    coding = fields.get(b"content-encoding", b"").decode("latin-1")
    body, reason = decode_body(response.body, coding, MAX_POLICY)
    is_read = 200 <= status < 300 and not response.curl_error and not reason
    if url == robots.host + TDMREP_PATH:
        lines = translate_reservations(body) if is_read else []
    else:
        lines = (translate_license(body, robots.host) if is_read else []) or [deny_unread_license(url)]
    return replace(robots, body=robots.body + "".join(f"\n{line}" for line in lines).encode()) if lines else robots


def find_denial(rules: Iterable[UsageRule], url: str, purpose: Purpose) -> str:
    """Return the line of robots.txt that denies a purpose for a URL, or ""."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    matching = sorted((rule for rule in rules if rule.matches(path)), key=lambda rule: -len(rule.prefix))
    for source in dict.fromkeys(rule.source for rule in matching):
        if denial := _find_source_denial([rule for rule in matching if rule.source == source], purpose):
            return denial
    return ""


def _find_source_denial(matching: Sequence[UsageRule], purpose: Purpose) -> str:
    for category in CATEGORIES[purpose]:
        stated = [rule for rule in matching if category in rule.values]
        longest = [rule for rule in stated if len(rule.prefix) == len(stated[0].prefix)]
        denying = [rule for rule in longest if not rule.values[category]]
        if stated:
            return denying[0].line if denying else ""
    return ""


def find_response_denial(response: FetchResponse, purpose: Purpose, max_page: int) -> str:
    """Return the header or meta element that denies a purpose, or ""."""
    status, fields = parse_head(response.head_lines)
    stated = [(name.decode(), fields[name].decode("latin-1")) for name in HEADER_NAMES if name in fields]
    if purpose != "search" and 200 <= status < 300:  # meta elements say nothing about search that noindex does not
        coding = fields.get(b"content-encoding", b"").decode("latin-1")
        body, reason = decode_body(response.body, coding, max_page)
        if not reason and is_html(get_media_type(fields), body):
            stated += _read_meta_elements(body)
    return next((f"{name}: {value[:100]}" for name, value in stated if _is_denied(name, value, purpose)), "")


def describe_usage(robots: RobotsTxt | None, agent: str, url: str, record: StoredRecord | None) -> dict[str, str]:
    """Return the purposes that a host or a stored response denies, with the line that denies each."""
    rules = parse_robots_preferences(robots, agent) if robots is not None else ()
    stated: list[tuple[str, str]] = []
    if record is not None:
        known = {name.decode() for name in HEADER_NAMES}
        stated = [(name.lower(), value) for name, value in record.http_headers if name.lower() in known]
        stated += _read_meta_elements(record.body) if record.body[:MAX_SNIFFED].lstrip()[:1] == b"<" else []
    denials: dict[str, str] = {}
    for purpose in CATEGORIES:
        found = find_denial(rules, url, purpose) or next(
            (f"{name}: {value[:100]}" for name, value in stated if _is_denied(name, value, purpose)), ""
        )
        if found:
            denials[purpose] = found
    return denials


def skip_denied_visit(visit: Visit, response: FetchResponse, settings: FetchSettings) -> Visit:
    """Return the visit, or a skipped one without content if the page denies the purpose."""
    if visit.outcome is not Outcome.FETCHED:
        return visit
    denial = find_response_denial(response, settings.purpose, settings.max_page)
    if not denial:
        return visit
    detail = f"not for {settings.purpose}: {denial}"
    return Visit(
        visit.id, visit.token, visit.url, Outcome.SKIPPED, visit.visited_at, Reason.USAGE, detail, visit.status,
        received_bytes=visit.received_bytes, address=visit.address, role=visit.role,
    )  # fmt: skip


def _read_meta_elements(body: bytes) -> list[tuple[str, str]]:
    found, tree = [], parse_html(body)
    for element in tree.find_all("meta")[:MAX_META_ELEMENTS]:
        name = (element.attr("name") or "").strip().lower()
        if name in ("tdm-reservation", "robots"):
            found.append((name, element.attr("content") or ""))
    links = tree.find_all("link")[:MAX_META_ELEMENTS]
    return found + [("link", RSL_TYPE) for link in links if (link.attr("type") or "").strip().lower() == RSL_TYPE]


def _is_denied(name: str, value: str, purpose: Purpose) -> bool:
    text = value.strip().lower()
    if name == "link":  # to an RSL license that is not read: it permits no use by AI
        return "rsl+xml" in text and "tdm" in CATEGORIES[purpose]
    if name == "tdm-reservation":
        return text == "1" and "tdm" in CATEGORIES[purpose]
    if name in ("robots", "x-robots-tag"):
        words = set(re.split(r"[,\s:]+", text))
        return any(purpose in ROBOTS_WORDS[word] for word in words & ROBOTS_WORDS.keys())
    stated = parse_preferences(text)
    category = next((category for category in CATEGORIES[purpose] if category in stated), "")
    return bool(category) and not stated[category]
