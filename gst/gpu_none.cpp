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
  bool adopt(GstBuffer*, int) override { return false; }
  bool propose_allocation(GstQuery*) override { return false; }
  bool decide_allocation(GstQuery*) override { return false; }
  Status warp(const WarpPlan&, const Picture&, const Picture&) override {
    return Error{"this plugin was built without CUDA"};
  }
};

}  // namespace

std::unique_ptr<Gpu> Gpu::create() {
  return std::make_unique<NoGpu>();
}

bool Gpu::driver_available() {
  return false;
}

}  // namespace cudawarp
