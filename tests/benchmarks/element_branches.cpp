// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_line.h"
#include "element_parts.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cudawarp::bench {
namespace {

struct Branch {
  Ref<GstCaps> caps = caps_of("NV12", 1920, 1080, true);
  Line line{kWarp, caps.get()};
  Ref<GstBufferPool> pool = make_pool(caps.get(), true);
  Buffers buffers = take_buffers(pool.get(), 4);

  void run(int frames) {
    for (int n = 0; n < frames; ++n) line.push(buffers[n % buffers.size()]);
  }
};
using Branches = std::vector<std::unique_ptr<Branch>>;

// Frames/s of the branches from `first` on.
double run_branches(const Branches& branches, size_t first, int frames) {
  std::vector<std::thread> threads;
  std::barrier start(static_cast<ptrdiff_t>(branches.size() - first + 1));
  std::atomic<bool> failed{false};
  for (size_t n = first; n < branches.size(); ++n)
    threads.emplace_back([&, n] {
      start.arrive_and_wait();
      try {
        branches[n]->run(frames);
      } catch (const std::exception&) {
        failed = true;
      }
    });
  start.arrive_and_wait();
  const auto begin = Clock::now();
  for (auto& thread : threads) thread.join();
  check(cudaDeviceSynchronize());
  if (failed) throw std::runtime_error("a branch failed");
  return static_cast<double>(threads.size()) * frames / since(begin);
}

double used_memory() {
  size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total));
  return static_cast<double>(total - available) / (1 << 20);
}

Branches make_branches(int count) {
  Branches branches;
  for (int n = 0; n < count; ++n) branches.push_back(std::make_unique<Branch>());
  run_branches(branches, 0, 20);  // warm
  return branches;
}

}  // namespace

void measure_branches(Report& report) {
  constexpr int kFrames = 16384;  // of all
  make_branches(1);
  for (int repetition = 0; repetition < kRepetitions; ++repetition)
    for (const int count : {1, 4, 16, 64}) {
      const std::string name = "branches/" + std::to_string(count);
      const double before = used_memory();
      const Branches branches = make_branches(count);
      report.results[name + "/frames_per_second"].push_back(run_branches(branches, 0, kFrames / count));
      report.results[name + "/memory"].push_back((used_memory() - before) / count);
    }
}

void measure_stalled(Report& report) {
  constexpr int kFrames = 4000, kPatience = 30;
  const Branches branches = make_branches(4);
  std::mutex mutex;
  std::condition_variable changed;
  bool waiting = false, released = false;
  std::atomic<bool> gave_up{false};
  branches[0]->line.on_output = [&](GstBuffer*) {
    std::unique_lock lock(mutex);
    waiting = true;
    changed.notify_all();
    // A stall that stops the others ends, and shows, after all.
    if (!changed.wait_for(lock, std::chrono::seconds(kPatience), [&] { return released; })) gave_up = true;
  };
  for (int repetition = 0; repetition < kRepetitions && !gave_up; ++repetition) {
    report.results["branches/not-stalled"].push_back(run_branches(branches, 1, kFrames));
    waiting = released = false;
    std::jthread stalled([&] {
      try {
        branches[0]->run(1);
      } catch (const std::exception&) {
        gave_up = true;
      }
    });
    {
      std::unique_lock lock(mutex);
      if (!changed.wait_for(lock, std::chrono::seconds(kPatience), [&] { return waiting; }))
        throw std::runtime_error("nothing comes out");
    }
    report.results["branches/stalled"].push_back(run_branches(branches, 1, kFrames));
    {
      std::lock_guard lock(mutex);
      released = true;
    }
    changed.notify_all();
  }
  branches[0]->line.on_output = nullptr;
}

}  // namespace cudawarp::bench
