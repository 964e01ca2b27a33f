"""What the benchmarks found, and the targets it is held against."""
import json
import statistics

FORMATS = ("RGBA", "NV12", "P010_10LE", "GRAY8")
ANGLES = (0, 17, 45, 90)
SIZES = {"half": "1/2", "quarter": "1/4"}
BORDERS = ("constant", "constant-hard", "mirror", "mirror-101", "wrap", "transparent")
BRANCHES = (1, 4, 16, 64)
PEERS = ("NPP", "CV-CUDA", "PyTorch", "CuPy", "OpenCV CUDA")


class Results:
    """Samples by name, in the order of their repetitions, from any number of files."""

    def __init__(self, paths):
        self.kernels, self.peers, self.element = {}, {}, {}  # samples, the kernels' in us
        self.absent, self.about, self.starved = {}, {}, []
        for path in paths:
            parts = json.loads(path.read_text(encoding="utf-8"))
            for part in parts if isinstance(parts, list) else [parts]:
                if "benchmarks" in part:
                    self.add_kernels(part)
                elif part.get("program") == "peers":
                    self.add_peer(part)
                elif part.get("program") == "element_bench":
                    self.add_element(part)
                else:
                    raise SystemExit(f"{path}: not a result of these benchmarks")

    def add_kernels(self, part):
        runs = [r for r in part["benchmarks"] if r.get("run_type") == "iteration" and not r.get("error_occurred")]
        for run in sorted(runs, key=lambda r: r.get("repetition_index", 0)):
            name = run["name"].removesuffix("/manual_time")
            self.kernels.setdefault(name, []).append(run["real_time"])
            if run.get("starved", 0) > 0.1 and name not in self.starved:
                self.starved.append(name)
        context = part["context"]
        self.about["kernels"] = (f"{context.get('device', 'unknown device')}, CUDA "
                                 f"{version(context.get('cuda_runtime', 0))}, driver for CUDA "
                                 f"{version(context.get('cuda_driver', 0))}, {context['date'][:10]}")

    def add_peer(self, part):
        name = part["peer"]
        if part["absent"]:
            self.absent[name] = part["absent"]
            return
        self.peers[name] = part["results"]
        self.starved += [f"{name}: {r.get('call') or 'copy by ' + r['copy']}, {r['format']}" for r in part["results"]
                         if r["starved"] > 0.1]
        self.about[name] = ", ".join(f"{k} {v}" for k, v in part["about"].items()) + f", {part['device']}"

    def add_element(self, part):
        self.element.update({r["name"]: r["values"] for r in part["results"] if r["values"]})
        self.absent.update({f"element: {name}": why for name, why in part.get("skipped", {}).items()})
        context = part["context"]
        self.about["element"] = f"GStreamer {context['gstreamer']}, {context['device']}"

    # ---- kernels: samples of a ratio ----
    def copy(self, kind):
        """The fastest copy of a format and a size: (how, samples)."""
        found = {how: self.kernels.get(f"copy/{how}/{kind}") for how in ("memcpy", "kernel1", "kernel4")}
        return fastest({how: samples for how, samples in found.items() if samples})

    def warp(self, *fields):
        return self.kernels.get("/".join(["warp", *map(str, fields)]))

    def to_copy(self, form, size, *fields):
        return ratio(self.warp(form, size, *fields), self.copy(f"{form}/{size}")[1])

    def warp_to_warp(self, form, fields, other):
        return ratio(self.warp(form, "full", *fields), self.warp(form, "full", *other))

    # ---- peers ----
    def peer_to_copy(self, peer, form, kernel, angle):
        """The fastest of a peer's calls: (call, samples of its ratio to the copy in the same process)."""
        results = self.peers.get(peer, [])
        copies = {r["copy"]: r["us"] for r in results if "copy" in r and r["format"] == form}
        calls = {r["call"]: r["us"] for r in results
                 if (r.get("interpolation"), r["format"], r.get("angle")) == (kernel, form, angle)}
        call, samples = fastest(calls)
        return call, ratio(samples, fastest(copies)[1])

    def over_peer(self, peer, form, kernel, angle):
        """How many times faster than the peer, each by its own ratio to the copy."""
        return ratio(self.peer_to_copy(peer, form, kernel, angle)[1],
                     self.to_copy(form, "full", kernel, "fast", "constant", angle))

    # ---- the element ----
    def bus(self):
        """Frames/s of the slower direction."""
        found = [self.element.get(f"bus/pinned-{way}") for way in ("up", "down")]
        return min(found, key=statistics.median) if all(found) else None


def version(number):
    return f"{int(number) // 1000}.{int(number) % 1000 // 10}"


def fastest(samples):
    if not samples:
        return None, None
    return min(samples.items(), key=lambda item: statistics.median(item[1]))


def ratio(samples, others):
    """Repetition by repetition; nothing where one is missing."""
    if not samples or not others:
        return None
    return [a / b for a, b in zip(samples, others) if b]


