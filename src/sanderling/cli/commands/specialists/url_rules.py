"""sanderling url-rules: learn which URL variants return the same page."""

import argparse

from msgspec.structs import asdict

from sanderling.api.operations.dust_rules import (
    RULE_FORMS,
    DustRule,
    DustRuleKind,
    add_url_rules,
    delete_url_rules,
    load_url_rules,
    use_url_rules,
)
from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows

HELP = "Show learned URL rules (DUST): URL variants that return the same page. --use applies them."
EXAMPLES = """\
examples:
  sanderling url-rules                         learned rules with their evidence
  sanderling url-rules --use                   apply these rules before fetching
  sanderling url-rules --used                  the rules in use
  sanderling url-rules --delete example.org    delete the rules of a site
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
    parser.add_argument("--delete", metavar="PATTERN", help="delete the rules of matching sites")
    parser.add_argument(
        "--add", action="append", metavar="RULE", help=f"use a rule for --site: {', '.join(RULE_FORMS)} (repeatable)"
    )


def run(call: CommandCall) -> int:
    """Show learned rules, or change the rules in use."""
    if call.args.delete:
        deleted, left = delete_url_rules(call.collection, call.args.delete)
        print_message(call, f"{deleted} rules deleted, {left} left")
        return 0
    if call.args.add:
        rules = add_url_rules(call.collection, call.args.site or "", call.args.add)
    else:
        rules = load_url_rules(call.collection, call.args.site, used=call.args.used)
        if call.args.use:
            use_url_rules(call.collection, rules)
    if call.args.add or call.args.use:
        print_message(call, f"rules in use: {len(rules)}")
    _print_rules(call, rules)
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
