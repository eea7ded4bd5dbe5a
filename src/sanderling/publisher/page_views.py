"""Turn access log lines into batches of views, login requirements, and crawler visits."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sanderling.publisher.access_log import AccessLogEntry, parse_log_line
from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.crawlers import VerifyFunction, get_claimed_name, is_bot
from sanderling.publisher.log_tail import list_unread_files, parse_position, read_lines
from sanderling.publisher.paths import add_page_parameters, canonicalize_path, strip_index_file
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, load_publisher_state


@dataclass(frozen=True, slots=True)
class LogReadResult:
    """The numbers of lines read and of malformed lines."""

    lines: int = 0
    malformed: int = 0


def follow_access_log(
    db: Connection,
    site: PublishedSite,
    rules: PathRules,
    log_path: Path,
    now: int,
    verify_crawler: VerifyFunction | None = None,
) -> LogReadResult:
    """Read new log lines, committing each chunk together with its position."""
    total, malformed = 0, 0
    for file, offset in list_unread_files(log_path, parse_position(load_publisher_state(db).log_position)):
        for chunk, position in read_lines(file, offset):
            batch, malformed_in_chunk = build_batch(chunk, site, verify_crawler)
            batch.log_position = str(position)
            write_batch(db, site, rules, batch, now)
            total, malformed = total + len(chunk), malformed + malformed_in_chunk
    return LogReadResult(total, malformed)


def build_batch(
    raw_lines: Iterable[bytes], site: PublishedSite, verify_crawler: VerifyFunction | None = None
) -> tuple[ActivityBatch, int]:
    """Aggregate the lines of a chunk. Returns the batch and the number of malformed lines."""
    batch, malformed = ActivityBatch(), 0
    for raw in raw_lines:
        entry = parse_log_line(raw)
        if entry is not None:
            _add_log_entry(batch, entry, site, verify_crawler)
        elif raw.strip():
            malformed += 1
    return batch, malformed


def _add_log_entry(
    batch: ActivityBatch, entry: AccessLogEntry, site: PublishedSite, verify_crawler: VerifyFunction | None
) -> None:
    batch.viewed_at = entry.requested_at
    path = _canonicalize_target(entry.target, site) if entry.method == "GET" else None
    if path is None:
        return
    if entry.status in (200, 304):
        if entry.user_agent is None or not is_bot(entry.user_agent):
            batch.view_counts[path] += 1
        else:
            verified = verify_crawler(entry.user_agent, entry.client_address) if verify_crawler else False
            batch.crawler_visits[(get_claimed_name(entry.user_agent), verified)] += 1
        if not entry.user:
            batch.public_paths.add(path)
            batch.private_paths.discard(path)
    elif entry.status in (401, 403):
        batch.private_paths.add(path)
        batch.public_paths.discard(path)


@lru_cache(maxsize=16384)
def _canonicalize_target(target: str, site: PublishedSite) -> str | None:
    raw_path, _, query = target.partition("?")
    path = canonicalize_path(raw_path)
    return add_page_parameters(strip_index_file(path, site.index_file), query, site.page_parameters) if path else None
