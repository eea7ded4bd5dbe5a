"""Table of URL patterns: what `repeated_content.py` knows about them, and their queued URLs."""

from collections.abc import Sequence

from sanderling.db.connection import Connection
from sanderling.frontier.repeated_content import RepeatedContent
from sanderling.models import Host, Reason, UrlRole, UrlSource, UrlState
from sanderling.urls.content_pattern import hash_content_pattern

UPSERT = "INSERT INTO patterns VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state"
KEPT_SOURCES = (UrlSource.SEED, UrlSource.SITEMAP, UrlSource.FEED)


def load_repeated_content(db: Connection, repeat_limit: int) -> RepeatedContent:
    repeated_content = RepeatedContent(repeat_limit)
    repeated_content.load(db.execute("SELECT id, state FROM patterns").fetchall())
    return repeated_content


def save_changed_patterns(db: Connection, repeated_content: RepeatedContent, *, is_final: bool = False) -> None:
    """Store patterns in the open transaction: those that are due, or at the end of a run all."""
    changed, dropped = repeated_content.pack_all() if is_final else repeated_content.pack_changes()
    if changed:
        db.executemany(UPSERT, changed)
    if dropped:
        db.executemany("DELETE FROM patterns WHERE id = ?", [(pattern,) for pattern in dropped])


def skip_queued_urls(db: Connection, host_id: int, host: Host, patterns: Sequence[int], note: str) -> int:
    """Skip the queued new pages of URL patterns; return their number. Known pages are still revisited."""
    sources = ",".join(f"'{source}'" for source in KEPT_SOURCES)
    rows = db.execute(
        "SELECT u.id, u.path FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE q.host = ?"
        f" AND u.role = '{UrlRole.PAGE}' AND u.source NOT IN ({sources})"
        " AND NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id)",
        (host_id,),
    ).fetchall()
    skipped = [(id_,) for id_, path in rows if hash_content_pattern(host + path) in patterns]
    db.executemany("DELETE FROM queue WHERE url = ?", skipped)
    db.executemany(
        "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
        [(str(UrlState.SKIPPED), str(Reason.REPEATED_CONTENT), note, id_) for (id_,) in skipped],
    )
    db.execute("UPDATE hosts SET waiting = waiting - ? WHERE id = ?", (len(skipped), host_id))
    return len(skipped)
