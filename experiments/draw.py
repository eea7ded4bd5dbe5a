"""Figures in the style of the papers': bars over categories, lines over numbers."""

from pathlib import Path

from experiments.frame import Figure

COLORS = ("#8d99ae", "#d1495b", "#2a9d8f", "#e9c46a", "#264653")


def draw(figure: Figure, path: Path) -> None:
    """Draw a figure; the same numbers give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    picture, axes = pyplot.subplots(figsize=(7, 3.2))
    if all(isinstance(label, str) for label in figure.labels):
        _bars(axes, figure)
    else:
        for number, series in enumerate(figure.series):
            axes.plot(figure.labels, series.values, marker="o", ms=3, color=COLORS[number], label=series.name)
    axes.set_title(figure.title, fontsize=11)
    axes.set_ylabel(figure.unit)
    axes.spines[["top", "right"]].set_visible(False)
    if len(figure.series) > 1:
        axes.legend(frameon=False, fontsize=9)
    picture.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, metadata={"Date": None})
    pyplot.close(picture)


def _bars(axes, figure: Figure) -> None:  # type: ignore[no-untyped-def]
    width = 0.8 / len(figure.series)
    for number, series in enumerate(figure.series):
        places = [place + number * width for place in range(len(figure.labels))]
        bars = axes.bar(places, series.values, width, color=COLORS[number], label=series.name)
        axes.bar_label(bars, fmt="%.3g", fontsize=7, padding=2)
    axes.set_xticks(
        [place + width * (len(figure.series) - 1) / 2 for place in range(len(figure.labels))], figure.labels
    )
