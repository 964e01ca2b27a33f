// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Other work on the GPU: it does not hold frames up, and no frame is read before it is written or written
// before it is read.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "gpu_load.h"

#include "element_cuda_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

// Keeps a stream of its own busy for as long as this lives, with kernels of so many microseconds.
class Load {
 public:
  Load(int microseconds, int blocks)
      : thread_([this, microseconds, blocks] {
          const Current current(device().context);
          CUstream_st* stream = gpu_load::new_stream();
          ck_assert(stream != nullptr);
          while (!done_) {
            // Two in the queue, so that there is no gap; the first one ends before more come.
            ck_assert(gpu_load::spin(stream, microseconds, blocks));
            ck_assert(gpu_load::spin(stream, microseconds, blocks));
            ++rounds_;
            ck_assert(gpu_load::wait(stream));
          }
          gpu_load::destroy(stream);
        }) {
    while (rounds_ == 0) std::this_thread::yield();
  }
  ~Load() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<int> rounds_{0};
  std::thread thread_;
};

CUstream stream_of(const BufferPtr& buffer) {
  return memory_stream(gst_buffer_peek_memory(buffer.get(), 0));
}

// A mapping for the device, of frames of one plane.
struct Mapped {
  GstVideoFrame frame;
  Mapped(const BufferPtr& buffer, const GstVideoInfo& info, int access) {
    ck_assert(
        gst_video_frame_map(&frame, &info, buffer.get(), static_cast<GstMapFlags>(access | GST_MAP_CUDA)));
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() { gst_video_frame_unmap(&frame); }
  void* data() { return GST_VIDEO_FRAME_PLANE_DATA(&frame, 0); }
  size_t pitch() const { return GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0); }
};

// Waits for what is under way on a buffer.
void finish(const BufferPtr& buffer) {
  const Current current(device().context);
  ck_assert(gpu_load::wait(stream_of(buffer)));
}

}  // namespace

// A frame waits for nothing but its own work: 1080p beside kernels of 20 ms takes less than 3.
GST_START_TEST(foreign_stream) {
  const std::string in = on_gpu(raw("NV12", 1920, 1080));
  Warp warp("angle=17", device().shared);
  warp.set_caps(in, in);
  const Pool pool(warp, in);
  const GstVideoInfo info = info_of(caps_of(in).get());
  const BufferPtr src = pool(noise(in));
  { const Mapped upload(src, info, GST_MAP_READ); }
  finish(src);
  const auto frame = [&](int n) {
    BufferPtr buffer(gst_buffer_ref(src.get()));
    GST_BUFFER_PTS(buffer.get()) = n * (GST_SECOND / 25);
    finish(warp.pass(std::move(buffer)));
  };
  for (int n = 0; n < 10; ++n) frame(n);
  const Load load(20000, 1);
  std::vector<double> milliseconds;
  for (int n = 0; n < 51; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    frame(n);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
  }
  // The middle one: the host may be busy with other things, but not half of the time.
  std::nth_element(milliseconds.begin(), milliseconds.begin() + 25, milliseconds.end());
  ck_assert_msg(milliseconds[25] < 3, "a frame takes %g ms", milliseconds[25]);
}
GST_END_TEST;

// The number of a frame is the value of all its pixels, written and read on the GPU itself; buffers of the
// element's own pool come back as soon as it has read them, and outputs are looked at late.
GST_START_TEST(stale_frame) {
  constexpr int kFrames = 5000, kWidth = 3840, kHeight = 2160;
  const std::string in = on_gpu(raw("RGBA", kWidth, kHeight));
  const GstVideoInfo info = info_of(caps_of(in).get());
  Warp warp("angle=180", device().shared);
  warp.set_caps(in, "video/x-raw(memory:CUDAMemory)");
  const Load load(300, 64);
  const Pool pool(warp, in);
  unsigned* others = nullptr;
  {
    const Current current(device().context);
    others = gpu_load::new_count();
  }
  ck_assert(others != nullptr);
  const auto pixel_of = [](int n) { return 0xff000000u | static_cast<uint32_t>(n * 2654435761u) >> 8; };
  const auto write = [&](int n) {
    BufferPtr buffer = pool.acquire(n);
    Mapped mapped(buffer, info, GST_MAP_WRITE);
    const Current current(device().context);
    const CUstream stream = stream_of(buffer);
    ck_assert(gpu_load::fill(stream, mapped.data(), mapped.pitch(), kWidth, kHeight, pixel_of(n)));
    if (!stream) ck_assert(gpu_load::wait(stream));  // nobody can follow it
    return buffer;
  };
  const auto look = [&](const BufferPtr& buffer) {
    const int n = static_cast<int>(GST_BUFFER_PTS(buffer.get()) / (GST_SECOND / 25));
    Mapped mapped(buffer, info, GST_MAP_READ);
    const Current current(device().context);
    const CUstream stream = stream_of(buffer);
    ck_assert(
        gpu_load::count_others(stream, mapped.data(), mapped.pitch(), kWidth, kHeight, pixel_of(n), others));
    if (!stream) ck_assert(gpu_load::wait(stream));
  };
  std::deque<BufferPtr> held;
  for (int n = 0; n < kFrames; ++n) {
    held.push_back(warp.pass(write(n)));
    ck_assert_uint_eq(GST_BUFFER_PTS(held.back().get()), n * (GST_SECOND / 25));
    if (held.size() < 4) continue;
    look(held.front());
    held.pop_front();
  }
  for (const BufferPtr& buffer : held) look(buffer);
  for (const BufferPtr& buffer : held) finish(buffer);
  const Current current(device().context);
  ck_assert_int_eq(gpu_load::take_count(others, stream_of(held.back())), 0);
}
GST_END_TEST;

// The element's output is followed by another element, on another stream.
GST_START_TEST(second_element_on_another_stream) {
  const std::string in = on_gpu(raw("RGBA", 640, 360));
  GstCudaContext* context = device().context;
  Warp first("angle=90 framing=expand", device().shared), second("angle=-90 framing=expand", device().shared);
  first.set_caps(in, "video/x-raw(memory:CUDAMemory)");
  second.set_caps(on_gpu(raw("RGBA", 360, 640)), "video/x-raw(memory:CUDAMemory)");
  const Load load(500, 32);
  const Pool pool(context, in);
  for (int n = 0; n < 100; ++n) {
    const Pixels src = noise(in, n % 5 + 1);
    const BufferPtr out = second.pass(first.pass(pool(src, n)));
    if (GST_CHECK_VERSION(1, 24, 0)) ck_assert(stream_of(out) != nullptr);
    if (n % 10 == 0) assert_same(pixels_of(out.get(), second.output_caps().get()), src, "there and back");
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_cuda_streams");
  TCase* tc = tcase_create("cuda");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, foreign_stream);
  tcase_add_test(tc, stale_frame);
  tcase_add_test(tc, second_element_on_another_stream);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("CUDAWARP_TEST_ENGINE", "cuda", TRUE);
  return run_tests(argc, argv, suite);
}
