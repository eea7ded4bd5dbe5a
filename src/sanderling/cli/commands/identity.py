"""sanderling identity: create the key that signs requests, and the key directory to publish."""

import argparse
import json
from pathlib import Path

from sanderling.cli.arguments import CommandCall, print_json
from sanderling.errors import UsageError
from sanderling.fetch.request_signing import DIRECTORY_PATH, DIRECTORY_TYPE, build_key_directory, compute_key_id
from sanderling.workers.migrant.keys import create_key, load_key

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
    directory = build_key_directory([load_key(file).public_key().public_bytes_raw() for file in files])
    if not call.args.output:
        print_json(directory)
        return 0
    target = Path(call.args.output, DIRECTORY_PATH)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(directory, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from None
    if call.json:
        print_json({"file": str(target), **directory})
    else:
        print(f"{target}: serve it over https as {DIRECTORY_TYPE}")
    return 0


def create(call: CommandCall, files: list[Path]) -> int:
    for file in files:
        create_key(file)
        key_id = compute_key_id(load_key(file).public_key().public_bytes_raw())
        if call.json:
            print_json({"key": str(file), "keyid": key_id})
        else:
            print(f"{file}: private, keep it secret; keyid {key_id}")
    return 0
