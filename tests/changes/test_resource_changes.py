"""What pages use images, scripts and style sheets for."""

import pytest

from sanderling.changes.resource_changes import Sort, sort_of


@pytest.mark.parametrize(
    ("mime", "sort"),
    [
        ("image/png", Sort.IMAGE),
        ("text/javascript", Sort.SCRIPT),
        ("application/ecmascript", Sort.SCRIPT),
        ("text/css", Sort.STYLE),
        ("font/woff2", None),
        ("", None),
    ],
)
def test_a_media_type_says_what_a_resource_is_for(mime: str, sort: Sort | None) -> None:
    assert sort_of(mime) is sort
