"""As much of CUDA's driver API as it takes to time others' work on a GPU, through ctypes alone."""
import contextlib
import ctypes
import time

import numpy as np

COPY_THREADS = 256
# A copy by 16-byte words, one and four a thread; and a kernel that keeps a stream busy for so many nanoseconds.
PTX = """
.version 7.0
.target sm_70
.address_size 64
""" + "".join(f"""
.visible .entry copy{words}(.param .u64 to, .param .u64 from, .param .u32 count) {{
  .reg .pred p<{words}>; .reg .b32 i, n, t, step, v<{4 * words}>; .reg .b64 d, s, o, a<{words}>, b<{words}>;
  mov.u32 t, %tid.x; mov.u32 i, %ctaid.x; mov.u32 step, %ntid.x; mul.lo.u32 i, i, step; mad.lo.u32 i, i, {words}, t;
  ld.param.u32 n, [count]; ld.param.u64 d, [to]; ld.param.u64 s, [from];
  cvta.to.global.u64 d, d; cvta.to.global.u64 s, s;
""" + "".join(f"""
  setp.lt.u32 p{k}, i, n; mul.wide.u32 o, i, 16; add.u64 a{k}, s, o; add.u64 b{k}, d, o; add.u32 i, i, step;
  @p{k} ld.global.v4.u32 {{v{4 * k}, v{4 * k + 1}, v{4 * k + 2}, v{4 * k + 3}}}, [a{k}];
""" for k in range(words)) + "".join(f"""
  @p{k} st.global.v4.u32 [b{k}], {{v{4 * k}, v{4 * k + 1}, v{4 * k + 2}, v{4 * k + 3}}};
""" for k in range(words)) + "  ret;\n}\n" for words in (1, 4)) + """
.visible .entry hold(.param .u64 nanoseconds) {
  .reg .pred p; .reg .b64 start, t, limit;
  ld.param.u64 limit, [nanoseconds];
  mov.u64 start, %globaltimer;
again:
  nanosleep.u32 200;
  mov.u64 t, %globaltimer;
  sub.u64 t, t, start;
  setp.lt.u64 p, t, limit;
  @p bra again;
  ret;
}
"""


