"""Pages with a TVI file (SAR-8): decide whether to visit the file or the page."""

from collections.abc import Sequence

from sanderling.db.connection import Connection

SQL_CHUNK = 400
TVI_VISITS_PER_PAGE_VISIT = 3  # the file covers only a part of the page


class TviFiles:
    """The TVI files of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_file(self, page_id: int, tvi_id: int) -> None:
        self.db.execute(
            "INSERT INTO sides (page, side) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET side = excluded.side",
            (page_id, tvi_id),
        )

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """Delete pages whose file is gone or unusable."""
        self.db.executemany("DELETE FROM sides WHERE page = ?", [(page,) for page in page_ids])

    def select_tvi_visits(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Select due pages whose TVI file is visited instead: `{page id: file id}`. Restarts other pages."""
        rows: list[tuple[int, int, int]] = []
        for start in range(0, len(page_ids), SQL_CHUNK):
            part = list(page_ids[start : start + SQL_CHUNK])
            placeholders = ",".join("?" * len(part))
            rows += self.db.execute(
                f"SELECT page, side, turns FROM sides WHERE page IN ({placeholders})", part
            ).fetchall()
        requested = {page: side for page, side, turns in rows if turns < TVI_VISITS_PER_PAGE_VISIT}
        self.db.executemany("UPDATE sides SET turns = turns + 1, asked = 1 WHERE page = ?", [(p,) for p in requested])
        others = [(page,) for page, _, _ in rows if page not in requested]
        self.db.executemany("UPDATE sides SET turns = 0, asked = 0 WHERE page = ?", others)
        return requested

    def take_requested_pages(self, tvi_id: int) -> list[int]:
        """Return the pages for which this file was requested, and clear the requests."""
        rows = self.db.execute("UPDATE sides SET asked = 0 WHERE side = ? AND asked = 1 RETURNING page", (tvi_id,))
        return [page for (page,) in rows.fetchall()]
