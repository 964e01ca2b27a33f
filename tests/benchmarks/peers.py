#!/usr/bin/env python3
"""What other programs take for the same warp in device memory, beside copies of the same bytes in the same process.

    python3 tests/benchmarks/peers.py --json OUT.json [--only NAME]

Tries NPP (through ctypes: libnppig.so from the loader's path, the toolkit or pip's nvidia-npp), CV-CUDA, PyTorch,
CuPy and OpenCV's CUDA module, each in a process of its own; what is not there is named, with the reason. 3840x2160
RGBA and gray, turned by 17 and 45 degrees about the middle, bilinear and bicubic, black outside. Each peer gets its
best case: grids, matrices and outputs ready, samples in the type and layout it wants. Times are the device's, as in
warp_bench. Needs numpy. Results are checked against a bilinear definition, on noise.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from cuda_driver import Cuda, Frames, words_of_errors

WIDTH, HEIGHT, FRAMES, REPETITIONS = 3840, 2160, 12, 7
CASES = [(channels, kernel, angle) for channels in (4, 1) for kernel in ("bilinear", "bicubic") for angle in (17, 45)]
FORMATS = {4: "RGBA", 1: "GRAY8"}
BLACK = {4: b"\0\0\0\xff", 1: b"\0"}


def turn(angle):
    """The map by indices of pixels: output from source, 2x3."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    linear = np.array([[c, -s], [s, c]])
    middle = np.array([(WIDTH - 1) / 2, (HEIGHT - 1) / 2])
    return np.column_stack([linear, middle - linear @ middle])


def inverse(m):
    linear = np.linalg.inv(m[:, :2])
    return np.column_stack([linear, -linear @ m[:, 2]])


def noise(channels):
    picture = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, channels), np.uint8)
    if channels == 4:
        picture[..., 3] = 255
    return picture


def difference(got, source, angle):
    """Median difference from a bilinear definition over some pixels inside: about 0 bilinear, some codes bicubic."""
    x, y = np.random.default_rng(2).integers(0, (WIDTH, HEIGHT), (4000, 2)).T
    m = inverse(turn(angle))
    u, v = m[:, :2] @ (x, y) + m[:, 2:]
    inside = (u > 2) & (v > 2) & (u < WIDTH - 4) & (v < HEIGHT - 4)
    x, y, u, v = x[inside], y[inside], u[inside], v[inside]
    i, j = u.astype(int), v.astype(int)
    u, v = (u - i)[:, None], (v - j)[:, None]
    s = source.astype(float)
    want = (s[j, i] * (1 - u) + s[j, i + 1] * u) * (1 - v) + (s[j + 1, i] * (1 - u) + s[j + 1, i + 1] * u) * v
    return float(np.median(np.abs(got[y, x].astype(float) - want)))


