"""Which pages have a side file with their volatile parts (TVI, SAR-8), and whose turn it is: the file or the page."""

from collections.abc import Sequence

from sanderling.db.connection import Connection

SQL_CHUNK = 400
TVI_VISITS_PER_PAGE_VISIT = 3  # visits of the side file for one of the page: the file says nothing of the rest of it


class TviFiles:
    """The side files of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_file(self, page_id: int, tvi_id: int) -> None:
        """A page names its side file."""
        self.db.execute(
            "INSERT INTO sides (page, side) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET side = excluded.side",
            (page_id, tvi_id),
        )

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """These have none any more, or none that can be read."""
        self.db.executemany("DELETE FROM sides WHERE page = ?", [(page,) for page in page_ids])

    def select_tvi_visits(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Of pages that are due, those whose side file is asked this time, and which; the others' turn begins anew."""
        rows: list[tuple[int, int, int]] = []
        for start in range(0, len(page_ids), SQL_CHUNK):
            part = list(page_ids[start : start + SQL_CHUNK])
            marks = ",".join("?" * len(part))
            rows += self.db.execute(f"SELECT page, side, turns FROM sides WHERE page IN ({marks})", part).fetchall()
        asked = {page: side for page, side, turns in rows if turns < TVI_VISITS_PER_PAGE_VISIT}
        self.db.executemany("UPDATE sides SET turns = turns + 1, asked = 1 WHERE page = ?", [(p,) for p in asked])
        rest = [(page,) for page, _, _ in rows if page not in asked]
        self.db.executemany("UPDATE sides SET turns = 0, asked = 0 WHERE page = ?", rest)
        return asked

    def take_requested_pages(self, tvi_id: int) -> list[int]:
        """The pages for which this side file was asked; each is told once."""
        rows = self.db.execute("UPDATE sides SET asked = 0 WHERE side = ? AND asked = 1 RETURNING page", (tvi_id,))
        return [page for (page,) in rows.fetchall()]
