// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA engine against the CPU engine, over the whole grid: the same bytes. Without a device the
// program skips (77), or fails where CUDAWARP_REQUIRE_CUDA=1 says that there must be one.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/geometry.h"
#include "grid.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

void check_cuda(cudaError_t error) {
  if (error != cudaSuccess) ck_abort_msg("CUDA: %s", cudaGetErrorString(error));
}
void check_status(const Status& status) {
  if (status) ck_abort_msg("%s", status->words.c_str());
}

// Whether the device is a CPU (tests/emulation), which is slow.
bool emulated() {
  return std::getenv("CUDAWARP_EMULATED") != nullptr;
}

// Where the frames of a warp lie. Aligned rows can be read through textures, odd ones must not be.
enum class Path { host_host, host_device, device_host, aligned_device, odd_device };
constexpr int kPaths = 5;

bool src_on_device(Path p) {
  return p != Path::host_host && p != Path::host_device;
}
bool dst_on_device(Path p) {
  return p != Path::host_host && p != Path::device_host;
}

// The bytes of a TestFrame, canaries and all, in device memory. Memory grows and stays, so that the engine
// meets its buffers again.
class DeviceFrame {
 public:
  DeviceFrame() = default;
  DeviceFrame(const DeviceFrame&) = delete;
  ~DeviceFrame() {
    for (uint8_t* m : memory_) cudaFree(m);
  }

  // `shift` moves the rows away from where they are aligned.
  void upload(const TestFrame& frame, int shift, cudaStream_t stream) {
    for (int p = 0; p < planes(frame); ++p) {
      const size_t size = frame.memory(p).size();
      lead_[p] = kAlignment - TestFrame::kGuard + shift;
      if (lead_[p] + size > size_[p]) {
        check_cuda(cudaFree(memory_[p]));
        size_[p] = 2 * (lead_[p] + size);
        check_cuda(cudaMalloc(reinterpret_cast<void**>(&memory_[p]), size_[p]));
      }
      check_cuda(cudaMemcpyAsync(memory_[p] + lead_[p], frame.memory(p).data(), size, cudaMemcpyHostToDevice,
                                 stream));
    }
    check_cuda(cudaStreamSynchronize(stream));
  }

