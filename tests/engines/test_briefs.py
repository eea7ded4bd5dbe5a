"""A brief goes with the letter: the host matches on the spot, and only matches travel."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.hosts.guest import serving
from tests.test_alike import FLAGS, PRODUCTS, lines, paths, shop
from tests.web import Site as Web

from sanderling.cli import main
from sanderling.engines.hosts import walk
from sanderling.engines.hosts.letter import Message, Page, Unlike
from sanderling.engines.hosts.local import Seen
from sanderling.engines.hosts.rules import Site

HONEST = walk.Walk._report


def test_a_host_sends_only_what_is_built_like_the_samples_and_has_the_rest_for_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[type[Message], set[str]] = {Page: set(), Unlike: set()}

    def watch(self: walk.Walk, seen: Seen) -> Iterator[Message]:
        for message in HONEST(self, seen):
            if isinstance(message, Page | Unlike):
                sent[type(message)].add(self.names[seen.visit.id])
            yield message

    monkeypatch.setattr(walk.Walk, "_report", watch)
    with Web(shop()) as web, serving(tmp_path / "host", Site(web.root)) as address:
        folder, via = str(tmp_path / "web"), ["--via", address.url, "--key", address.key_file]
        assert main(["like", f"{web.root}/p/chairs-3.html", "--limit", "29", "-C", folder, *via, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        home = paths(lines(capsys), web.root)
        assert len(home & PRODUCTS) > 20
        main(["pages", "--skipped", "--json", "-C", folder])
        kept = {str(row["url"]).removeprefix(web.root) for row in lines(capsys) if row["reason"] == "not_alike"}
        assert kept
        assert kept <= sent[Unlike], "the host decided"
        assert not kept & sent[Page], "and did not send them"
        assert main(["crawl", web.root, "-C", folder, *via, *FLAGS]) == 0
        capsys.readouterr()
        main(["pages", "--json", "-C", folder])
        assert paths(lines(capsys), web.root) >= kept
        assert kept <= sent[Page]
