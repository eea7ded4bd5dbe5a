"""sanderling dust: what makes no difference in the URLs of a site, learned from what was crawled."""

import argparse
from collections.abc import Iterator

from msgspec import to_builtins

from sanderling.cli.arguments import Call, print_json, print_rows, say
from sanderling.db.connection import transaction
from sanderling.errors import UsageError
from sanderling.models import Role
from sanderling.storage.collection import Collection, open_collection, read_collection
from sanderling.urls.dust import NAMES, Kind, Page, Rule, learn, load, said, save, site_of
from sanderling.urls.normalize import normalise
from sanderling.urls.scope import is_like

HELP = "Show which parts of URLs make no difference on a site; with --use, leave them out from now on."
EXAMPLES = """\
examples:
  sanderling dust                         what the crawl taught, with its evidence
  sanderling dust --use                   spell URLs by these rules before fetching
  sanderling dust --used                  the rules in use
  sanderling dust --forget example.org    take the rules of a site back
  sanderling dust --site example.org --add slash --add parameter=sid   rules you know yourself
"""
WORDS = {
    Kind.PARAMETER: "parameter {name} makes no difference",
    Kind.ORDER: "the order of parameters makes no difference",
    Kind.WWW: "www. makes no difference",
    Kind.INDEX: "{name} is its folder",
    Kind.SLASH: "a final slash makes no difference",
    Kind.CASE: "upper and lower case make no difference",
    Kind.SCHEME: "http is https",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--site", metavar="PATTERN", help="only sites like this: * stands for anything")
    parser.add_argument("--use", action="store_true", help="use these rules from now on")
    parser.add_argument("--used", action="store_true", help="show the rules in use")
    parser.add_argument("--forget", metavar="PATTERN", help="take back the rules of sites like this")
    parser.add_argument(
        "--add", action="append", metavar="RULE", help=f"use a rule for --site: {', '.join(NAMES)} (repeatable)"
    )


def run(call: Call) -> int:
    """Learn and show; or write down what to use."""
    if call.args.forget:
        return _forget(call)
    if call.args.add:
        return _add(call)
    with read_collection(call.collection) as collection:
        found = load(collection.db) if call.args.used else learn(_pages(collection))
    rules = [rule for rule in found if call.args.site is None or _is_meant(call.args.site, rule.site)]
    if call.args.use:
        with open_collection(call.collection) as collection:
            sites = {rule.site for rule in rules}
            kept = [rule for rule in load(collection.db) if rule.site not in sites or not rule.agreed]
            _save(collection, [*kept, *rules])
        say(call, f"rules in use: {len(rules)}")
    _print(call, rules)
    return 0


def _save(collection: Collection, rules: list[Rule]) -> None:
    """All of it or nothing; a disk without room for it is named."""
    with transaction(collection.db):
        save(collection.db, rules)


def _pages(collection: Collection) -> Iterator[Page]:
    """Pages that answered, each by its text where that is known: bodies of one page differ in tokens.

    Many servers have an answer to whatever is asked for: what stands in the place of a sitemap or list is no page.
    """
    for url, digest, mark, sketch in collection.db.execute(
        "SELECT h.name || u.path, p.digest, m.value, s.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'text'"
        " LEFT JOIN marks AS s ON s.url = p.url AND s.kind = 'minhash'"
        " WHERE p.status BETWEEN 200 AND 299 AND p.size > 0 AND u.role = ?",
        (Role.PAGE,),
    ):
        yield Page(url, mark or digest, sketch or b"")


def _is_meant(typed: str, site: str) -> bool:
    """Say whether a site is the one that was typed, or like it."""
    pattern = _site(typed) if "://" in typed else typed.lower()
    return is_like(site, pattern or typed)


def _site(typed: str) -> str:
    """Name a site as rules do, whether its name or an address was typed; empty if it is neither."""
    spelling = normalise(typed if "://" in typed else f"http://{typed}")
    is_pattern = "*" in typed or ("?" in typed and "://" not in typed)
    return "" if spelling is None or is_pattern else site_of(spelling.url)


def _add(call: Call) -> int:
    """Use rules that a person knows to hold; nothing is learned or checked."""
    site = _site(call.args.site or "")
    if not site:
        raise UsageError("--add needs --site with the name of one site, such as example.org")
    try:
        rules = [rule for text in call.args.add for rule in said(site, text)]
    except ValueError as wrong:
        raise UsageError(f"--add: {wrong}") from None
    with open_collection(call.collection) as collection:
        known = {(rule.site, rule.kind, rule.name) for rule in rules}
        kept = [rule for rule in load(collection.db) if (rule.site, rule.kind, rule.name) not in known]
        _save(collection, [*kept, *rules])
    say(call, f"rules in use: {len(rules)}")
    _print(call, rules)
    return 0


def _forget(call: Call) -> int:
    with open_collection(call.collection) as collection:
        rules = load(collection.db)
        kept = [rule for rule in rules if not _is_meant(call.args.forget, rule.site)]
        _save(collection, kept)
    say(call, f"{len(rules) - len(kept)} rules taken back, {len(kept)} left")
    return 0


def _print(call: Call, rules: list[Rule]) -> None:
    if call.json:
        for rule in rules:
            print_json(to_builtins(rule))
        return
    rows = ((rule.site, rule.agreed, rule.disagreed, WORDS[rule.kind].format(name=rule.name)) for rule in rules)
    print_rows(rows, ("site", "agreed", "disagreed", "rule"), "no rule was learned yet")
