import pytest
from tests.support.output import read_json_lines

from sanderling.cli import main


def test_visits_of_a_page_are_listed(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled_site
    main(["history", f"{root}/a", "-C", folder, "--json"])
    (found,) = read_json_lines(capsys)
    assert isinstance(found["visits"], list)
    assert [visit["outcome"] for visit in found["visits"]] == ["fetched"]
    main(["history", f"{root}/a", "-C", folder])
    seen = capsys.readouterr().out
    assert "1 visit, 0 changes" in seen
    assert seen.splitlines()[-1].split()[2:4] == ["fetched", "200"]
    assert seen.splitlines()[-1].endswith("first version")
