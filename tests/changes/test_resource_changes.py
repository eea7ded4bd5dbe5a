import pytest

from sanderling.changes.resource_changes import ResourceType, get_resource_type


@pytest.mark.parametrize(
    ("mime", "resource_type"),
    [
        ("image/png", ResourceType.IMAGE),
        ("text/javascript", ResourceType.SCRIPT),
        ("application/ecmascript", ResourceType.SCRIPT),
        ("text/css", ResourceType.STYLE),
        ("font/woff2", None),
        ("", None),
    ],
)
def test_resource_type_of_media_types(mime: str, resource_type: ResourceType | None) -> None:
    assert get_resource_type(mime) is resource_type
