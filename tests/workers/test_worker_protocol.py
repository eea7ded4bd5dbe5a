"""Frames between coordinator and worker."""

from pathlib import Path

import msgspec
import pytest

from sanderling.errors import ClusterUnavailable
from sanderling.models import WorkerReport
from sanderling.storage.collection import open_collection
from sanderling.workers.worker_protocol import decode_report


def test_report_of_another_version_is_reported_as_such(tmp_path: Path) -> None:
    assert decode_report(msgspec.msgpack.encode(WorkerReport("m1"))) == WorkerReport("m1")
    with pytest.raises(ClusterUnavailable, match="another version"), open_collection(tmp_path):
        decode_report(msgspec.msgpack.encode({"something": "else"}))
