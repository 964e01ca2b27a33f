// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums what a process makes a GPU do: copies by direction, kernels, and the calls that wait or allocate. A
// library to inject into any program that uses CUDA:
//
//     CUDA_INJECTION64_PATH=build/tests/benchmarks/libcuda_trace.so gst-launch-1.0 ...
//
// It writes its table to standard error when the process ends. Made with CUPTI's activity and callback
// interfaces.
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Sum {
  uint64_t count = 0, bytes = 0, nanoseconds = 0;
};
std::mutex lock;
std::map<std::string, Sum> sums;

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "copy device to device";
    default:
      return "copy, other";
  }
}

void add(const std::string& name, uint64_t bytes, uint64_t nanoseconds) {
  std::lock_guard guard(lock);
  Sum& s = sums[name];
  ++s.count, s.bytes += bytes, s.nanoseconds += nanoseconds;
}

void read_record(const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
    add(copy_name(copy->copyKind), copy->bytes, copy->end - copy->start);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    const char* name = kernel->name ? kernel->name : "unnamed";
    add(std::string("kernel ") + (std::strstr(name, "warp_kernel") ? "warp_kernel" : name), 0,
        kernel->end - kernel->start);
  }
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *size = 1 << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) read_record(record);
  std::free(buffer);
}

// Driver calls that wait for the device, allocate, or make textures, by name.
void CUPTIAPI count_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  if (call->callbackSite != CUPTI_API_ENTER) return;
  for (const char* what :
       {"Synchronize", "cuMemAlloc", "cuMemFree", "cuTexObjectCreate", "cuMemHostAlloc", "cuMemHostRegister"})
    if (std::strstr(call->functionName, what)) return add(std::string("call ") + call->functionName, 0, 0);
}

void print() {
  cuptiActivityFlushAll(1);
  std::lock_guard guard(lock);
  for (const auto& [name, s] : sums)
    std::fprintf(stderr, "cuda_trace: %-40s %8llu times %14llu bytes %10.1f us of device time\n",
                 name.c_str(), static_cast<unsigned long long>(s.count),
                 static_cast<unsigned long long>(s.bytes), s.nanoseconds / 1e3);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  CUpti_SubscriberHandle subscriber;
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS ||
      cuptiSubscribe(&subscriber, count_call, nullptr) != CUPTI_SUCCESS ||
      cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "cuda_trace: CUPTI cannot trace here\n");
    return 1;
  }
  std::atexit(print);
  return 1;
}
