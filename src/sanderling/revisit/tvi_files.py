"""Which pages have a side file with their volatile parts (TVI, SAR-8), and whose turn it is: the file or the page."""

from collections.abc import Sequence

from sanderling.db.connection import Connection

CHUNK = 400
TURNS = 3  # visits of the side file for one of the page: the file says nothing of the rest of it


class Sides:
    """The side files of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def note(self, page: int, side: int) -> None:
        """A page names its side file."""
        self.db.execute(
            "INSERT INTO sides (page, side) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET side = excluded.side",
            (page, side),
        )

    def forget(self, pages: Sequence[int]) -> None:
        """These have none any more, or none that can be read."""
        self.db.executemany("DELETE FROM sides WHERE page = ?", [(page,) for page in pages])

    def instead(self, pages: Sequence[int]) -> dict[int, int]:
        """Of pages that are due, those whose side file is asked this time, and which; the others' turn begins anew."""
        rows: list[tuple[int, int, int]] = []
        for start in range(0, len(pages), CHUNK):
            part = list(pages[start : start + CHUNK])
            marks = ",".join("?" * len(part))
            rows += self.db.execute(f"SELECT page, side, turns FROM sides WHERE page IN ({marks})", part).fetchall()
        asked = {page: side for page, side, turns in rows if turns < TURNS}
        self.db.executemany("UPDATE sides SET turns = turns + 1, asked = 1 WHERE page = ?", [(p,) for p in asked])
        rest = [(page,) for page, _, _ in rows if page not in asked]
        self.db.executemany("UPDATE sides SET turns = 0, asked = 0 WHERE page = ?", rest)
        return asked

    def asked(self, side: int) -> list[int]:
        """The pages for which this side file was asked; each is told once."""
        rows = self.db.execute("UPDATE sides SET asked = 0 WHERE side = ? AND asked = 1 RETURNING page", (side,))
        return [page for (page,) in rows.fetchall()]
