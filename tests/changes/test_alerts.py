import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator

import pytest

from sanderling.changes.alerts import open_sender


class MailServer(socketserver.TCPServer):
    """An SMTP server on loopback that stores messages."""

    allow_reuse_address = True

    def __init__(self) -> None:
        self.kept: list[bytes] = []
        super().__init__(("127.0.0.1", 0), MailHandler)


class MailHandler(socketserver.StreamRequestHandler):
    """Accepts every command."""

    server: MailServer

    def handle(self) -> None:
        self.wfile.write(b"220 yes\r\n")
        for line in self.rfile:
            if line.upper().startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                self.server.kept.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            self.wfile.write(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else b"250 yes\r\n")


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of apprise
def test_page_content_is_text_in_a_mail(mail_server: MailServer) -> None:
    host, port = mail_server.server_address[:2]
    sender = open_sender([f"mailto://{host!s}:{port}/?from=a@example.org&to=b@example.org&mode=insecure"])
    assert sender.notify(body="first page\n~ {+<img src=x onerror=alert(1)>+}\nsecond page", title="2 changes")
    message = email.message_from_bytes(mail_server.kept[0], policy=email.policy.default)
    html_parts = [part.get_content() for part in message.walk() if part.get_content_type() == "text/html"]
    assert not any("<img" in part for part in html_parts)
    plain_part = message.get_body(("plain",))
    assert plain_part is not None
    assert "first page\n~ {+<img" in plain_part.get_content().replace("\r\n", "\n")  # each on its line
