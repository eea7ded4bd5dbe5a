"""sanderling status: size and state of a collection."""

import argparse

from sanderling.api.collection_access import Collection
from sanderling.cli.arguments import CommandCall, fold_line, print_json
from sanderling.cli.progress import format_size
from sanderling.config.time_format import shorten_iso

HELP = "Show the size and state of a collection, remaining work, and delayed hosts."
EXAMPLES = """\
examples:
  sanderling status
  sanderling status -C archive-2026 --json
"""
MAX_SHOWN_SEEDS = 5  # named to a person
MAX_SHOWN_REQUISITES = 5
DUPLICATE_LABELS = {
    "identical_pages": "identical",
    "near_duplicate_pages": "near duplicates",
    "noncanonical_pages": "with another canonical URL",
}
PAGE_SCANNERS = {"compiled": "compiled page scanner", "python": "without the compiled page scanner (slower)"}
VALUE_INDENT = 12  # columns before a value
MAX_SHOWN_LEVELS = 12  # rows of them for a person


def arguments(parser: argparse.ArgumentParser) -> None: ...


def run(call: CommandCall) -> int:
    """Print the state of the collection."""
    with Collection(call.collection) as collection:
        state = collection.status()
    if call.json:
        print_json(state)
    else:
        _print_status(state)
    return 0


def _print_status(state: dict[str, object]) -> None:
    run = state["last_run"]
    urls = state["urls"]
    assert isinstance(urls, dict)
    print(f"{state['collection']}: {state['pages']:,} pages, {format_size(float(str(state['bytes'])))}")
    print(f"  software  Sanderling {state['version']}, {PAGE_SCANNERS[str(state['page_scanner'])]}")
    print(f"  seeds     {_format_seeds(state['seeds'])}")
    print(f"  session   {state['session']}, {'complete' if state['complete'] else 'unfinished'}")
    print(f"  archive   {format_size(float(str(state['archive_bytes'])))} of WARC")
    print(f"  urls      {', '.join(f'{count:,} {name}' for name, count in sorted(urls.items()))}")
    for name in ("skipped", "failed"):
        reasons = state[name]
        if isinstance(reasons, dict) and reasons:
            print(f"  {name:<9} {', '.join(f'{count:,} {reason}' for reason, count in reasons.items())}")
    if state["out_of_scope"]:
        print(f"  outside   {state['out_of_scope']:,} links to other sites, not followed")
    if state["unrecorded_skips"]:
        count = f"{state['unrecorded_skips']:,}"
        print(f"  unlisted  {count} links to skipped URLs beyond those listed of one host and reason")
    _print_requisites(state["requisites"])
    _print_forms(state["forms"])
    frequencies = state["classes"]
    if isinstance(frequencies, dict) and frequencies:
        known = ", ".join(f"{frequencies[name]:,} {name}" for name in frequencies)
        print(f"  {'class':<9} {fold_line(f'{known} (how often pages change)', VALUE_INDENT)}")
    changes = state["changes"]
    assert isinstance(changes, dict)
    print(f"  changed   {changes['pages']:,} pages, {changes['last_day']:,} changes in the last day")
    _print_duplicates(state["duplicates"])
    _print_levels(state)
    if state["deletion_unfinished"]:
        print("  delete    was interrupted; sanderling delete finishes it")
    backed_off = state["backed_off_hosts"]
    for host in backed_off if isinstance(backed_off, list) else []:
        print(
            f"  delayed   {host['host']} until {shorten_iso(host['until'])} ({host['reason']}); {host['waiting']} URLs"
        )
    _print_schedule(state["schedule"])
    _print_rate_limited_hosts(state["rate_limited_hosts"])
    if isinstance(run, dict):
        print(f"  last run  {shorten_iso(run['started'])}: {run['finish_reason']}")


def _print_requisites(requisites: object) -> None:
    """Print how complete the pages are, and what is missing."""
    assert isinstance(requisites, dict)
    found, stored, missing = requisites["found"], requisites["stored"], requisites["missing"]
    if not found:
        return
    print(f"  files     {stored:,} of {found:,} page requisites stored ({100 * stored / found:.1f} %)")
    for item in missing[:MAX_SHOWN_REQUISITES]:
        print(f"  {'':<9} missing: {item['url']} ({item['reason']})")


def _print_forms(forms: object) -> None:
    """Print the forms by state, the yield of their queries, and the reasons of skipped forms."""
    assert isinstance(forms, dict)
    if not forms["states"]:
        return
    states = ", ".join(f"{count:,} {name}" for name, count in forms["states"].items())
    found = f"{forms['requests']:,} requests, {forms['useful']:,} useful, {forms['records']:,} new records"
    print(f"  {'forms':<9} {fold_line(f'{states}; {found}', VALUE_INDENT)}")
    if forms["reasons"]:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in forms["reasons"].items())
        print(f"  {'':<9} {fold_line(reasons, VALUE_INDENT)}")


def _print_schedule(schedule: object) -> None:
    """Print the number of planned checks, and of pages that change faster than the budget allows."""
    if not isinstance(schedule, dict) or not schedule["pages"]:
        return
    limit = f", within the budget of {schedule['budget']}" if schedule["budget"] else ""
    print(f"  checks    about {schedule['checks_per_day']:,.0f} a day{limit}")
    if schedule["budget"] and schedule["given_up"]:
        print(
            f"  {'':<9} {schedule['given_up']:,} pages change faster than they are checked;"
            f" about {schedule['wanted_per_day']:,.0f} checks a day would follow them"
        )


def _print_rate_limited_hosts(hosts: object) -> None:
    assert isinstance(hosts, list)
    for host in hosts:
        times = f"{host['count']:,} time{'' if host['count'] == 1 else 's'}"
        pace = f"; asked every {host['seconds_between']:g} s since" if host["seconds_between"] else ""
        print(f"  slowed    {host['host']} asked us {times} to slow down{pace}")


def _format_seeds(seeds: object) -> str:
    assert isinstance(seeds, list)
    remainder = f" and {len(seeds) - MAX_SHOWN_SEEDS:,} more" if len(seeds) > MAX_SHOWN_SEEDS else ""
    return ", ".join(map(str, seeds[:MAX_SHOWN_SEEDS])) + remainder


def _print_duplicates(duplicates: object) -> None:
    """Print duplicate links and pages."""
    assert isinstance(duplicates, dict)
    if duplicates["links"]:
        print(f"  links     {duplicates['links']:,} found, {duplicates['link_share']:.1%} to known URLs")
    if duplicates["cache_lookups"]:  # not before the end of the first run
        print(f"  look-ups  {duplicates['cache_hit_ratio']:.1%} answered from memory")
    if duplicate_counts := [
        f"{duplicates[name]:,} {words}" for name, words in DUPLICATE_LABELS.items() if duplicates[name]
    ]:
        print(f"  duplicate {', '.join(duplicate_counts)}")


def _print_levels(state: dict[str, object]) -> None:
    """Print the number of pages by depth; deep levels are summarized."""
    found, depths = state["levels"], state["depths"]
    assert isinstance(found, list)
    for level in found[:MAX_SHOWN_LEVELS]:
        counts = ", ".join(f"{count:,} {name}" for name, count in level.items() if name != "level" and count)
        print(f"  level {level['level']:<3} {counts}")
    if len(found) > MAX_SHOWN_LEVELS:
        print(f"  level {found[MAX_SHOWN_LEVELS]['level']} to {found[-1]['level']}: see --json")
    if isinstance(depths, dict) and depths:
        print(f"  depths    {', '.join(f'{depth} from {seed}' for seed, depth in depths.items())}")
