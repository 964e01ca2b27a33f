// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu.h"

namespace cudawarp {
namespace {

class NoGpu final : public Gpu {
 public:
  void set_context(GstElement*, GstContext*, int) override {}
  bool context_query(GstElement*, GstQuery*) override { return false; }
  Status open(GstElement*, int) override { return Error{"this plugin was built without CUDA"}; }
  void close() override {}
  bool is_open() const override { return false; }
  std::string device_name() const override { return {}; }
  Status check() const override { return std::nullopt; }
  bool is_elsewhere(GstBuffer*, int) const override { return false; }
  bool adopt(GstBuffer*) override { return false; }
  bool propose_allocation(GstQuery*, guint) override { return false; }
  Status decide_allocation(GstQuery*) override { return Error{"this plugin was built without CUDA"}; }
  bool propose_host_allocation(GstQuery*, guint) override { return false; }
  void decide_host_allocation(GstQuery*) override {}
  Expected<std::unique_ptr<Work>> begin(const WarpPlan&, const Picture&, const Picture&) override {
    return Error{"this plugin was built without CUDA"};
  }
  void measure_time(bool) override {}
  Numbers numbers() const override { return {}; }
};

}  // namespace

std::unique_ptr<Gpu> Gpu::create() {
  return std::make_unique<NoGpu>();
}

bool Gpu::driver_available() {
  return false;
}

}  // namespace cudawarp
