// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pinned_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "context.h"
#include "warp.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace {

struct PinnedMemory {
  GstMemory memory;
  uint8_t* data;  // where offsets count from
  void* block;    // what was locked, this memory's own; null in a part of another memory
};

}  // namespace

struct GstCudaWarpPinnedAllocator {
  GstAllocator parent;
  GstCudaContext* context;
  std::atomic<guint64> allocations;
};

struct GstCudaWarpPinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

static GType gst_cuda_warp_pinned_allocator_get_type();
G_DEFINE_TYPE(GstCudaWarpPinnedAllocator, gst_cuda_warp_pinned_allocator, GST_TYPE_ALLOCATOR)

static GstCudaWarpPinnedAllocator* pinned(gpointer allocator) {
  return reinterpret_cast<GstCudaWarpPinnedAllocator*>(allocator);
}

static PinnedMemory* pinned_memory(GstMemory* memory) {
  return reinterpret_cast<PinnedMemory*>(memory);
}

// Ordinary memory that is locked afterwards: the driver's own would go with the context, under those who hold
// it.
static void* locked_block(GstCudaWarpPinnedAllocator* self, gsize size) {
  constexpr gsize kHugePage = 2 << 20;  // to lock a frame in these takes a third of the time
  static const gsize page = sysconf(_SC_PAGESIZE);
  const gsize unit = size >= kHugePage ? kHugePage : page;
  size = (size + unit - 1) / unit * unit;
  void* block = std::aligned_alloc(unit, size);
#ifdef MADV_HUGEPAGE
  if (block && unit == kHugePage) madvise(block, size, MADV_HUGEPAGE);  // a wish
#endif
  const cudawarp::Live live(self->context);
  cudawarp::Status failed = live.error();
  if (!failed && block) failed = cudawarp::lock_pages(block, size);
  if (!failed && block) {
    ++self->allocations;
    return block;
  }
  GST_WARNING_OBJECT(self, "cannot lock %" G_GSIZE_FORMAT " bytes of host memory: %s", size,
                     failed ? failed->words.c_str() : "there is no such memory");
  std::free(block);
  return nullptr;
}

static GstMemory* gst_cuda_warp_pinned_allocator_alloc(GstAllocator* allocator, gsize size,
                                                       GstAllocationParams* params) {
  const gsize whole = params->prefix + size + params->padding + params->align;
  void* block = whole > 0 ? locked_block(pinned(allocator), whole) : nullptr;
  if (!block) return gst_allocator_alloc(nullptr, size, params);
  if (params->flags & (GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED))
    std::memset(block, 0, whole);
  const auto at = (reinterpret_cast<uintptr_t>(block) + params->align) & ~uintptr_t{params->align};
  auto* memory = g_new0(PinnedMemory, 1);
  gst_memory_init(&memory->memory, params->flags, allocator, nullptr, params->prefix + size + params->padding,
                  params->align, params->prefix, size);
  memory->data = reinterpret_cast<uint8_t*>(at);
  memory->block = block;
  return &memory->memory;
}

static void gst_cuda_warp_pinned_allocator_free(GstAllocator* allocator, GstMemory* memory) {
  if (void* block = pinned_memory(memory)->block) {
    const cudawarp::Live live(pinned(allocator)->context);
    if (live)  // else the lock has gone with the context
      if (const auto failed = cudawarp::unlock_pages(block))
        GST_WARNING_OBJECT(allocator, "cannot unlock host memory: %s", failed->words.c_str());
    std::free(block);
  }
  g_free(memory);
}

static gpointer map(GstMemory* memory, gsize, GstMapFlags) {
  return pinned_memory(memory)->data;
}

static void unmap(GstMemory*) {}

static GstMemory* share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* parent = memory->parent ? memory->parent : memory;
  if (size < 0) size = static_cast<gssize>(memory->size) - offset;
  auto* part = g_new0(PinnedMemory, 1);
  gst_memory_init(
      &part->memory,
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, parent, memory->maxsize, memory->align, memory->offset + offset, size);
  part->data = pinned_memory(memory)->data;
  return &part->memory;
}

static void gst_cuda_warp_pinned_allocator_init(GstCudaWarpPinnedAllocator* self) {
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = cudawarp::kPinnedMemoryType;
  allocator->mem_map = map;
  allocator->mem_unmap = unmap;
  allocator->mem_share = share;
}

static void gst_cuda_warp_pinned_allocator_finalize(GObject* object) {
  gst_object_unref(pinned(object)->context);
  G_OBJECT_CLASS(gst_cuda_warp_pinned_allocator_parent_class)->finalize(object);
}

static void gst_cuda_warp_pinned_allocator_class_init(GstCudaWarpPinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = gst_cuda_warp_pinned_allocator_finalize;
  klass->parent_class.alloc = gst_cuda_warp_pinned_allocator_alloc;
  klass->parent_class.free = gst_cuda_warp_pinned_allocator_free;
}

namespace cudawarp {

GstAllocator* pinned_allocator_new(_GstCudaContext* context) {
  auto* allocator =
      static_cast<GstAllocator*>(g_object_new(gst_cuda_warp_pinned_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  pinned(allocator)->context = GST_CUDA_CONTEXT(gst_object_ref(context));
  return allocator;
}

guint64 pinned_allocations(GstAllocator* allocator) {
  return pinned(allocator)->allocations;
}

}  // namespace cudawarp
