"""Test output to limited terminals, full disks, and closed pipes; and interruptions."""

import json
import os
import pty
import signal
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.site import Page, Site, html, tree

from sanderling.cli import main
from sanderling.cli.arguments import EXIT_INTERRUPTED, parse_call
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages

BEFORE, AFTER = "Gr\u00fc\u00dfe aus K\u00f6ln", "Gr\u00fc\u00dfe aus \u6771\u4eac und von anderswo"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with letters of several scripts, and a change."""
    made = tmp_path_factory.mktemp("letters")
    with Site({"/": html("/a", text=BEFORE), "/a": html("/", text=BEFORE)}) as site:
        flags = ["-C", str(made), "--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-index"]
        main(["crawl", site.root + "/", *flags])
        site.pages["/a"] = html("/", text=AFTER)
        main(["crawl", site.root + "/", *flags])
    return made


def run(folder: Path, *words: str, encoding: str = "ascii", to: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a command that may write these letters alone."""
    env = os.environ | {"PYTHONIOENCODING": encoding}
    line = [sys.executable, "-m", "sanderling", *words, "-C", str(folder)]
    if not to:
        return subprocess.run(line, capture_output=True, env=env, check=False)
    return subprocess.run(["sh", "-c", f'"$@" {to}', "sh", *line], capture_output=True, env=env, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", [["changes", "--words"], ["pages"], ["status"], ["export", "--format", "csv"]])
def test_unencodable_characters_are_replaced(folder: Path, words: list[str], encoding: str) -> None:
    done = run(folder, *words, encoding=encoding)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_ascii_terminal_shows_page_history_and_diff(folder: Path) -> None:
    url = json.loads(run(folder, "changes", "--json").stdout)["url"]
    for words in (["history", url], ["diff", url], ["show", url, "--text"]):
        done = run(folder, *words)
        assert done.returncode == 0, done.stderr
    assert b"Gr??e" in done.stdout


def test_json_is_the_same_in_every_encoding(folder: Path) -> None:
    narrow, wide = (run(folder, "pages", "--json", encoding=name).stdout.decode(name) for name in ("ascii", "utf-8"))
    assert [json.loads(line) for line in narrow.splitlines()] == [json.loads(line) for line in wide.splitlines()]
    assert json.loads(narrow.splitlines()[0])["title"] == BEFORE
    feed = run(folder, "changes", "--feed", "atom").stdout
    assert "\u6771\u4eac" in "".join(ElementTree.fromstring(feed).itertext())


def test_full_disk_is_reported(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = run(folder, "pages", to="> /dev/full")
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1), done.stderr


def test_closed_output_is_no_error(folder: Path) -> None:
    done = run(folder, "pages", to=">&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("stream", ["full", "left"])
def test_crawl_continues_without_a_reader_of_its_messages(stream: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    line = [sys.executable, "-m", "sanderling", "crawl", "-C", str(tmp_path), "--delay", "0", "--allow-private", "-vv"]
    with Site(tree(200)) as site, Path("/dev/full").open("wb") as full:
        output = full if stream == "full" else subprocess.PIPE
        with subprocess.Popen(
            [*line, site.root + "/", "--no-index"], stdout=subprocess.DEVNULL, stderr=output
        ) as child:
            if child.stderr:
                assert child.stderr.readline()
                child.stderr.close()
            assert child.wait() == 0
    with open_collection_read_only(tmp_path) as collection:
        (finish,) = collection.db.execute("SELECT finish_reason FROM runs").fetchone()
        assert (finish, len(list(load_pages(collection.db)))) == ("done", 200)


def unheard(*words: str, unbuffered: str = "") -> int:
    """Run a command whose reader left before it began; its exit code."""
    line = [sys.executable, "-m", "sanderling", *words]
    reader, writer = os.pipe()
    os.close(reader)
    env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    code = subprocess.run(line, stdout=writer, stderr=subprocess.DEVNULL, env=env, check=False).returncode
    os.close(writer)
    return code


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
def test_crawl_whose_reader_left_returns_its_exit_code(unbuffered: str, folder: Path, tmp_path: Path) -> None:
    common = ["--delay", "0", "--allow-private", "--workers", "1", "--no-index"]
    with Site({}) as site:
        assert unheard("crawl", site.root + "/", "-C", str(tmp_path), *common, unbuffered=unbuffered) == 9
    hurried = ["refresh", "--all", "--time-limit", "1", "-C", str(folder), *common]
    assert unheard(*hurried, unbuffered=unbuffered) == 15
    assert unheard("pages", "-C", str(folder), unbuffered=unbuffered) == 0


def test_broken_pipe_elsewhere_is_an_error() -> None:
    done = failing_with("BrokenPipeError()")
    assert (done.returncode, b"BrokenPipeError" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("words", [["crawl", "http://127.0.0.1:1/", "--clean"], ["delete", "*"]])
def test_confirmation_without_a_terminal_is_refused(folder: Path, words: list[str]) -> None:
    done = run(folder, *words, to="<&-")
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1), done.stderr


def test_closed_standard_input_has_no_seeds(tmp_path: Path) -> None:
    done = run(tmp_path, "crawl", "-", to="<&-")
    assert (done.returncode, b"no seed given" in done.stderr) == (4, True), done.stderr


def test_control_characters_reach_files_but_no_terminal(tmp_path: Path) -> None:
    body = "<p>Gr\u00fc\u00dfe \x1b]0;owned\x07".encode()
    pages = {
        "/": html("/a", "/b"),
        "/a": Page(body),
        "/b": Page(b"\x89PNG\x00\x1b[2J", headers={"Content-Type": "x/y"}),
    }
    with Site(pages) as site:
        flags = ["-C", str(tmp_path), "--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-index"]
        assert main(["crawl", site.root + "/", *flags]) == 0
    assert run(tmp_path, "show", f"{site.root}/a").stdout == body
    for path, output in (("/a", "<p>Gr\u00fc\u00dfe ]0;owned\r\n"), ("/b", "[x/y, 9 bytes]\r\n")):
        assert run_in_terminal("show", site.root + path, "-C", str(tmp_path)) == output.encode()


def run_in_terminal(*words: str) -> bytes:
    """Return the output of a command in a terminal."""
    child, terminal = pty.fork()
    if not child:
        os.execve(
            sys.executable, [sys.executable, "-m", "sanderling", *words], os.environ | {"PYTHONIOENCODING": "utf-8"}
        )
    output = b""
    with suppress(OSError):  # it is gone
        while some := os.read(terminal, 65536):
            output += some
    os.close(terminal)
    os.waitpid(child, 0)
    return output


def test_closed_terminal_ends_a_crawl_like_ctrl_c(tmp_path: Path) -> None:
    with Site(tree(400)) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0.01", "--allow-private", "--no-index"]
        child, terminal = pty.fork()
        if not child:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # we may be under nohup; it is not
            os.execv(sys.executable, [sys.executable, "-m", "sanderling", *line])
        while b" queued" not in os.read(terminal, 65536):  # it is at work
            pass
        os.close(terminal)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11


def failing_with(error: str) -> subprocess.CompletedProcess[bytes]:
    """Return a command that raises this error."""
    code = (
        "import errno, sys; from sanderling import cli; from sanderling.cli.commands.look_closer import settings\n"
        f"def fail(call): raise {error}\n"
        "settings.run = fail; sys.exit(cli.main(['settings']))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)


def test_disk_error_is_not_taken_for_a_closed_terminal() -> None:
    done = failing_with("OSError(errno.EIO, 'Input/output error')")
    assert (done.returncode, b"disk I/O error" in done.stderr) == (3, True), done.stderr


STOPPED = """
import signal, sys
class Stop:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Stop())
from {} import main
sys.exit(main())
"""


@pytest.mark.parametrize("awaited", ["sanderling.cli", "sanderling.cli.arguments", "msgspec"])
def test_ctrl_c_during_startup_is_no_error(awaited: str) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    script = STOPPED.format(project["scripts"]["sanderling"].removesuffix(":main"))
    done = subprocess.run([sys.executable, "-c", script, awaited], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (EXIT_INTERRUPTED, b"")


def interrupt_while_seeds_are_read(
    folder: Path, tmp_path: Path, number: signal.Signals = signal.SIGINT
) -> tuple[int, bytes, bytes]:
    """Interrupt a command while it reads seeds from a pipe without a writer."""
    os.mkfifo(tmp_path / "seeds")
    line = [sys.executable, "-m", "sanderling", "crawl", "-C", str(folder), "--json",
            "--seed-file", str(tmp_path / "seeds")]  # fmt: skip
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, (tmp_path / "seeds").open("w"):  # it is being read now
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_crawl_interrupted_before_its_start_prints_its_summary(tmp_path: Path, number: signal.Signals) -> None:
    code, out, err = interrupt_while_seeds_are_read(tmp_path / "none", tmp_path, number)
    assert (code, err) == (EXIT_INTERRUPTED, b"")
    output = json.loads(out.splitlines()[-1])
    assert (output["finish_reason"], output["pages"], output["fetched"]) == ("interrupted", 0, 0)
    assert not (tmp_path / "none").exists()


def test_summary_of_an_interrupted_crawl_counts_stored_pages(folder: Path, tmp_path: Path) -> None:
    code, out, _ = interrupt_while_seeds_are_read(folder, tmp_path)
    output = json.loads(out.splitlines()[-1])
    assert (code, output["finish_reason"], output["pages"], output["fetched"]) == (
        EXIT_INTERRUPTED,
        "interrupted",
        2,
        0,
    )


@pytest.mark.parametrize(
    "where",
    ["sanderling.cli.commands.everyday.refresh.run_refresh", "sanderling.cli.commands.everyday.refresh.load_request"],
)
def test_refresh_interrupted_before_its_start_prints_its_summary(
    folder: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    assert main(["refresh", "-C", str(folder), "--json"]) == EXIT_INTERRUPTED
    output = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (output["finish_reason"], output["visited"]) == ("interrupted", 0)
    monkeypatch.setattr("sanderling.cli.commands.everyday.refresh.print_dry_run", interrupted)
    main(["refresh", "-C", str(folder), "--json", "--dry-run"])
    assert capsys.readouterr().out == "", "what it would list is no summary"


def test_interrupt_while_arguments_are_parsed_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = []

    def read(*words: object) -> object:
        tries.append(words)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return parse_call(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("sanderling.cli.parse_call", read)
    assert main(["crawl", "http://127.0.0.1:1/", "-C", str(tmp_path / "c"), "--json"]) == EXIT_INTERRUPTED
    assert json.loads(capsys.readouterr().out)["finish_reason"] == "interrupted"
