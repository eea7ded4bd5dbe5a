"""Whatever takes the output: a terminal that knows few letters, a full disk, nobody at all."""

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
def test_letters_that_a_terminal_does_not_know_are_no_error(folder: Path, words: list[str], encoding: str) -> None:
    done = run(folder, *words, encoding=encoding)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_a_page_is_shown_to_such_a_terminal_with_its_history_and_differences(folder: Path) -> None:
    url = json.loads(run(folder, "changes", "--json").stdout)["url"]
    for words in (["history", url], ["diff", url], ["show", url, "--text"]):
        done = run(folder, *words)
        assert done.returncode == 0, done.stderr
    assert b"Gr??e" in done.stdout


def test_scripts_read_the_same_whatever_the_terminal_knows(folder: Path) -> None:
    narrow, wide = (run(folder, "pages", "--json", encoding=name).stdout.decode(name) for name in ("ascii", "utf-8"))
    assert [json.loads(line) for line in narrow.splitlines()] == [json.loads(line) for line in wide.splitlines()]
    assert json.loads(narrow.splitlines()[0])["title"] == BEFORE
    feed = run(folder, "changes", "--feed", "atom").stdout
    assert "\u6771\u4eac" in "".join(ElementTree.fromstring(feed).itertext())


def test_a_full_disk_is_one_sentence(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = run(folder, "pages", to="> /dev/full")
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1), done.stderr


def test_nobody_has_to_listen(folder: Path) -> None:
    done = run(folder, "pages", to=">&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("teller", ["full", "left"])
def test_a_crawl_goes_on_when_nobody_takes_what_it_tells(teller: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    line = [sys.executable, "-m", "sanderling", "crawl", "-C", str(tmp_path), "--delay", "0", "--allow-private", "-vv"]
    with Site(tree(200)) as site, Path("/dev/full").open("wb") as full:
        told = full if teller == "full" else subprocess.PIPE
        with subprocess.Popen([*line, site.root + "/", "--no-index"], stdout=subprocess.DEVNULL, stderr=told) as child:
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
def test_a_crawl_whose_reader_left_says_how_it_ended(unbuffered: str, folder: Path, tmp_path: Path) -> None:
    common = ["--delay", "0", "--allow-private", "--workers", "1", "--no-index"]
    with Site({}) as site:
        assert unheard("crawl", site.root + "/", "-C", str(tmp_path), *common, unbuffered=unbuffered) == 9
    hurried = ["refresh", "--all", "--time-limit", "1", "-C", str(folder), *common]
    assert unheard(*hurried, unbuffered=unbuffered) == 15
    assert unheard("pages", "-C", str(folder), unbuffered=unbuffered) == 0


def test_a_pipe_that_broke_elsewhere_is_no_reader_who_left() -> None:
    done = failing_with("BrokenPipeError()")
    assert (done.returncode, b"BrokenPipeError" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("words", [["crawl", "http://127.0.0.1:1/", "--clean"], ["delete", "*"]])
def test_where_nobody_can_be_asked_nobody_is(folder: Path, words: list[str]) -> None:
    done = run(folder, *words, to="<&-")
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1), done.stderr


def test_nobody_on_standard_input_names_no_seeds(tmp_path: Path) -> None:
    done = run(tmp_path, "crawl", "-", to="<&-")
    assert (done.returncode, b"no seed given" in done.stderr) == (4, True), done.stderr


def test_a_terminal_obeys_no_page_that_is_shown_and_a_file_gets_all_of_it(tmp_path: Path) -> None:
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
    for path, told in (("/a", "<p>Gr\u00fc\u00dfe ]0;owned\r\n"), ("/b", "[x/y, 9 bytes]\r\n")):
        assert on_a_terminal("show", site.root + path, "-C", str(tmp_path)) == told.encode()


def on_a_terminal(*words: str) -> bytes:
    """What a command writes to a terminal."""
    child, terminal = pty.fork()
    if not child:
        os.execve(
            sys.executable, [sys.executable, "-m", "sanderling", *words], os.environ | {"PYTHONIOENCODING": "utf-8"}
        )
    told = b""
    with suppress(OSError):  # it is gone
        while some := os.read(terminal, 65536):
            told += some
    os.close(terminal)
    os.waitpid(child, 0)
    return told


def test_a_terminal_that_is_closed_ends_a_crawl_as_ctrl_c_does(tmp_path: Path) -> None:
    with Site(tree(400)) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0.01", "--allow-private", "--no-index"]
        child, terminal = pty.fork()
        if not child:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # we may be under nohup; it is not
            os.execv(sys.executable, [sys.executable, "-m", "sanderling", *line])
        while b" waiting" not in os.read(terminal, 65536):  # it is at work
            pass
        os.close(terminal)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11


def failing_with(error: str) -> subprocess.CompletedProcess[bytes]:
    """A command in which this goes wrong."""
    code = (
        "import errno, sys; from sanderling import cli; from sanderling.cli.commands import settings\n"
        f"def fail(call): raise {error}\n"
        "settings.run = fail; sys.exit(cli.main(['settings']))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)


def test_a_disk_that_fails_is_no_closed_terminal() -> None:
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
def test_ctrl_c_while_the_command_line_wakes_up_is_no_error(awaited: str) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    script = STOPPED.format(project["scripts"]["sanderling"].removesuffix(":main"))
    done = subprocess.run([sys.executable, "-c", script, awaited], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (EXIT_INTERRUPTED, b"")


def interrupt_while_seeds_are_read(
    folder: Path, tmp_path: Path, number: signal.Signals = signal.SIGINT
) -> tuple[int, bytes, bytes]:
    """A signal as early as it can be told for sure: the file of seeds is a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "seeds")
    line = [sys.executable, "-m", "sanderling", "crawl", "-C", str(folder), "--json",
            "--seed-file", str(tmp_path / "seeds")]  # fmt: skip
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, (tmp_path / "seeds").open("w"):  # it is being read now
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_crawl_interrupted_before_it_begins_tells_scripts_so(tmp_path: Path, number: signal.Signals) -> None:
    code, out, err = interrupt_while_seeds_are_read(tmp_path / "none", tmp_path, number)
    assert (code, err) == (EXIT_INTERRUPTED, b"")
    told = json.loads(out.splitlines()[-1])
    assert (told["finish_reason"], told["pages"], told["fetched"]) == ("interrupted", 0, 0)
    assert not (tmp_path / "none").exists()


def test_it_tells_how_many_pages_the_collection_has(folder: Path, tmp_path: Path) -> None:
    code, out, _ = interrupt_while_seeds_are_read(folder, tmp_path)
    told = json.loads(out.splitlines()[-1])
    assert (code, told["finish_reason"], told["pages"], told["fetched"]) == (EXIT_INTERRUPTED, "interrupted", 2, 0)


@pytest.mark.parametrize(
    "where", ["sanderling.cli.commands.refresh.refresh", "sanderling.cli.commands.refresh.load_request"]
)
def test_a_refresh_interrupted_before_it_begins_tells_scripts_so(
    folder: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    assert main(["refresh", "-C", str(folder), "--json"]) == EXIT_INTERRUPTED
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["finish_reason"], told["visited"]) == ("interrupted", 0)
    monkeypatch.setattr("sanderling.cli.commands.refresh.print_dry_run", interrupted)
    main(["refresh", "-C", str(folder), "--json", "--dry-run"])
    assert capsys.readouterr().out == "", "what it would list is no summary"


def test_an_interrupt_while_the_command_is_read_is_told_too(
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
