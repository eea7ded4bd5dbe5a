"""A brief goes with the letter: the host matches on the spot, and only matches travel."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.migrant_client import serving
from tests.support.site import Site as Web
from tests.templates.similar.test_stored import FLAGS, PRODUCTS, lines, paths, shop

from sanderling.cli import main
from sanderling.workers.migrant import site_walk
from sanderling.workers.migrant.messages import FilteredMessage, MigrantMessage, PageMessage
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.site_reader import SiteResponse

HONEST = site_walk.SiteWalk._report_visit


def test_a_host_sends_only_what_is_built_like_the_samples_and_has_the_rest_for_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[type[MigrantMessage], set[str]] = {PageMessage: set(), FilteredMessage: set()}

    def watch(self: site_walk.SiteWalk, seen: SiteResponse) -> Iterator[MigrantMessage]:
        for message in HONEST(self, seen):
            if isinstance(message, PageMessage | FilteredMessage):
                sent[type(message)].add(self.url_paths[seen.visit.id])
            yield message

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", watch)
    with Web(shop()) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        folder, via = str(tmp_path / "web"), ["--migrant", address.url, "--key", address.key_file]
        assert main(["similar", f"{web.root}/p/chairs-3.html", "--limit", "29", "-C", folder, *via, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        home = paths(lines(capsys), web.root)
        assert len(home & PRODUCTS) > 20
        main(["pages", "--skipped", "--json", "-C", folder])
        kept = {str(row["url"]).removeprefix(web.root) for row in lines(capsys) if row["reason"] == "not_alike"}
        assert kept
        assert kept <= sent[FilteredMessage], "the host decided"
        assert not kept & sent[PageMessage], "and did not send them"
        assert main(["crawl", web.root, "-C", folder, *via, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        assert paths(lines(capsys), web.root) >= kept
        assert kept <= sent[PageMessage]
