"""Measure search quality on test collections, latency at scale, and the cost of the index.

python -m benchmarks.search.search_quality quality                     MAP, P@10, nDCG@10 on Cranfield, MED and CACM
python -m benchmarks.search.search_quality speed [--pages 100000]      latency over HTTP, idle and during a crawl; 200
searchers python -m benchmarks.search.search_quality cost [--pages 4000]         pages per second of a crawl with and
without the index
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_plus

from benchmarks.lib.doc_tables import written
from benchmarks.lib.ranking_measures import compute_average_precision, compute_ndcg, compute_precision

from sanderling.search.engine import SearchEngine, ignore_behavior
from sanderling.search.index import open_search_index
from sanderling.search.search_types import Document, SearchRequest
from sanderling.storage.collection import open_collection

REFERENCE = {"cran": 0.286, "cran with -1": 0.404, "med": 0.511, "cacm": 0.273}  # stated with the collections
CLI = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())"]
WORDS_PER_PAGE = 300
VOCABULARY = 60_000
WEB_PORT = 8091


# Quality


def quality() -> None:
    """Every question of every collection through a served index."""
    suites = Path(os.environ["SANDERLING_SUITES"]) / "ir-collections"
    print("| collection | MAP | reference BM25 | P@10 | nDCG@10 |\n|---|---|---|---|---|")
    for name in ("cran", "med", "cacm"):
        folder = suites / name / "norm"
        with tempfile.TemporaryDirectory() as scratch:
            fill(Path(scratch), (page_of(row, name) for row in rows(folder / "docs.jsonl")))
            with serving(Path(scratch)) as port:
                rankings = {row["id"]: ask_all(port, row["text"]) for row in rows(folder / "queries.jsonl")}
        report(name, rankings, folder / "qrels.tsv")


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a JSON lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def page_of(row: dict[str, str], name: str) -> Document:
    """A document of a collection as a page."""
    body = "\n".join((row["text"], row.get("keywords", ""), row["author"]))
    return Document(
        f"http://{name}.example/{row['id']}", row["title"], body=body, language="en", site=f"{name}.example"
    )


def ask_all(port: int, text: str) -> list[str]:
    """The first thousand results of a question, as document ids."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/api/v1/search?limit=1000&facets=0&snippets=0&log=0&q={quote_plus(text)}")
    found = json.loads(connection.getresponse().read())
    connection.close()
    return [hit["url"].rpartition("/")[2] for hit in found["hits"]]


def report(name: str, rankings: dict[str, list[str]], qrels: Path) -> None:
    """Print a line per relevance threshold."""
    grades: dict[str, dict[str, int]] = {}
    for line in qrels.read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    for label, least in ((name, 1), (f"{name} with -1", -1)):
        if label not in REFERENCE:
            continue
        relevant = {q: {d for d, g in found.items() if g >= least} for q, found in grades.items()}
        relevant = {q: found for q, found in relevant.items() if found and q in rankings}
        scores = [compute_average_precision(rankings[q], found) for q, found in relevant.items()]
        tens = [compute_precision(rankings[q], found) for q, found in relevant.items()]
        gains = [compute_ndcg(rankings[q], dict.fromkeys(found, 1.0)) for q, found in relevant.items()]
        n = len(relevant)
        found = f"**{sum(scores) / n:.3f}** | {REFERENCE[label]:.3f} | {sum(tens) / n:.3f} | {sum(gains) / n:.3f}"
        print(f"| {label} | {found} |")


# Speed


