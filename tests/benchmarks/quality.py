#!/usr/bin/python3
"""Picture quality of cudawarp where it shrinks and turns, beside other programs.

    /usr/bin/python3 tests/benchmarks/quality.py --plugin build/gst --photo FILE --out docs

Puts its numbers between the marks in quality.md of the folder --out (that page says what they mean) and a picture
under images/quality there. Needs numpy, Pillow and GStreamer's tools, and uses OpenCV and ffmpeg where they are. What
is missing is skipped and named on the page. Of the photograph, only numbers are written.
"""
import argparse
import functools
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from page import fill, table

try:
    import cv2
except ImportError:
    cv2 = None

FACTORS = (2, 3.7, 8)
ANGLES = (0, 30, 90)
CASES = [(factor, angle) for factor in FACTORS for angle in ANGLES]
SHEET_CASE = (3.7, 30)
ZONE_SIDE, PHOTO_SIDE = 150, 80  # of the output
MARGIN = 4  # output pixels between a measured pixel and every edge
FINE = 4  # fine grid points of the photograph's scene per input pixel and axis
SUB = 8  # samples of the scene per input pixel and axis where it is averaged
KERNELS = ("nearest", "bilinear", "bicubic", "lanczos")
VIDEOSCALE = "nearest-neighbour bilinear 4-tap lanczos bilinear2 sinc hermite spline catrom mitchell".split()
OPENCV = [("warpAffine", flag) for flag in ("LINEAR", "AREA", "CUBIC", "LANCZOS4")] + [("resize", "AREA")]
DEFAULT = "cudawarp bilinear, antialias"


# ---- maps: 2x3 arrays, output from source, continuous coordinates ----
def turn_and_scale(angle, scale, source_centre, output_centre):
    c, s = (round(f(math.radians(angle)), 15) for f in (math.cos, math.sin))  # quarter turns without a rest
    linear = scale * np.array([[c, -s], [s, c]])
    return np.column_stack([linear, np.asarray(output_centre) - linear @ np.asarray(source_centre)])


def inverse(m):
    linear = np.linalg.inv(m[:, :2])
    return np.column_stack([linear, -linear @ m[:, 2]])


def apply(m, x, y):
    return m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2]


# ---- scenes: functions of input coordinates ----
def zone_plate(side):
    """cos(k r^2) about the middle; its frequency reaches half a cycle per input pixel in the corners."""
    k = math.pi / 2 / (side / math.sqrt(2))
    return lambda x, y: 127.5 + 127.5 * np.cos(k * ((x - side / 2) ** 2 + (y - side / 2) ** 2))


def photo_scene(path, side):
    """The photograph's middle square as a fine grid, enlarged where it is too small, read bilinearly."""
    gray = np.asarray(Image.open(path).convert("RGB"), float) @ (0.299, 0.587, 0.114)
    square = min(*gray.shape, FINE * side)
    top, left = (gray.shape[0] - square) // 2, (gray.shape[1] - square) // 2
    fine = Image.fromarray(gray[top:top + square, left:left + square].astype(np.float32))
    fine = np.asarray(fine.resize((FINE * side, FINE * side), Image.BICUBIC), float).clip(0, 255)

    def scene(x, y):
        x, y = (np.clip(v * FINE - 0.5, 0, FINE * side - 1.001) for v in (x, y))
        i, j = x.astype(int), y.astype(int)
        x, y = x - i, y - j
        return ((fine[j, i] * (1 - x) + fine[j, i + 1] * x) * (1 - y) +
                (fine[j + 1, i] * (1 - x) + fine[j + 1, i + 1] * x) * y)
    scene.enlarged = FINE * side / square
    return scene


def footprint_means(scene, source_from_output, side, samples, shift=0.0):
    """Each output pixel's mean of the scene over the pixel's square, mapped into the scene."""
    j, i = np.mgrid[0:side, 0:side] + 0.5 + shift
    offsets = (np.arange(samples) + 0.5) / samples - 0.5
    return sum(scene(*apply(source_from_output, i + u, j + v)) for v in offsets for u in offsets) / samples ** 2


