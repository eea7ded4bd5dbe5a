"""MIG 4.2: URLs ordered by the links they are first to cover."""

from experiments.frame import Table, exact
from sanderling.frontier.ordering.coverage import order_by_coverage

TITLE = "MIG 4.2: URL ordering, the worked example"

SETS = {
    "A": "a1 a2 a3 a4",
    "B": "b1 b2 a1 b3",
    "C": "c1 c2 c3",
    "D": "d1 d2 d3 d4",
    "E": "e1 e2 b3 e3 b1",
    "F": "f1 f2 d1 e1",
}


def table() -> Table:
    """Order the six pages."""
    links = {page: text.split() for page, text in SETS.items()}
    taken = list(order_by_coverage(links))
    first = taken[0][0]
    queue = [page for page in sorted(links, key=lambda page: -len(links[page])) if page != first]
    rest = {page: [link for link in links[page] if link not in links[first]] for page in queue}
    second = sorted(queue, key=lambda page: -len(rest[page]))  # stable on the order before
    both = sorted(set(links["E"]) & set(links["F"]))
    rows = (
        exact("first page", "E", "E", first),
        exact("queue after E", "ADFCB", "ADFCB", "".join(second)),
        exact("links shared by E and F", "b1", "e1", " ".join(both)),
        exact("crawl order of the corrected sets", None, "EADCFB", "".join(page for page, _ in taken)),
        exact("links covered, each once", None, 19, sum(len(found) for _, found in taken)),
    )
    return Table(TITLE, rows, "The printed second step uses sets that do not follow from the first (E23).")
