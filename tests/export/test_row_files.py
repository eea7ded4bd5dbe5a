import csv
import json
from pathlib import Path

import pytest

from sanderling.export import row_files
from sanderling.export.row_files import Row, write_rows

ROWS: list[Row] = [
    {"url": "a", "data": None, "fields": {"price": None, "tags": ["x", "y"]}, "text": "lone \ud800 surrogate"},
    {"url": "b", "data": {"json_ld": [1]}, "fields": {"price": 9.5, "tags": None}, "text": None},
]


def test_json_lines_keep_nested_values(tmp_path: Path) -> None:
    assert write_rows(ROWS, str(tmp_path / "x.jsonl")) == 2
    first, second = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert first["fields"] == {"price": None, "tags": ["x", "y"]}
    assert first["text"] == "lone ? surrogate"
    assert second["data"] == {"json_ld": [1]}


def test_csv_has_a_column_per_field_and_json_in_cells(tmp_path: Path) -> None:
    write_rows(ROWS, str(tmp_path / "x.csv"))
    with (tmp_path / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["fields.tags"] == '["x", "y"]'
    assert rows[1]["fields.price"] == "9.5"
    assert rows[1]["data"] == '{"json_ld": [1]}'


def test_parquet_columns_may_be_empty_in_the_first_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(row_files, "ROWS_PER_GROUP", 1)
    rows: list[Row] = [{"url": "a", "text": None}, {"url": "b", "text": "later"}]
    assert write_rows(rows, str(tmp_path / "x.parquet")) == 2
    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == rows


def test_export_without_rows_writes_an_empty_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in ("x.csv", "x.jsonl", "x.parquet"):
        assert write_rows([], str(tmp_path / name)) == 0
        assert (tmp_path / name).exists()


def test_error_of_a_row_leaves_no_file(tmp_path: Path) -> None:
    def fail() -> Row:
        raise ValueError("broken row")

    for name in ("x.csv", "x.parquet"):
        with pytest.raises(ValueError, match="broken row"):
            write_rows((fail() for _ in range(1)), str(tmp_path / name))
    assert not list(tmp_path.iterdir())
