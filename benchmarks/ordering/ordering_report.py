"""Tables and charts of the ordering benchmark."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.lib.doc_tables import put
from benchmarks.ordering.ordering_speed import table

from sanderling.frontier.ordering.ordering_registry import DEFAULT_ORDERING

if TYPE_CHECKING:
    from benchmarks.ordering.orderings import Costs, Harvest, OrderingResults, Result

CHART, HARVEST = Path("docs/images/ordering.svg"), Path("docs/images/harvest.svg")
BASELINE = "breadth"
SHARES = (10, 25, 50)
BUDGET = 10  # percent of the pages fetched by a focused crawl
SPENT = 25  # percent of the pages fetched by focused crawls
MOST_COST = 0.15
TIMES = 2.0
COLORS = {"pagerank": "#d1495b", "breadth": "#1d3557", "opic": "#2a9d8f", "shark": "#d1495b", "fish": "#e9c46a",
           "similarity": "#2a9d8f"}  # fmt: skip
OTHER = {"color": "#c8cdd6", "linewidth": 0.7, "zorder": 1}


def tables(results: "OrderingResults") -> str:
    """Everything as Markdown."""
    parts = [_masses(results.results), _wins(results.results)] if results.results else []
    if results.harvests:
        parts += [_harvests(results.harvests), _doubled(results.harvests)]
    if results.costs:
        parts.append(_costs(results.costs))
    return "\n\n".join([*parts, table(results.speeds)] if results.speeds else parts)


def name_of(graph: str) -> str:
    """A graph as the tables call it."""
    return "linked hosts" if ":" in graph else graph


def _masses(results: "Sequence[Result]") -> str:
    graphs = list(dict.fromkeys(result.graph for result in results))
    found = {(result.graph, result.order): result for result in results}
    names = {result.order for result in results}
    common = [graph for graph in graphs if all((graph, name) in found for name in names)] or graphs
    known = [result for result in results if result.graph in common]
    orders = sorted(names, key=lambda name: -mean(r.rank_mass[25] for r in known if r.order == name))
    lines = ["PageRank mass after 10, 25 and 50 % of the pages, in percent:", ""]
    lines += [f"| ordering | {' | '.join(f'{name_of(g)} ({_size(results, g):,})' for g in graphs)} |"]
    lines += ["|---|" + "---:|" * len(graphs)]
    for order in orders:
        masses = [found[graph, order].rank_mass if (graph, order) in found else None for graph in graphs]
        cells = [" ".join(f"{100 * mass[share]:.1f}" for share in SHARES) if mass else "" for mass in masses]
        lines.append(f"| {f'**{order}**' if order == DEFAULT_ORDERING else order} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _size(results: "Sequence[Result]", graph: str) -> int:
    return next(result.size for result in results if result.graph == graph)


def _wins(results: "Sequence[Result]") -> str:
    found = {(result.graph, result.order): result for result in results}
    lost = []
    for graph in dict.fromkeys(result.graph for result in results):
        ours, theirs = found.get((graph, DEFAULT_ORDERING)), found.get((graph, BASELINE))
        if ours and theirs:
            lost += [f"{name_of(graph)} at {s} %" for s in SHARES if ours.rank_mass[s] <= theirs.rank_mass[s]]
    outcome = f"NOT met: {', '.join(lost)}" if lost else "met"
    return (
        f"- the default, {DEFAULT_ORDERING}, beats breadth-first on PageRank mass"
        f" at 10, 25 and 50 % on every graph ({outcome})"
    )


def _harvests(harvests: "Sequence[Harvest]") -> str:
    orders = list(dict.fromkeys(harvest.order for harvest in harvests))
    lines = [
        f"Harvest rate, relevant pages among the first {BUDGET} % of the pages, in percent; mean over the topics:",
        "",
        f"| graph | topics | perfect crawl | {' | '.join(orders)} |",
        "|---|---:|---:|" + "---:|" * len(orders),
    ]
    for name in dict.fromkeys(name_of(harvest.graph) for harvest in harvests):
        group = [harvest for harvest in harvests if name_of(harvest.graph) == name]
        cells = [f"{100 * mean(rate(h) for h in group if h.order == order):.1f}" for order in orders]
        topics, best = len({harvest.query for harvest in group}), mean(map(possible, group))
        lines.append(f"| {name} | {topics} | {100 * best:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def possible(harvest: "Harvest", share: int = BUDGET) -> float:
    """The harvest rate of a crawl that fetches relevant pages only, as long as there are some."""
    return min(1.0, harvest.relevant / max(1, round(share / 100 * harvest.size)))


def rate(harvest: "Harvest", share: int = BUDGET) -> float:
    """Relevant pages by pages fetched."""
    return harvest.found[share] * harvest.relevant / max(1, round(share / 100 * harvest.size))


def _doubled(harvests: "Sequence[Harvest]") -> str:
    lines = []
    for order in dict.fromkeys(harvest.order for harvest in harvests if harvest.order != BASELINE):
        ours = mean(rate(harvest) for harvest in harvests if harvest.order == order)
        base = mean(rate(harvest) for harvest in harvests if harvest.order == BASELINE)
        outcome = "met" if ours >= TIMES * base else "NOT met"
        lines.append(
            f"- {order}: mean harvest rate {100 * ours:.1f} % against {100 * base:.1f} % of breadth-first,"
            f" {ours / base:.2f} times (target {TIMES:g}: {outcome});"
            f" {_single(harvests, order)}"
        )
    return "\n".join(lines)


def _single(harvests: "Sequence[Harvest]", order: str) -> str:
    """Count single topics on which it doubles the rate, where that is possible."""
    base = {(h.graph, h.query): rate(h) for h in harvests if h.order == BASELINE}
    can = [h for h in harvests if h.order == order and possible(h) >= TIMES * base[h.graph, h.query]]
    good = sum(rate(h) >= TIMES * base[h.graph, h.query] for h in can)
    return f"doubled on {good} of the {len(can)} topics where that is possible"


def _costs(costs: "Costs") -> str:
    base = costs.coordinator[BASELINE]
    lines = [
        f"CPU cost in milliseconds per page; the whole crawl takes {costs.whole:.2f}:",
        "",
        "| ordering | coordinator | above breadth | workers | of the whole crawl |",
        "|---|---:|---:|---:|---:|",
    ]
    over = []
    for order, spent in costs.coordinator.items():
        more, scoring = spent - base, costs.topic[order]
        share = (more + scoring) / costs.whole
        over += [order] if share > MOST_COST else []
        lines.append(f"| {order} | {spent:.3f} | {more:+.3f} | {scoring:.3f} | {share:+.1%} |")
    outcome = f"NOT met: {', '.join(over)}" if over else "met"
    return "\n".join([*lines, "", f"- no ordering costs more than {MOST_COST:.0%} of the crawl ({outcome})"])


def write(results: "OrderingResults") -> None:
    """Put tables and charts into the documentation."""
    if results.results:
        draw(results.results)
    text = tables(results) + f"\n\n![PageRank mass against pages fetched](../{CHART.relative_to('docs')})"
    if results.harvests:
        draw_harvest(results.harvests)
        text += f"\n\n![relevant pages against pages fetched](../{HARVEST.relative_to('docs')})"
    put("ordering", text)


def draw(results: "Sequence[Result]") -> None:
    """Draw the collected mass by pages fetched, a panel per graph and mass."""
    graphs = list(dict.fromkeys(result.graph for result in results))
    figure, panels = _panels(2, len(graphs))
    for column, graph in enumerate(graphs):
        for result in (result for result in results if result.graph == graph):
            for row, mass in enumerate((result.rank_mass, result.link_mass)):
                _line(panels[row][column], result.order, mass)
        panels[0][column].set_title(f"{name_of(graph)}: PageRank", fontsize=8)
        panels[1][column].set_title("in-links", fontsize=8)
    _finish(figure, panels, CHART)


def draw_harvest(harvests: "Sequence[Harvest]") -> None:
    """Draw the mean share of relevant pages found, a panel per graph."""
    graphs = list(dict.fromkeys(harvest.graph for harvest in harvests))
    figure, panels = _panels(1, len(graphs))
    for column, graph in enumerate(graphs):
        for order in dict.fromkeys(harvest.order for harvest in harvests):
            found = [h.found for h in harvests if (h.graph, h.order) == (graph, order)]
            _line(panels[0][column], order, [mean(point) for point in zip(*found, strict=True)][: SPENT + 1])
        panels[0][column].set_title(name_of(graph), fontsize=8)
    _finish(figure, panels, HARVEST)


def _panels(rows: int, columns: int):  # type: ignore[no-untyped-def]
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=(2.4 * columns, 2.3 * rows), sharex=True, sharey=True, squeeze=False)


def _line(axes, order: str, values: Sequence[float]) -> None:  # type: ignore[no-untyped-def]
    color = COLORS.get(order)
    shown = {"color": color, "linewidth": 1.4, "zorder": 3, "label": order} if color else OTHER
    axes.plot(range(len(values)), [100 * value for value in values], **shown)


def _finish(figure, panels, path: Path) -> None:  # type: ignore[no-untyped-def]
    for axes in panels[-1]:
        axes.set_xlabel("% of pages fetched", fontsize=8)
    for row in panels:
        row[0].set_ylabel("% collected", fontsize=8)
        for axes in row:
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].legend(fontsize=7, frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