class Cuda:
    """The first device's primary context, made current, and one stream. Errors are RuntimeErrors."""

    def __init__(self):
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
        except OSError as reason:
            raise RuntimeError(f"no CUDA driver: {reason}") from reason
        self.call("cuInit", 0)
        self.device = self.out(ctypes.c_int, "cuDeviceGet", 0)
        context = self.out(ctypes.c_void_p, "cuDevicePrimaryCtxRetain", self.device)
        self.call("cuCtxSetCurrent", ctypes.c_void_p(context))
        self.stream = self.out(ctypes.c_void_p, "cuStreamCreate", 0)
        self.start, self.stop = (self.out(ctypes.c_void_p, "cuEventCreate", 0) for _ in range(2))
        module = self.out(ctypes.c_void_p, "cuModuleLoadData", PTX.encode())
        self.kernels = {name: self.out(ctypes.c_void_p, "cuModuleGetFunction", ctypes.c_void_p(module), name.encode())
                        for name in ("copy1", "copy4", "hold")}

    def call(self, name, *arguments):
        error = getattr(self.driver, name)(*arguments)
        if error:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(error, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else error}")

    def out(self, kind, name, *arguments):
        value = kind()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    def attribute(self, number):
        return self.out(ctypes.c_int, "cuDeviceGetAttribute", number, self.device)

    def driver_version(self):
        return self.out(ctypes.c_int, "cuDriverGetVersion")

    def allocate(self, size):
        return self.out(ctypes.c_uint64, "cuMemAlloc_v2", ctypes.c_size_t(size))

    def upload(self, to, array):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(to), ctypes.c_void_p(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes))

    def download(self, array, at):
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(at),
                  ctypes.c_size_t(array.nbytes))
        return array

    def fill(self, at, pitch, value, width, height):
        """Queues rows of `width` values of 1 or 4 bytes, by the value's size: a bytes object."""
        bits = 8 * len(value)
        kind = {8: ctypes.c_ubyte, 32: ctypes.c_uint32}[bits]
        self.call(f"cuMemsetD2D{bits}Async", ctypes.c_uint64(at), ctypes.c_size_t(pitch),
                  kind(int.from_bytes(value, "little")), ctypes.c_size_t(width), ctypes.c_size_t(height),
                  ctypes.c_void_p(self.stream))

    def launch(self, name, blocks, threads, *arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        self.call("cuLaunchKernel", ctypes.c_void_p(self.kernels[name]), blocks, 1, 1, threads, 1, 1, 0,
                  ctypes.c_void_p(self.stream), pointers, None)

    def copy(self, how, to, source, size):
        """Queues a copy: by "memcpy", "kernel1" or "kernel4"."""
        to, source = ctypes.c_uint64(to), ctypes.c_uint64(source)
        if how == "memcpy":
            self.call("cuMemcpyDtoDAsync_v2", to, source, ctypes.c_size_t(size), ctypes.c_void_p(self.stream))
            return
        words = int(how[-1])
        self.launch(f"copy{words}", -(-size // (16 * words * COPY_THREADS)), COPY_THREADS, to, source,
                    ctypes.c_uint32(size // 16))

    def synchronize(self):
        self.call("cuStreamSynchronize", ctypes.c_void_p(self.stream))

    def timed(self, run, first, count, hold_us):
        """Device and host us for each of run(first), ...: queued while the stream is held for `hold_us`."""
        stream, elapsed = ctypes.c_void_p(self.stream), ctypes.c_float()
        self.launch("hold", 1, 1, ctypes.c_uint64(int(hold_us * 1000)))
        self.call("cuEventRecord", ctypes.c_void_p(self.start), stream)
        begin = time.perf_counter()
        for n in range(first, first + count):
            run(n)
        host_us = (time.perf_counter() - begin) * 1e6
        self.call("cuEventRecord", ctypes.c_void_p(self.stop), stream)
        self.call("cuEventSynchronize", ctypes.c_void_p(self.stop))
        self.call("cuEventElapsedTime", ctypes.byref(elapsed), ctypes.c_void_p(self.start), ctypes.c_void_p(self.stop))
        return elapsed.value * 1000 / count, host_us / count


class Frames:
    """Device frames of 8-bit samples, all of the same picture, rows of a pitch of whole 512 bytes."""

    def __init__(self, cuda, picture, count):
        self.cuda = cuda
        self.height, self.width, self.channels = picture.shape
        self.row = self.width * self.channels
        self.pitch = -(-self.row // 512) * 512
        self.padded = np.zeros((self.height, self.pitch), np.uint8)
        self.padded[:, :self.row] = picture.reshape(self.height, self.row)
        self.data = [cuda.allocate(self.padded.nbytes) for _ in range(count)]
        for at in self.data:
            cuda.upload(at, self.padded)

    def __getitem__(self, n):
        return self.data[n % len(self.data)]

    def picture(self, n):
        rows = self.cuda.download(self.padded.copy(), self[n])
        return rows[:, :self.row].reshape(self.height, self.width, self.channels)

    def view(self, n):
        """What torch, CuPy and CV-CUDA take for an array: height, width, channels."""
        class View:
            __cuda_array_interface__ = {
                "shape": (self.height, self.width, self.channels), "typestr": "|u1", "data": (self[n], False),
                "strides": (self.pitch, self.channels, 1), "version": 3}
        return View()


@contextlib.contextmanager
def words_of_errors():
    """Whatever goes wrong inside is a RuntimeError of one line."""
    try:
        yield
    except Exception as reason:  # others' libraries raise what they like
        text = (str(reason).strip() or type(reason).__name__).splitlines()[0]
        raise RuntimeError(text[:200]) from reason
