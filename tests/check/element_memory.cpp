// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How frames lie in memory, what buffers carry beside their pixels, and what is left when all is over.
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

// A layout other than the default one: where each plane begins, and how far apart its rows are.
struct Layout {
  gsize offset[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
  gsize size;
};

// A buffer with GstVideoMeta; what is no pixel is 0xc5.
BufferPtr laid_out(const Pixels& pixels, const std::string& caps, Layout layout) {
  const CapsPtr fixed = caps_of(caps);
  const GstVideoInfo info = info_of(fixed.get());
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, layout.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0xc5, layout.size);
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info),
                                 GST_VIDEO_INFO_N_PLANES(&info), layout.offset, layout.stride);
  write_pixels(pixels, buffer.get(), fixed.get());
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

// Every byte of a buffer.
std::vector<uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

// The warp of a buffer in some layout is that of the same pixels in the default one.
void assert_layout_does_not_matter(const std::string& in, const Layout& layout) {
  const Pixels src = noise(in);
  for (const char* properties : {"angle=17", "scale-x=-1", "angle=90 framing=expand"}) {
    Warp usual(properties), warp(properties);
    usual.set_caps(in), warp.set_caps(in);
    const BufferPtr buffer = laid_out(src, in, layout);
    const auto before = bytes_of(buffer.get());
    const BufferPtr out = warp.pass(BufferPtr(gst_buffer_ref(buffer.get())));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(src), in + " " + properties);
    // The input is read, not kept, and not written.
    ck_assert(bytes_of(buffer.get()) == before);
    ASSERT_MINI_OBJECT_REFCOUNT(buffer.get(), "input", 1);
  }
}

struct Leaks {
  GstTracer* tracer = nullptr;  // "leaks", which main() asks for, where this GStreamer has it

  Leaks() {
    GList* all = gst_tracing_get_active_tracers();
    for (GList* l = all; l; l = l->next)
      if (!std::strcmp(G_OBJECT_TYPE_NAME(l->data), "GstLeaksTracer")) tracer = GST_TRACER(l->data);
    g_list_free_full(all, gst_object_unref);
  }
  // How many objects of GStreamer are alive. Threads that have just ended may still be letting go of theirs.
  guint alive() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    GstStructure* objects = nullptr;
    g_signal_emit_by_name(tracer, "get-live-objects", &objects);
    const GValue* list = objects ? gst_structure_get_value(objects, "live-objects-list") : nullptr;
    // Never freed: it names the objects without a reference (1.22 to 1.26), and would drop one of theirs.
    static auto& kept = *new std::vector<GstStructure*>;
    kept.push_back(objects);
    return list ? gst_value_list_get_size(list) : 0;
  }
};

}  // namespace

GST_START_TEST(tight_rows) {
  const std::string in = raw("GRAY8", 1922, 1200);
  const Pixels src = noise(in);
  assert_layout_does_not_matter(in, {{0}, {1922}, 1922 * 1200});
  // Without a meta rows are 1924 bytes apart.
  Warp warp("scale-x=-1");
  warp.set_caps(in);
  const BufferPtr plain = buffer_of(src, in);
  ck_assert_uint_eq(gst_buffer_get_size(plain.get()), 1924 * 1200);
  Pixels mirrored = src;
  for (int y = 0; y < 1200; ++y)
    for (int x = 0; x < 1922; ++x) mirrored.plane[0].at(1921 - x, y) = src.plane[0].at(x, y);
  assert_same(warp(src), mirrored, "mirrored");
  // Rows that are no multiple of four bytes, as they are where nothing is added to them.
  assert_layout_does_not_matter(raw("GRAY16_LE", 37, 23), {{0}, {74}, 74 * 23});
  assert_layout_does_not_matter(raw("YUY2", 37, 23), {{0}, {76}, 76 * 23});
  assert_layout_does_not_matter(raw("P010_10LE", 37, 23), {{0, 1702}, {74, 76}, 1702 + 76 * 12});
}
GST_END_TEST;