def speed(pages: int, seconds: float) -> None:
    """Latency of questions over HTTP."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        began = time.perf_counter()
        fill(folder, synthetic(pages))
        print(
            f"{pages:,} pages indexed in {time.perf_counter() - began:.0f} s, {size_of(folder / 'index') / 1e6:.0f} MB"
            f"; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
        )
        print(measure_cpu_time(folder))
        print("| clients | queries/s | p50 ms | p99 ms | errors |\n|---|---|---|---|---|")
        with serving(folder) as port:
            hammer(port, 1, 2.0)
            print(line("one", hammer(port, 1, seconds)))
            print(line("four", hammer(port, 4, seconds)))
            print(line("200", hammer(port, 200, seconds)))
            with crawling(folder / "other") as busy:
                print(line(f"one, during a crawl{busy}", hammer(port, 1, seconds)))
        print(f"\nLoad average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.")


def measure_cpu_time(folder: Path, count: int = 300) -> str:
    """Measure the CPU time of a query without a network."""
    index = open_search_index(folder / "index", write=False)
    assert index is not None
    finder, words, dice, spans = SearchEngine(index, ignore_behavior), vocabulary(), random.Random(7), []
    for _ in range(count):
        text = " ".join(question(words, dice))
        began = time.process_time()
        finder.search(SearchRequest(text, 0, 10, False, True, now=time.time()))
        spans.append(time.process_time() - began)
    spans.sort()
    half, most = spans[count // 2], spans[int(count * 0.99)]
    return f"CPU time of a query: median {half * 1000:.1f} ms, 99th percentile {most * 1000:.1f} ms.\n"


def question(words: Sequence[str], dice: random.Random) -> list[str]:
    return [words[int(2 ** (dice.random() * 13)) + 20] for _ in range(dice.choice((1, 2, 2, 3)))]


def synthetic(pages: int) -> Iterator[Document]:
    """Pages of words with the frequencies of language (Zipf)."""
    dice = random.Random(7)
    words = vocabulary()
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    stock = dice.choices(words, weights, k=2_000_000)
    for number in range(pages):
        at = dice.randrange(len(stock) - WORDS_PER_PAGE * 2)
        body = " ".join(stock[at : at + dice.randrange(WORDS_PER_PAGE // 2, WORDS_PER_PAGE * 2)])
        site = f"site{number % 97}.example"
        yield Document(
            f"https://{site}/{number}", " ".join(stock[at : at + 6]), body=body, language="en", site=site,
            changed_at=1.6e9 + number, link_rank=dice.random() * 3,
        )  # fmt: skip


def vocabulary() -> list[str]:
    """Return words that pages need not contain."""
    dice = random.Random(3)
    return ["".join(dice.choices("abdefgiklmnoprstu", k=dice.randrange(3, 10))) for _ in range(VOCABULARY)]


def hammer(port: int, searchers: int, seconds: float) -> tuple[list[float], int, float]:
    """Ask from so many connections at once; latencies, errors, time it took."""
    words, latencies, errors = vocabulary(), [], [0]
    until = time.perf_counter() + seconds
    lock = threading.Lock()

    def ask(seed: int) -> None:
        dice, mine = random.Random(seed), []
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while time.perf_counter() < until:
            text = " ".join(question(words, dice))
            began = time.perf_counter()
            try:
                connection.request("GET", f"/api/v1/search?q={quote_plus(text)}&log=0")
                answer = connection.getresponse()
                answer.read()
                errors[0] += answer.status != 200
            except OSError:
                errors[0] += 1
                connection.close()
            mine.append(time.perf_counter() - began)
        with lock:
            latencies.extend(mine)

    began = time.perf_counter()
    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(searchers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(latencies), errors[0], time.perf_counter() - began


def line(name: str, run: tuple[list[float], int, float]) -> str:
    latencies, errors, seconds = run
    half, most = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]
    return f"| {name} | {len(latencies) / seconds:.0f} | {half * 1000:.1f} | {most * 1000:.1f} | {errors} |"


# Cost


def cost(pages: int) -> None:
    """A crawl of a synthetic web, alone and with the index following it."""
    with tempfile.TemporaryDirectory() as scratch, web():
        alone, together = [], []
        for number in range(2):
            alone.append(crawl_rate(Path(scratch) / f"alone{number}", pages, index=False))
            together.append(crawl_rate(Path(scratch) / f"index{number}", pages, index=True))
    slow, fast = max(together), max(alone)
    print(f"Crawl without index: {fast:.0f} pages/s; with index: {slow:.0f}, {slow / fast:.0%}")


def crawl_rate(folder: Path, pages: int, *, index: bool) -> float:
    """Return pages per second of a crawl with or without the index."""
    command = [*crawl_command(folder, pages), "--json", *([] if index else ["--no-index"])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1])["pages_per_second"])


def crawl_command(folder: Path, pages: int) -> list[str]:
    where = [f"http://127.0.0.{n}:{WEB_PORT}/" for n in range(1, 5)]
    return [
        *CLI,
        "crawl",
        *where,
        "-C",
        str(folder),
        "--delay",
        "0",
        "--allow-private",
        "--limit",
        str(pages),
        "--quiet",
    ]


@contextmanager
def web() -> Iterator[None]:
    """The synthetic web, as long as needed."""
    command = [sys.executable, "-m", "benchmarks.lib.synthetic_web", "--hosts", "4", "--port", str(WEB_PORT)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert server.stdout
    server.stdout.readline()
    try:
        yield
    finally:
        server.terminate()
        server.wait()


@contextmanager
def crawling(folder: Path) -> Iterator[str]:
    """A crawl that runs meanwhile."""
    with web():
        crawl = subprocess.Popen(crawl_command(folder, 10**7), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(3)
        try:
            yield "" if crawl.poll() is None else " (it did not)"
        finally:
            crawl.send_signal(signal.SIGKILL)
            crawl.wait()


# What all share


def fill(folder: Path, documents: Iterator[Document]) -> None:
    """A collection with nothing but an index."""
    open_collection(folder).close()
    index = open_search_index(folder / "index", write=True)
    assert index is not None
    batch: list[Document] = []
    for number, document in enumerate(documents, 1):
        batch.append(document)
        if len(batch) == 5_000:
            index.replace(batch)
            index.commit(number)
            batch = []
    index.replace(batch)
    index.commit(10**9)
    index.close()


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """`sanderling serve` over a folder; gives its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*CLI, "serve", "-C", str(folder), "--port", str(port), "--no-index", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert server.stdout
    server.stdout.readline()
    time.sleep(0.5)
    try:
        yield port
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def size_of(folder: Path) -> int:
    """Bytes in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "speed", "cost"))
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md")
    options = parser.parse_args(argv)
    with written(f"search {options.what}", options.write):
        if options.what == "quality":
            quality()
        elif options.what == "speed":
            speed(options.pages or 100_000, options.seconds)
        else:
            cost(options.pages or 4_000)


if __name__ == "__main__":
    main()