def psnr(error):
    return 10 * math.log10(255 ** 2 / np.mean(error ** 2)) if np.any(error) else math.inf


class Case:
    """One input, one map, and what is to come out."""

    def __init__(self, scene, source, side, factor, angle):
        self.scene, self.source, self.side, self.factor, self.angle = scene, source, side, factor, angle
        middle = source.shape[0] / 2
        self.map = turn_and_scale(angle, 1 / factor, (middle, middle), (side / 2, side / 2))
        j, i = np.mgrid[0:side, 0:side] + 0.5
        reach = MARGIN + 0.5
        self.measured = (np.minimum(i, j) > reach) & (np.maximum(i, j) < side - reach)
        for u, v in ((-reach, -reach), (reach, -reach), (-reach, reach), (reach, reach)):
            x, y = apply(inverse(self.map), i + u, j + v)
            self.measured &= (np.minimum(x, y) >= 0) & (np.maximum(x, y) <= 2 * middle)

    @functools.lru_cache
    def truth(self, shift):
        return footprint_means(self.scene, inverse(self.map), self.side, math.ceil(SUB * self.factor), shift)

    def psnr(self, picture, shift):
        return round(psnr((picture - self.truth(shift))[self.measured]), 1)


# ---- contestants: functions of a case that give [(picture, shift of its grid)], of which the best one counts ----
def run(command, **options):
    if not shutil.which(command[0]):
        raise RuntimeError(f"there is no {command[0]}")
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options).stdout
    except subprocess.CalledProcessError as error:
        print(*command, "\n", error.stderr.decode(errors="replace"), file=sys.stderr)
        raise RuntimeError(f"{command[0]} failed") from error


class GStreamer:
    def __init__(self, plugin_dir, folder):
        self.files = [os.path.join(folder, name) for name in ("in", "out")]
        self.env = dict(os.environ, GST_PLUGIN_PATH_1_0=os.path.abspath(plugin_dir),
                        GST_REGISTRY=os.path.join(folder, "registry"))
        self.about = run(["gst-inspect-1.0", "cudawarp"], env=self.env).decode()

    def pipe(self, source, side, *elements):
        height, width = source.shape
        # Rows of GRAY8 begin at multiples of 4 bytes in GStreamer.
        np.pad(source, ((0, 0), (0, -width % 4))).tofile(self.files[0])
        pipeline = " ! ".join([
            f"filesrc location={self.files[0]} ! rawvideoparse format=gray8 width={width} height={height}", *elements,
            f"video/x-raw,format=GRAY8,width={side},height={side} ! filesink location={self.files[1]}"])
        run(["gst-launch-1.0", "-q", *pipeline.split()], env=self.env)
        return np.fromfile(self.files[1], np.uint8).reshape(side, -1)[:, :side]

    def cudawarp(self, case, kernel, antialias):
        if not re.search(rf"\(\d+\): {kernel} ", self.about):
            raise RuntimeError(f"this cudawarp has no interpolation={kernel}")
        has_antialias = re.search(r"^\s+antialias\s*:", self.about, re.M)
        if antialias and not has_antialias:
            raise RuntimeError("this cudawarp has no antialias")
        element = (f"cudawarp engine=cpu precision=exact border-mode=replicate interpolation={kernel} matrix=<" +
                   ",".join(repr(float(v)) for v in case.map.flat) + ">")
        element += f" antialias={antialias}".lower() if has_antialias else ""
        return [(self.pipe(case.source, case.side, element), 0)]

    def videoscale(self, case, method):
        scale = f"videoscale method={method} ! capsfilter caps=video/x-raw,width={case.side},height={case.side}"
        if case.angle in (0, 90):
            flip = "videoflip video-direction=" + {0: "identity", 90: "90r"}[case.angle]
            return [(self.pipe(case.source, case.side, scale, flip), 0)]
        # `rotate` reads what lies at a pixel's corner, half a pixel off its centre. It is held against its own map.
        rotate = f"rotate angle={-math.radians(case.angle)}"
        return [(self.pipe(case.source, case.side, scale, rotate), -0.5),
                (self.pipe(case.source, case.side, rotate, scale), -0.5 / case.factor)]


