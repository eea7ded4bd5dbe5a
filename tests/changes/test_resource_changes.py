"""What pages use images, scripts and style sheets for."""

import pytest

from sanderling.changes.resource_changes import ResourceType, get_resource_type


@pytest.mark.parametrize(
    ("mime", "sort"),
    [
        ("image/png", ResourceType.IMAGE),
        ("text/javascript", ResourceType.SCRIPT),
        ("application/ecmascript", ResourceType.SCRIPT),
        ("text/css", ResourceType.STYLE),
        ("font/woff2", None),
        ("", None),
    ],
)
def test_a_media_type_says_what_a_resource_is_for(mime: str, sort: ResourceType | None) -> None:
    assert get_resource_type(mime) is sort
