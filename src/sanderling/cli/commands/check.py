"""sanderling check: what we would do with a URL, a robots.txt or a page, and why."""

import argparse
import json
import time
from collections.abc import Callable

import msgspec

from sanderling.cli.arguments import Call, print_json, said
from sanderling.cli.time_format import iso
from sanderling.config.settings import Fetching, Politeness, Scope
from sanderling.crawl.probe import Answer, ask, ask_robots
from sanderling.crawl.request import Request, fetch_settings, read_seed
from sanderling.discovery.entry_types import Kind
from sanderling.discovery.sitemap_parser import read_sitemap
from sanderling.errors import UsageError
from sanderling.fetch.address_guard import is_global, literal
from sanderling.fetch.robots import deciding_line, rules_for
from sanderling.frontier.hosts import Hosts
from sanderling.html.links import extract
from sanderling.html.parser import charset_of, is_html, parse
from sanderling.html.text import text
from sanderling.models import Outcome, Reason, Robots, Role, Url
from sanderling.storage.collection import exists, get_meta, read_collection
from sanderling.storage.queries import url_id
from sanderling.terminal import plain
from sanderling.urls.dust import load, rewrite
from sanderling.urls.normalize import Spelling, host_of, hostname, normalise, resolve, why_not
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import admissible, is_at_location, scope_rule, verdict
from sanderling.urls.site import registrable_domain
from sanderling.urls.traps import trap_in

HELP = "Explain what would happen with a URL, without crawling."
EXAMPLES = """\
examples:
  sanderling check url "HTTP://Example.ORG:80/a/../b?x=%7e#top"      its spelling, scope, traps
  sanderling check robots https://example.org/private/               may we, by which rule, how slowly
  sanderling check sitemap https://example.org/sitemap.xml           what can be read, what is wrong
  sanderling check parse https://example.org/                        links, title, robots meta, text
"""
GROUPS = (Scope, Politeness, Fetching)
FORBIDDEN = "forbidden"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("what", choices=sorted(CHECKS), help="what to look at")
    parser.add_argument("url", help="the URL")
    parser.add_argument(
        "--seed", action="append", default=[], help="judge scope as if the crawl began here (default: its seeds)"
    )


def run(call: Call) -> int:
    """Print what was found out."""
    found = CHECKS[call.args.what](call, call.args.url)
    if call.json:
        print_json(found)
    else:
        for name, value in found.items():
            _print(name, value)
    return 0


def _print(name: str, value: object) -> None:
    label = f"{name.replace('_', ' ')}:"
    if isinstance(value, list):
        print(f"{label:<19} {len(value)}")
        for item in value:
            print(f"    {plain(item if isinstance(item, str) else '  '.join(_parts(item)))}")
    elif isinstance(value, str) and "\n" in value:
        print(label)
        print("\n".join(f"    {plain(line)}" for line in value.splitlines()))
    else:
        print(f"{label:<19} {plain('-' if value is None or value == '' else said(value))}")


def _parts(item: dict[str, object]) -> list[str]:
    """What is known of one link or entry: of a switch its name, if it is on."""
    return [name if value is True else str(value) for name, value in item.items() if value]


def spell(raw: str) -> Spelling:
    """Spell what was typed, or say why it cannot be a URL."""
    spelling = normalise(raw)
    if spelling is None and "." in raw.partition("/")[0]:
        return read_seed(raw)  # a bare host name means https, as for a crawl
    if spelling is None:
        raise UsageError(f"{raw!r} would not be crawled: {why_not(raw) or Reason.BAD_URL}")
    return spelling


def check_url(call: Call, raw: str) -> dict[str, object]:
    """Spelling, scope, traps, and what the collection knows."""
    spelling = spell(raw)
    scope = call.settings(Scope)
    rule = scope_rule(_seeds(call, spelling), ScopeKind(scope.scope), scope.include, scope.exclude)
    reason, trap = verdict(rule, spelling.url) or _guarded(call, spelling), trap_in(spelling.url, time.time())
    found: dict[str, object] = {
        "url": spelling.url,
        "wire": spelling.wire,
        "host": host_of(spelling.url),
        "domain": registrable_domain(host_of(spelling.url)),
        "verdict": reason or (Reason.TRAP if trap else "would be crawled"),
        "trap": trap,
    }
    if exists(call.collection):
        with read_collection(call.collection) as collection:
            id_ = url_id(collection.db, spelling.url)
            row = collection.db.execute("SELECT state, reason, depth FROM urls WHERE id = ?", (id_,)).fetchone()
            robots = Hosts(collection.db).robots(host_of(spelling.url))
            usual = rewrite(spelling.url, load(collection.db))
        agent = fetch_settings(_fetching(call)).agent_token
        found["robots"] = _of_robots(robots, spelling, agent)
        if found["robots"] == FORBIDDEN and not reason and not trap:
            found["verdict"] = Reason.ROBOTS
        if usual != spelling.url:  # by the rules that sanderling dust has in use
            found["same_as"] = usual
            found["verdict"] = found["verdict"] if reason or trap else Reason.DUPLICATE
        if row is not None and row[1] == Reason.FORGOTTEN:
            found["verdict"] = Reason.FORGOTTEN
        found["in_collection"] = "unknown" if row is None else f"{row[0]} {row[1]}".strip() + f", depth {row[2]}"
    return found