def ffmpeg(case, flag):
    scale = f"scale={case.side}:{case.side}:flags={flag}+accurate_rnd"
    turn = f"rotate={case.angle}*PI/180:bilinear=1"
    chains = {0: [scale], 90: [f"{scale},transpose=clock"]}.get(case.angle, [f"{scale},{turn}", f"{turn},{scale}"])
    raw = ["-f", "rawvideo", "-pix_fmt", "gray"]
    start = ["ffmpeg", "-v", "error", *raw, "-s", "x".join(map(str, case.source.shape[::-1])), "-i", "-", "-vf"]
    outputs = [run([*start, chain, *raw, "-"], input=case.source.tobytes()) for chain in chains]
    return [(np.frombuffer(output, np.uint8).reshape(case.side, -1), 0) for output in outputs]


def opencv_warp(source, matrix, side, flag):
    m = matrix.copy()  # OpenCV's pixel centres are whole numbers
    m[:, 2] += m[:, :2] @ (0.5, 0.5) - 0.5
    return cv2.warpAffine(source, m, (side, side), flags=getattr(cv2, flag), borderMode=cv2.BORDER_REPLICATE)


def opencv(case, call, flag):
    def shrink(picture):
        return cv2.resize(picture, (case.side, case.side), interpolation=cv2.INTER_AREA)

    def turn(picture):
        side, middle = picture.shape[0], np.array(picture.shape) / 2
        return opencv_warp(picture, turn_and_scale(case.angle, 1, middle, middle), side, "INTER_CUBIC")
    if cv2 is None:
        raise RuntimeError("there is no cv2")
    if call == "warpAffine":
        return [(opencv_warp(case.source, case.map, case.side, "INTER_" + flag), 0)]
    return [(turn(shrink(case.source)), 0), (shrink(turn(case.source)), 0)]


def contestants(gst):
    found = {f"cudawarp {k}" + ", antialias" * a: functools.partial(gst.cudawarp, kernel=k, antialias=a)
             for k in KERNELS for a in (True, False)}
    found.update({f"GStreamer {m}": functools.partial(gst.videoscale, method=m) for m in VIDEOSCALE})
    found.update({f"OpenCV {c} {f}": functools.partial(opencv, call=c, flag=f) for c, f in OPENCV})
    found.update({f"FFmpeg {f}": functools.partial(ffmpeg, flag=f) for f in ("bilinear", "bicubic", "lanczos", "area")})
    return found


# ---- cudawarp's definition (conventions.md), in double ----
def catmull_rom(x):
    x = np.abs(x)
    return np.where(x < 1, 1 + x * x * (1.5 * x - 2.5), np.where(x < 2, 2 + x * (-4 + x * (2.5 - 0.5 * x)), 0))


def lanczos(x):
    def lobes(t):
        return np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)
    return lobes(x) / sum(lobes(x - np.floor(x) - j) for j in range(-3, 4))


KERNEL_OF = {"bicubic": (catmull_rom, 2), "lanczos": (lanczos, 3)}
KERNEL_OF["bilinear"] = KERNEL_OF["nearest"] = (lambda x: np.maximum(0, 1 - np.abs(x)), 1)


def averaged(kernel, reach, t, s):
    """K_s(t): the kernel averaged over a footprint s source pixels wide; for s = 0 the kernel itself."""
    def step(x):  # the sum of kernel(x - 1/2 - j) over all whole j >= 0; 0 and 1 beyond the reach
        x = np.clip(x, -reach, reach)
        return sum(kernel(x - 0.5 - j) for j in range(2 * reach + 1))
    return step(t + s / 2) - step(t - s / 2) if s else kernel(t)


