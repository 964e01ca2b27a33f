// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in flight on a GPU, pinned memory, and what a running stream does not do: allocate, make textures,
// wait.
#include <cstring>

#include "element_cuda_util.h"

using namespace cudawarp::element;

namespace {

const char kPinned[] = "CudaWarpPinnedMemory";
const std::string kIn = raw("NV12", 322, 242);

bool is_pinned(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), kPinned);
}

// The pool of system memory that an element proposes to its upstream, running.
GstBufferPool* proposed_pool(const Warp& warp, const std::string& caps) {
  const QueryPtr query(gst_query_new_allocation(caps_of(caps).get(), TRUE));
  ck_assert(gst_pad_peer_query(warp.harness()->srcpad, query.get()));
  ck_assert_uint_eq(gst_query_get_n_allocation_pools(query.get()), 1);
  ck_assert_uint_eq(gst_query_get_n_allocation_params(query.get()), 1);
  GstAllocator* allocator = nullptr;
  gst_query_parse_nth_allocation_param(query.get(), 0, &allocator, nullptr);
  ck_assert(allocator && !std::strcmp(allocator->mem_type, kPinned));
  gst_object_unref(allocator);
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, nullptr, nullptr, nullptr);
  ck_assert(gst_buffer_pool_set_active(pool, TRUE));
  return pool;
}

BufferPtr acquire(GstBufferPool* pool, const Pixels& pixels, const std::string& caps, int number) {
  GstBuffer* buffer = nullptr;
  ck_assert_int_eq(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  write_pixels(pixels, buffer, caps_of(caps).get());
  GST_BUFFER_PTS(buffer) = number * (GST_SECOND / 25);
  return BufferPtr(buffer);
}

std::string with_depth(const std::string& properties, int depth) {
  return properties + " async-depth=" + std::to_string(depth);
}

// What must not grow while a stream runs.
struct Made {
  guint64 staging, textures, pinned;
  explicit Made(const Warp& warp)
      : staging(stat(warp.element(), "staging-allocations")),
        textures(stat(warp.element(), "texture-misses")),
        pinned(stat(warp.element(), "pinned-allocations")) {}
  bool operator==(const Made&) const = default;
};

}  // namespace

