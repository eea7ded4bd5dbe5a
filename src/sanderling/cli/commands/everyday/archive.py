"""sanderling archive: crawl sites completely, with everything that their pages need to be shown."""

import argparse

from msgspec.structs import replace

from sanderling.api.archive_seal import has_collection, is_sealed, load_key
from sanderling.api.collection_access import Collection
from sanderling.cli.arguments import CommandCall, print_message
from sanderling.cli.commands.everyday import crawl

HELP = """Store sites as they look: a crawl with --requisites, which also fetches images, style sheets, fonts, scripts,
and frames, from other hosts too. Takes every flag of crawl."""
EXAMPLES = """\
examples:
  sanderling archive https://example.org/ -C archive-2026     run again to update
  sanderling archive https://example.org/news/ --scope prefix --limit 100
  sanderling archive https://example.org/post.html --scope page     one page with its requisites
  sanderling archive -C archive-2026 --seal                   update, then seal: verify finds modifications
  sanderling serve -C archive-2026                            look at it
"""
GROUPS = crawl.GROUPS
PRESET = {"requisites": True}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    crawl.arguments(parser)
    parser.add_argument("--seal", action="store_true", help="record digests of the WARC files, as sanderling seal does")
    parser.add_argument("--seal-key", metavar="KEY", default="", help="seal with a signature by this P-384 key (PEM)")


def run(call: CommandCall) -> int:
    """Crawl with the preset, which flags, environment, and settings file may override."""
    if call.setting_values.get("requisites", True):
        print_message(call, "archive = crawl --requisites: also images, styles, fonts, scripts and frames of any host")
    key = call.args.seal_key
    load_key(key)  # a wrong key must not be found after hours
    code = crawl.run(replace(call, setting_values={**PRESET, **call.setting_values}))
    collection = Collection(call.collection)
    if not has_collection(call.collection):
        return code
    if call.args.seal or key:
        report = collection.seal(key)
        print_message(call, f"sealed; keep this digest elsewhere, for verify --seal: {report.head}")
    elif is_sealed(call.collection):
        print_message(call, "this archive has seals: add --seal, or run sanderling seal, to seal what was added")
    return code


def interrupted(call: CommandCall) -> None:
    """Print the JSON summary of a crawl interrupted before it started."""
    crawl.interrupted(call)
