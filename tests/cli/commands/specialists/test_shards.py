"""The command `shards`."""

import json
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.storage.shard_set import create_shard_set


def test_shards_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_shard_set(tmp_path, 2)
    assert main(["shards", "-C", str(tmp_path), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["shard"], row["pages"], row["is_crawling"]) for row in rows] == [(0, 0, False), (1, 0, False)]
    assert main(["shards", "join", "-C", str(tmp_path)]) == 0
    assert main(["shards", "-C", str(tmp_path)]) == 4
    assert "no shard set" in capsys.readouterr().err