def definition(case, name, antialias):
    """The element's output for a turn and one scale, border-mode=replicate, before it is rounded."""
    inv = inverse(case.map)
    j, i = np.mgrid[0:case.side, 0:case.side] + 0.5
    x, y = apply(inv, i, j)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    lengths = np.hypot(*inv[:, :2])  # of the columns
    footprint = antialias and lengths.max() > 1 + 1e-9
    kernel, reach = KERNEL_OF[name]

    def source_at(x, y):
        y, x = (np.clip(v, 0, length - 1) for v, length in zip((y, x), case.source.shape))
        return case.source[y, x].astype(float)
    if name == "nearest" and not footprint:
        return source_at(left, top)
    sizes, normals = (np.maximum(lengths, 1), (inv[:, :2] / lengths).T) if footprint else (np.zeros(2), np.eye(2))
    radius = math.ceil(math.hypot(*(reach + sizes / 2))) + 1
    total = weights = 0.0
    for v in range(-radius, radius + 1):
        for u in range(-radius, radius + 1):
            dx, dy = left + u + 0.5 - x, top + v + 0.5 - y
            w = math.prod(averaged(kernel, reach, n[0] * dx + n[1] * dy, s) for n, s in zip(normals, sizes))
            total, weights = total + w * source_at(left + u, top + v), weights + w
    return np.clip(total / weights, 0, 255)


# ---- measuring ----
def compare_with_definition(gst, skipped):
    """Rows of [what, interpolation, PSNR, largest error, pixels not rounded alike], on noise, over whole frames."""
    noise = np.random.default_rng(1).integers(0, 256, (160, 160), np.uint8)
    maps = [("turned by 30°", 30, 1, 160), ("enlarged 2.3 times", 0, 2.3, 368)]
    maps += [(f"1/{f:g}, turned by 30°", 30, 1 / f, round(160 / f)) for f in FACTORS]
    rows = []
    for what, angle, scale, side in maps:
        # The odd offset keeps source points off the border between two pixels, where `nearest` may take either.
        matrix = turn_and_scale(angle, scale, (80, 80), (side / 2 + 0.37, side / 2 + 0.21))
        case = types.SimpleNamespace(source=noise, map=matrix, side=side)
        for kernel, antialias in ((k, a) for k in KERNELS for a in ((True, False) if scale < 1 else (False,))):
            setting = kernel + ", antialias" * antialias
            try:
                got = gst.cudawarp(case, kernel, antialias)[0][0]
            except RuntimeError as reason:
                skipped[f"cudawarp {setting}"] = str(reason)
                continue
            want = definition(case, kernel, antialias)
            rows.append([what, setting, f"{psnr(got - want):.1f}".replace("inf", "the same"),
                         f"{np.abs(got - want).max():.3f}", f"{np.sum(got != np.floor(want + 0.5))} of {got.size}"])
    return rows


def measure(scenes, side, everyone, skipped, sheet=None):
    """{contestant: {(factor, angle): PSNR}}"""
    results = {}
    for factor, scene in scenes.items():
        source = footprint_means(scene, np.eye(2, 3), round(side * factor), SUB)
        source = np.floor(source + 0.5).clip(0, 255).astype(np.uint8)
        for angle in ANGLES:
            case, pictures = Case(scene, source, side, factor, angle), {}
            for name, contestant in everyone.items():
                try:
                    tries = [] if name in skipped else [(case.psnr(p, shift), p) for p, shift in contestant(case)]
                except RuntimeError as reason:
                    skipped[name], tries = str(reason), []
                if tries:
                    results.setdefault(name, {})[factor, angle], pictures[name] = max(tries, key=lambda t: t[0])
            if sheet and (factor, angle) == SHEET_CASE:
                contact_sheet(sheet, case, pictures)
            print(f"1/{factor:g} at {angle} degrees: done", flush=True)
    return results


# ---- the page ----
def contact_sheet(path, case, pictures):
    """The chosen pictures side by side, labelled; what was not measured is black, in all of them."""
    chosen = {"truth": case.truth(0), **{f"definition {k}, aa": definition(case, k, True) for k in KERNELS[1::2]}}
    shown = "cudawarp (?!near)|GStreamer (bilinear|lanczos)$|OpenCV (warpAffine LIN|resize)|FFmpeg (bicubic|area)"
    chosen.update({name.replace("antialias", "aa"): p for name, p in pictures.items() if re.match(shown, name)})
    cell, label, gap, across = case.side, 14, 6, 5
    height = math.ceil(len(chosen) / across) * (cell + label + gap) - gap
    sheet = Image.new("L", (across * (cell + gap) - gap, height), 255)
    for k, (name, picture) in enumerate(chosen.items()):
        x, y = k % across * (cell + gap), k // across * (cell + label + gap)
        values = np.where(case.measured, np.floor(picture + 0.5).clip(0, 255), 0).astype(np.uint8)
        ImageDraw.Draw(sheet).text((x, y + 1), name, fill=0, font=ImageFont.load_default())
        sheet.paste(Image.fromarray(values), (x, y + label))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, optimize=True)


