// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu.h"

#include "warp.h"

namespace cudawarp {
namespace {

void warp_mapped(const WarpPlan& plan, const MappedFrame& src, const MappedFrame& dst,
                 const TaskPool& cores) {
  warp_on_cpu(plan, src.view<ConstImage>(Memory::host), dst.view<Image>(Memory::host),
              [&cores](int count, const std::function<void(int)>& job) { cores.run(count, job); });
}

}  // namespace

class Cpu::Task final : public Work {
 public:
  Task(Cpu& cpu, std::shared_ptr<const WarpPlan> plan, const Picture& in, const Picture& out)
      : cpu_(cpu), plan_(std::move(plan)), src_(in, GST_MAP_READ), dst_(out, GST_MAP_WRITE) {}
  ~Task() override { wait(); }

  Status error() const { return src_.error() ? src_.error() : dst_.error(); }
  void run() const { warp_mapped(*plan_, src_, dst_, cpu_.cores_); }

  Status wait() override {
    std::unique_lock lock(cpu_.lock_);
    cpu_.ended_.wait(lock, [this] { return !under_way; });
    return std::nullopt;
  }
  void abandon() override {
    std::lock_guard lock(cpu_.lock_);
    if (std::erase(cpu_.waiting_, this)) under_way = false;
  }

  bool under_way = false;  // guarded by the lock of the Cpu

 private:
  Cpu& cpu_;
  std::shared_ptr<const WarpPlan> plan_;
  MappedFrame src_, dst_;
};

Cpu::~Cpu() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(lock_);
    closing_ = true;
  }
  begun_.notify_one();
  thread_.join();
}

void Cpu::run() {
  std::unique_lock lock(lock_);
  for (;;) {
    begun_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Task* task = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    task->run();
    lock.lock();
    task->under_way = false;
    ended_.notify_one();
  }
}

Status Cpu::warp(const WarpPlan& plan, const Picture& in, const Picture& out) const {
  const MappedFrame src(in, GST_MAP_READ), dst(out, GST_MAP_WRITE);
  if (src.error()) return src.error();
  if (dst.error()) return dst.error();
  warp_mapped(plan, src, dst, cores_);
  return std::nullopt;
}

Expected<std::unique_ptr<Work>> Cpu::begin(std::shared_ptr<const WarpPlan> plan, const Picture& in,
                                           const Picture& out) {
  auto task = std::make_unique<Task>(*this, std::move(plan), in, out);
  if (auto failed = task->error()) return *failed;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  {
    std::lock_guard lock(lock_);
    task->under_way = true;
    waiting_.push_back(task.get());
  }
  begun_.notify_one();
  return std::unique_ptr<Work>(std::move(task));
}

}  // namespace cudawarp
