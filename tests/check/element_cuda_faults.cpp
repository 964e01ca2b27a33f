// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What goes wrong with a device while frames flow: one message that names the CUDA call, no crash, no hang,
// and a new stream in the same process wherever the device still works. Each in a child, which nothing of
// CUDA may precede: contexts die here.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gpu_load.h"

#include "element_cuda_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

const std::string kSmall = raw("RGBA", 64, 48);

// Where frames lie, and how many are kept in flight.
struct Path {
  bool gpu;
  int depth;
};
const Path kPaths[] = {{false, 0}, {false, 2}, {true, 0}};

// Each test is a process of its own, which loads the driver itself.
GstCudaContext* new_context() {
  if (!gst_cuda_load_library() || CuInit(0) != CUDA_SUCCESS) return nullptr;
  gst_cuda_memory_init_once();
  return gst_cuda_context_new(0);
}

// An application's context of this test alone.
struct OwnContext {
  GstCudaContext* context = new_context();
  GstContext* shared = context ? gst_context_new_cuda_context(context) : nullptr;
  OwnContext() = default;
  OwnContext(const OwnContext&) = delete;
  ~OwnContext() {
    if (shared) gst_context_unref(shared);
    gst_clear_object(&context);
  }
};

std::string caps_on(const Path& path, const std::string& caps) {
  return path.gpu ? on_gpu(caps) : caps;
}

BufferPtr frame_on(const Path& path, GstCudaContext* context, const std::string& caps, int number) {
  const Pixels src = noise(caps, number + 1);
  return path.gpu ? Pool(context, on_gpu(caps))(src, number) : buffer_of(src, caps, number);
}

// Frames that are warped as they should be.
void assert_works(Warp& warp, const Path& path, GstCudaContext* context, const std::string& caps) {
  gst_harness_push_event(warp.harness(), gst_event_new_flush_start());
  gst_harness_push_event(warp.harness(), gst_event_new_flush_stop(TRUE));
  while (gst_harness_buffers_in_queue(warp.harness())) gst_buffer_unref(gst_harness_pull(warp.harness()));
  warp.set_caps(caps_on(path, caps), caps_on(path, caps));
  for (int n = 0; n < 4; ++n) ck_assert_int_eq(warp.push(frame_on(path, context, caps, n)), GST_FLOW_OK);
  ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
  for (int n = 0; n < 4; ++n) {
    const BufferPtr out(gst_harness_pull(warp.harness()));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), turned(noise(caps, n + 1), 2),
                "frame " + std::to_string(n));
  }
}

// A stream of its own that works from its beginning to its end, where the device lets any begin.
void assert_new_stream_works() {
  const OwnContext own;
  if (!own.context) {
    g_printerr("the device gives no context any more\n");
    return;
  }
  {
    const Current current(own.context);
    unsigned* count = gpu_load::new_count();
    if (!count || gpu_load::take_count(count, nullptr) != 0) {
      g_printerr("the device does nothing more in this process\n");
      return;
    }
  }
  for (const Path& path : kPaths) {
    Warp warp("angle=180 async-depth=" + std::to_string(path.depth), own.shared);
    assert_works(warp, path, own.context, kSmall);
  }
}

std::unique_ptr<Warp> running(const Path& path, const OwnContext& own) {
  auto warp = std::make_unique<Warp>("angle=180 async-depth=" + std::to_string(path.depth), own.shared);
  assert_works(*warp, path, own.context, kSmall);
  gst_harness_push_event(warp->harness(), gst_event_new_flush_start());
  gst_harness_push_event(warp->harness(), gst_event_new_flush_stop(TRUE));
  warp->set_caps(caps_on(path, kSmall), caps_on(path, kSmall));
  return warp;
}

