"""Template filters are applied by the migrant, which sends only similar pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.migrant_client import serving
from tests.support.site import Site as Web
from tests.templates.test_similar_pages import FLAGS, PRODUCTS, lines, paths, shop

from sanderling.cli import main
from sanderling.workers.migrant import site_walk
from sanderling.workers.migrant.messages import FilteredMessage, MigrantMessage, PageMessage
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.site_reader import SiteResponse

REPORT_VISIT = site_walk.SiteWalk._report_visit


def test_migrant_sends_only_similar_pages_and_the_rest_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[type[MigrantMessage], set[str]] = {PageMessage: set(), FilteredMessage: set()}

    def record(self: site_walk.SiteWalk, response: SiteResponse) -> Iterator[MigrantMessage]:
        for message in REPORT_VISIT(self, response):
            if isinstance(message, PageMessage | FilteredMessage):
                sent[type(message)].add(self.url_paths[response.visit.id])
            yield message

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", record)
    with Web(shop()) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        folder, options = str(tmp_path / "web"), ["--migrant", address.url, "--key", address.key_file]
        assert main(["similar", f"{web.root}/p/chairs-3.html", "--limit", "29", "-C", folder, *options, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        fetched = paths(lines(capsys), web.root)
        assert len(fetched & PRODUCTS) > 20
        main(["pages", "--skipped", "--json", "-C", folder])
        parked = {str(row["url"]).removeprefix(web.root) for row in lines(capsys) if row["reason"] == "not_similar"}
        assert parked
        assert parked <= sent[FilteredMessage], "filtered by the migrant"
        assert not parked & sent[PageMessage], "not sent"
        assert main(["crawl", web.root, "-C", folder, *options, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        assert paths(lines(capsys), web.root) >= parked
        assert parked <= sent[PageMessage]
