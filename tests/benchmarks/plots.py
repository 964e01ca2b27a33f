"""The plots of docs/performance.md. Readable on light and on dark pages: gray words, nothing behind them."""
import statistics

import matplotlib

from results import ANGLES, BRANCHES, FORMATS, PEERS

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402, after the choice of what draws

GRAY = "#808080"
COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")
TARGET = "#d62728"
plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "cudawarp", "font.family": "sans-serif", "font.size": 9,
    "savefig.transparent": True, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GRAY,
    "axes.labelcolor": GRAY, "axes.titlecolor": GRAY, "xtick.color": GRAY, "ytick.color": GRAY, "text.color": GRAY,
    "legend.frameon": False, "legend.labelcolor": GRAY})


def bars(axes, places, samples, **options):
    """Medians, with their spread."""
    middle = [statistics.median(s) for s in samples]
    spread = [[m - min(s) for m, s in zip(middle, samples)], [max(s) - m for m, s in zip(middle, samples)]]
    return axes.bar(places, middle, yerr=spread, ecolor=GRAY, capsize=2, error_kw={"linewidth": 0.8}, **options)


def kernels(r):
    forms = [f for f in FORMATS if r.to_copy(f, "full", "bilinear", "fast", "constant", 17)]
    if not forms:
        return None
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for k, angle in enumerate(ANGLES):
        found = {n: r.to_copy(f, "full", "bilinear", "fast", "constant", angle) for n, f in enumerate(forms)}
        found = {n: samples for n, samples in found.items() if samples}
        bars(axes, [n + 0.2 * (k - 1.5) for n in found], list(found.values()), width=0.18, color=COLORS[k],
             label=f"{angle}°" if angle else "0°, moved by 1/4 pixel")
    for n, form in enumerate(forms):
        limit = {"RGBA": 1.25, "NV12": 1.5, "P010_10LE": 1.5}.get(form)
        if limit:
            axes.hlines(limit, n - 0.42, n + 0.42, color=TARGET, linewidth=1.5, label="" if n else "target")
    axes.axhline(1, color=GRAY, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(forms)), forms)
    axes.set_ylabel("time, to a copy of the same bytes")
    axes.legend(ncols=5, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    return figure


def peers(r):
    groups = [(f, k) for f in ("RGBA", "GRAY8") for k in ("bilinear", "bicubic")]
    rows = {"cudawarp": [r.to_copy(f, "full", k, "fast", "constant", 17) for f, k in groups]}
    rows.update({peer: [r.peer_to_copy(peer, f, k, 17)[1] for f, k in groups] for peer in PEERS if peer in r.peers})
    rows = {name: row for name, row in rows.items() if any(row)}
    if len(rows) < 2:
        return None
    figure, axes = plt.subplots(figsize=(7, 3.2))
    width = 0.85 / len(rows)
    for k, (name, row) in enumerate(rows.items()):
        found = {n: samples for n, samples in enumerate(row) if samples}
        drawn = bars(axes, [n + width * (k - (len(rows) - 1) / 2) for n in found], list(found.values()),
                     width=0.9 * width, color=COLORS[k], label=name)
        axes.bar_label(drawn, fmt="%.1f", fontsize=6, padding=1)
    axes.set_yscale("log")
    axes.axhline(1, color=GRAY, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(groups)), [f"{f}, {k}" for f, k in groups])
    axes.set_ylabel("time, to a copy of the same bytes")
    axes.legend(ncols=6, loc="upper center", bbox_to_anchor=(0.5, 1.18), fontsize=8)
    return figure


def branches(r):
    found = {n: r.element.get(f"branches/{n}/frames_per_second") for n in BRANCHES}
    found = {n: samples for n, samples in found.items() if samples}
    if not found:
        return None
    figure, axes = plt.subplots(figsize=(5, 2.8))
    bars(axes, range(len(found)), list(found.values()), width=0.6, color=COLORS[0])
    axes.set_xticks(range(len(found)), [str(n) for n in found])
    axes.set_xlabel("branches of 1080p NV12, in one process and one context")
    axes.set_ylabel("frames/s of all together")
    return figure


def depths(r):
    kinds = {"pinned": r.bus(), "pageable": r.element.get("bus/pageable")}
    values = [d for d in (0, 1, 2, 4) if any(r.element.get(f"system/{kind}/depth{d}") for kind in kinds)]
    if not values:
        return None
    figure, all_axes = plt.subplots(1, 2, figsize=(7, 2.8))
    for axes, (kind, limit), color in zip(all_axes, kinds.items(), COLORS):
        found = {d: r.element.get(f"system/{kind}/depth{d}") for d in values}
        found = {d: samples for d, samples in found.items() if samples}
        bars(axes, range(len(found)), list(found.values()), width=0.6, color=color)
        axes.set_xticks(range(len(found)), [str(d) for d in found])
        axes.set_title(f"{kind} memory", fontsize=9)
        axes.set_xlabel("async-depth")
        if limit:
            words = "slower direction of the bus" if kind == "pinned" else "plain upload plus download"
            axes.axhline(statistics.median(limit), color=GRAY, linewidth=1, label=words)
            axes.axhline(0.9 * statistics.median(limit), color=TARGET, linewidth=1.5, label="target")
            axes.set_ylim(0, 1.3 * max(statistics.median(s) for s in [limit, *found.values()]))
            axes.legend(loc="upper left", fontsize=7)
    all_axes[0].set_ylabel("frames/s, 4K RGBA")
    return figure


def draw(r, folder):
    """Files written, by the part of the page that shows them: {part: {file: words}}."""
    wanted = {
        "kernels": [("kernels.svg", kernels, "Times of the kernel, to a copy")],
        "peers": [("peers.svg", peers, "Times of cudawarp and others at 17°, to a copy")],
        "element": [("async-depth.svg", depths, "Frames per second through system memory"),
                    ("branches.svg", branches, "Frames per second of parallel branches")]}
    written = {}
    for part, plots in wanted.items():
        for file, plot, words in plots:
            figure = plot(r)
            if not figure:
                continue
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(folder / file, bbox_inches="tight", metadata={"Date": None})
            plt.close(figure)
            written.setdefault(part, {})[file] = words
    return written