# ---- the peers: generators of (call, channels, kernel, angle, run, picture). run(n) queues frame n on the stream of
# ---- `cuda`, picture(n) fetches the result.
class Stream(ctypes.Structure):
    """NPP's NppStreamContext."""
    _fields_ = [("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("processors", ctypes.c_int),
                ("threads_per_processor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
                ("shared_per_block", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("flags", ctypes.c_uint), ("workspace", ctypes.c_void_p)]


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Rect(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int), ("width", ctypes.c_int), ("height", ctypes.c_int)]


def npp_library():
    """libnppig, after libnppc, which it needs."""
    roots = ["", "/usr/local/cuda/lib64/"]
    roots += [os.path.join(path, "nvidia", kind, "lib", "") for path in sys.path for kind in ("cu13", "npp")]
    tried = []
    for root in roots:
        for version in (13, 12, 11):
            try:
                ctypes.CDLL(f"{root}libnppc.so.{version}", ctypes.RTLD_GLOBAL)
                return ctypes.CDLL(f"{root}libnppig.so.{version}"), version
            except OSError as reason:
                tried.append(str(reason))
    raise RuntimeError(tried[0])


def npp(cuda, sources, targets, about):
    library, version = npp_library()
    about["libnppig.so"] = str(version)
    # By the numbers of CUdevice_attribute.
    stream = Stream(cuda.stream, 0, *(cuda.attribute(k) for k in (16, 39, 1, 8, 75, 76)), 0, None)
    for channels, kernel, angle in CASES:
        warp = getattr(library, f"nppiWarpAffine_8u_C{channels}R_Ctx")
        src, dst = sources[channels], targets[channels]
        matrix = (ctypes.c_double * 6)(*turn(angle).flat)

        def run(n, warp=warp, src=src, dst=dst, matrix=matrix, mode={"bilinear": 2, "bicubic": 4}[kernel]):
            cuda.fill(dst[n], dst.pitch, BLACK[dst.channels], WIDTH, HEIGHT)
            error = warp(ctypes.c_void_p(src[n]), Size(WIDTH, HEIGHT), src.pitch, Rect(0, 0, WIDTH, HEIGHT),
                         ctypes.c_void_p(dst[n]), dst.pitch, Rect(0, 0, WIDTH, HEIGHT), matrix, mode, stream)
            if error < 0:
                raise RuntimeError(f"nppiWarpAffine: {error}")
        yield f"nppiWarpAffine_8u_C{channels}R_Ctx + fill", channels, kernel, angle, run, dst.picture


def cvcuda(cuda, sources, targets, about):
    import cvcuda as cv
    about["CV-CUDA"] = cv.__version__
    stream = cv.as_stream(cuda.stream) if hasattr(cv, "as_stream") else cv.cuda.as_stream(cuda.stream)
    for channels, kernel, angle in CASES:
        src, dst = sources[channels], targets[channels]
        tensors = [[cv.as_tensor(frames.view(n), "HWC") for n in range(FRAMES)] for frames in (src, dst)]
        flags = cv.Interp.LINEAR if kernel == "bilinear" else cv.Interp.CUBIC
        matrix, black = turn(angle).astype(np.float32), np.frombuffer(BLACK[channels], np.uint8).astype(np.float32)

        def run(n, tensors=tensors, flags=flags, matrix=matrix, black=black):
            source, target = (t[n % FRAMES] for t in tensors)
            cv.warp_affine_into(target, source, matrix, int(flags), border_mode=cv.Border.CONSTANT, border_value=black,
                                stream=stream)
        yield "cvcuda.warp_affine_into", channels, kernel, angle, run, dst.picture


def pytorch(cuda, sources, targets, about):
    import torch
    about["PyTorch"] = torch.__version__
    count = 3  # planar float frames are large
    stream = torch.cuda.ExternalStream(cuda.stream)
    grids = {}
    for angle in (17, 45):
        x, y = torch.meshgrid(torch.arange(WIDTH, device="cuda", dtype=torch.float64),
                              torch.arange(HEIGHT, device="cuda", dtype=torch.float64), indexing="xy")
        (a, b, c), (d, e, f) = inverse(turn(angle)).tolist()
        u, v = a * x + b * y + c, d * x + e * y + f
        grids[angle] = torch.stack([(2 * u + 1) / WIDTH - 1, (2 * v + 1) / HEIGHT - 1], -1).float()[None].contiguous()
    for channels in (4, 1):
        bytes_in = [torch.as_tensor(sources[channels].view(n), device="cuda") for n in range(count)]
        floats = [b.permute(2, 0, 1)[None].float().contiguous() for b in bytes_in]
        layouts = {"": floats}
        if channels > 1:
            layouts[", channels last"] = [f.contiguous(memory_format=torch.channels_last) for f in floats]
        torch.cuda.synchronize()
        kept = [None] * count  # outputs come from PyTorch's cache

        def convert(n, floats=floats, bytes_in=bytes_in, kept=kept):
            with torch.cuda.stream(stream):
                planar = bytes_in[n % count].permute(2, 0, 1)[None].float()
                kept[n % count] = (planar, floats[n % count][0].permute(1, 2, 0).round().byte())
        yield "uint8 to planar float, and back", channels, "conversion", 0, convert, None
        for layout, inputs in layouts.items():
            for kernel in ("bilinear", "bicubic"):
                for angle in (17, 45):
                    def run(n, inputs=inputs, kernel=kernel, grid=grids[angle], kept=kept):
                        with torch.cuda.stream(stream):
                            kept[n % count] = torch.nn.functional.grid_sample(
                                inputs[n % count], grid, mode=kernel, padding_mode="zeros", align_corners=False)
                    yield ("grid_sample, float, grid ready" + layout, channels, kernel, angle, run,
                           lambda n, kept=kept: kept[n % count][0].permute(1, 2, 0).cpu().numpy())


def cupy(cuda, sources, targets, about):
    import cupy as cp
    import cupyx.scipy.ndimage as ndimage
    about["CuPy"] = cp.__version__
    stream = cp.cuda.ExternalStream(cuda.stream)
    # It knows no channels: planes, one after the other; in float, which it would convert to. Rows come first in its
    # coordinates.
    all_planes = {channels: [cp.asarray(frames.view(n)).transpose(2, 0, 1).astype(cp.float32, order="C")
                             for n in range(FRAMES)] for channels, frames in sources.items()}
    all_outputs = {channels: [cp.empty(p.shape, cp.uint8) for p in planes] for channels, planes in all_planes.items()}
    for channels, kernel, angle in CASES:
        planes, outputs = all_planes[channels], all_outputs[channels]
        (a, b, c), (d, e, f) = inverse(turn(angle))
        matrix = cp.asarray([[e, d, f], [b, a, c]])
        cp.cuda.Device().synchronize()

        def run(n, planes=planes, outputs=outputs, matrix=matrix, order=1 if kernel == "bilinear" else 3):
            with stream:
                for plane, output in zip(planes[n % FRAMES], outputs[n % FRAMES]):
                    ndimage.affine_transform(plane, matrix, output_shape=(HEIGHT, WIDTH), output=output, order=order,
                                             mode="constant", prefilter=False)
        order = 1 if kernel == "bilinear" else 3
        yield (f"affine_transform, order={order}, float planes, no prefilter", channels, kernel, angle, run,
               lambda n, outputs=outputs: outputs[n % FRAMES].transpose(1, 2, 0).get())


def opencv(cuda, sources, targets, about):
    import cv2
    about["OpenCV"] = cv2.__version__
    if not hasattr(cv2, "cuda") or cv2.cuda.getCudaEnabledDeviceCount() == 0:
        raise RuntimeError(f"cv2 {cv2.__version__} is built without CUDA")
    stream = cv2.cuda.wrapStream(cuda.stream)
    for channels, kernel, angle in CASES:
        kind = cv2.CV_8UC4 if channels == 4 else cv2.CV_8UC1
        dst = targets[channels]
        mats = [[cv2.cuda.createGpuMatFromCudaMemory(HEIGHT, WIDTH, kind, frames[n], frames.pitch)
                 for n in range(FRAMES)] for frames in (sources[channels], dst)]
        flags = cv2.INTER_LINEAR if kernel == "bilinear" else cv2.INTER_CUBIC

        def run(n, mats=mats, flags=flags, matrix=turn(angle), black=tuple(BLACK[channels])):
            source, target = (m[n % FRAMES] for m in mats)
            cv2.cuda.warpAffine(source, matrix, (WIDTH, HEIGHT), target, flags, cv2.BORDER_CONSTANT, black, stream)
        yield "cv2.cuda.warpAffine", channels, kernel, angle, run, dst.picture


PEERS = {"NPP": npp, "CV-CUDA": cvcuda, "PyTorch": pytorch, "CuPy": cupy, "OpenCV CUDA": opencv}


# ---- measuring ----
class Case:
    """One thing to time: run(n), in batches of about 10 ms."""

    def __init__(self, cuda, labels, run):
        self.cuda, self.labels, self.run, self.n = cuda, labels, run, 0
        self.times, self.host, self.starved = [], [], 0
        for n in range(FRAMES):
            run(n)
        cuda.synchronize()
        device_us, host_us = cuda.timed(run, 0, 4, 0)
        self.batch = max(4, min(24, int(10_000 / device_us)))
        self.hold_us = min(100_000, 3 * host_us * self.batch + 100)

    def repeat(self):
        device_us, host_us = self.cuda.timed(self.run, self.n, self.batch, self.hold_us)
        self.starved += host_us * self.batch > self.hold_us
        self.n += self.batch
        self.times.append(device_us)
        self.host.append(host_us)

    def result(self):
        return {**self.labels, "us": [round(t, 2) for t in self.times],
                "host_us": round(statistics.median(self.host), 1),
                "starved": self.starved / len(self.times)}


def copies(cuda, sources, targets):
    for channels, frames in sources.items():
        target = targets[channels]
        size = WIDTH * HEIGHT * channels
        for how in ("memcpy", "kernel1", "kernel4"):
            def run(n, how=how, frames=frames, target=target, size=size):
                cuda.copy(how, target[n], frames[n], size)
            yield Case(cuda, {"copy": how, "format": FORMATS[channels]}, run)


def measure(name):
    """One peer, in this process."""
    part = {"program": "peers", "peer": name, "about": {}, "results": [], "absent": None}
    try:
        with words_of_errors():
            cuda = Cuda()
            part["device"], part["cuda_driver"] = cuda.name(), cuda.driver_version()
            pictures = {channels: noise(channels) for channels in FORMATS}
            sources = {channels: Frames(cuda, picture, FRAMES) for channels, picture in pictures.items()}
            targets = {channels: Frames(cuda, picture, FRAMES) for channels, picture in pictures.items()}
            cases = list(copies(cuda, sources, targets))
            for call, channels, kernel, angle, run, picture in PEERS[name](cuda, sources, targets, part["about"]):
                labels = {"call": call, "format": FORMATS[channels], "interpolation": kernel, "angle": angle}
                cases.append(Case(cuda, labels, run))
                if picture:
                    labels["difference"] = round(difference(picture(0), pictures[channels], angle), 2)
            for _ in range(REPETITIONS):
                for case in cases:
                    case.repeat()
            part["results"] = [case.result() for case in cases]
    except RuntimeError as reason:
        part["absent"] = str(reason)
    return part


def measure_apart(name):
    """One peer in a process of its own, so that one that crashes takes no other along."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "peer.json"
        try:
            done = subprocess.run([sys.executable, __file__, "--only", name, "--json", path], timeout=300,
                                  stdout=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            return {"program": "peers", "peer": name, "about": {}, "results": [], "absent": "took more than 300 s"}
        if path.exists():
            return json.loads(path.read_text())[0]
        return {"program": "peers", "peer": name, "about": {}, "results": [],
                "absent": f"its process ended with {done.returncode}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", required=True, type=pathlib.Path, metavar="FILE", help="where results go")
    parser.add_argument("--only", choices=PEERS, metavar="NAME", help="one peer: " + ", ".join(PEERS))
    options = parser.parse_args()
    parts = [measure(options.only)] if options.only else [measure_apart(name) for name in PEERS]
    options.json.write_text(json.dumps(parts, indent=1))
    for part in parts:
        print(part["peer"], part["absent"] or f"{len(part['results'])} results", flush=True)


if __name__ == "__main__":
    main()
