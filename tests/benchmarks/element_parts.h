// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The parts of element_bench: each adds to the report, or throws a std::runtime_error of a few words.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudawarp::bench {

constexpr int kRepetitions = 7, kWidth = 3840, kHeight = 2160;
constexpr char kWarp[] = "cudawarp engine=cuda angle=17";

struct Report {
  std::map<std::string, std::vector<double>> results;
  std::map<std::string, std::string> skipped;  // and why
};

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// 4K RGBA frames through system memory, and the bus alone: frames/s.
void measure_system(Report& report);

// Branches of 1080p NV12 in CUDA memory: frames/s of all, MiB of device memory of each.
void measure_branches(Report& report);

// Frames/s of three of four branches, while the fourth rests, and while its sink waits.
void measure_stalled(Report& report);

}  // namespace cudawarp::bench
