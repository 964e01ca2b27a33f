#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brings a box of the output back to the source frame, by the matrix that each buffer carries, as a program behind a
neural network does. Exit status 77 where Python knows no GStreamer."""
import math
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as why:
    print(f"skipped: {why}")
    sys.exit(77)

FRAMES, ANGLE = 3, 20
SOURCE, OUTPUT = (1920, 1080), (640, 640)
LEFT, TOP, RIGHT, BOTTOM = 200, 250, 440, 390  # of the output
CORNERS = [(LEFT, TOP), (RIGHT, TOP), (RIGHT, BOTTOM), (LEFT, BOTTOM)]
LINE = (f"videotestsrc num-buffers={FRAMES} ! video/x-raw,width={SOURCE[0]},height={SOURCE[1]} ! "
        f"cudawarp angle={ANGLE} engine=cpu ! video/x-raw,width={OUTPUT[0]},height={OUTPUT[1]} ! "
        "appsink name=sink sync=false")


def matrix_of(buffer):
    """a, b, tx, c, d, ty, and the size of the frame that they map from."""
    structure = buffer.get_custom_meta("GstCudaWarpMatrix").get_structure()
    numbers = [structure.get_double(name) for name in ("a", "b", "tx", "c", "d", "ty")]
    size = [structure.get_int(name) for name in ("width", "height")]
    assert all(there for there, _ in numbers + size), structure.to_string()
    return [number for _, number in numbers], tuple(side for _, side in size)


def brought_back(matrix, x, y):
    """The source point that the matrix takes to (x, y)."""
    a, b, tx, c, d, ty = matrix
    determinant = a * d - b * c
    x, y = x - tx, y - ty
    return (d * x - b * y) / determinant, (a * y - c * x) / determinant


def expected(x, y):
    """The same from the sizes and the angle: out of the letterbox, and back about the middle of the source."""
    scale = min(OUTPUT[0] / SOURCE[0], OUTPUT[1] / SOURCE[1])
    x = (x - (OUTPUT[0] - SOURCE[0] * scale) / 2) / scale - SOURCE[0] / 2
    y = (y - (OUTPUT[1] - SOURCE[1] * scale) / 2) / scale - SOURCE[1] / 2
    turn = math.radians(-ANGLE)  # clockwise where it is positive, y down
    return (SOURCE[0] / 2 + x * math.cos(turn) - y * math.sin(turn),
            SOURCE[1] / 2 + x * math.sin(turn) + y * math.cos(turn))


def main():
    Gst.init(None)
    pipeline = Gst.parse_launch(LINE)
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    frames = 0
    while sample := sink.emit("pull-sample"):
        matrix, size = matrix_of(sample.get_buffer())
        assert size == SOURCE, f"from a frame of {size}"
        for corner in CORNERS:
            got, want = brought_back(matrix, *corner), expected(*corner)
            assert math.dist(got, want) < 1e-6, f"{corner} comes from {got}, not {want}"
        frames += 1
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message is None, message.parse_error()[0].message
    assert frames == FRAMES, f"{frames} frames"


if __name__ == "__main__":
    main()
