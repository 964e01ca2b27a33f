// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the element takes besides its kernel: host time per buffer, frames through system memory beside the
// bus, parallel branches, the first frame. docs/performance.md says what each number means.
//
//     GST_PLUGIN_PATH=build/gst element_bench --json FILE [--only PART]
//
// Writes {"program", "context", "results": [{"name", "values"}], "skipped": {name: why}}, and a summary to
// standard output. A part that fails is skipped, with the reason.
#include "element_line.h"
#include "element_parts.h"

#include <algorithm>
#include <cstdio>

using namespace cudawarp::bench;

namespace {

Report report;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Ref<GstCaps> rgba(bool cuda) {
  return caps_of("RGBA", kWidth, kHeight, cuda);
}

// ---- host time per buffer, us. The device catches up between batches, which its queue holds easily.
void measure_host() {
  constexpr int kBatch = 16, kBatches = 30;
  const auto caps = rgba(true);
  Line warp(kWarp, caps.get()), identity("identity", caps.get());
  const auto pool = warp.proposed_pool();
  if (!pool) throw std::runtime_error("it proposes no pool");
  const Buffers buffers = take_buffers(pool.get(), kBatch);
  for (int repetition = -1; repetition < kRepetitions; ++repetition)
    for (auto* line : {&identity, &warp}) {
      std::vector<double> times;
      for (int n = 0; n < kBatches; ++n) {
        const auto begin = Clock::now();
        for (const auto& buffer : buffers) line->push(buffer);
        times.push_back(since(begin) * 1e6 / kBatch);
        check(cudaDeviceSynchronize());
      }
      if (repetition >= 0)
        report.results[line == &warp ? "host/cudawarp" : "host/identity"].push_back(median(times));
    }
}

// ---- what `stats` counts per frame, of whatever is a number in it
std::map<std::string, double> numbers_of(GstElement* element) {
  std::map<std::string, double> numbers;
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  if (!stats) return numbers;
  for (int n = 0; n < gst_structure_n_fields(stats); ++n) {
    const char* name = gst_structure_nth_field_name(stats, n);
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    const GValue* value = gst_structure_get_value(stats, name);
    if (!G_VALUE_HOLDS_STRING(value) && g_value_transform(value, &number))
      numbers[name] = g_value_get_double(&number);
  }
  gst_structure_free(stats);
  return numbers;
}

void measure_calls() {
  constexpr int kFrames = 100;
  for (const bool cuda : {true, false}) {
    const auto caps = rgba(cuda);
    Line warp(kWarp, caps.get());
    if (!warp.has_property("stats")) throw std::runtime_error("no property stats");
    const auto pool = cuda ? warp.proposed_pool() : make_pool(caps.get(), false);
    const Buffers buffers = take_buffers(pool.get(), 8);
    for (const auto& buffer : buffers) warp.push(buffer);
    const auto before = numbers_of(warp.element());
    for (int n = 0; n < kFrames; ++n) warp.push(buffers[n % buffers.size()]);
    for (const auto& [name, value] : numbers_of(warp.element()))
      if (before.count(name))
        report.results[std::string("calls/") + (cuda ? "cuda/" : "system/") + name] = {
            (value - before.at(name)) / kFrames};
  }
}

// ---- the first frame, ms from PLAYING until it is there, of two lines one after the other
void print_first_frames(bool cuda) {
  context();
  const auto caps = rgba(cuda);
  const auto pool = make_pool(caps.get(), cuda);
  const Buffers buffers = take_buffers(pool.get(), 1);
  if (GstElement* any = gst_element_factory_make("cudawarp", nullptr))
    gst_object_unref(any);  // its plugin is loaded
  check(cudaDeviceSynchronize());
  for (int n = 0; n < 2; ++n) {
    const auto begin = Clock::now();
    Line line(kWarp, caps.get());
    line.push(buffers[0]);
    check(cudaDeviceSynchronize());
    std::printf("%.3f\n", since(begin) * 1e3);
  }
}

// Each time in a process of its own.
void measure_first_frame(const char* self) {
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    for (const char* memory : {"cuda", "system"}) {
      const char* argv[] = {self, "--first-frame", memory, nullptr};
      char* text = nullptr;
      int status = 0;
      double first = 0, again = 0;
      const bool ran = g_spawn_sync(nullptr, const_cast<char**>(argv), nullptr, G_SPAWN_DEFAULT, nullptr,
                                    nullptr, &text, nullptr, &status, nullptr);
      const bool read = ran && status == 0 && std::sscanf(text, "%lf %lf", &first, &again) == 2;
      g_free(text);
      if (!read) throw std::runtime_error("its process failed");
      const std::string name = std::string("first-frame/") + memory;
      report.results[name + "/first"].push_back(first);
      report.results[name + "/again"].push_back(again);
    }
}

// ---- the program
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return out + "\"";
}

void write_json(const char* path, const std::string& device) {
  FILE* file = std::fopen(path, "w");
  if (!file) throw std::runtime_error(std::string("cannot write ") + path);
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  std::fprintf(
      file, "{\"program\": \"element_bench\",\n\"context\": {\"gstreamer\": \"%u.%u.%u\", \"device\": %s},\n",
      major, minor, micro, quoted(device).c_str());
  std::fprintf(file, "\"results\": [");
  const char* comma = "";
  for (const auto& [name, values] : report.results) {
    std::fprintf(file, "%s\n {\"name\": %s, \"values\": [", comma, quoted(name).c_str());
    for (size_t n = 0; n < values.size(); ++n) std::fprintf(file, "%s%.4f", n ? ", " : "", values[n]);
    std::fprintf(file, "]}");
    comma = ",";
  }
  std::fprintf(file, "],\n\"skipped\": {");
  comma = "";
  for (const auto& [name, why] : report.skipped) {
    std::fprintf(file, "%s\n %s: %s", comma, quoted(name).c_str(), quoted(why).c_str());
    comma = ",";
  }
  std::fprintf(file, "}}\n");
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::string json, only;
  for (int n = 1; n + 1 < argc; n += 2) {
    if (std::string(argv[n]) == "--json") json = argv[n + 1];
    if (std::string(argv[n]) == "--only") only = argv[n + 1];
  }
  if (argc % 2 == 0) {
    std::fprintf(stderr,
                 "element_bench [--json FILE] [--only host|calls|system|branches|stalled|first-frame]\n");
    return 2;
  }
  try {
    if (argc == 3 && std::string(argv[1]) == "--first-frame") {
      print_first_frames(std::string(argv[2]) == "cuda");
      return 0;
    }
    context();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 77;
  }
  const std::pair<const char*, std::function<void()>> parts[] = {
      {"first-frame", [&] { measure_first_frame(argv[0]); }},
      {"host", measure_host},
      {"calls", measure_calls},
      {"system", [] { measure_system(report); }},
      {"branches", [] { measure_branches(report); }},
      {"stalled", [] { measure_stalled(report); }}};
  for (const auto& [name, measure] : parts) {
    if (!only.empty() && only != name) continue;
    try {
      measure();
    } catch (const std::exception& error) {
      report.skipped[name] = error.what();
    }
    std::fprintf(stderr, "%s: done\n", name);
  }
  for (const auto& [name, values] : report.results)
    std::printf("%-40s %12.3f (%.3f to %.3f)\n", name.c_str(), median(values),
                *std::min_element(values.begin(), values.end()),
                *std::max_element(values.begin(), values.end()));
  for (const auto& [name, why] : report.skipped)
    std::printf("%-40s skipped: %s\n", name.c_str(), why.c_str());
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  if (!json.empty()) write_json(json.c_str(), properties.name);
  return 0;
}
