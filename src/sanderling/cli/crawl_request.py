"""Build the request of a crawl from a command line: seeds, settings, and warnings."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from sanderling.api.collection_access import Collection
from sanderling.api.crawl_settings import build_crawl_request
from sanderling.api.operations.runs import (
    describe_missing_rendering,
    is_public_site,
    parse_seed,
)
from sanderling.api.types import CrawlRequest
from sanderling.cli.arguments import CommandCall, print_message
from sanderling.config.redact import redact_command
from sanderling.config.settings import RenderSettings
from sanderling.errors import UsageError

SEED_FILE_REMARK = re.compile(r"(^|\s)#.*|\t.*")  # no URL has a space in it, or a tab
CONTACT_PATTERN = re.compile(r"https?://|@")  # in a user agent: it says already where we are to be reached


def read_seed_file(name: str | None) -> list[str]:
    """Return a URL per line; ignores comments and further columns."""
    if not name:
        return []
    try:
        text = (_read_stdin() if name == "-" else Path(name).read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the seed file {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the seed file {name} is no text in UTF-8") from None
    lines = [
        (number, SEED_FILE_REMARK.sub("", line.strip()).strip()) for number, line in enumerate(text.splitlines(), 1)
    ]
    seeds = [(number, line) for number, line in lines if line]
    for number, line in seeds:
        try:
            parse_seed(line)
        except UsageError as error:
            raise UsageError(f"{name}, line {number}: {error}") from None
    return [line for _, line in seeds]


def _read_stdin() -> bytes:
    """Read standard input, or return an empty string if it is closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def read_seeds(urls: Sequence[str], file: str | None) -> tuple[str, ...]:
    """Return the seeds from arguments and seed file; `-` reads standard input."""
    named = [read_seed_file("-") if url == "-" else [url] for url in urls]
    return tuple(chain(*named, read_seed_file(file)))


def build_request(
    call: CommandCall, seeds: Sequence[str] = (), stored: Mapping[str, object] | None = None
) -> CrawlRequest:
    """Build a request from all settings. `stored`: those of the last crawl, for those that are not set."""
    return build_crawl_request(call.setting_values, seeds, stored, describe_command())


def load_request(call: CommandCall) -> CrawlRequest:
    """Build a request without seeds from the settings of the last crawl, overridden by this call."""
    with Collection(call.collection) as collection:
        return build_request(call, stored=collection.load_settings())


def describe_command() -> str:
    """Return the command line, without passwords."""
    return shlex.join(redact_command(sys.argv[1:]))


def warn_about_credentials(call: CommandCall, request: CrawlRequest) -> None:
    """Warn about credentials in URLs, which are not used."""
    for seed in request.seeds:
        if "@" in seed.partition("://")[2].partition("/")[0]:
            print_message(
                call, "warning: names and passwords inside URLs are not used; give --basic-auth HOST=env:NAME"
            )
            return


def advise_rendering(call: CommandCall, rendering: RenderSettings, unrendered: int) -> None:
    """Say how to render pages that look built by scripts, if none could be rendered."""
    if unrendered and (advice := describe_missing_rendering(rendering)):
        count = "1 page looks" if unrendered == 1 else f"{unrendered:,} pages look"
        print_message(call, f"{count} built by scripts and may lack text and links; {advice}")


def warn_about_missing_contact(call: CommandCall, request: CrawlRequest) -> None:
    if request.politeness.contact or CONTACT_PATTERN.search(request.politeness.user_agent):
        return
    for seed in request.seeds:
        if is_public_site(seed):
            print_message(
                call, "warning: no --contact is set; give a URL or mail address so that site owners can reach you"
            )
            return