// Both neighbours get page-locked memory, which works as any memory does and may outlive the element.
GST_START_TEST(pinned_memory) {
  const Pixels src = noise(kIn), want = on_cpu("angle=17", kIn, src);
  BufferPtr input, output;
  CapsPtr caps;
  for (const int depth : {0, 2}) {
    Warp warp(with_depth("angle=17", depth), device().shared);
    warp.set_caps(kIn);
    GstBufferPool* pool = proposed_pool(warp, kIn);
    input = acquire(pool, src, kIn, 0);
    ck_assert(is_pinned(input.get()));
    ck_assert_int_eq(warp.push(BufferPtr(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
    output.reset(gst_harness_pull(warp.harness()));
    caps = warp.output_caps();
    ck_assert(is_pinned(output.get()));
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
  }
  assert_same(pixels_of(input.get(), caps.get()), src, "input");
  assert_same(pixels_of(output.get(), caps.get()), want, "output");
  // A part of it, and a copy.
  const BufferPtr part(gst_buffer_copy_region(output.get(), GST_BUFFER_COPY_MEMORY, 5, 100));
  const BufferPtr copy(gst_buffer_copy_deep(output.get()));
  guint8 bytes[100];
  ck_assert_uint_eq(gst_buffer_extract(output.get(), 5, bytes, 100), 100);
  ck_assert_int_eq(gst_buffer_memcmp(part.get(), 0, bytes, 100), 0);
  output.reset();
  ck_assert_int_eq(gst_buffer_memcmp(part.get(), 0, bytes, 100), 0);
  assert_same(pixels_of(copy.get(), caps.get()), want, "copy");
}
GST_END_TEST;

GST_START_TEST(allocator_of_downstream) {
  Warp warp("angle=17", device().shared);
  GstAllocator* theirs = gst_allocator_find(GST_ALLOCATOR_SYSMEM);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 255;
  gst_harness_set_propose_allocator(warp.harness(), theirs, &params);
  warp.set_caps(kIn);
  const BufferPtr out = warp.pass(buffer_of(noise(kIn), kIn));
  ck_assert(!is_pinned(out.get()));
  assert_same(pixels_of(out.get(), warp.output_caps().get()), on_cpu("angle=17", kIn, noise(kIn)), "pixels");
}
GST_END_TEST;

// Any memory on either side, in flight.
GST_START_TEST(every_combination_in_flight) {
  for (const bool gpu_in : {false, true})
    for (const bool gpu_out : {false, true})
      for (const int depth : {0, 1, 3}) {
        Warp warp(with_depth("angle=17", depth), device().shared);
        const std::string caps = gpu_in ? on_gpu(kIn) : kIn;
        warp.set_caps(caps, gpu_out ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw");
        const int delay = gpu_in && gpu_out ? 0 : depth;
        GstBufferPool* pool = gpu_in ? nullptr : proposed_pool(warp, kIn);
        {
          const Pool gpu_pool(device().context, on_gpu(kIn));
          for (int n = 0; n < 12; ++n) {
            const Pixels src = noise(kIn, n + 1);
            // Pageable memory every third time.
            BufferPtr buffer = gpu_in  ? gpu_pool(src, n)
                               : n % 3 ? acquire(pool, src, kIn, n)
                                       : buffer_of(src, kIn, n);
            ck_assert_int_eq(warp.push(std::move(buffer)), GST_FLOW_OK);
            ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), MAX(0, n + 1 - delay));
          }
          ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
        }
        for (int n = 0; n < 12; ++n) {
          const BufferPtr out(gst_harness_pull(warp.harness()));
          ck_assert(is_on_gpu(out) == gpu_out);
          ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), n * (GST_SECOND / 25));
          assert_same(pixels_of(out.get(), warp.output_caps().get()),
                      on_cpu("angle=17", kIn, noise(kIn, n + 1)), "frame " + std::to_string(n));
        }
        if (pool) gst_buffer_pool_set_active(pool, FALSE), gst_object_unref(pool);
      }
}
GST_END_TEST;