GST_START_TEST(odd_strides_and_offsets) {
  assert_layout_does_not_matter(raw("GRAY8", 37, 23), {{13}, {41}, 13 + 41 * 23});
  assert_layout_does_not_matter(raw("RGB", 37, 23), {{1}, {37 * 3}, 1 + 37 * 3 * 23});
  assert_layout_does_not_matter(raw("RGB", 37, 23), {{3}, {37 * 3 + 5}, 3 + (37 * 3 + 5) * 23});
  assert_layout_does_not_matter(raw("RGBA", 37, 23), {{6}, {37 * 4 + 2}, 6 + (37 * 4 + 2) * 23});
  assert_layout_does_not_matter(raw("BGRx", 37, 23), {{0}, {1024}, 1024 * 23});
  // Also where words of more than a byte are not aligned.
  assert_layout_does_not_matter(raw("UYVY", 37, 23), {{3}, {76 + 1}, 3 + 77 * 23});
  assert_layout_does_not_matter(raw("GRAY16_LE", 37, 23), {{13}, {77}, 13 + 77 * 23});
  assert_layout_does_not_matter(raw("RGB10A2_LE", 37, 23), {{1}, {151}, 1 + 151 * 23});
  assert_layout_does_not_matter(raw("RGBA64_LE", 37, 23), {{1}, {37 * 8 + 1}, 1 + (37 * 8 + 1) * 23});
}
GST_END_TEST;

GST_START_TEST(planes_apart) {
  // Gaps between planes, another stride for each.
  assert_layout_does_not_matter(raw("NV12", 37, 23), {{5, 2000}, {43, 51}, 2000 + 51 * 12});
  assert_layout_does_not_matter(raw("I420", 37, 23), {{7, 2000, 4000}, {40, 21, 33}, 4000 + 33 * 12});
  assert_layout_does_not_matter(raw("P010_10LE", 37, 23), {{5, 2000}, {77, 79}, 2000 + 79 * 12});
  assert_layout_does_not_matter(raw("I422_10LE", 37, 23), {{7, 2000, 4000}, {78, 41, 43}, 4000 + 43 * 23});
  assert_layout_does_not_matter(raw("GBRA", 37, 23),
                                {{3000, 9, 2000, 1000}, {40, 37, 41, 38}, 3000 + 40 * 23});
  // The planes the other way round, as YV12 has them.
  assert_layout_does_not_matter(raw("I420", 37, 23), {{1000, 500, 1}, {37, 19, 19}, 1000 + 37 * 23});
}
GST_END_TEST;

// A plane of its own memory each.
GST_START_TEST(one_memory_per_plane) {
  const std::string in = raw("NV12", 64, 48);
  const Pixels src = noise(in);
  Warp warp("angle=17"), usual("angle=17");
  warp.set_caps(in), usual.set_caps(in);
  BufferPtr buffer(gst_buffer_new());
  for (const Pixels::Plane& plane : src.plane) {
    GstMemory* memory = gst_allocator_alloc(nullptr, plane.data.size(), nullptr);
    GstMapInfo map;
    gst_memory_map(memory, &map, GST_MAP_WRITE);
    std::memcpy(map.data, plane.data.data(), plane.data.size());
    gst_memory_unmap(memory, &map);
    gst_buffer_append_memory(buffer.get(), memory);
  }
  gsize offset[GST_VIDEO_MAX_PLANES] = {0, 64 * 48};
  gint stride[GST_VIDEO_MAX_PLANES] = {64, 64};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 64, 48, 2,
                                 offset, stride);
  const BufferPtr out = warp.pass(std::move(buffer));
  assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(src), "planes in two memories");
}
GST_END_TEST;

