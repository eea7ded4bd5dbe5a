"""What a host obeys, and every reason it refuses for."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from tests.support.migrant_client import serving
from tests.support.site import Page as Raw
from tests.support.site import Site as Web
from tests.support.site import html, tree

from sanderling.errors import UsageError
from sanderling.models import Host, Outcome, Reason
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.client import MigrantAddress
from sanderling.workers.migrant.keys import create_key, get_public_key, load_key, sign_body
from sanderling.workers.migrant.messages import (
    DIGEST_PREFIX_BYTES,
    KEY_HEADER,
    MESSAGE_DECODER,
    REQUEST_PATH,
    SIGNATURE_HEADER,
    EndMessage,
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    MigrantRequest,
    MissedMessage,
    PageMessage,
    RequestedUrl,
    generate_nonce,
)
from sanderling.workers.migrant.migrant_server import CONNECTIONS_PER_REQUEST_SLOT, MigrantRequestHandler, MigrantServer
from sanderling.workers.migrant.owner_rules import (
    MAX_NONCE_BYTES,
    MAX_REQUEST_SECONDS,
    OwnerRules,
    SiteRules,
    is_within_hours,
    load_owner_rules,
)
from sanderling.workers.migrant.reader import ProseUnpacker

SITE = "http://127.0.0.1:1"


def letter(address: MigrantAddress, site: str = SITE, **more: object) -> MigrantRequest:
    now = time.time()
    key = load_key(Path(address.key_file))
    plain = MigrantRequest(
        get_public_key(key), address.receiver, Host(site), now, now + 60, generate_nonce(), (RequestedUrl("/"),)
    )
    return msgspec.structs.replace(plain, **more)


def post(address: MigrantAddress, body: bytes, signer: str = "", signature: str = "") -> tuple[int, bytes]:
    key = load_key(Path(address.key_file))
    link = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=30)
    headers = {KEY_HEADER: signer or get_public_key(key), SIGNATURE_HEADER: signature or sign_body(key, body)}
    link.request("POST", REQUEST_PATH, body, headers)
    answer = link.getresponse()
    found = answer.status, answer.read()
    link.close()
    return found


def packed(message: object) -> bytes:
    packer = MessageCompressor()
    return packer.compress(message) + packer.flush()


def refused(address: MigrantAddress, message: MigrantRequest) -> str:
    status, body = post(address, packed(message))
    assert status in (400, 403, 413)
    return str(json.loads(body)["refused"])


def messages(address: MigrantAddress, message: MigrantRequest) -> list[MigrantMessage]:
    status, body = post(address, packed(message))
    assert status == 200, body
    return [MESSAGE_DECODER.decode(part) for part in MessageDecompressor(2**24).decompress(body)]


def test_refusals_have_names(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE), max_request_bytes=20_000, max_urls=10) as address:
        now = time.time()
        assert refused(address, letter(address, receiver="other:1")) == "for another host"
        assert refused(address, letter(address, expires_at=now - 100)) == "expired"
        for far in (now + 10**6, float("inf"), float("nan")):
            assert refused(address, letter(address, expires_at=far)) == "lives too long"
        assert (
            refused(address, letter(address, expires_at=now + MAX_REQUEST_SECONDS + 60, site="http://x"))
            == "other site"
        )
        assert refused(address, letter(address, issued_at=now + 1000)) == "from the future"
        assert refused(address, letter(address, site="http://other.example")) == "other site"
        assert refused(address, letter(address, urls=(RequestedUrl("/"),) * 11)) == "too large"
        assert refused(address, letter(address, sender="somebody else")) == "bad signature"
        assert refused(address, letter(address, nonce=bytes(MAX_NONCE_BYTES + 1))) == "unreadable"


def test_a_letter_of_a_later_version_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        later = msgspec.to_builtins(letter(address, web.root), builtin_types=(bytes,)) | {"invented": [1, 2, 3]}
        status, body = post(address, packed(later))
        assert status == 200
        assert [type(MESSAGE_DECODER.decode(part)) for part in MessageDecompressor(2**24).decompress(body)] == [
            PageMessage,
            EndMessage,
        ]


def test_a_stranger_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        create_key(tmp_path / "stranger.key")
        stranger = MigrantAddress(address.url, str(tmp_path / "stranger.key"))
        assert refused(stranger, letter(stranger)) == "unknown sender"


def test_a_forged_letter_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        body = packed(letter(address))
        key = load_key(Path(address.key_file))
        forged = body[:-1] + bytes([body[-1] ^ 1])
        for signature in (sign_body(key, body), "", "AAAA", "no base64!"):
            status, answer = post(address, forged, signature=signature or "=")
            assert (status, json.loads(answer)["refused"]) == (403, "bad signature")


@pytest.mark.parametrize("codings", [(), ("prose",), ("another", prose.NAME)])
def test_a_model_of_text_is_only_for_who_reads_the_same_one(tmp_path: Path, codings: tuple[str, ...]) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root, compression="small")) as address:
        whole = letter(address, web.root, is_whole_site=True, accepted_encodings=codings)
        if prose.NAME not in codings:
            found = messages(address, whole)
        else:
            with closing(ProseUnpacker(2**24)) as unpacker:
                found = [MESSAGE_DECODER.decode(part) for part in unpacker.decompress(post(address, packed(whole))[1])]
        assert [type(message) for message in found] == [PageMessage, EndMessage]


def test_a_letter_is_obeyed_once(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        first = letter(address, web.root)
        assert isinstance(messages(address, first)[-1], EndMessage)
        assert refused(address, first) == "replayed"


@pytest.mark.parametrize("ahead", [0.0, 50.0])
def test_a_letter_is_not_obeyed_again_by_a_host_that_was_started_again(tmp_path: Path, ahead: float) -> None:
    def dated() -> MigrantRequest:
        return letter(address, web.root, issued_at=time.time() + ahead)

    with Web({"/": html()}) as web:
        with serving(tmp_path / "a", SiteRules(web.root)) as address:
            first = dated()
            assert isinstance(messages(address, first)[-1], EndMessage)
        service = MigrantServer(OwnerRules(address.receiver, (SiteRules(web.root),), address.receiver), tmp_path / "a")
        thread = threading.Thread(target=service.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            assert refused(address, first) == "written before this host began"
            assert isinstance(messages(address, dated())[-1], EndMessage)
        finally:
            service.shutdown()
            service.server_close()


def test_a_letter_that_breaks_off_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        body = packed(letter(address, web.root))
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            sock.sendall(
                f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body[:20]
            )
            sock.shutdown(socket.SHUT_WR)
            assert b'{"refused": "truncated"}' in sock.makefile("rb").read()
        assert not web.hits


@pytest.mark.parametrize(
    "content", [b"", b"no zstd", packed({"not": "a letter"}), packed([1] * 5), packed("x" * 10**6)]
)
def test_what_is_no_letter_is_refused_even_if_it_is_signed(tmp_path: Path, content: bytes) -> None:
    with serving(tmp_path, SiteRules(SITE), max_request_bytes=100_000) as address:
        status, answer = post(address, content)
        assert (status, json.loads(answer)["refused"]) == (400, "unreadable")
        assert post(address, b"x" * 100_001)[0] == 413


def test_only_what_is_new_is_sent(tmp_path: Path) -> None:
    with Web(tree(20)) as web, serving(tmp_path, SiteRules(web.root)) as address:
        wanted = tuple(RequestedUrl(path) for path in web.pages)
        first = messages(address, letter(address, web.root, urls=wanted))
        pages = {m.target: m for m in first if isinstance(m, PageMessage)}
        assert sorted(map(str, pages)) == sorted(map(str, range(20)))
        digests = {place: sha256(page.body).digest()[:DIGEST_PREFIX_BYTES] for place, page in pages.items()}
        known = tuple(RequestedUrl(path, digests[place]) for place, path in enumerate(web.pages))
        web.pages["/p3"] = html("/", text="changed")
        again = messages(address, letter(address, web.root, urls=known))
        assert [m.target for m in again if isinstance(m, PageMessage)] == [list(web.pages).index("/p3")]
        assert again[-1] == EndMessage(20, 19)


def test_the_whole_site_is_followed_and_nothing_else(tmp_path: Path) -> None:
    with Web(tree(30)) as web, serving(tmp_path, SiteRules(web.root, not_paths=("/p7",))) as address:
        web.pages["/"] = html("/p1", "/p2", "/p7", "http://127.0.0.1:1/elsewhere", text="start")
        found = messages(address, letter(address, web.root, is_whole_site=True))
        paths = {m.target for m in found if isinstance(m, PageMessage)}
        assert {"/p1", "/p2"} <= paths
        assert not any(str(path).startswith("/p7") for path in paths)
        assert set(web.hits) <= {"/robots.txt", *web.pages}
        assert max(web.hits.values()) == 1


def test_paths_the_owner_does_not_admit_are_named(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path, SiteRules(web.root, paths=("/p1",))) as address:
        found = messages(
            address, letter(address, web.root, urls=(RequestedUrl("/p1"), RequestedUrl("/p2"), RequestedUrl("//x/")))
        )
        missed = {m.target: (m.outcome, m.reason) for m in found if isinstance(m, MissedMessage)}
        assert missed[1] == (Outcome.SKIPPED, Reason.EXCLUDED)
        assert set(web.hits) == {"/robots.txt", "/p1"}


def test_a_folder_of_files_is_read_and_nothing_outside_it(tmp_path: Path) -> None:
    root = tmp_path / "www"
    (root / "docs").mkdir(parents=True)
    (root / "index.html").write_text('<a href="/docs/">docs</a> <a href="/link.html">out</a>')
    (root / "docs" / "index.html").write_text("<p>docs</p>")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /no/")
    (tmp_path / "secret.html").write_text("secret")
    (root / "link.html").symlink_to(tmp_path / "secret.html")
    with serving(tmp_path / "host", SiteRules("http://www.example", root=str(root))) as address:
        stops = tuple(RequestedUrl(path) for path in ("/", "/../secret.html", "/%2e%2e/secret.html", "/no/x"))
        found = messages(address, letter(address, "http://www.example", is_whole_site=True, urls=stops))
        bodies = {m.target: m.body for m in found if isinstance(m, PageMessage)}
        assert bodies[0].startswith(b"<a href")
        assert bodies["/docs/"] == b"<p>docs</p>"
        assert not any(b"secret" in body for body in bodies.values())
        assert MissedMessage(3, Outcome.SKIPPED, Reason.ROBOTS) in found


def look_into(root: Path, folder: Path, *paths: str) -> dict[int | str, MigrantMessage]:
    """Ask for some paths of a folder of files; messages by the place of their paths."""
    with serving(folder, SiteRules("http://www.example", root=str(root))) as address:
        stops = tuple(RequestedUrl(path) for path in paths)
        found = messages(address, letter(address, "http://www.example", urls=stops))
    return {message.target: message for message in found if isinstance(message, PageMessage | MissedMessage)}


def test_a_symlink_to_itself_is_no_page_and_breaks_no_answer(tmp_path: Path) -> None:
    root = tmp_path / "www"
    root.mkdir()
    (root / "loop.html").symlink_to(root / "loop.html")
    (root / "a.html").write_text("<p>here</p>")
    found = look_into(root, tmp_path / "host", "/loop.html", "/loop.html/x", "/a.html")
    statuses = {where: page.head.split()[1] for where, page in found.items() if isinstance(page, PageMessage)}
    assert statuses == {0: b"404", 1: b"404", 2: b"200"}


def test_a_robots_txt_that_cannot_be_read_keeps_us_out(tmp_path: Path) -> None:
    root = tmp_path / "www"
    root.mkdir()
    (root / "robots.txt").symlink_to(root / "robots.txt")
    (root / "a.html").write_text("<p>here</p>")
    found = look_into(root, tmp_path / "host", "/a.html")
    assert isinstance(found[0], MissedMessage)
    assert found[0].reason is Reason.ROBOTS


def test_dot_files_are_not_sent(tmp_path: Path) -> None:
    root = tmp_path / "www"
    for name in (".htpasswd", ".git/config", "a/.env", ".well-known/security.txt", ".git/index.html"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"in {name}")
    (root / "plain").symlink_to(root / ".git")
    (root / "name.txt").symlink_to(root / ".htpasswd")
    hidden = ("/.htpasswd", "/.git/config", "/a/.env", "/%2ehtpasswd", "/.git/", "/a%2f.env", "/plain/config",
              "/plain/", "/name.txt", "/a/../.htpasswd", "//.htpasswd")  # fmt: skip
    found = look_into(root, tmp_path / "host", *hidden, "/.well-known/security.txt")
    pages = {where: message for where, message in found.items() if isinstance(message, PageMessage)}
    assert pages.pop(len(hidden)).body == b"in .well-known/security.txt"
    assert not [hidden[int(where)] for where, page in pages.items() if b"in " in page.body]


ROUND = ("/no%2fx", "/no%2Fx", "/%6eo/x", "/a/..%2fno/x", "/no%5Cx", "//no/x")


@pytest.mark.parametrize("path", ROUND)
def test_no_other_spelling_is_a_way_round_robots_txt(tmp_path: Path, path: str) -> None:
    root = tmp_path / "www"
    (root / "no").mkdir(parents=True)
    (root / "a").mkdir()
    (root / "no" / "x").write_text("secret")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /no/")
    robots = Raw(b"User-agent: *\nDisallow: /no/", 200, {"Content-Type": "text/plain"})
    with (
        Web({"/": html(), "/robots.txt": robots}) as web,
        serving(tmp_path / "host", SiteRules("http://www.example", root=str(root)), SiteRules(web.root)) as address,
    ):
        for site in (web.root, "http://www.example"):
            first, *_ = messages(address, letter(address, site, urls=(RequestedUrl(path),)))
            assert isinstance(first, MissedMessage)
            assert first.reason is Reason.ROBOTS
        assert set(web.hits) == {"/robots.txt"}


BEHIND = (
    "//private/a.html",
    "/x/..%2fprivate/a.html",
    "/%2Fprivate/a.html",
    "/x/..%5Cprivate/a.html",
    "/private%2Fa.html",
    "/y/..;/private/a.html",
    "/private;v=1/a.html",
)


@pytest.mark.parametrize("path", BEHIND)
def test_no_other_spelling_leads_to_what_the_owner_keeps_back(tmp_path: Path, path: str) -> None:
    root = tmp_path / "www"
    (root / "private").mkdir(parents=True)
    (root / "private" / "a.html").write_text("secret")
    (root / "x").symlink_to(root / "private")
    files = SiteRules("http://www.example", root=str(root), not_paths=("/private/",))
    with (
        Web({"/": html()}) as web,
        serving(tmp_path / "host", files, SiteRules(web.root, not_paths=("/private/",))) as address,
    ):
        stops = (RequestedUrl(path), RequestedUrl("/x/a.html"))
        for site in (web.root, "http://www.example"):
            first, *rest = messages(address, letter(address, site, urls=stops))
            assert isinstance(first, MissedMessage)
            assert first.reason is Reason.EXCLUDED
            assert not any(b"secret" in m.body for m in rest if isinstance(m, PageMessage))
        assert set(web.hits) == {"/robots.txt", "/x/a.html"}


@pytest.mark.parametrize("path", BEHIND)
def test_a_letter_that_stays_is_never_shown_what_the_owner_keeps_back(tmp_path: Path, path: str) -> None:
    stops = (
        RequestedUrl(path),
        RequestedUrl("/public/1"),
        RequestedUrl("/admin"),
        RequestedUrl("/public/2"),
        RequestedUrl("http://[/"),
    )
    with Web({"/public/1": html("/public/3"), "/private/a.html": html()}) as web:
        site = SiteRules(web.root, paths=("/public/",), not_paths=("/private/",), max_pages=1)
        with serving(tmp_path, site) as address, staying(address, web.root, stops=stops) as more:
            found: list[MigrantMessage] = []
            while sum(isinstance(m, EndMessage) for m in found) < 3:
                found += more()
        told = {m.target: m.reason for m in found if isinstance(m, MissedMessage)}
        excluded = Reason.EXCLUDED
        assert told == {0: excluded, 2: excluded, 3: excluded, 4: Reason.BAD_URL}
        assert [m.target for m in found if isinstance(m, PageMessage)] == [1]
        assert set(web.hits) == {"/robots.txt", "/public/1"}


def test_links_between_files_are_followed_inside_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "www"
    for folder in ("docs/v5", "private", "other"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.html").write_text(f"<p>{folder}</p>")
    (root / "docs" / "current").symlink_to("v5")
    (root / "docs" / "current" / "index.html").symlink_to("a.html")
    (root / "docs" / "hidden").symlink_to("../private")
    site = SiteRules("http://www.example", root=str(root), paths=("/docs/",), not_paths=("/private/",))
    paths = ("/docs/current/a.html", "/docs/current/", "/docs/hidden/a.html")
    with serving(tmp_path / "host", site) as address:
        found = messages(address, letter(address, site.site, urls=tuple(map(RequestedUrl, paths))))
    assert {m.target: m.body for m in found if isinstance(m, PageMessage)} == dict.fromkeys((0, 1), b"<p>docs/v5</p>")
    assert [(m.target, m.reason) for m in found if isinstance(m, MissedMessage)] == [(2, Reason.EXCLUDED)]


def test_what_is_sent_to_the_web_server_is_spelled_anew(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        messages(address, letter(address, web.root, urls=(RequestedUrl("/a\r\nX: 1\r\n\r\nGET /b"),)))
        assert set(web.hits) == {"/robots.txt", "/aX:%201GET%20/b"}
        assert refused(address, letter(address, web.root, user_agent="x\r\nCookie: 1")) == "unreadable"
        assert refused(address, letter(address, web.root, user_agent="x" * 1000)) == "unreadable"


def test_who_has_not_sent_a_letter_yet_takes_nobodys_place(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root), max_concurrent_requests=1) as address:
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as slow:
            slow.sendall(f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n".encode() + b"x")
            assert isinstance(messages(address, letter(address, web.root))[-1], EndMessage)


def test_callers_who_say_nothing_shut_nobody_out(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root), max_concurrent_requests=1) as address:
        host, _, port = address.receiver.partition(":")
        idle = [socket.create_connection((host, int(port)), timeout=30) for _ in range(CONNECTIONS_PER_REQUEST_SLOT)]
        for _ in range(2):
            assert isinstance(messages(address, letter(address, web.root))[-1], EndMessage)
        assert idle[0].recv(1) == b"", "the first who came was seen out"
        for caller in idle:
            caller.close()


def test_a_caller_has_little_time_until_its_first_good_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrantRequestHandler, "timeout", 0.3)
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        key, packer = load_key(Path(address.key_file)), MessageCompressor()
        link = http.client.HTTPConnection(address.receiver, timeout=30)
        for _ in range(2):
            body = packer.compress(letter(address, web.root)) + packer.flush()
            link.request(
                "POST", REQUEST_PATH, body, {KEY_HEADER: get_public_key(key), SIGNATURE_HEADER: sign_body(key, body)}
            )
            answer = link.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            with socket.create_connection((link.host, link.port), timeout=30) as silent:
                assert silent.recv(1) == b"", "it was seen out; who sent a letter stays"
        link.close()


def test_no_part_of_an_answer_waits_for_the_part_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def setup(guest: MigrantRequestHandler) -> None:
        honest(guest)
        at_once.append(guest.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    honest, at_once = MigrantRequestHandler.setup, list[int]()
    monkeypatch.setattr(MigrantRequestHandler, "setup", setup)
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        assert isinstance(messages(address, letter(address, web.root))[-1], EndMessage)
    assert at_once
    assert all(at_once)


@pytest.mark.parametrize("length", ["\u00b2", "-1", "1" * 5000, "1_0", ""])
def test_a_length_that_is_none_is_refused(tmp_path: Path, length: str) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            sock.sendall(
                f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode("latin-1")
            )
            assert b'{"refused": "unreadable"}' in sock.makefile("rb").read()


@contextmanager
def staying(
    address: MigrantAddress, site: str, stops: tuple[RequestedUrl, ...] = (RequestedUrl("/"),)
) -> Iterator[Callable[[], list[MigrantMessage]]]:
    """Send a letter that stays; what it tells next is waited for."""
    key = load_key(Path(address.key_file))
    body = packed(letter(address, site, urls=stops, is_whole_site=True, watch_seconds=60.0, watch_interval_seconds=0.1))
    link = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=30)
    link.request("POST", REQUEST_PATH, body, {KEY_HEADER: get_public_key(key), SIGNATURE_HEADER: sign_body(key, body)})
    answer, unpacker = link.getresponse(), MessageDecompressor(2**24)

    def more() -> list[MigrantMessage]:
        data = answer.read1(65536)
        assert data, "the letter stays no longer"
        return [MESSAGE_DECODER.decode(part) for part in unpacker.decompress(data)]

    yield more
    answer.close()
    link.close()


def test_a_letter_that_stays_reports_changes_as_they_happen(tmp_path: Path) -> None:
    with Web(tree(3)) as web, serving(tmp_path, SiteRules(web.root)) as address, staying(address, web.root) as more:
        found: list[MigrantMessage] = []
        while not any(isinstance(m, EndMessage) for m in found):
            found += more()
        web.pages["/p2"] = html("/", text="new words")
        news: list[MigrantMessage] = []
        while not any(isinstance(m, PageMessage) for m in news):
            news += more()
        (page,) = (m for m in news if isinstance(m, PageMessage))
        assert page.target == "/p2"
        assert b"new words" in page.body


def test_a_page_that_is_not_there_is_told_once_and_told_again_when_it_returns(tmp_path: Path) -> None:
    pages = {"/": html("/a", "/missing"), "/a": html(text="here")}
    with Web(pages) as web, serving(tmp_path, SiteRules(web.root)) as address, staying(address, web.root) as more:

        def told() -> list[tuple[int | str, bytes]]:
            """All news up to the third look after the first of them."""
            found: list[tuple[int | str, bytes]] = []
            looks = 0
            while looks < 3:
                for message in more():
                    found += [(message.target, message.head[9:12])] if isinstance(message, PageMessage) else []
                    looks += bool(found) and isinstance(message, EndMessage)
            return found

        assert sorted(told(), key=str) == [("/a", b"200"), ("/missing", b"404"), (0, b"200")]
        page = web.pages.pop("/a")
        assert told() == [("/a", b"404")]
        web.pages["/a"] = page
        assert told() == [("/a", b"200")]


def test_hours() -> None:
    assert is_within_hours("0-24", 0.0)
    assert [hour for hour in range(24) if is_within_hours("22-6", hour * 3600.0)] == [0, 1, 2, 3, 4, 5, 22, 23]
    with pytest.raises(UsageError):
        is_within_hours("late", 0.0)


def test_rules_are_read_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    file.write_text('name = "h:1"\n[[site]]\nsite = "https://www.example.org"\nhours = "1-2"')
    assert load_owner_rules(file) == OwnerRules("h:1", (SiteRules("https://www.example.org", hours="1-2"),))
    for wrong in (
        'name = "h:1"',
        'name = "h"\n[[site]]\nsite = "www.example.org"',
        'nam = 1\n[[site]]\nsite="http://a"',
    ):
        file.write_text(wrong)
        with pytest.raises(UsageError, match=r"host\.toml"):
            load_owner_rules(file)


SITES = ('[[site]]\nsite = "http://a.example"\n', '[[site]]\nsite = "http://b.example"\n')


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (SITES[0] + "pages_per_second = nan", "pages_per_second"),
        (SITES[0] + "pages_per_second = -3", "pages_per_second"),
        (SITES[0] + "pages_per_second = inf", "pages_per_second"),
        (SITES[0] + "connections = 0", "connections"),
        (SITES[0] + "max_pages = 0", "max_pages"),
        (SITES[0] + 'not_paths = ["private/"]', "private/"),
        (SITES[0] + 'root = "/no/such/folder"', "root"),
        (SITES[0] + 'hours = "20-25"', "hours"),
        ("max_concurrent_requests = -1\n" + SITES[0], "max_concurrent_requests"),
        ("max_request_bytes = 0\n" + SITES[0], "max_request_bytes"),
        (SITES[0] + SITES[1] + SITES[0], "twice"),
        ('[[site]]\nsite = "http://a.example:99999"', "write a site"),
    ],
)
def test_what_cannot_be_meant_is_said_before_the_service_starts(tmp_path: Path, rules: str, why: str) -> None:
    file = tmp_path / "host.toml"
    file.write_text('name = "h:1"\n' + "".join(SITES))
    assert len(load_owner_rules(file).site) == 2
    file.write_text('name = "h:1"\n' + rules)
    with pytest.raises(UsageError, match=why) as said:
        load_owner_rules(file)
    assert "\n" not in str(said.value)


def test_what_a_service_cannot_start_with_is_said(tmp_path: Path) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    owner, listen = OwnerRules("h:1", (SiteRules(SITE),)), "127.0.0.1:0"
    for more, why in (
        ({"listen": "127.0.0.1:99999"}, "write an address and a port"),
        ({"listen": "127.0.0.1:\u00b2"}, "write an address and a port"),
        ({"listen": listen, "certificate": "none.pem"}, "cannot read .*none.pem"),
        ({"listen": listen, "certificate": "text.pem", "private_key": "none.key"}, "cannot read .*none.key"),
        ({"listen": listen, "certificate": "text.pem"}, "no certificate"),
        ({"listen": listen, "private_key": "text.pem"}, "without a certificate"),
    ):
        with pytest.raises(UsageError, match=why):
            MigrantServer(msgspec.structs.replace(owner, **more), tmp_path)