def _seeds(call: Call, spelling: Spelling) -> list[Url]:
    """Where the crawl began: as told, as the collection remembers, or at this very URL."""
    if not call.args.seed and exists(call.collection):
        with read_collection(call.collection) as collection:
            return [Url(seed) for seed in json.loads(get_meta(collection.db, "seeds", "[]"))] or [spelling.url]
    return [spell(seed).url for seed in call.args.seed] or [spelling.url]


def _guarded(call: Call, spelling: Spelling) -> Reason:
    """An address that is written out can be judged here; what a name leads to is seen when it is resolved."""
    name = hostname(host_of(spelling.url))
    address = literal(name)
    private = f".{name.rstrip('.')}".endswith(".localhost") if address is None else not is_global(address)
    refused = private and not call.settings(Fetching).allow_private
    return Reason.PRIVATE_ADDRESS if refused else Reason.NONE


def _of_robots(robots: Robots | None, spelling: Spelling, agent: str) -> str:
    """What the robots.txt that the collection keeps says of a URL."""
    if robots is None:
        return "not read yet: sanderling check robots asks for it"
    return "allowed" if rules_for(robots, agent).allowed(spelling.wire) else FORBIDDEN


def _fetching(call: Call) -> Request:
    return Request((), politeness=call.settings(Politeness), fetching=call.settings(Fetching))


def check_robots(call: Call, raw: str) -> dict[str, object]:
    """Fetch robots.txt of the URL's host and say what it allows us."""
    spelling = spell(raw)
    settings = fetch_settings(_fetching(call))
    robots = ask_robots(host_of(spelling.url), settings)
    rules = rules_for(robots, settings.agent_token)
    return {
        "robots": f"{robots.host}/robots.txt",
        "status": robots.status,
        "bytes": len(robots.body),
        "agent": settings.agent_token,
        "allowed": rules.allowed(spelling.wire),
        "why": _why(robots, settings.agent_token, spelling),
        "crawl_delay": rules.crawl_delay(),
        "sitemaps": list(rules.sitemaps),
    }


def _why(robots: Robots, agent: str, spelling: Spelling) -> str:
    if not robots.reachable:
        said = f"status {robots.status}" if robots.status else "no answer"
        return f"robots.txt could not be reached ({said}): keep out"
    if not 200 <= robots.status < 300:
        return f"there is no robots.txt (status {robots.status}): no rules"
    return deciding_line(robots, agent, spelling.wire) or "no rule speaks of it"


def check_parse(call: Call, raw: str) -> dict[str, object]:
    """Fetch a page and say what the crawler would take from it."""
    spelling = spell(raw)
    answer = ask(spelling, fetch_settings(_fetching(call)))
    found: dict[str, object] = {
        "url": spelling.url,
        "status": answer.status,
        "outcome": answer.outcome,
        "mime": answer.mime,
        "bytes": len(answer.body),
    }
    if answer.location:
        found["location"] = answer.location
    if answer.reason:
        found |= {"reason": answer.reason, "note": answer.note}
    return found | _page(answer, spelling) if is_html(answer.mime, answer.body) else found


def _page(answer: Answer, spelling: Spelling) -> dict[str, object]:
    tree = parse(answer.body, charset_of(answer.content_type))
    page = extract(tree, spelling.wire)
    return {
        "encoding": tree.encoding,
        **{
            name: value
            for name, value in msgspec.to_builtins(page).items()
            if name not in ("links", "feeds", "sitemaps")
        },
        "noindex": answer.noindex,
        "nofollow": answer.nofollow,
        "feeds": list(page.feeds),
        "sitemaps": list(page.sitemaps),
        "links": [{"href": link.href, "anchor": link.anchor, "nofollow": link.nofollow} for link in page.links],
        "text": "\n".join(line for line in text(tree).splitlines() if line.strip())[:2000],
    }


def check_sitemap(call: Call, raw: str) -> dict[str, object]:
    """Fetch a sitemap or feed and say what could be read, and what was wrong with it."""
    spelling = spell(raw)
    answer = ask(spelling, fetch_settings(_fetching(call)), Role.SITEMAP)
    found: dict[str, object] = {"url": spelling.url, "status": answer.status, "bytes": len(answer.body)}
    if answer.outcome is not Outcome.FETCHED:
        return found | {
            "outcome": answer.outcome, "reason": answer.reason, "note": answer.note, "location": answer.location
        }  # fmt: skip
    report = read_sitemap([answer.body], charset=charset_of(answer.content_type))
    spelled = [(entry, resolve(spelling.wire, entry.loc)) for entry in report.entries]
    foreign = sum(1 for _, target in spelled if target and not admissible(target.url, spelling.url))
    elsewhere = sum(1 for _, target in spelled if target and not is_at_location(target.url, spelling.url))
    return found | {
        "kind": report.kind,
        "pages": len(report.entries),
        "of_other_hosts": foreign,
        "outside_its_folder": elsewhere if report.kind in (Kind.URLSET, Kind.TEXT) else 0,
        "with_lastmod": sum(1 for entry in report.entries if entry.lastmod is not None),
        "problems": [f"{problem}: {count}" for problem, count in report.problems.items() if count],
        "sitemaps": [entry.loc for entry in report.sitemaps],
        "first": [
            {
                "loc": target.url if target else entry.loc,
                "lastmod": iso(entry.lastmod or 0.0) or "",
                "changefreq": entry.changefreq,
                "priority": "" if entry.priority is None else f"{entry.priority:g}",
            }
            for entry, target in spelled[:20]
        ],
    }


CHECKS: dict[str, Callable[[Call, str], dict[str, object]]] = {
    "url": check_url,
    "robots": check_robots,
    "parse": check_parse,
    "sitemap": check_sitemap,
}