// Downstream's pool with rows and planes apart, and then one that cannot say so.
GST_START_TEST(pool_of_downstream) {
  for (const std::string format : {"RGB", "I420", "NV12", "YUY2", "P010_10LE", "Y444_16LE", "GBRA", "NV16"}) {
    const std::string in = raw(format, 37, 23);
    const Pixels src = noise(in);
    Warp usual("angle=17"), warp("angle=17");
    usual.set_caps(in);
    GstBufferPool* pool = gst_video_buffer_pool_new();
    GstStructure* config = gst_buffer_pool_get_config(pool);
    const CapsPtr caps = caps_of(in);
    GstVideoInfo info = info_of(caps.get());
    GstVideoAlignment alignment;
    gst_video_alignment_reset(&alignment);
    alignment.padding_left = 16, alignment.padding_top = 2, alignment.padding_right = 10;
    alignment.padding_bottom = 4;
    gst_buffer_pool_config_set_params(config, caps.get(), GST_VIDEO_INFO_SIZE(&info), 0, 0);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    gst_buffer_pool_config_set_video_alignment(config, &alignment);
    ck_assert(gst_buffer_pool_set_config(pool, config));
    config = gst_buffer_pool_get_config(pool);
    guint size = 0;
    gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
    gst_structure_free(config);
    offer_pool(warp, pool, size, true);
    warp.set_caps(in);
    const BufferPtr out = warp.pass(buffer_of(src, in));
    ck_assert(out->pool == pool);
    const GstVideoMeta* meta = gst_buffer_get_video_meta(out.get());
    ck_assert(meta && meta->offset[0] > 0);
    ck_assert_int_gt(meta->stride[0], GST_VIDEO_INFO_PLANE_STRIDE(&info, 0));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(src), format);
    gst_object_unref(pool);
  }
}
GST_END_TEST;

// A downstream that does not know GstVideoMeta reads the default layout.
GST_START_TEST(default_layout_without_meta) {
  const std::string in = raw("I420", 37, 23);
  const Pixels src = noise(in);
  Warp usual("angle=17"), warp("angle=17");
  usual.set_caps(in), warp.set_caps(in);
  BufferPtr out = warp.pass(buffer_of(src, in));
  const GstVideoInfo info = warp.output_info();
  ck_assert_uint_eq(gst_buffer_get_size(out.get()), GST_VIDEO_INFO_SIZE(&info));
  out.reset(gst_buffer_make_writable(out.release()));
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(out.get()))
    ck_assert(gst_buffer_remove_meta(out.get(), GST_META_CAST(meta)));
  assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(src), "by the caps alone");
}
GST_END_TEST;

