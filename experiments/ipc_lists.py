"""IPC Tables 1 and 2: pages by value, in three lists, handed out 4:2:1."""

from experiments.frame import Table, exact
from experiments.paper_methods import interleave_lists
from sanderling.frontier.ordering.pvalue import compute_pvalue, sort_by_value, split_evenly

TITLE = "IPC Tables 1-2: Pvalue, three lists, and the 4:2:1 allocator"

# IPC Table 1 in printed order: page, forward links, back links
TABLE_1 = (
    *(("jiit.ac.in", 20, 0), ("RTI.htm", 18, 0), ("department.htm", 11, 0), ("PROJ_SPONS.htm", 4, 0)),
    *(("curri_obj.htm", 3, 0), ("google.co.in", 40, 0), ("rediffmail.com", 79, 0), ("gmail.com", 65, 0)),
    *(("yahoo.com", 155, 0), ("ugc.ac.in", 60, 0), ("regional_offices.html", 21, 0), ("fac_dev.html", 13, 0)),
    *(("payorder.html", 52, 0), ("modelcurr.html", 60, 0), ("uni.html", 15, 0), ("contact/index.html", 5, 0)),
    *(("fakealerts.html", 16, 0), ("directory.html", 53, 0)),
)
PRINTED = ("155 79 65 60 60 52", "53 40 21 20 18 16", "15 13 11 5 4 3")  # 52 and 53 swapped: E31
CORRECTED = ("155 79 65 60 60 53", "52 40 21 20 18 16", "15 13 11 5 4 3")
HANDED_OUT = "155 79 65 60 52 40 15 60 53 21 20 13 18 16 11 5 4 3"


def table() -> Table:
    """Rank, split and hand out."""
    lists = split_evenly(sort_by_value((page, compute_pvalue(forward, back)) for page, forward, back in TABLE_1))
    rows = [
        exact(f"list {number + 1}", PRINTED[number], CORRECTED[number], _values(part))
        for number, part in enumerate(lists)
    ]
    rows.append(exact("last of list 1", "payorder.html", "directory.html", lists[0][-1][0]))
    rows.append(exact("order of handing out", None, HANDED_OUT, _values(list(interleave_lists(lists)))))
    return Table(TITLE, tuple(rows), "The text says lists 1 and 2 must not starve; it means 2 and 3 (E32).")


def _values(part: object) -> str:
    return " ".join(str(value) for _, value in part)  # type: ignore[attr-defined]
