"""Records that earlier versions stored with other keys."""

from contextlib import closing
from pathlib import Path

from msgspec import msgpack

from sanderling.changes.alert_state import AlertState, load_alert_states, save_alert_states
from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange, FingerprintDiff
from sanderling.changes.noise_model import NoiseModel
from sanderling.changes.resource_changes import ResourceChange, ResourceType
from sanderling.changes.tag_tree_diff import StructureDiff, StructureSeverity, TreeLevelDiff
from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.changes import MIGRATIONS
from sanderling.db.stored_keys import BATCH_ROWS

STORED_DIFF = (
    b"\x87\xa4text\xc3\xa6weight*\xa6blocks\x91\x88\xa6action\xa7changed\xa4size\t\xa4main\xc3\xa3old\x01\xa3new\x01"
    b"\xa4keys\x92\x05\x06\xa7context\x07\xa5worth\xc3\xa9structure\x84\xa7verdict\xa5minor\xa6levels\x91\x84"
    b"\xa5level\x02\xa3old\x01\xa3new\x02\xa5added\x91\xa1p\xa8cosmetic\xc2\xa9reordered\xc2\xa5looks\xc3\xa6assets"
    b"\x81\xa5links\x81\xa5added\x91\x01\xa9resources\x91\x83\xa3url\xb9https://example.org/a.png\xa4sort\xa5image"
    b"\xa6amount\xcb?\xe0\x00\x00\x00\x00\x00\x00"
)
STORED_NOISE_MODEL = (
    b"\x88\xa6visits\x03\xa4seen\x81\x01\xcb@\x00\x00\x00\x00\x00\x00\x00\xa8restless\x81\x07\x81\x02\x03\xa5turns"
    b"\x81\x07\x81\x04\x05\xa5again\x81\x02\xcb?\xf0\x00\x00\x00\x00\x00\x00\xa6worded\x02\xa5spans\x81\x01\x92\x01\x02"
    b"\xa5pages\x81\x01\x91\x07"
)
STORED_ALERT_STATE = b'{"x":{"until":5.0,"told":[["https://example.org/",5.0]]}}'


def migrate(folder: Path, statement: str, parameters: tuple[object, ...], query: str) -> list[bytes]:
    """Store a row with the tables of an earlier version, and return values after the migration."""
    with closing(connect_sqlite(folder / "old.db")) as db:
        apply_migrations(db, {"changes": MIGRATIONS[:2]})
        db.execute(statement, parameters)
        apply_migrations(db, {"changes": MIGRATIONS})
        return [value for (value,) in db.execute(query)]


def test_differences_of_earlier_versions_are_migrated(tmp_path: Path) -> None:
    statement = "INSERT INTO changes VALUES (1, 5.0, 4.0, 'http://a', '', 0.5, ?)"
    (value,) = migrate(tmp_path, statement, (STORED_DIFF,), "SELECT difference FROM changes")
    assert msgpack.decode(value, type=FingerprintDiff) == FingerprintDiff(
        has_text_change=True,
        main_content_size=42,
        blocks=(BlockChange(BlockAction.CHANGED, 9, True, 1, 1, (5, 6), 7, is_price=True),),
        structure=StructureDiff(StructureSeverity.MINOR, (TreeLevelDiff(2, 1, 2, added=("p",)),)),
        has_style_change=True,
        assets={"links": AssetDelta((1,))},
        resources=(ResourceChange("https://example.org/a.png", ResourceType.IMAGE, 0.5),),
    )


def test_more_changes_than_a_batch_are_migrated(tmp_path: Path) -> None:
    with closing(connect_sqlite(tmp_path / "old.db")) as db:
        apply_migrations(db, {"changes": MIGRATIONS[:2]})
        rows = [(n % 7, n, STORED_DIFF) for n in range(2 * BATCH_ROWS + 3)]
        db.executemany("INSERT INTO changes VALUES (?, ?, 0, '', '', 0, ?)", rows)
        apply_migrations(db, {"changes": MIGRATIONS})
        values = [value for (value,) in db.execute("SELECT difference FROM changes")]
    assert len(values) == len(rows)
    assert all(msgpack.decode(value, type=FingerprintDiff).blocks[0].is_price for value in values)


def test_noise_models_of_earlier_versions_are_migrated(tmp_path: Path) -> None:
    statement = "INSERT INTO noise VALUES ('http://a', ?)"
    (value,) = migrate(tmp_path, statement, (STORED_NOISE_MODEL,), "SELECT state FROM noise")
    assert NoiseModel.from_bytes(value) == NoiseModel(
        visits=3,
        fragment_counts={1: 2.0},
        streaks={7: {2: 3}},
        alternations={7: {4: 5}},
        reversal_counts={2: 1.0},
        text_visits=2,
        visit_spans={1: (1, 2)},
        first_pages={1: (7,)},
    )


def test_alert_states_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "alerted"
    path.write_bytes(STORED_ALERT_STATE)
    states = load_alert_states(path)
    assert states == {"x": AlertState(5.0, [("https://example.org/", 5.0)])}
    save_alert_states(path, states)
    assert load_alert_states(path) == states


def test_kinds_of_earlier_versions_have_american_spelling(tmp_path: Path) -> None:
    with closing(connect_sqlite(tmp_path / "old.db")) as db:
        apply_migrations(db, {"changes": MIGRATIONS[:4]})
        db.execute("INSERT INTO changes VALUES (1, 5.0, 4.0, 'http://a', 'content behaviour', 0.5, '')")
        apply_migrations(db, {"changes": MIGRATIONS})
        assert db.execute("SELECT kinds FROM changes").fetchall() == [("content behavior",)]