class Target:
    """One target and all the cases it is about: {words: samples}. `limit` is not to be passed."""

    def __init__(self, what, limit, cases, at_most=True, unit=" x"):
        self.what, self.limit, self.at_most, self.unit = what, limit, at_most, unit
        self.cases = {name: samples for name, samples in cases.items() if samples}

    def met(self, samples):
        middle = statistics.median(samples)
        return middle <= self.limit if self.at_most else middle >= self.limit

    def row(self):
        """Cells: what, the worst case, its median and spread, the target, the verdict."""
        goal = f"{'<=' if self.at_most else '>='} {self.limit:g}{self.unit}"
        if not self.cases:
            return [self.what, "", "not measured", goal, ""]
        worst = (max if self.at_most else min)(self.cases, key=lambda name: statistics.median(self.cases[name]))
        samples, count = self.cases[worst], len(self.cases)
        good = sum(map(self.met, self.cases.values()))
        miss = abs(statistics.median(samples) / self.limit - 1)
        verdict = "met" if good == count else f"missed by {100 * miss:.0f} %; {good} of {count} cases meet it"
        return [self.what, worst, spread(samples, self.unit), goal, verdict]


def spread(samples, unit=""):
    return f"{number(statistics.median(samples))}{unit} ({number(min(samples))} to {number(max(samples))})"


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def targets(r):
    full = "full"
    yield Target("bilinear RGBA, to the copy", 1.25, {
        f"{a}°, {b}": r.to_copy("RGBA", full, "bilinear", "fast", b, a)
        for a in ANGLES for b in ("constant", "replicate")})
    yield Target("bilinear NV12 and P010, to the copy", 1.5, {
        f"{f}, {a}°, {b}": r.to_copy(f, full, "bilinear", "fast", b, a)
        for f in ("NV12", "P010_10LE") for a in ANGLES for b in ("constant", "replicate")})
    yield Target("bicubic, to bilinear", 2, {
        f"{f}, {a}°": r.warp_to_warp(f, ("bicubic", "fast", "constant", a), ("bilinear", "fast", "constant", a))
        for f in FORMATS for a in ANGLES})
    yield Target("`precision=exact`, to `fast`", 1.3, {
        f"{f}, {k}, {a}°": r.warp_to_warp(f, (k, "exact", "constant", a), (k, "fast", "constant", a))
        for f in FORMATS for k in ("bilinear", "bicubic", "lanczos") for a in ANGLES})
    yield Target("any border, to `replicate`", 1.05, {
        f"{f}, {b}, {a}°": r.warp_to_warp(f, ("bilinear", "fast", b, a), ("bilinear", "fast", "replicate", a))
        for f in FORMATS for b in BORDERS for a in ANGLES})
    yield Target("bilinear, antialias at 1/2 and 1/4, to the copy of the bytes touched", 1.5, {
        f"{f}, {words}, {a}°": r.to_copy(f, size, "bilinear", "fast", "constant", a)
        for f in FORMATS for size, words in SIZES.items() for a in ANGLES})
    for peer in PEERS:
        yield Target(f"times as fast as {peer}", 2 if peer == "NPP" else 1, {
            f"{f}, {k}, {a}°": r.over_peer(peer, f, k, a)
            for f in ("RGBA", "GRAY8") for k in ("bilinear", "bicubic") for a in (17, 45)}, at_most=False)
    e = r.element
    over = zip(e.get("host/cudawarp", []), e.get("host/identity", []))
    yield Target("host time of a buffer over `identity`, CUDAMemory", 15, {
        "RGBA, 17°": [a - b for a, b in over]}, unit=" us")
    depth = 2 if "system/pinned/depth2" in e else 0
    yield Target("system memory, pinned, `async-depth=2`: of the bus's slower direction", 0.9, {
        f"RGBA, 17°, depth {depth}": ratio(e.get(f"system/pinned/depth{depth}"), r.bus())}, at_most=False)
    yield Target("the same, pageable: of a plain upload plus download", 0.9, {
        f"RGBA, 17°, depth {depth}": ratio(e.get(f"system/pageable/depth{depth}"), e.get("bus/pageable"))},
        at_most=False)
    rate = {n: e.get(f"branches/{n}/frames_per_second") for n in BRANCHES}
    yield Target("parallel branches: frames/s, to those of fewer branches", 0.95, {
        f"{more} to {fewer}": ratio(rate[more], rate[fewer])
        for fewer, more in zip(BRANCHES, BRANCHES[1:])}, at_most=False)
    memory = {n: e.get(f"branches/{n}/memory") for n in BRANCHES}
    yield Target("device memory of a branch, to that of one of 4", 1.05, {
        f"{n} branches": ratio(memory[n], memory[4]) for n in BRANCHES[2:]})
    yield Target("frames/s of a branch beside a stalled one, to without", 0.95, {
        "4 branches": ratio(e.get("branches/stalled"), e.get("branches/not-stalled"))}, at_most=False)
    yield Target("first frame after PLAYING, context there", 20, {
        f"{memory} memory, {which}": e.get(f"first-frame/{memory}/{which}")
        for memory in ("cuda", "system") for which in ("first", "again")}, unit=" ms")