GST_START_TEST(nothing_is_made_per_frame) {
  for (const bool gpu_in : {false, true})
    for (const bool gpu_out : {false, true})
      for (const int depth : {0, 1, 4}) {
        Warp warp(with_depth("angle=17 precision=fast", depth), device().shared);
        const std::string caps = gpu_in ? on_gpu(kIn) : kIn;
        warp.set_caps(caps, gpu_out ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw");
        const Pixels src = noise(kIn);
        GstBufferPool* pool = gpu_in ? nullptr : proposed_pool(warp, kIn);
        const auto run = [&](const Pool* gpu_pool, int frames) {
          for (int n = 0; n < frames; ++n) {
            ck_assert_int_eq(warp.push(gpu_pool ? (*gpu_pool)(src, n) : acquire(pool, src, kIn, n)),
                             GST_FLOW_OK);
            while (gst_harness_buffers_in_queue(warp.harness()))
              gst_buffer_unref(gst_harness_pull(warp.harness()));
          }
        };
        {
          const Pool ours(warp, on_gpu(kIn));
          const Pool* gpu_pool = gpu_in ? &ours : nullptr;
          run(gpu_pool, 40);
          const Made before(warp);
          const guint64 waits = stat(warp.element(), "device-waits");
          run(gpu_pool, 100);
          ck_assert_msg(Made(warp) == before,
                        "memory or textures are made per frame: in %d, out %d, depth %d", gpu_in, gpu_out,
                        depth);
          const bool waits_never = gpu_in && gpu_out && GST_CHECK_VERSION(1, 24, 0);
          ck_assert_uint_eq(stat(warp.element(), "device-waits") - waits, waits_never ? 0 : 100);
          const guint64 bytes = (322 * 242 + 322 * 121) * guint64{140};
          ck_assert_uint_eq(stat(warp.element(), "bytes-uploaded"), gpu_in ? 0 : bytes);
        }
        if (pool) gst_buffer_pool_set_active(pool, FALSE), gst_object_unref(pool);
      }
}
GST_END_TEST;

GST_START_TEST(gpu_time) {
  for (const bool gpu : {false, true}) {
    Warp warp(with_depth("angle=17", 2), device().shared);
    const std::string caps = gpu ? on_gpu(kIn) : kIn;
    warp.set_caps(caps, caps);
    const Pool pool(device().context, on_gpu(kIn));
    const auto run = [&](int frames) {
      for (int n = 0; n < frames; ++n) {
        ck_assert_int_eq(warp.push(gpu ? pool(noise(kIn), n) : buffer_of(noise(kIn), kIn, n)), GST_FLOW_OK);
        while (gst_harness_buffers_in_queue(warp.harness()))
          gst_buffer_unref(gst_harness_pull(warp.harness()));
      }
    };
    run(5);
    ck_assert_uint_eq(stat(warp.element(), "gpu-time-frames"), 0);
    g_object_set(warp.element(), "measure-gpu-time", TRUE, nullptr);
    run(50);
    const guint64 frames = stat(warp.element(), "gpu-time-frames");
    ck_assert_uint_gt(frames, 0);
    ck_assert_uint_le(frames, 50);
    for (const char* name : {"gpu-time-last", "gpu-time-mean"}) {
      ck_assert_uint_gt(stat(warp.element(), name), 100);
      ck_assert_uint_lt(stat(warp.element(), name), 1000000000);
    }
    g_object_set(warp.element(), "measure-gpu-time", FALSE, nullptr);
    run(20);
    const guint64 then = stat(warp.element(), "gpu-time-frames");
    run(20);
    ck_assert_uint_eq(stat(warp.element(), "gpu-time-frames"), then);
  }
}
GST_END_TEST;

// Frames in flight belong to the context that they came in; the next one's waits for them.
GST_START_TEST(another_context_while_in_flight) {
  const std::string in = raw("RGBA", 320, 240);
  GstCudaContext* second = gst_cuda_context_new(0);
  {
    Warp warp("angle=180 async-depth=4", device().shared);
    warp.set_caps(on_gpu(in), "video/x-raw");
    const Pool ours(device().context, on_gpu(in)), theirs(second, on_gpu(in));
    const Pool* const pools[] = {&ours, &ours, &theirs, &theirs, &theirs, &ours, &theirs, &theirs};
    int sent = 0;
    for (const Pool* pool : pools) {
      ck_assert_int_eq(warp.push((*pool)(noise(in, sent + 1), sent)), GST_FLOW_OK);
      ++sent;
    }
    ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
    for (int n = 0; n < sent; ++n) {
      const BufferPtr out(gst_harness_pull(warp.harness()));
      ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), n * (GST_SECOND / 25));
      assert_same(pixels_of(out.get(), caps_of(in).get()), turned(noise(in, n + 1), 2),
                  "frame " + std::to_string(n));
    }
  }
  gst_object_unref(second);
}
GST_END_TEST;

// Nothing is delayed, and no latency reported, where all stays on the GPU.
GST_START_TEST(no_delay_in_cuda_memory) {
  Warp warp("angle=17 async-depth=4", device().shared);
  warp.set_caps(on_gpu(kIn), on_gpu(kIn));
  const Pool pool(device().context, on_gpu(kIn));
  for (int n = 0; n < 5; ++n) warp.pass(pool(noise(kIn), n));
  const QueryPtr query(gst_query_new_latency());
  ck_assert(gst_pad_peer_query(warp.harness()->sinkpad, query.get()));
  GstClockTime min = 1;
  gst_query_parse_latency(query.get(), nullptr, &min, nullptr);
  ck_assert_uint_eq(min, 0);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_cuda_async");
  TCase* tc = tcase_create("cuda");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, pinned_memory);
  tcase_add_test(tc, allocator_of_downstream);
  tcase_add_test(tc, every_combination_in_flight);
  tcase_add_test(tc, nothing_is_made_per_frame);
  tcase_add_test(tc, gpu_time);
  tcase_add_test(tc, another_context_while_in_flight);
  tcase_add_test(tc, no_delay_in_cuda_memory);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("CUDAWARP_TEST_ENGINE", "cuda", TRUE);
  return run_tests(argc, argv, suite);
}
