"""sanderling url-rules: learn which URL variants return the same page."""

import argparse

from msgspec.structs import asdict

from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.db.connection import transaction
from sanderling.errors import UsageError
from sanderling.storage.collection import StoredCollection, open_collection, open_collection_read_only
from sanderling.storage.reports import load_dust_samples
from sanderling.urls.dust import (
    RULE_FORMS,
    DustRule,
    DustRuleKind,
    get_site_name,
    learn_rules,
    load_rules,
    parse_rules,
    save_rules,
)
from sanderling.urls.normalize import normalize_url
from sanderling.urls.scope import is_wildcard_match

HELP = "Show learned URL rules (DUST): URL variants that return the same page. --use applies them."
EXAMPLES = """\
examples:
  sanderling url-rules                         learned rules with their evidence
  sanderling url-rules --use                   apply these rules before fetching
  sanderling url-rules --used                  the rules in use
  sanderling url-rules --forget example.org    remove the rules of a site
  sanderling url-rules --site example.org --add slash --add parameter=sid   your own rules
"""
RULE_DESCRIPTIONS = {
    DustRuleKind.PARAMETER: "parameter {name} makes no difference",
    DustRuleKind.PARAMETER_ORDER: "the order of parameters makes no difference",
    DustRuleKind.WWW: "www. makes no difference",
    DustRuleKind.INDEX: "{name} is its folder",
    DustRuleKind.SLASH: "a final slash makes no difference",
    DustRuleKind.CASE: "upper and lower case make no difference",
    DustRuleKind.SCHEME: "http is https",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--site", metavar="PATTERN", help="only sites that match this pattern (* matches anything)")
    parser.add_argument("--use", action="store_true", help="use these rules from now on")
    parser.add_argument("--used", action="store_true", help="show the rules in use")
    parser.add_argument("--forget", metavar="PATTERN", help="remove the rules of matching sites")
    parser.add_argument(
        "--add", action="append", metavar="RULE", help=f"use a rule for --site: {', '.join(RULE_FORMS)} (repeatable)"
    )


def run(call: CommandCall) -> int:
    """Show learned rules, or change the rules in use."""
    if call.args.forget:
        return _delete_rules(call)
    if call.args.add:
        return _add_rules(call)
    with open_collection_read_only(call.collection) as collection:
        found = load_rules(collection.db) if call.args.used else learn_rules(load_dust_samples(collection.db))
    rules = [rule for rule in found if call.args.site is None or _matches_site(call.args.site, rule.site)]
    if call.args.use:
        with open_collection(call.collection) as collection:
            sites = {rule.site for rule in rules}
            kept = [rule for rule in load_rules(collection.db) if rule.site not in sites or not rule.support_count]
            _save_rules(collection, [*kept, *rules])
        print_message(call, f"rules in use: {len(rules)}")
    _print_rules(call, rules)
    return 0


def _save_rules(collection: StoredCollection, rules: list[DustRule]) -> None:
    """Save rules in a transaction; report a full disk."""
    with transaction(collection.db):
        save_rules(collection.db, rules)


def _matches_site(pattern_arg: str, site: str) -> bool:
    pattern = _parse_site(pattern_arg) if "://" in pattern_arg else pattern_arg.lower()
    return is_wildcard_match(site, pattern or pattern_arg)


def _parse_site(site_arg: str) -> str:
    url = normalize_url(site_arg if "://" in site_arg else f"http://{site_arg}")
    is_pattern = "*" in site_arg or ("?" in site_arg and "://" not in site_arg)
    return "" if url is None or is_pattern else get_site_name(url.url)


def _add_rules(call: CommandCall) -> int:
    """Add rules given by the user, without verification."""
    site = _parse_site(call.args.site or "")
    if not site:
        raise UsageError("--add needs --site with the name of one site, such as example.org")
    try:
        rules = [rule for text in call.args.add for rule in parse_rules(site, text)]
    except ValueError as wrong:
        raise UsageError(f"--add: {wrong}") from None
    with open_collection(call.collection) as collection:
        known = {(rule.site, rule.kind, rule.name) for rule in rules}
        kept = [rule for rule in load_rules(collection.db) if (rule.site, rule.kind, rule.name) not in known]
        _save_rules(collection, [*kept, *rules])
    print_message(call, f"rules in use: {len(rules)}")
    _print_rules(call, rules)
    return 0


def _delete_rules(call: CommandCall) -> int:
    with open_collection(call.collection) as collection:
        rules = load_rules(collection.db)
        kept = [rule for rule in rules if not _matches_site(call.args.forget, rule.site)]
        _save_rules(collection, kept)
    print_message(call, f"{len(rules) - len(kept)} rules removed, {len(kept)} left")
    return 0


def _print_rules(call: CommandCall, rules: list[DustRule]) -> None:
    if call.json:
        for rule in rules:
            print_json(asdict(rule))
        return
    rows = (
        (rule.site, rule.support_count, rule.conflict_count, RULE_DESCRIPTIONS[rule.kind].format(name=rule.name))
        for rule in rules
    )
    print_rows(rows, ("site", "support", "conflicts", "rule"), "no rules learned yet")
