#!/usr/bin/env python3
"""How fast cudawarp is, beside copies, other programs and the bus, against its targets.

    python3 tests/benchmarks/performance.py

runs the parts that can run here, prints the table of targets and fills in docs/performance.md and its plots. Where no
one machine has all that it takes, run parts on several, keep their results, and report them together:

    python3 tests/benchmarks/performance.py --run kernels,peers --json a.json
    build/tests/benchmarks/element_bench --json b.json
    python3 tests/benchmarks/performance.py --report a.json b.json

kernels: warp_bench; peers: peers.py (needs numpy); element: element_bench. Plots need matplotlib. With --json the
docs are left alone.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from page import fill, table
from results import ANGLES, FORMATS, PEERS, SIZES, Results, number, ratio, spread, targets

HERE = pathlib.Path(__file__).resolve().parent
NOT_MEASURED = "not measured"


# ---- running ----
def program(name, path):
    found = [path] if path else sorted(HERE.parent.parent.glob(f"build*/tests/benchmarks/{name}"))
    if not found:
        raise RuntimeError(f"there is no build*/tests/benchmarks/{name}; name it with --{name.replace('_', '-')}")
    return str(found[0])


def run(command, output):
    """The JSON that a command writes to `output`, as a list of parts."""
    env = dict(os.environ)
    if command[0].endswith("element_bench"):  # the plugin beside it, in its build
        plugin = pathlib.Path(command[0]).resolve().parents[2] / "gst"
        env["GST_PLUGIN_PATH_1_0"] = os.pathsep.join(filter(None, [str(plugin), env.get("GST_PLUGIN_PATH_1_0")]))
    try:
        code = subprocess.run(command, check=False, env=env).returncode
    except OSError as reason:
        raise RuntimeError(str(reason)) from reason
    if code or not output.exists():
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {code}")
    parts = json.loads(output.read_text(encoding="utf-8"))
    return parts if isinstance(parts, list) else [parts]


def run_parts(options):
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.run.split(","):
            output = pathlib.Path(folder) / f"{name}.json"
            try:
                if name == "kernels":
                    command = [program("warp_bench", options.warp_bench), f"--benchmark_out={output}",
                               "--benchmark_out_format=json"]
                elif name == "peers":
                    command = [sys.executable, str(HERE / "peers.py"), "--json", str(output)]
                elif name == "element":
                    command = [program("element_bench", options.element_bench), "--json", str(output)]
                else:
                    sys.exit(f"--run: there is no part {name}")
                parts += run(command, output)
            except RuntimeError as reason:
                print(f"{name}: {reason}", file=sys.stderr, flush=True)
    return parts


# ---- tables ----
def us(samples):
    return number(statistics.median(samples)) + " us" if samples else ""


def with_ratio(samples, ratios):
    return f"{us(samples)}, {number(statistics.median(ratios))} x" if samples and ratios else us(samples)


def kernel_tables(r):
    if not r.kernels:
        return NOT_MEASURED
    columns = [(f"{k}{', exact' if p == 'exact' else ''}, {a}°", (k, p, "constant", a))
               for k, p, angles in (("bilinear", "fast", ANGLES), ("bilinear", "exact", ANGLES[1:2]),
                                    ("bicubic", "fast", ANGLES[:2]), ("lanczos", "fast", ANGLES[1:2]))
               for a in angles]
    rows = []
    for form in (*FORMATS, "RGBA-alpha"):
        how, copied = r.copy(f"{form}/full")
        rows.append([form, f"{us(copied)} ({how})"] +
                    [with_ratio(r.warp(form, "full", *f), r.to_copy(form, "full", *f)) for _, f in columns])
    texts = [table(["", "fastest copy"] + [name for name, _ in columns], rows)]
    columns = [(f"{k}, {a}°", (k, "fast", "constant", a)) for k in ("bilinear", "bicubic") for a in (0, 17)]
    rows = [[f"{form}, {words}", us(r.copy(f"{form}/{size}")[1])] +
            [with_ratio(r.warp(form, size, *f), r.to_copy(form, size, *f)) for _, f in columns]
            for form in FORMATS for size, words in SIZES.items()]
    texts.append(table(["antialias", "copy of the bytes touched"] + [name for name, _ in columns], rows))
    borders = ("replicate", "constant", "constant-hard", "mirror", "mirror-101", "wrap", "transparent")
    rows = [[f"{form}, {a}°"] + [with_ratio(
                r.warp(form, "full", "bilinear", "fast", b, a),
                r.warp_to_warp(form, ("bilinear", "fast", b, a), ("bilinear", "fast", "replicate", a)))
            for b in borders] for form in FORMATS for a in (17, 45)]
    texts.append(table(["to `replicate`", *borders], rows))
    if r.starved:
        texts.append("The host queued these too late for the device, at times: " + ", ".join(r.starved) + ".")
    return "\n\n".join(texts)


def peer_table(r):
    if not r.peers and not r.absent:
        return NOT_MEASURED
    rows = []
    for form in ("RGBA", "GRAY8"):
        for kernel in ("bilinear", "bicubic"):
            for angle in (17, 45):
                own = r.to_copy(form, "full", kernel, "fast", "constant", angle)
                cells = [f"{form}, {kernel}, {angle}°", f"{number(statistics.median(own))} x" if own else ""]
                for peer in PEERS:
                    _, samples = r.peer_to_copy(peer, form, kernel, angle)
                    cells.append(spread(samples, " x") if samples else "not here" if peer in r.absent else "")
                rows.append(cells)
    lines = [table(["to the copy", "cudawarp", *PEERS], rows), ""]
    for peer in PEERS:
        if peer in r.absent:
            lines.append(f"- {peer}: not here ({r.absent[peer]}).")
        elif peer in r.peers:
            calls = {c["call"]: c for c in r.peers[peer] if "call" in c}
            off = [c["difference"] for c in r.peers[peer]
                   if c.get("interpolation") == "bilinear" and "difference" in c]
            lines.append(f"- {peer}: {r.about[peer]}. " + "; ".join(
                f"`{name}`" + (f", {us(c['us'])} of itself" if c["interpolation"] == "conversion" else "")
                for name, c in calls.items()) +
                (f". Off a bilinear definition by at most {max(off):g} in the median." if off else "."))
    return "\n".join(lines)


def element_table(r):
    if not r.element:
        return NOT_MEASURED
    unit = {"host": "us", "first-frame": "ms", "calls": "a frame", "bus": "frames/s", "system": "frames/s"}
    rows = []
    for name in sorted(r.element, key=lambda name: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", name)]):
        samples = r.element[name]
        kind = name.split("/")[0]
        words = unit.get(kind) or ("MiB" if name.endswith("memory") else "frames/s")
        beside = ""
        if name.startswith("system/pinned") and r.bus():
            beside = f"{number(statistics.median(ratio(samples, r.bus())))} x the slower direction"
        elif name.startswith("system/pageable") and r.element.get("bus/pageable"):
            beside = f"{number(statistics.median(ratio(samples, r.element['bus/pageable'])))} x up and down"
        rows.append([f"`{name}`", spread(samples), words, beside])
    lines = [table(["", "median (spread)", "", ""], rows), ""]
    lines += [f"- `{name.removeprefix('element: ')}`: {why}." for name, why in r.absent.items()
              if name.startswith("element: ")]
    return "\n".join(lines).rstrip()


def report(r, docs):
    rows = [target.row() for target in targets(r)]
    head = ["what", "the worst case", "median (spread)", "target", ""]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    for name, why in r.absent.items():
        print(f"{name}: {why}")
    if not docs:
        return
    pictures = {}
    try:
        import plots
        pictures = plots.draw(r, docs / "images" / "performance")
    except ImportError as reason:
        print(f"no plots: {reason}", file=sys.stderr)
    texts = {
        "about": "\n".join(f"- {name}: {about}." for name, about in r.about.items()) or NOT_MEASURED,
        "targets": table(head, rows), "kernels": kernel_tables(r), "peers": peer_table(r), "element": element_table(r)}
    for name, files in pictures.items():
        texts[name] += "".join(f"\n\n![{words}](images/performance/{file})" for file, words in files.items())
    fill(docs / "performance.md", texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="kernels,peers,element", metavar="PARTS", help="of these: %(default)s")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where to keep the results")
    parser.add_argument("--report", nargs="+", type=pathlib.Path, metavar="FILE", help="run nothing, report these")
    parser.add_argument("--warp-bench", metavar="PATH")
    parser.add_argument("--element-bench", metavar="PATH")
    parser.add_argument("--docs", type=pathlib.Path, default=HERE.parent.parent / "docs", metavar="DIR",
                        help="where performance.md is")
    options = parser.parse_args()
    if options.report:
        report(Results(options.report), options.docs)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.json or pathlib.Path(folder) / "results.json"
        path.write_text(json.dumps(run_parts(options), indent=1), encoding="utf-8")
        report(Results([path]), None if options.json else options.docs)


if __name__ == "__main__":
    main()
