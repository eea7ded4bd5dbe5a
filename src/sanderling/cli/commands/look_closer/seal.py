"""sanderling seal: record digests of the WARC files, so that later modifications are found."""

import argparse

import msgspec

from sanderling.api.collection_access import Collection
from sanderling.cli.arguments import CommandCall, print_json, print_message

HELP = """Record length and digest of each WARC file in a chain, signed where a key is given. sanderling verify then
names files that were modified afterwards. WARC files are not changed."""
EXAMPLES = """\
examples:
  sanderling seal -C archive-2026                        seal what is stored so far; run again after each crawl
  sanderling seal -C archive-2026 --sign key.pem         with a signature (P-384 key in PEM)
  sanderling verify -C archive-2026 --seal sha256:5f0c   also check that this seal is still there
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--sign", metavar="KEY", default="", help="sign with this P-384 key (PEM)")


def run(call: CommandCall) -> int:
    """Seal new and grown files, and print the digest to keep elsewhere."""
    report = Collection(call.collection).seal(call.args.sign)
    if call.json:
        print_json(msgspec.to_builtins(report))
        return 0
    print_message(call, f"{len(report.sealed):,} files sealed, {report.unchanged:,} unchanged (archive/seals.jsonl)")
    print(report.head)
    print_message(call, "keep this digest elsewhere: verify --seal DIGEST then finds removed seals too")
    return 0