// Pushes copies of a frame until one fails, which has to be soon. Frames of CUDA memory come without their
// pixels being touched.
void push_until_it_fails(Warp& warp, GstBuffer* frame) {
  GstFlowReturn flow = GST_FLOW_OK;
  for (int n = 0; n < 10 && flow == GST_FLOW_OK; ++n) {
    flow = warp.push(BufferPtr(gst_buffer_ref(frame)));
    g_usleep(10000);
  }
  ck_assert_msg(flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED, "flow: %s",
                gst_flow_get_name(flow));
}

// As an application does with the driver's own call.
void destroy(const OwnContext& own) {
  using Destroy = int (*)(CUcontext);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto destroy_context = driver ? reinterpret_cast<Destroy>(dlsym(driver, "cuCtxDestroy_v2")) : nullptr;
  ck_assert(destroy_context != nullptr);
  ck_assert_int_eq(destroy_context(static_cast<CUcontext>(gst_cuda_context_get_handle(own.context))), 0);
}

// Threads that keep contexts.
int keepers() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "cudawarp-keeper";
  }
  return count;
}

// One message, in whose words there is a CUDA call: cuda... or cu..., or GStreamer's for it.
void assert_names_a_call(Warp& warp) {
  const auto messages = messages_on(warp.bus());
  for (const Message& m : messages) g_printerr("message: %s\n", m.text.c_str());
  ck_assert_uint_eq(messages.size(), 1);
  ck_assert_int_eq(messages[0].type, GST_MESSAGE_ERROR);
  const std::string& text = messages[0].text;
  bool named = text.rfind("gst_cuda_", 0) == 0 || text.rfind("gst_video_frame_map", 0) == 0;
  for (const char* prefix : {"cuda", "cu"})
    named = named || (text.rfind(prefix, 0) == 0 && g_ascii_isupper(text[std::string(prefix).size()]));
  ck_assert_msg(named, "no call is named first: %s", text.c_str());
}

}  // namespace

// All of the device's memory goes to somebody else, and then frames become larger.
GST_START_TEST(memory_exhausted) {
  const Path path = kPaths[__i__];
  const std::string large = raw("RGBA", 7680, 4320);
  const OwnContext own;
  ck_assert(own.context != nullptr);
  const auto warp = running(path, own);
  // Made while there is memory.
  const BufferPtr frame =
      path.gpu ? Pool(own.context, on_gpu(large)).acquire(0) : buffer_of(black(large), large);
  {
    const Current current(own.context);
    const gpu_load::Hog hog;
    // Where the output's pool has no memory, these caps are refused, which the harness would not stand.
    warp->set_downstream(caps_on(path, large));
    gst_harness_push_event(warp->harness(), gst_event_new_caps(caps_of(caps_on(path, large)).get()));
    push_until_it_fails(*warp, frame.get());
    assert_names_a_call(*warp);
  }
  // The same element goes on, and so does another.
  assert_works(*warp, path, own.context, kSmall);
  assert_works(*warp, path, own.context, raw("RGBA", 320, 240));
  assert_new_stream_works();
}
GST_END_TEST;

// A kernel of somebody else fails, and with it all that is in the context.
GST_START_TEST(failing_launch) {
  const Path path = kPaths[__i__];
  {
    const OwnContext own;
    ck_assert(own.context != nullptr);
    const auto warp = running(path, own);
    const BufferPtr frame = frame_on(path, own.context, kSmall, 0);
    if (path.gpu) {  // on the device before it fails
      GstMapInfo map;
      ck_assert(gst_buffer_map(frame.get(), &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_CUDA)));
      gst_buffer_unmap(frame.get(), &map);
    }
    {
      const Current current(own.context);
      CUstream_st* stream = gpu_load::new_stream();
      ck_assert(gpu_load::trap(stream));
      ck_assert(!gpu_load::wait(stream));
    }
    push_until_it_fails(*warp, frame.get());
    assert_names_a_call(*warp);
  }
  assert_new_stream_works();
}
GST_END_TEST;

