"""Requests that a migrant accepts, and the reasons for refusals."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from sanderling.workers.migrant import migrant_server
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
)
from sanderling.workers.migrant.shared_dictionary import compute_dictionary_id

SITE = "http://127.0.0.1:1"


def build_request(address: MigrantAddress, site: str = SITE, **fields: object) -> MigrantRequest:
    now = time.time()
    key = load_key(Path(address.key_file))
    request = MigrantRequest(
        get_public_key(key), address.receiver, Host(site), now, now + 60, generate_nonce(), (RequestedUrl("/"),)
    )
    return msgspec.structs.replace(request, **fields)


def post(address: MigrantAddress, body: bytes, signer: str = "", signature: str = "") -> tuple[int, bytes]:
    key = load_key(Path(address.key_file))
    connection = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=30)
    headers = {KEY_HEADER: signer or get_public_key(key), SIGNATURE_HEADER: signature or sign_body(key, body)}
    connection.request("POST", REQUEST_PATH, body, headers)
    response = connection.getresponse()
    result = response.status, response.read()
    connection.close()
    return result


def compress_message(message: object) -> bytes:
    compressor = MessageCompressor()
    return compressor.compress(message) + compressor.flush()


def get_refusal(address: MigrantAddress, request: MigrantRequest) -> str:
    status, body = post(address, compress_message(request))
    assert status in (400, 403, 413)
    return str(json.loads(body)["refused"])


def get_messages(address: MigrantAddress, request: MigrantRequest) -> list[MigrantMessage]:
    status, body = post(address, compress_message(request))
    assert status == 200, body
    return [MESSAGE_DECODER.decode(part) for part in MessageDecompressor(2**24).decompress(body)]


def test_each_refusal_has_a_reason(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE), max_request_bytes=20_000, max_urls=10) as address:
        now = time.time()
        assert get_refusal(address, build_request(address, receiver="other:1")) == "for another migrant"
        assert get_refusal(address, build_request(address, expires_at=now - 100)) == "expired"
        for expires_at in (now + 10**6, float("inf"), float("nan")):
            assert get_refusal(address, build_request(address, expires_at=expires_at)) == "valid for too long"
        assert (
            get_refusal(address, build_request(address, expires_at=now + MAX_REQUEST_SECONDS + 60, site="http://x"))
            == "other site"
        )
        assert get_refusal(address, build_request(address, issued_at=now + 1000)) == "issued in the future"
        assert get_refusal(address, build_request(address, site="http://other.example")) == "other site"
        assert get_refusal(address, build_request(address, urls=(RequestedUrl("/"),) * 11)) == "too large"
        assert get_refusal(address, build_request(address, sender="another key")) == "bad signature"
        assert get_refusal(address, build_request(address, nonce=bytes(MAX_NONCE_BYTES + 1))) == "unreadable"


def test_unknown_fields_of_a_request_are_ignored(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        newer = msgspec.to_builtins(build_request(address, web.root), builtin_types=(bytes,)) | {"invented": [1, 2, 3]}
        status, body = post(address, compress_message(newer))
        assert status == 200
        assert [type(MESSAGE_DECODER.decode(part)) for part in MessageDecompressor(2**24).decompress(body)] == [
            PageMessage,
            EndMessage,
        ]


def test_unknown_sender_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        create_key(tmp_path / "unknown.key")
        unknown = MigrantAddress(address.url, str(tmp_path / "unknown.key"))
        assert get_refusal(unknown, build_request(unknown)) == "unknown sender"


def test_request_with_invalid_signature_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        body = compress_message(build_request(address))
        key = load_key(Path(address.key_file))
        forged = body[:-1] + bytes([body[-1] ^ 1])
        for signature in (sign_body(key, body), "", "AAAA", "no base64!"):
            status, response = post(address, forged, signature=signature or "=")
            assert (status, json.loads(response)["refused"]) == (403, "bad signature")


@pytest.mark.parametrize("is_small", [True, False])
def test_compression_of_the_first_response_follows_the_owner_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    compressors = list[MessageCompressor]()

    def compress(dictionary: bytes = b"", is_small: bool = False) -> MessageCompressor:
        compressors.append(MessageCompressor(dictionary, is_small))
        return compressors[-1]

    monkeypatch.setattr(migrant_server, "MessageCompressor", compress)
    site = tree(40)
    for page in site.values():  # larger than the smallest dictionary
        page.body += f"<p>{page.body.hex()}</p>".encode() * 10
    with (
        Web(site) as web,
        serving(tmp_path, SiteRules(web.root, compression="small" if is_small else "fast")) as address,
    ):
        received = post(address, compress_message(build_request(address, web.root, is_whole_site=True)))[1]
        decompressor = MessageDecompressor(2**24)
        messages = [MESSAGE_DECODER.decode(encoded) for encoded in decompressor.decompress(received)]
        assert sum(isinstance(message, PageMessage) for message in messages) == 40
        dictionary = bytes(decompressor.dictionary_bytes)
        for request in (
            build_request(address, web.root),
            build_request(address, web.root, is_whole_site=True, watch_seconds=0.2, watch_interval_seconds=0.05),
            build_request(address, web.root, is_whole_site=True, dictionary_id=compute_dictionary_id(dictionary)),
        ):
            assert post(address, compress_message(request))[0] == 200
    assert [compressor.is_small for compressor in compressors] == [is_small, False, False, False]


def test_replayed_request_is_refused(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        first = build_request(address, web.root)
        assert isinstance(get_messages(address, first)[-1], EndMessage)
        assert get_refusal(address, first) == "replayed"


@pytest.mark.parametrize("ahead", [0.0, 50.0])
def test_replayed_request_is_refused_after_a_restart(tmp_path: Path, ahead: float) -> None:
    def build_dated() -> MigrantRequest:
        return build_request(address, web.root, issued_at=time.time() + ahead)

    with Web({"/": html()}) as web:
        with serving(tmp_path / "a", SiteRules(web.root)) as address:
            first = build_dated()
            assert isinstance(get_messages(address, first)[-1], EndMessage)
        server = MigrantServer(OwnerRules(address.receiver, (SiteRules(web.root),), address.receiver), tmp_path / "a")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            assert get_refusal(address, first) == "issued before this migrant started"
            assert isinstance(get_messages(address, build_dated())[-1], EndMessage)
        finally:
            server.shutdown()
            server.server_close()


def test_truncated_request_is_refused_without_a_fetch(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        body = compress_message(build_request(address, web.root))
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            sock.sendall(
                f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body[:20]
            )
            sock.shutdown(socket.SHUT_WR)
            assert b'{"refused": "truncated"}' in sock.makefile("rb").read()
        assert not web.hits


@pytest.mark.parametrize(
    "content",
    [b"", b"no zstd", compress_message({"not": "a request"}), compress_message([1] * 5), compress_message("x" * 10**6)],
)
def test_signed_invalid_body_is_refused(tmp_path: Path, content: bytes) -> None:
    with serving(tmp_path, SiteRules(SITE), max_request_bytes=100_000) as address:
        status, response = post(address, content)
        assert (status, json.loads(response)["refused"]) == (400, "unreadable")
        assert post(address, b"x" * 100_001)[0] == 413


def test_only_changed_pages_are_sent(tmp_path: Path) -> None:
    with Web(tree(20)) as web, serving(tmp_path, SiteRules(web.root)) as address:
        urls = tuple(RequestedUrl(path) for path in web.pages)
        first = get_messages(address, build_request(address, web.root, urls=urls))
        pages = {m.target: m for m in first if isinstance(m, PageMessage)}
        assert sorted(map(str, pages)) == sorted(map(str, range(20)))
        digests = {index: sha256(page.body).digest()[:DIGEST_PREFIX_BYTES] for index, page in pages.items()}
        known = tuple(RequestedUrl(path, digests[index]) for index, path in enumerate(web.pages))
        web.pages["/p3"] = html("/", text="changed")
        second = get_messages(address, build_request(address, web.root, urls=known))
        assert [m.target for m in second if isinstance(m, PageMessage)] == [list(web.pages).index("/p3")]
        assert second[-1] == EndMessage(20, 19)


def test_whole_site_request_follows_links_within_the_site_only(tmp_path: Path) -> None:
    with Web(tree(30)) as web, serving(tmp_path, SiteRules(web.root, not_paths=("/p7",))) as address:
        web.pages["/"] = html("/p1", "/p2", "/p7", "http://127.0.0.1:1/elsewhere", text="start")
        found = get_messages(address, build_request(address, web.root, is_whole_site=True))
        paths = {m.target for m in found if isinstance(m, PageMessage)}
        assert {"/p1", "/p2"} <= paths
        assert not any(str(path).startswith("/p7") for path in paths)
        assert set(web.hits) <= {"/robots.txt", *web.pages}
        assert max(web.hits.values()) == 1


def test_paths_the_owner_does_not_allow_are_reported(tmp_path: Path) -> None:
    with Web(tree(5)) as web, serving(tmp_path, SiteRules(web.root, paths=("/p1",))) as address:
        found = get_messages(
            address,
            build_request(address, web.root, urls=(RequestedUrl("/p1"), RequestedUrl("/p2"), RequestedUrl("//x/"))),
        )
        missed = {m.target: (m.outcome, m.reason) for m in found if isinstance(m, MissedMessage)}
        assert missed[1] == (Outcome.SKIPPED, Reason.EXCLUDED)
        assert set(web.hits) == {"/robots.txt", "/p1"}


def test_no_file_outside_of_the_root_is_read(tmp_path: Path) -> None:
    root = tmp_path / "www"
    (root / "docs").mkdir(parents=True)
    (root / "index.html").write_text('<a href="/docs/">docs</a> <a href="/connection.html">out</a>')
    (root / "docs" / "index.html").write_text("<p>docs</p>")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /no/")
    (tmp_path / "secret.html").write_text("secret")
    (root / "connection.html").symlink_to(tmp_path / "secret.html")
    with serving(tmp_path / "host", SiteRules("http://www.example", root=str(root))) as address:
        urls = tuple(RequestedUrl(path) for path in ("/", "/../secret.html", "/%2e%2e/secret.html", "/no/x"))
        found = get_messages(address, build_request(address, "http://www.example", is_whole_site=True, urls=urls))
        bodies = {m.target: m.body for m in found if isinstance(m, PageMessage)}
        assert bodies[0].startswith(b"<a href")
        assert bodies["/docs/"] == b"<p>docs</p>"
        assert not any(b"secret" in body for body in bodies.values())
        assert MissedMessage(3, Outcome.SKIPPED, Reason.ROBOTS) in found


def fetch_files(root: Path, folder: Path, *paths: str) -> dict[int | str, MigrantMessage]:
    """Request paths of a folder of files. Returns the messages by index of the path."""
    with serving(folder, SiteRules("http://www.example", root=str(root))) as address:
        urls = tuple(RequestedUrl(path) for path in paths)
        found = get_messages(address, build_request(address, "http://www.example", urls=urls))
    return {message.target: message for message in found if isinstance(message, PageMessage | MissedMessage)}


def test_symlink_loop_is_not_found(tmp_path: Path) -> None:
    root = tmp_path / "www"
    root.mkdir()
    (root / "loop.html").symlink_to(root / "loop.html")
    (root / "a.html").write_text("<p>text</p>")
    found = fetch_files(root, tmp_path / "host", "/loop.html", "/loop.html/x", "/a.html")
    statuses = {target: page.head.split()[1] for target, page in found.items() if isinstance(page, PageMessage)}
    assert statuses == {0: b"404", 1: b"404", 2: b"200"}


def test_unreadable_robots_txt_disallows_all(tmp_path: Path) -> None:
    root = tmp_path / "www"
    root.mkdir()
    (root / "robots.txt").symlink_to(root / "robots.txt")
    (root / "a.html").write_text("<p>text</p>")
    found = fetch_files(root, tmp_path / "host", "/a.html")
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
    found = fetch_files(root, tmp_path / "host", *hidden, "/.well-known/security.txt")
    pages = {target: message for target, message in found.items() if isinstance(message, PageMessage)}
    assert pages.pop(len(hidden)).body == b"in .well-known/security.txt"
    assert not [hidden[int(target)] for target, page in pages.items() if b"in " in page.body]


DECODED_TO_DISALLOWED = ("/no%2fx", "/no%2Fx", "/%6eo/x", "/a/..%2fno/x", "/no%5Cx", "//no/x")


@pytest.mark.parametrize("path", DECODED_TO_DISALLOWED)
def test_url_variants_of_a_disallowed_path_are_disallowed(tmp_path: Path, path: str) -> None:
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
            first, *_ = get_messages(address, build_request(address, site, urls=(RequestedUrl(path),)))
            assert isinstance(first, MissedMessage)
            assert first.reason is Reason.ROBOTS
        assert set(web.hits) == {"/robots.txt"}


DECODED_TO_DENIED = (
    "//private/a.html",
    "/x/..%2fprivate/a.html",
    "/%2Fprivate/a.html",
    "/x/..%5Cprivate/a.html",
    "/private%2Fa.html",
    "/y/..;/private/a.html",
    "/private;v=1/a.html",
)


@pytest.mark.parametrize("path", DECODED_TO_DENIED)
def test_url_variants_of_a_denied_path_are_denied(tmp_path: Path, path: str) -> None:
    root = tmp_path / "www"
    (root / "private").mkdir(parents=True)
    (root / "private" / "a.html").write_text("secret")
    (root / "x").symlink_to(root / "private")
    files = SiteRules("http://www.example", root=str(root), not_paths=("/private/",))
    with (
        Web({"/": html()}) as web,
        serving(tmp_path / "host", files, SiteRules(web.root, not_paths=("/private/",))) as address,
    ):
        urls = (RequestedUrl(path), RequestedUrl("/x/a.html"))
        for site in (web.root, "http://www.example"):
            first, *rest = get_messages(address, build_request(address, site, urls=urls))
            assert isinstance(first, MissedMessage)
            assert first.reason is Reason.EXCLUDED
            assert not any(b"secret" in m.body for m in rest if isinstance(m, PageMessage))
        assert set(web.hits) == {"/robots.txt", "/x/a.html"}


@pytest.mark.parametrize("path", DECODED_TO_DENIED)
def test_watch_request_never_fetches_denied_paths(tmp_path: Path, path: str) -> None:
    urls = (
        RequestedUrl(path),
        RequestedUrl("/public/1"),
        RequestedUrl("/admin"),
        RequestedUrl("/public/2"),
        RequestedUrl("http://[/"),
    )
    with Web({"/public/1": html("/public/3"), "/private/a.html": html()}) as web:
        site = SiteRules(web.root, paths=("/public/",), not_paths=("/private/",), max_pages=1)
        with serving(tmp_path, site) as address, watching(address, web.root, urls=urls) as receive:
            found: list[MigrantMessage] = []
            while sum(isinstance(m, EndMessage) for m in found) < 3:
                found += receive()
        missed = {m.target: m.reason for m in found if isinstance(m, MissedMessage)}
        excluded = Reason.EXCLUDED
        assert missed == {0: excluded, 2: excluded, 3: excluded, 4: Reason.BAD_URL}
        assert [m.target for m in found if isinstance(m, PageMessage)] == [1]
        assert set(web.hits) == {"/robots.txt", "/public/1"}


def test_symlinks_within_the_root_are_followed(tmp_path: Path) -> None:
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
        found = get_messages(address, build_request(address, site.site, urls=tuple(map(RequestedUrl, paths))))
    assert {m.target: m.body for m in found if isinstance(m, PageMessage)} == dict.fromkeys((0, 1), b"<p>docs/v5</p>")
    assert [(m.target, m.reason) for m in found if isinstance(m, MissedMessage)] == [(2, Reason.EXCLUDED)]


def test_paths_are_normalized_before_they_are_requested(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        get_messages(address, build_request(address, web.root, urls=(RequestedUrl("/a\r\nX: 1\r\n\r\nGET /b"),)))
        assert set(web.hits) == {"/robots.txt", "/aX:%201GET%20/b"}
        assert get_refusal(address, build_request(address, web.root, user_agent="x\r\nCookie: 1")) == "unreadable"
        assert get_refusal(address, build_request(address, web.root, user_agent="x" * 1000)) == "unreadable"


def test_incomplete_request_takes_no_request_slot(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root), max_concurrent_requests=1) as address:
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as slow:
            slow.sendall(f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n".encode() + b"x")
            assert isinstance(get_messages(address, build_request(address, web.root))[-1], EndMessage)


def test_idle_connections_do_not_block_requests(tmp_path: Path) -> None:
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root), max_concurrent_requests=1) as address:
        host, _, port = address.receiver.partition(":")
        idle = [socket.create_connection((host, int(port)), timeout=30) for _ in range(CONNECTIONS_PER_REQUEST_SLOT)]
        for _ in range(2):
            assert isinstance(get_messages(address, build_request(address, web.root))[-1], EndMessage)
        assert idle[0].recv(1) == b"", "the oldest connection was closed"
        for sock in idle:
            sock.close()


def test_unauthenticated_connection_times_out_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrantRequestHandler, "timeout", 0.3)
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        key, compressor = load_key(Path(address.key_file)), MessageCompressor()
        connection = http.client.HTTPConnection(address.receiver, timeout=30)
        for _ in range(2):
            body = compressor.compress(build_request(address, web.root)) + compressor.flush()
            connection.request(
                "POST", REQUEST_PATH, body, {KEY_HEADER: get_public_key(key), SIGNATURE_HEADER: sign_body(key, body)}
            )
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (200, True)
            with socket.create_connection((connection.host, connection.port), timeout=30) as silent:
                assert silent.recv(1) == b"", "closed, unlike the authenticated connection"
        connection.close()


def test_responses_are_sent_without_nagle_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def setup(handler: MigrantRequestHandler) -> None:
        original_setup(handler)
        nodelay.append(handler.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    original_setup, nodelay = MigrantRequestHandler.setup, list[int]()
    monkeypatch.setattr(MigrantRequestHandler, "setup", setup)
    with Web({"/": html()}) as web, serving(tmp_path, SiteRules(web.root)) as address:
        assert isinstance(get_messages(address, build_request(address, web.root))[-1], EndMessage)
    assert nodelay
    assert all(nodelay)


@pytest.mark.parametrize("length", ["\u00b2", "-1", "1" * 5000, "1_0", ""])
def test_invalid_content_length_is_refused(tmp_path: Path, length: str) -> None:
    with serving(tmp_path, SiteRules(SITE)) as address:
        host, _, port = address.receiver.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            sock.sendall(
                f"POST {REQUEST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode("latin-1")
            )
            assert b'{"refused": "unreadable"}' in sock.makefile("rb").read()


@contextmanager
def watching(
    address: MigrantAddress, site: str, urls: tuple[RequestedUrl, ...] = (RequestedUrl("/"),)
) -> Iterator[Callable[[], list[MigrantMessage]]]:
    """Send a watch request. Yields a function that waits for the next messages."""
    key = load_key(Path(address.key_file))
    body = compress_message(
        build_request(address, site, urls=urls, is_whole_site=True, watch_seconds=60.0, watch_interval_seconds=0.1)
    )
    connection = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=30)
    connection.request(
        "POST", REQUEST_PATH, body, {KEY_HEADER: get_public_key(key), SIGNATURE_HEADER: sign_body(key, body)}
    )
    response, decompressor = connection.getresponse(), MessageDecompressor(2**24)

    def receive() -> list[MigrantMessage]:
        data = response.read1(65536)
        assert data, "the response has ended"
        return [MESSAGE_DECODER.decode(part) for part in decompressor.decompress(data)]

    yield receive
    response.close()
    connection.close()


def test_watch_request_reports_changes_as_they_happen(tmp_path: Path) -> None:
    with Web(tree(3)) as web, serving(tmp_path, SiteRules(web.root)) as address, watching(address, web.root) as receive:
        found: list[MigrantMessage] = []
        while not any(isinstance(m, EndMessage) for m in found):
            found += receive()
        web.pages["/p2"] = html("/", text="new words")
        later: list[MigrantMessage] = []
        while not any(isinstance(m, PageMessage) for m in later):
            later += receive()
        (page,) = (m for m in later if isinstance(m, PageMessage))
        assert page.target == "/p2"
        assert b"new words" in page.body


def test_missing_page_is_reported_once_and_again_when_it_returns(tmp_path: Path) -> None:
    pages = {"/": html("/a", "/missing"), "/a": html(text="text")}
    with Web(pages) as web, serving(tmp_path, SiteRules(web.root)) as address, watching(address, web.root) as receive:

        def receive_pages() -> list[tuple[int | str, bytes]]:
            """Return all pages up to the third round after the first page."""
            found: list[tuple[int | str, bytes]] = []
            rounds = 0
            while rounds < 3:
                for message in receive():
                    found += [(message.target, message.head[9:12])] if isinstance(message, PageMessage) else []
                    rounds += bool(found) and isinstance(message, EndMessage)
            return found

        assert sorted(receive_pages(), key=str) == [("/a", b"200"), ("/missing", b"404"), (0, b"200")]
        page = web.pages.pop("/a")
        assert receive_pages() == [("/a", b"404")]
        web.pages["/a"] = page
        assert receive_pages() == [("/a", b"200")]


def test_invalid_server_configuration_is_reported(tmp_path: Path) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    rules, listen = OwnerRules("h:1", (SiteRules(SITE),)), "127.0.0.1:0"
    for fields, message in (
        ({"listen": "127.0.0.1:99999"}, "write an address and a port"),
        ({"listen": "127.0.0.1:\u00b2"}, "write an address and a port"),
        ({"listen": listen, "certificate": "none.pem"}, "cannot read .*none.pem"),
        ({"listen": listen, "certificate": "text.pem", "private_key": "none.key"}, "cannot read .*none.key"),
        ({"listen": listen, "certificate": "text.pem"}, "no valid certificate"),
        ({"listen": listen, "private_key": "text.pem"}, "without a certificate"),
    ):
        with pytest.raises(UsageError, match=message):
            MigrantServer(msgspec.structs.replace(rules, **fields), tmp_path)
