"""sanderling identity: create the key that signs requests, and the key directory to publish."""

import argparse
from pathlib import Path

from sanderling.api.identity import create_identity, load_key_directory, write_key_directory
from sanderling.cli.arguments import CommandCall, print_json

HELP = "Create the key that signs requests, and the key directory that sites verify them with (Web Bot Auth)."
EXAMPLES = """\
examples:
  sanderling identity create crawler.key                          writes crawler.key and crawler.key.pub
  sanderling identity directory crawler.key --output public/      writes the directory into public/.well-known/
  sanderling crawl https://example.org/ --sign crawler.key --signature-agent https://crawler.example
"""
GROUPS = ()


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("action", choices=("create", "directory"), help="create a key, or write the directory")
    parser.add_argument("key", nargs="+", metavar="KEY", help="key file; of several, all are in the directory")
    parser.add_argument("--output", metavar="FOLDER", help="folder of your web site (default: print the directory)")


def run(call: CommandCall) -> int:
    """Create a key, or write the key directory."""
    files = [Path(name) for name in call.args.key]
    if call.args.action == "create":
        return create(call, files)
    if not call.args.output:
        print_json(load_key_directory(files))
        return 0
    target = write_key_directory(files, Path(call.args.output))
    if call.json:
        print_json({"file": str(target)})
    else:
        print(f"{target}: serve it over https as application/http-message-signatures-directory+json")
    return 0


def create(call: CommandCall, files: list[Path]) -> int:
    for file in files:
        key_id = create_identity(file)
        if call.json:
            print_json({"key": str(file), "keyid": key_id})
        else:
            print(f"{file}: private, keep it secret; keyid {key_id}")
    return 0
