"""What goes between coordinator and migrant."""

from pathlib import Path

import msgspec
import pytest

from sanderling.errors import EngineUnavailable
from sanderling.models import Parcel
from sanderling.storage.collection import open_collection
from sanderling.workers.protocol import parcel_of


def test_a_migrant_of_another_version_is_no_damage_of_the_collection(tmp_path: Path) -> None:
    assert parcel_of(msgspec.msgpack.encode(Parcel("m1"))) == Parcel("m1")
    with pytest.raises(EngineUnavailable, match="another version"), open_collection(tmp_path):
        parcel_of(msgspec.msgpack.encode({"something": "else"}))