def psnr_table(results):
    best = {c: max(r.get(c, 0) for r in results.values()) for c in CASES}

    def cell(value, c):
        return "" if value is None else f"**{value:.1f}**" if value == best[c] else f"{value:.1f}"
    rows = [[name] + [cell(result.get(c), c) for c in CASES] for name, result in results.items()]
    return table(["PSNR, dB"] + [f"1/{f:g}, {a}°" for f, a in CASES], rows) + "\n\n" + leads(results)


def leads(results):
    """In how many cases a peer is ahead of cudawarp, and by how much."""
    def best(names):
        return [max(results[name].get(c, 0) for name in names) for c in CASES]

    def count(words, values):
        span = f", by {min(values):.1f} to {max(values):.1f} dB" if values else ""
        return f"{words} in {len(values)} of {len(CASES)} cases{span}."
    own = [name for name in results if name.startswith("cudawarp")]
    peers = [name for name in results if name not in own]
    lines = []
    for what, mine in (("cudawarp's best setting", own), (f"`{DEFAULT}` (the default)", [DEFAULT])):
        if not (own and peers) or any(name not in own for name in mine):
            lines.append(f"- {what}: skipped.")
            continue
        lead = [round(p - m, 1) for p, m in zip(best(peers), best(mine))]
        lines.append(count(f"- Some peer is ahead of {what}", [v for v in lead if v > 0]) +
                     count(" Every peer is below it", [-v for v in lead if v < 0]))
    return "\n".join(lines)


def versions(gst):
    found = [re.search(r"GStreamer [\d.]+", run(["gst-launch-1.0", "--version"]).decode()).group()]
    found += [f"cudawarp {v}" for v in re.findall(r"^\s+Version\s+(\S+)", gst.about, re.M)]
    found += [f"numpy {np.__version__}"] + ([f"OpenCV {cv2.__version__}"] if cv2 else [])
    found += ["FFmpeg " + run(["ffmpeg", "-version"]).decode().split()[2]] if shutil.which("ffmpeg") else []
    return ", ".join(found) + "."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True, metavar="DIR", help="where libgstcudawarp.so is")
    parser.add_argument("--photo", required=True, metavar="FILE", help="a photograph; only numbers are taken from it")
    parser.add_argument("--out", default="docs", type=pathlib.Path, metavar="DIR", help="where quality.md is")
    options, skipped = parser.parse_args(), {}
    with tempfile.TemporaryDirectory() as folder:
        gst = GStreamer(options.plugin, folder)
        rows = compare_with_definition(gst, skipped)
        zones = {f: zone_plate(round(ZONE_SIDE * f)) for f in FACTORS}
        sheet = options.out / "images/quality/zone-plate.png"
        zone_results = measure(zones, ZONE_SIDE, contestants(gst), skipped, sheet)
        photos = {f: photo_scene(options.photo, round(PHOTO_SIDE * f)) for f in FACTORS}
        photo_results = measure(photos, PHOTO_SIDE, contestants(gst), skipped)
        fill(options.out / "quality.md", {
            "versions": versions(gst),
            "zone plate": psnr_table(zone_results),
            "enlarged": ", ".join(f"{p.enlarged:.3g} times for 1/{f:g}" for f, p in photos.items()) + ".",
            "photograph": psnr_table(photo_results),
            "definition": table(["", "`interpolation`", "PSNR, dB", "largest error", "pixels that differ"], rows),
            "skipped": "\n".join(f"- {name}: {reason}" for name, reason in skipped.items()) or "Nothing."})


if __name__ == "__main__":
    main()
