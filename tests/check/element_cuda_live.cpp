// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CUDA memory over time: other contexts, changes while playing, buffers used again, many starts.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "element_cuda_util.h"

using namespace cudawarp::element;

namespace {

// Bytes of free device memory, asked of the driver. Negative where it cannot be asked.
int64_t free_memory() {
  using GetInfo = int (*)(size_t*, size_t*);
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get_info = driver ? reinterpret_cast<GetInfo>(dlsym(driver, "cuMemGetInfo_v2")) : nullptr;
  size_t available = 0, total = 0;
  if (!get_info || !gst_cuda_context_push(device().context)) return -1;
  const bool known = get_info(&available, &total) == 0;
  gst_cuda_context_pop(nullptr);
  return known ? static_cast<int64_t>(available) : -1;
}

// Bytes of this process's memory.
int64_t resident_memory() {
  long long total = 0, pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lld %lld", &total, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

// Memory of a context is read in that context only, and the element follows.
GST_START_TEST(another_context_is_adopted) {
  const std::string in = on_gpu(raw("RGBA", 321, 241));
  const Pixels src = noise(in), other = noise(in, 2);
  GstCudaContext* second = gst_cuda_context_new(0);
  for (const char* downstream : {"video/x-raw(memory:CUDAMemory)", "video/x-raw"}) {
    Warp warp("angle=180", device().shared);
    warp.set_caps(in, downstream);
    const Pool ours(device().context, in), theirs(second, in);
    int number = 0;
    for (const Pool* pool : {&ours, &theirs, &theirs, &ours, &theirs})
      for (const Pixels* pixels : {&src, &other}) {
        const BufferPtr out = warp.pass((*pool)(*pixels, number));
        assert_same(pixels_of(out.get(), warp.output_caps().get()), turned(*pixels, 2),
                    "frame " + std::to_string(number));
        ++number;
        // By the second frame at the latest, what goes on is of the context that comes in.
        if (pixels == &other && is_on_gpu(out))
          ck_assert(context_of(out) == (pool == &ours ? device().context : second));
      }
  }
  gst_object_unref(second);
}
GST_END_TEST;

GST_START_TEST(live_direction) {
  const std::string in = on_gpu(raw("RGBA", 64, 48));
  const Pixels src = noise(in), turn = turned(src, 1);
  Warp warp("framing=expand", device().shared);
  warp.set_caps(in, "video/x-raw(memory:CUDAMemory)");
  const Pool pool(device().context, in);
  std::atomic<bool> done{false};
  std::thread toggler([&] {
    for (int n = 0; !done; ++n) {
      g_object_set(warp.element(), "angle", n % 2 ? 90.0 : 0.0, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  int frames = 0, upright = 0, quarter = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (; std::chrono::steady_clock::now() < end; ++frames) {
    const BufferPtr out = warp.pass(pool(src, frames));
    const Pixels pixels = pixels_of(out.get(), warp.output_caps().get());
    upright += pixels == src, quarter += pixels == turn;
  }
  done = true;
  toggler.join();
  ck_assert_int_eq(upright + quarter, frames);
  ck_assert_int_gt(upright, 0);
  ck_assert_int_gt(quarter, 0);
}
GST_END_TEST;

// 50 starts: device and host memory are flat after the second. A frame of 900 KB lost in each would show.
GST_START_TEST(restart) {
  const std::string in = raw("RGBA", 640, 360);
  const Pixels src = noise(in);
  int64_t device_then = -1, host_then = -1;
  for (int run = 0; run < 50; ++run) {
    for (const bool gpu : {false, true}) {
      // A context for this run alone; frames of another one are adopted.
      GstCudaContext* context = gst_cuda_context_new(0);
      GstContext* message = gst_context_new_cuda_context(context);
      gst_object_unref(context);
      Warp warp("angle=180 async-depth=2", message);
      gst_context_unref(message);
      const std::string caps = gpu ? on_gpu(in) : in;
      warp.set_caps(caps, caps);
      const Pool pool(device().context, on_gpu(in));
      const BufferPtr host = buffer_of(src, in);
      for (int n = 0; n < 30; ++n) {
        BufferPtr buffer = gpu ? pool(src, n) : BufferPtr(gst_buffer_copy(host.get()));
        ck_assert_int_eq(warp.push(std::move(buffer)), GST_FLOW_OK);
      }
      ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
      for (int n = 0; n < 30; ++n) {
        const BufferPtr out(gst_harness_pull(warp.harness()));
        if (run % 10 == 0 && n % 29 == 0)
          assert_same(pixels_of(out.get(), warp.output_caps().get()), turned(src, 2), "turned");
      }
    }
    if (run == 1) device_then = free_memory(), host_then = resident_memory();
  }
  if (device_then >= 0) ck_assert_int_ge(free_memory(), device_then - (int64_t{16} << 20));
  ck_assert_int_le(resident_memory(), host_then + (int64_t{24} << 20));
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_cuda_live");
  TCase* tc = tcase_create("cuda");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, another_context_is_adopted);
  tcase_add_test(tc, live_direction);
  tcase_add_test(tc, restart);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("CUDAWARP_TEST_ENGINE", "cuda", TRUE);
  return run_tests(argc, argv, suite);
}
