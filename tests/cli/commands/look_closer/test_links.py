import pytest
from tests.support.output import read_json_lines

from sanderling.cli import main


def test_outgoing_and_incoming_links_are_listed(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled_site
    main(["links", f"{root}/a", "-C", folder, "--json"])
    (found,) = read_json_lines(capsys)
    assert found["forward"] == [{"url": f"{root}/", "anchor": "to /", "nofollow": False}]
    assert found["back"] == [f"{root}/"]