GST_START_TEST(allocation_query) {
  const std::string in = raw("I420", 64, 48);
  for (const char* properties : {"angle=17", "angle=90 framing=expand"}) {
    Warp warp(properties);
    warp.set_caps(in);
    const QueryPtr query(gst_query_new_allocation(caps_of(in).get(), TRUE));
    ck_assert(gst_pad_peer_query(warp.harness()->srcpad, query.get()));
    ck_assert(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  }
}
GST_END_TEST;

GST_START_TEST(what_buffers_carry) {
  const std::string in = raw("RGB", 64, 48);
  const gchar* no_tags[] = {nullptr};
  gst_meta_register_custom("CudaWarpTestMeta", no_tags, nullptr, nullptr, nullptr);
  const CapsPtr reference = caps_of("timestamp/x-ntp");
  for (const char* properties : {"angle=17", "angle=90 framing=expand", ""}) {
    Warp warp(properties);
    warp.set_caps(in);
    BufferPtr buffer = buffer_of(noise(in), in);
    GstBuffer* b = buffer.get();
    GST_BUFFER_PTS(b) = 7 * GST_SECOND, GST_BUFFER_DTS(b) = 6 * GST_SECOND;
    GST_BUFFER_DURATION(b) = 123456789;
    GST_BUFFER_OFFSET(b) = 42, GST_BUFFER_OFFSET_END(b) = 43;
    constexpr auto kFlags = static_cast<GstBufferFlags>(GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_CORRUPTED |
                                                        GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_DELTA_UNIT);
    GST_BUFFER_FLAG_SET(b, kFlags);
    gst_buffer_add_reference_timestamp_meta(b, reference.get(), 99 * GST_SECOND, GST_SECOND);
    gst_structure_set(gst_custom_meta_get_structure(gst_buffer_add_custom_meta(b, "CudaWarpTestMeta")),
                      "number", G_TYPE_INT, 5, nullptr);
    const BufferPtr out = warp.pass(std::move(buffer));
    ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), 7 * GST_SECOND);
    ck_assert_uint_eq(GST_BUFFER_DTS(out.get()), 6 * GST_SECOND);
    ck_assert_uint_eq(GST_BUFFER_DURATION(out.get()), 123456789);
    ck_assert_uint_eq(GST_BUFFER_OFFSET(out.get()), 42);
    ck_assert_uint_eq(GST_BUFFER_OFFSET_END(out.get()), 43);
    ck_assert(GST_BUFFER_FLAG_IS_SET(out.get(), kFlags));
    const auto* time = gst_buffer_get_reference_timestamp_meta(out.get(), reference.get());
    ck_assert(time && time->timestamp == 99 * GST_SECOND);
    GstCustomMeta* custom = gst_buffer_get_custom_meta(out.get(), "CudaWarpTestMeta");
    int number = 0;
    ck_assert(custom && gst_structure_get_int(gst_custom_meta_get_structure(custom), "number", &number));
    ck_assert_int_eq(number, 5);
    ck_assert_int_eq(
        static_cast<int>(gst_buffer_get_n_meta(out.get(), GST_REFERENCE_TIMESTAMP_META_API_TYPE)), 1);
  }
}
GST_END_TEST;

// The output is new memory: whoever holds on to the input, or to an earlier output, sees it unchanged.
GST_START_TEST(frames_are_independent) {
  const std::string in = raw("RGBA", 64, 48);
  const Pixels src = noise(in), other = noise(in, 2);
  Warp warp("angle=180");
  warp.set_caps(in);
  const BufferPtr input = buffer_of(src, in);
  const BufferPtr first = warp.pass(BufferPtr(gst_buffer_ref(input.get())));
  const BufferPtr second = warp.pass(buffer_of(other, in, 1));
  const CapsPtr caps = warp.output_caps();
  assert_same(pixels_of(input.get(), caps.get()), src, "input");
  assert_same(pixels_of(first.get(), caps.get()), turned(src, 2), "first output");
  assert_same(pixels_of(second.get(), caps.get()), turned(other, 2), "second output");
}
GST_END_TEST;

// The short form of 50 starts in one process: nothing is left of any but the first.
GST_START_TEST(restart) {
  const Leaks leaks;
  guint after_second = 0;
  for (int run = 0; run < 50; ++run) {
    const auto messages = play(
        "videotestsrc num-buffers=30 ! video/x-raw,format=RGBA,width=64,height=48 ! cudawarp angle=10 "
        "framing=expand " +
        engine_properties() + " ! cudawarp scale=0.5 " + engine_properties() + " ! fakesink sync=false");
    ck_assert_uint_eq(messages.size(), 0);
    if (leaks.tracer && run == 1) after_second = leaks.alive();
  }
  if (leaks.tracer) ck_assert_uint_eq(leaks.alive(), after_second);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_memory");
  TCase* tc = tcase_create("memory");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, tight_rows);
  tcase_add_test(tc, odd_strides_and_offsets);
  tcase_add_test(tc, planes_apart);
  tcase_add_test(tc, one_memory_per_plane);
  tcase_add_test(tc, pool_of_downstream);
  tcase_add_test(tc, default_layout_without_meta);
  tcase_add_test(tc, allocation_query);
  tcase_add_test(tc, what_buffers_carry);
  tcase_add_test(tc, frames_are_independent);
  tcase_add_test(tc, restart);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("GST_TRACERS", "leaks", TRUE);  // for restart
  return run_tests(argc, argv, suite);
}
