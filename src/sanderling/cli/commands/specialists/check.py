"""sanderling check: test how a URL, robots.txt, sitemap, or page is interpreted."""

import argparse
from collections.abc import Callable

from sanderling.api.operations.url_check import UrlCheck
from sanderling.cli.arguments import CommandCall, format_value, print_json
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings
from sanderling.terminal import strip_control_characters

HELP = "Test how a URL, robots.txt, sitemap, or page is interpreted, without crawling."
EXAMPLES = """\
examples:
  sanderling check url "HTTP://Example.ORG:80/a/../b?x=%7e#top"      normalized URL, scope, traps
  sanderling check robots https://example.org/private/               allowed or not, deciding rule, crawl delay
  sanderling check sitemap https://example.org/sitemap.xml           entries and errors
  sanderling check parse https://example.org/                        links, title, robots meta, text
"""
GROUPS = (ScopeSettings, PolitenessSettings, HttpSettings)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("what", choices=sorted(CHECKS), help="what to check")
    parser.add_argument("url", help="the URL")
    parser.add_argument(
        "--seed", action="append", default=[], help="seed for the scope check (default: seeds of the collection)"
    )


def run(call: CommandCall) -> int:
    """Run a check and print the result."""
    check = UrlCheck(
        call.collection, call.get_settings(ScopeSettings), call.get_settings(PolitenessSettings),
        call.get_settings(HttpSettings), tuple(call.args.seed),
    )  # fmt: skip
    found = CHECKS[call.args.what](check, call.args.url)
    if call.json:
        print_json(found)
    else:
        for name, value in found.items():
            _print_field(name, value)
    return 0


def _print_field(name: str, value: object) -> None:
    label = f"{name.replace('_', ' ')}:"
    if isinstance(value, list):
        print(f"{label:<19} {len(value)}")
        for item in value:
            print(f"    {strip_control_characters(item if isinstance(item, str) else '  '.join(_format_item(item)))}")
    elif isinstance(value, str) and "\n" in value:
        print(label)
        print("\n".join(f"    {strip_control_characters(line)}" for line in value.splitlines()))
    else:
        print(f"{label:<19} {strip_control_characters('-' if value is None or value == '' else format_value(value))}")


def _format_item(item: dict[str, object]) -> list[str]:
    """Format the fields of a link or entry; of true switches only the name."""
    return [name if value is True else str(value) for name, value in item.items() if value]


CHECKS: dict[str, Callable[[UrlCheck, str], dict[str, object]]] = {
    "url": UrlCheck.check_url,
    "robots": UrlCheck.check_robots,
    "parse": UrlCheck.check_parse,
    "sitemap": UrlCheck.check_sitemap,
}
