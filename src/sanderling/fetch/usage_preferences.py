"""Preferences of site owners about the use of their pages, and what they mean for the purpose of a crawl.

Sources: `Content-Signal` and `Content-Usage` in robots.txt (Content Signals, IETF AIPREF), the headers `Content-Usage`,
`Content-Signal`, `TDM-Reservation` (TDMRep) and `X-Robots-Tag`, and the meta elements `robots` and `tdm-reservation`.
Unknown categories and values change nothing, and no preference allows what robots.txt forbids.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.robots_groups import select_agent_lines
from sanderling.fetch.transport import FetchResponse
from sanderling.html.parser import is_html, parse_html
from sanderling.http.decoding import decode_body
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Outcome, Reason, RobotsTxt, Visit

Purpose = Literal["search", "archive", "ai-input", "ai-train"]
CATEGORIES: Mapping[str, tuple[str, ...]] = {  # of each purpose: the most specific first
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
HEADER_NAMES = (b"content-usage", b"content-signal", b"tdm-reservation", b"x-robots-tag")


class UsageRule(Struct, frozen=True):
    """Preferences of a line in robots.txt, for paths that start with a prefix."""

    prefix: str
    values: dict[str, bool]  # by category: allowed
    line: str


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
    if not 200 <= robots.status < 300 or b"content-" not in robots.body.lower():
        return ()
    rules = []
    for line in select_agent_lines(robots.body, agent, SIGNAL_LINE):
        match = SIGNAL_LINE.fullmatch(line)
        if match and (values := parse_preferences(match[3])):
            rules.append(UsageRule(match[2] or "/", values, " ".join(line.split())[:200]))
    return tuple(rules[:MAX_RULES])


def find_denial(rules: Iterable[UsageRule], url: str, purpose: Purpose) -> str:
    """Return the line of robots.txt that denies a purpose for a URL, or ""."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    matching = sorted((rule for rule in rules if path.startswith(rule.prefix)), key=lambda rule: -len(rule.prefix))
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
    found = []
    for element in parse_html(body).find_all("meta")[:MAX_META_ELEMENTS]:
        name = (element.attr("name") or "").strip().lower()
        if name in ("tdm-reservation", "robots"):
            found.append((name, element.attr("content") or ""))
    return found


def _is_denied(name: str, value: str, purpose: Purpose) -> bool:
    text = value.strip().lower()
    if name == "tdm-reservation":
        return text == "1" and "tdm" in CATEGORIES[purpose]
    if name in ("robots", "x-robots-tag"):
        words = set(re.split(r"[,\s:]+", text))
        return any(purpose in ROBOTS_WORDS[word] for word in words & ROBOTS_WORDS.keys())
    stated = parse_preferences(text)
    category = next((category for category in CATEGORIES[purpose] if category in stated), "")
    return bool(category) and not stated[category]