  void download(TestFrame& frame, cudaStream_t stream) const {
    for (int p = 0; p < planes(frame); ++p)
      check_cuda(cudaMemcpyAsync(frame.memory(p).data(), memory_[p] + lead_[p], frame.memory(p).size(),
                                 cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
  }

  template <class AnyImage>
  AnyImage view(AnyImage host, int planes) const {
    host.memory = Memory::device;
    for (int p = 0; p < planes; ++p) host.plane[p].data = memory_[p] + lead_[p] + TestFrame::kGuard;
    return host;
  }

  static int planes(const TestFrame& frame) { return info(frame.desc().format).planes; }
  static constexpr int kAlignment = 512;

 private:
  uint8_t* memory_[kMaxPlanes] = {};
  size_t size_[kMaxPlanes] = {}, lead_[kMaxPlanes] = {};
};

// A frame with rows as the path asks; `slack` where it does not care.
TestFrame frame_for(const FrameDesc& desc, Path path, int slack) {
  if (path == Path::aligned_device) return TestFrame(desc, 0, false, DeviceFrame::kAlignment);
  const bool even = info(desc.format).row_bytes(0, desc.skip_x + desc.width) % 2 == 0;
  return TestFrame(desc, path != Path::odd_device ? slack : even ? 3 : 4);
}

// The same content in rows that lie otherwise.
void copy(const TestFrame& from, TestFrame& to) {
  for (int p = 0; p < DeviceFrame::planes(from); ++p)
    for (int y = 0; y < from.rows(p); ++y) std::copy_n(from.row(p, y), from.row_bytes(p), to.row(p, y));
}

struct Tally {
  uint64_t frames = 0, samples = 0;
};

bool same_bytes(const TestFrame& a, const TestFrame& b) {
  for (int p = 0; p < DeviceFrame::planes(a); ++p)
    for (int y = 0; y < a.rows(p); ++y)
      if (std::memcmp(a.row(p, y), b.row(p, y), a.row_bytes(p)) != 0) return false;
  return true;
}

void compare(const std::string& name, const TestFrame& want, const TestFrame& got, Tally& tally) {
  ++tally.frames;
  for (int g = 0; g < want.format().groups; ++g)
    tally.samples += static_cast<uint64_t>(want.width(g)) * want.height(g) * want.samples(g);
  if (same_bytes(want, got)) return;
  // Bytes that no sample owns may differ.
  for (int g = 0; g < want.format().groups; ++g)
    for (int y = 0; y < want.height(g); ++y)
      for (int x = 0; x < want.width(g); ++x)
        for (int k = 0; k < want.samples(g); ++k) {
          const int a = want.at(g, x, y, k), c = got.at(g, x, y, k);
          if (a != c)
            ck_abort_msg("%s: group %d (%d, %d) sample %d is %d, the CPU says %d", name.c_str(), g, x, y, k,
                         c, a);
        }
}

// Whether gathers can read and write these pixels as they are stored, where the map allows: words of one size
// that keep their meaning, no alpha in a plane of its own.
bool has_gathers(FormatPair formats) {
  const FormatInfo &src = info(formats.src), &dst = info(formats.dst);
  if (src.depth != dst.depth || src.low_zeros != dst.low_zeros) return false;
  const bool alpha = src.has_alpha() || dst.has_alpha();
  for (int g = 0; g < src.groups; ++g) {
    const Group &from = src.group[g], &to = dst.group[g];
    if (from.packing != to.packing) return false;
    switch (from.packing) {
      case Packing::bytes2:
      case Packing::bytes4:
      case Packing::words2:
        break;
      case Packing::samples8:
      case Packing::samples16: {
        const int bytes = from.packing == Packing::samples8 ? 1 : 2;
        if (alpha || from.step != bytes || to.step != bytes) return false;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

class Bench {
 public:
  Bench() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    Expected<std::unique_ptr<CudaEngine>> made = CudaEngine::create();
    if (const Error* error = error_of(made)) ck_abort_msg("no engine: %s", error->words.c_str());
    engine_ = std::move(std::get<std::unique_ptr<CudaEngine>>(made));
  }
  ~Bench() {
    engine_.reset();
    cudaStreamDestroy(stream_);
  }

  // Warps with both engines and compares; on each path.
  void run(const GridCase& c, std::initializer_list<Path> paths) { run(c, c.source(), paths); }
  void run(const GridCase& c, const TestFrame& source, std::initializer_list<Path> paths) {
    const WarpPlan plan = plan_or_fail(c.params, c.src, c.dst);
    TestFrame want(c.dst);
    warp_on_cpu(plan, source.contents(), want.view(), backwards);
    for (const Path path : paths) {
      TestFrame src = frame_for(c.src, path, c.src_slack);
      copy(source, src);
      TestFrame got = frame_for(c.dst, path, c.dst_slack);
      warp(plan, src, got, path);
      ck_assert_msg(got.intact(), "%s: wrote outside the rows of the output", c.name.c_str());
      compare(c.name, want, got, tally[static_cast<int>(path)]);
    }
  }

  void warp(const WarpPlan& plan, const TestFrame& src, TestFrame& dst, Path path) {
    const int shift = path == Path::odd_device ? 1 + static_cast<int>(frames_ % 3) : 0;
    ConstImage from = src.contents();
    Image to = dst.view();
    if (src_on_device(path)) {
      src_.upload(src, shift, stream_);
      from = src_.view(from, DeviceFrame::planes(src));
    }
    if (dst_on_device(path)) {
      dst_.upload(dst, shift, stream_);
      to = dst_.view(to, DeviceFrame::planes(dst));
    }
    check_status(engine_->warp(plan, from, to, stream_));
    if (dst_on_device(path)) dst_.download(dst, stream_);
    check_status(engine_->synchronize(stream_));
    ck_assert_uint_eq(engine_->counters().frames, ++frames_);
  }

  CudaEngine& engine() { return *engine_; }
  cudaStream_t stream() const { return stream_; }

  Tally tally[kPaths];

 private:
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<CudaEngine> engine_;
  DeviceFrame src_, dst_;
  uint64_t frames_ = 0;
};

// Every case of one pair of formats, each on the next path.
void run_grid(FormatPair formats) {
  Bench bench;
  int path = static_cast<int>(formats.src);
  for (const Interpolation interpolation : kInterpolations)
    for_each_case(formats, interpolation,
                  [&](const GridCase& c) { bench.run(c, {static_cast<Path>(path++ % kPaths)}); });
  for (int p = 0; p < kPaths; ++p) {
    const Tally& t = bench.tally[p];
    ck_assert_msg(t.frames > 100 && t.samples > 10000, "path %d hardly ran: %" G_GUINT64_FORMAT " frames", p,
                  t.frames);
  }
  const auto counters = bench.engine().counters();
  ck_assert_msg((counters.textures_created > 0) == has_gathers(formats), "%" G_GUINT64_FORMAT " textures",
                counters.textures_created);
}

GridCase large_case(FormatPair formats, Interpolation interpolation, Size size, double scale) {
  GridCase c{};
  c.name = "large, " + std::string(info(formats.src).name) + " -> " + std::string(info(formats.dst).name) +
           ", " + name_of(interpolation);
  c.params = {.angle = 17, .scale_x = scale, .scale_y = scale, .interpolation = interpolation};
  c.src = {.format = formats.src, .width = size.width, .height = size.height};
  c.dst = c.src;
  c.dst.format = formats.dst;
  c.seed = 11;
  return c;
}

// Opaque but for a band that leans.
void make_opaque(TestFrame& frame) {
  for (int g = 0; g < frame.format().groups; ++g)
    for (int k = 0; k < frame.samples(g); ++k) {
      if (frame.format().group[g].component[k] != Component::A) continue;
      for (int y = 0; y < frame.height(g); ++y)
        for (int x = 0; x < frame.width(g); ++x)
          if (x < 100 + y / 3 || x > 130 + y / 3) frame.at(g, x, y, k) = frame.place(g, k).largest();
    }
}

}  // namespace

GST_START_TEST(equals_cpu) {
  run_grid(grid_formats()[__i__]);
}
GST_END_TEST;

// More than one block of threads, and sides that no block divides. All of it for the basic formats, a third
// in turn for the others.
GST_START_TEST(large_frames) {
  constexpr Size kLarge[] = {{641, 483}, {32768, 2}, {3, 32767}},
                 kFewTiles[] = {{201, 163}, {2048, 2}, {3, 2047}};
  const Size* const sizes = emulated() ? kFewTiles : kLarge;
  constexpr Border kBorders[] = {Border::constant, Border::mirror, Border::wrap, Border::mirror_101,
                                 Border::replicate};
  const FormatPair formats = grid_formats()[__i__];
  Bench bench;
  int turn = __i__;
  for (const Interpolation interpolation : kInterpolations) {
    ++turn;
    for (int k = 0; k < 3; ++k) {
      if (!is_basic(formats) && k != turn % 3) continue;
      GridCase c = large_case(formats, interpolation, sizes[k], turn % 2 ? 1 : 0.6);
      c.src.interlaced = c.dst.interlaced = turn % 4 == 1;
      c.params.border = kBorders[(turn + k) % std::size(kBorders)];
      if (emulated())
        bench.run(c, {Path::aligned_device});
      else
        bench.run(c, {Path::host_host, Path::aligned_device, Path::odd_device});
    }
  }
}
GST_END_TEST;

// Maps that keep columns and rows apart, over many blocks: the filters read weighed rows again and again
// there. Sources are opaque in places.
GST_START_TEST(upright_frames) {
  constexpr Border kBorders[] = {Border::constant, Border::mirror, Border::wrap, Border::constant,
                                 Border::replicate};
  constexpr struct {
    double angle, scale_x, scale_y, offset;
  } kMaps[] = {{0, 1, 1, 0.3},      {0, -0.6, 0.55, 0}, {0, 0.3, 0.27, 12},
               {0, 1.7, -2.3, 180}, {90, 0.5, 0.5, 0},  {-90, 1, -1, -150.4},
               {90, -0.3, 1.7, 5},  {270, 2.2, 0.9, 0}, {0, 0.251, 0.251, 0.4}};
  const FormatPair formats = grid_formats()[__i__];
  Bench bench;
  int turn = __i__;
  for (const auto& map : kMaps) {
    for (const Interpolation interpolation : kInterpolations) {
      ++turn;
      if (interpolation == Interpolation::nearest || (!is_basic(formats) && turn % 7 != 0)) continue;
      GridCase c = large_case(formats, interpolation, emulated() ? Size{197, 139} : Size{389, 271}, 1);
      c.name += ", upright " + std::to_string(map.angle) + ", " + std::to_string(map.scale_x);
      c.params.angle = map.angle, c.params.scale_x = map.scale_x, c.params.scale_y = map.scale_y;
      c.params.offset_x = map.offset, c.params.offset_y = map.offset / 2;
      c.params.border = kBorders[turn % std::size(kBorders)];
      c.params.edge_antialias = turn % 5 != 3;
      c.params.antialias = turn % 7 != 6;
      TestFrame source = c.source();
      make_opaque(source);
      if (emulated())
        bench.run(c, source, {Path::aligned_device});
      else
        bench.run(c, source, {Path::host_host, Path::aligned_device, Path::odd_device});
    }
  }
}
GST_END_TEST;

// Borders of bilinear pixels and of copies: near the picture, several widths of it outside, and so far
// outside that a texture's coordinates are not exact. Sources are opaque in places.
GST_START_TEST(borders_near_and_far) {
  constexpr struct {
    const char* name;
    Border border;
    bool edge_antialias;
  } kBorders[] = {{"constant", Border::constant, true},     {"hard", Border::constant, false},
                  {"replicate", Border::replicate, true},   {"mirror", Border::mirror, true},
                  {"mirror-101", Border::mirror_101, true}, {"wrap", Border::wrap, true}};
  constexpr struct {
    double angle, scale_x, scale_y, offset;
  } kMaps[] = {{17, 1, 1, 0},       {-140, 0.55, 0.4, 0}, {0, 1, 1, 90},
               {45, 0.2, 0.15, 30}, {0, 1, -1, 400},      {3, 0.0001, 0.00002, 0.3}};
  const FormatPair formats = grid_formats()[__i__];
  if (!has_gathers(formats)) return;
  Bench bench;
  for (const auto& map : kMaps)
    for (const auto& border : kBorders) {
      GridCase c =
          large_case(formats, Interpolation::bilinear, emulated() ? Size{133, 71} : Size{389, 271}, 1);
      c.name += ", " + std::string(border.name) + ", " + std::to_string(map.angle) + ", " +
                std::to_string(map.scale_x) + ", " + std::to_string(map.offset);
      c.params.angle = map.angle, c.params.scale_x = map.scale_x, c.params.scale_y = map.scale_y;
      c.params.offset_x = map.offset, c.params.offset_y = -map.offset;
      c.params.border = border.border, c.params.edge_antialias = border.edge_antialias;
      c.params.antialias = false;
      TestFrame source = c.source();
      make_opaque(source);
      bench.run(c, source, {Path::aligned_device});
    }
  ck_assert_uint_gt(bench.engine().counters().textures_created, 0);
}
GST_END_TEST;

// A running stream allocates nothing and makes no textures.
GST_START_TEST(steady_state) {
  constexpr int kBuffers = 3, kFrames = 30;
  Bench bench;
  const GridCase c = large_case({Format::NV12, Format::NV12}, Interpolation::bilinear, {640, 480}, 1);
  const int planes = info(Format::NV12).planes;
  const WarpPlan plan = plan_or_fail(c.params, c.src, c.dst);
  const TestFrame src = c.source(), aligned = frame_for(c.src, Path::aligned_device, 0);
  TestFrame host(c.dst), out = frame_for(c.dst, Path::aligned_device, 0);
  DeviceFrame in[kBuffers], to;
  for (DeviceFrame& b : in) b.upload(aligned, 0, bench.stream());
  to.upload(out, 0, bench.stream());
  CudaEngine::Counters first{};
  for (int k = 0; k < kFrames; ++k) {
    check_status(bench.engine().warp(plan, in[k % kBuffers].view(aligned.contents(), planes),
                                     to.view(out.view(), planes), bench.stream()));
    check_status(bench.engine().warp(plan, src.contents(), host.view(), bench.stream()));
    check_status(bench.engine().synchronize(bench.stream()));
    if (k == kBuffers - 1) first = bench.engine().counters();
  }
  const CudaEngine::Counters last = bench.engine().counters();
  ck_assert_uint_eq(last.frames, 2 * kFrames);
  ck_assert_uint_gt(first.textures_created, 0);
  ck_assert_uint_eq(last.textures_created, first.textures_created);
  ck_assert_uint_eq(last.staging_allocations, first.staging_allocations);
  const uint64_t frame_bytes = 640 * 480 * 3 / 2;
  ck_assert_uint_eq(last.bytes_uploaded, kFrames * frame_bytes);
  ck_assert_uint_eq(last.bytes_downloaded, kFrames * frame_bytes);
}
GST_END_TEST;

// The output of one stream's warp, read by another stream's: order() keeps them apart without the host.
GST_START_TEST(streams_in_order) {
  Bench bench;
  cudaStream_t other = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  const FrameDesc desc{.format = Format::RGBA, .width = 640, .height = 640};
  const WarpPlan quarter = plan_or_fail({.angle = 90}, desc, desc);
  TestFrame src = frame_for(desc, Path::aligned_device, 0), got = src;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    DeviceFrame a, b;
    fill_noise(src, seed);
    a.upload(src, 0, bench.stream());
    b.upload(got, 0, bench.stream());
    for (const bool back : {false, true, false, true}) {  // four quarter turns, on alternating streams
      DeviceFrame &from = back ? b : a, &to = back ? a : b;
      cudaStream_t stream = back ? other : bench.stream();
      check_status(
          bench.engine().warp(quarter, from.view(src.contents(), 1), to.view(got.view(), 1), stream));
      check_status(bench.engine().order(stream, back ? bench.stream() : other));
    }
    a.download(got, bench.stream());
    Tally tally;
    compare("four quarter turns", src, got, tally);
  }
  cudaStreamDestroy(other);
}
GST_END_TEST;

static Suite* cuda_grid_suite() {
  Suite* s = suite_create("cuda_grid");
  TCase* tc = tcase_create("grid");
  const int formats = static_cast<int>(grid_formats().size());
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_loop_test(tc, equals_cpu, 0, formats);
  tcase_add_loop_test(tc, large_frames, 0, formats);
  tcase_add_loop_test(tc, upright_frames, 0, formats);
  tcase_add_loop_test(tc, borders_near_and_far, 0, formats);
  tcase_add_test(tc, steady_state);
  tcase_add_test(tc, streams_in_order);
  return s;
}

int main(int argc, char** argv) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    const char* required = std::getenv("CUDAWARP_REQUIRE_CUDA");
    std::fprintf(stderr, "no CUDA device: %s\n", cudaGetErrorString(error));
    return required && std::string(required) == "1" ? 1 : 77;
  }
  check_cuda(cudaFree(nullptr));  // the primary context
  setenv("CK_FORK", "no", 1);     // CUDA does not survive a fork
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(cuda_grid_suite(), "cuda_grid", __FILE__);
}