// The application destroys the context under the element: between two frames, with some in flight, in pools
// and downstream.
GST_START_TEST(context_destroyed) {
  const Path path = kPaths[__i__];
  {
    const OwnContext own;
    ck_assert(own.context != nullptr);
    const auto warp = running(path, own);
    const BufferPtr frame = frame_on(path, own.context, kSmall, 0);
    for (int n = 0; n < 4; ++n)
      ck_assert_int_eq(warp->push(BufferPtr(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
    const BufferPtr out(gst_harness_pull(warp->harness()));
    gst_buffer_unref(gst_harness_pull(warp->harness()));
    destroy(own);
    // Host memory is still there, and what was in it.
    if (!path.gpu)
      assert_same(pixels_of(out.get(), warp->output_caps().get()), turned(noise(kSmall, 1), 2), "before");
    push_until_it_fails(*warp, frame.get());
    assert_names_a_call(*warp);
  }
  assert_new_stream_works();
}
GST_END_TEST;

// The same once the element has stopped, with a frame of its pool still downstream.
GST_START_TEST(context_destroyed_after_stop) {
  const Path path = kPaths[__i__];
  {
    const OwnContext own;
    ck_assert(own.context != nullptr);
    auto warp = running(path, own);
    for (int n = 0; n < 4; ++n)
      ck_assert_int_eq(warp->push(frame_on(path, own.context, kSmall, n)), GST_FLOW_OK);
    const BufferPtr out(gst_harness_pull(warp->harness()));
    const CapsPtr caps = warp->output_caps();
    warp.reset();
    destroy(own);
    if (!path.gpu) assert_same(pixels_of(out.get(), caps.get()), turned(noise(kSmall, 1), 2), "before");
  }
  assert_new_stream_works();
}
GST_END_TEST;

// Of contexts that stay whole nothing stays when they are let go, themselves included.
GST_START_TEST(context_let_go) {
  (void)Warp("angle=180");  // the first of a process, whose context others may share
  const int others = keepers();
  for (const Path& path : kPaths) {
    GWeakRef context;
    {
      const OwnContext own;
      ck_assert(own.context != nullptr);
      g_weak_ref_init(&context, own.context);
      const auto first = running(path, own), second = running(path, own);
      for (Warp* warp : {first.get(), second.get()})
        for (int n = 0; n < 4; ++n)
          ck_assert_int_eq(warp->push(frame_on(path, own.context, kSmall, n)), GST_FLOW_OK);
      ck_assert_int_eq(keepers(), others + 1);
    }
    ck_assert(g_weak_ref_get(&context) == nullptr);
    ck_assert_int_eq(keepers(), others);
    g_weak_ref_clear(&context);
  }
}
GST_END_TEST;

// Rows and planes that begin at odd bytes of device memory: what a texture and a word cannot read.
GST_START_TEST(misaligned_memory) {
  const OwnContext own;
  ck_assert(own.context != nullptr);
  for (const char* format : {"RGBA", "NV12", "P010_10LE", "YUY2", "RGB"})
    for (const guint shift : {1u, 3u, 6u, 31u}) {
      const std::string in = raw(format, 64, 48), stored = raw(format, 160, 96);
      const Pixels src = noise(in);
      BufferPtr buffer = Pool(own.context, on_gpu(stored)).acquire(0);
      // A smaller frame in the memory of a larger one, off its grid.
      GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
      ck_assert(meta != nullptr);
      meta->width = 64, meta->height = 48;
      for (guint p = 0; p < meta->n_planes; ++p) meta->offset[p] += shift;
      write_pixels(src, buffer.get(), caps_of(on_gpu(in)).get());
      Warp warp("angle=17", own.shared);
      warp.set_caps(on_gpu(in), "video/x-raw(memory:CUDAMemory)");
      const BufferPtr out = warp.pass(std::move(buffer));
      assert_same(pixels_of(out.get(), warp.output_caps().get()), on_cpu("angle=17", in, src),
                  in + " shifted by " + std::to_string(shift));
    }
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)
// The same in memory that somebody else has allocated, and GStreamer only wraps.
GST_START_TEST(misaligned_foreign_memory) {
  const OwnContext own;
  ck_assert(own.context != nullptr);
  const std::string in = raw("RGBA", 64, 48);
  const GstVideoInfo info = info_of(caps_of(in).get());
  for (const guint shift : {0u, 4u, 2u, 1u}) {
    CUdeviceptr data = 0;
    {
      const Current current(own.context);
      ck_assert_int_eq(CuMemAlloc(&data, GST_VIDEO_INFO_SIZE(&info) + 64), CUDA_SUCCESS);
    }
    GstMemory* memory = gst_cuda_allocator_alloc_wrapped(nullptr, own.context, nullptr, &info, data + shift,
                                                         nullptr, nullptr);
    ck_assert(memory != nullptr);
    BufferPtr buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), memory);
    write_pixels(noise(in), buffer.get(), caps_of(on_gpu(in)).get());
    {
      Warp warp("angle=17", own.shared);
      warp.set_caps(on_gpu(in), "video/x-raw(memory:CUDAMemory)");
      const BufferPtr out = warp.pass(std::move(buffer));
      assert_same(pixels_of(out.get(), warp.output_caps().get()), on_cpu("angle=17", in, noise(in)),
                  "shifted by " + std::to_string(shift));
    }
    const Current current(own.context);
    CuMemFree(data);
  }
}
GST_END_TEST;
#endif

// A buffer of a context that nobody else knows of, where the element may use its device and where it may not.
GST_START_TEST(buffer_of_another_context) {
  const OwnContext own, other;
  ck_assert(own.context && other.context);
  for (const char* device : {"-1", "0"})
    for (const char* downstream : {"video/x-raw", "video/x-raw(memory:CUDAMemory)"}) {
      Warp warp(std::string("angle=180 async-depth=2 cuda-device-id=") + device, own.shared);
      warp.set_caps(on_gpu(kSmall), downstream);
      for (int n = 0; n < 6; ++n)
        ck_assert_int_eq(warp.push(frame_on({true, 0}, n % 4 < 2 ? own.context : other.context, kSmall, n)),
                         GST_FLOW_OK);
      ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
      for (int n = 0; n < 6; ++n) {
        const BufferPtr out(gst_harness_pull(warp.harness()));
        assert_same(pixels_of(out.get(), warp.output_caps().get()), turned(noise(kSmall, n + 1), 2),
                    "frame " + std::to_string(n));
      }
    }
}
GST_END_TEST;

static Suite* suite() {
  constexpr int kCount = static_cast<int>(std::size(kPaths));
  Suite* s = suite_create("element_cuda_faults");
  TCase* tc = tcase_create("cuda");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 120);  // of each child: none may hang
  tcase_add_loop_test(tc, memory_exhausted, 0, kCount);
  tcase_add_loop_test(tc, failing_launch, 0, kCount);
  tcase_add_loop_test(tc, context_destroyed, 0, kCount);
  tcase_add_loop_test(tc, context_destroyed_after_stop, 0, kCount);
  tcase_add_test(tc, context_let_go);
  tcase_add_test(tc, misaligned_memory);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test(tc, misaligned_foreign_memory);
#endif
  tcase_add_test(tc, buffer_of_another_context);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("CUDAWARP_TEST_ENGINE", "cuda", TRUE);
  g_setenv("CK_FORK", "yes", TRUE);
  gst_check_init(&argc, &argv);
  // Asked in a child too.
  const pid_t child = fork();
  if (child == 0) _exit(cuda_works() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) {
    const char* value = std::getenv("CUDAWARP_REQUIRE_CUDA");
    const std::string required = value ? value : "";
    const bool failure = !required.empty() && required != "0";
    g_printerr("%s: no CUDA device works\n", failure ? "FAILED" : "skipped");
    return failure ? 1 : 77;
  }
  return gst_check_run_suite(suite(), "element_cuda_faults", __FILE__);
}
