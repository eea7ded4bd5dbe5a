"""sanderling archive: crawl sites completely, with everything that their pages need to be shown."""

import argparse

from msgspec.structs import replace

from sanderling.cli.arguments import CommandCall, print_message
from sanderling.cli.commands import crawl

HELP = """Store sites as they look: a crawl with --requisites, which also fetches images, style sheets, fonts, scripts,
and frames, from other hosts too. Takes every flag of crawl."""
EXAMPLES = """\
examples:
  sanderling archive https://example.org/ -C archive-2026     run again to update
  sanderling archive https://example.org/news/ --scope prefix --limit 100
  sanderling archive https://example.org/post.html --scope page     one page with its requisites
  sanderling serve -C archive-2026                            look at it
"""
GROUPS = crawl.GROUPS
PRESET = {"requisites": True}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    crawl.arguments(parser)


def run(call: CommandCall) -> int:
    """Crawl with the preset, which flags, environment, and settings file may override."""
    if call.setting_values.get("requisites", True):
        print_message(call, "archive = crawl --requisites: also images, styles, fonts, scripts and frames of any host")
    return crawl.run(replace(call, setting_values={**PRESET, **call.setting_values}))


def interrupted(call: CommandCall) -> None:
    """Print the JSON summary of a crawl interrupted before it started."""
    crawl.interrupted(call)
