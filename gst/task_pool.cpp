// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task_pool.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace cudawarp {
namespace {

struct Work {
  const std::function<void(int)>& job;
  int count;
  std::atomic<int> next{0};
};

void work_off(gpointer data) {
  auto* work = static_cast<Work*>(data);
  for (int k = work->next++; k < work->count; k = work->next++) work->job(k);
}

}  // namespace

TaskPool::TaskPool() : pool_(gst_shared_task_pool_new()), threads_(static_cast<int>(g_get_num_processors())) {
  gst_shared_task_pool_set_max_threads(GST_SHARED_TASK_POOL(pool_), threads_);
  gst_task_pool_prepare(pool_, nullptr);
}

TaskPool::~TaskPool() {
  gst_task_pool_cleanup(pool_);
  gst_object_unref(pool_);
}

void TaskPool::run(int count, const std::function<void(int)>& job) const {
  Work work{job, count};
  std::vector<gpointer> helpers;
  for (int k = 1; k < std::min(threads_, count); ++k)
    if (gpointer id = gst_task_pool_push(pool_, work_off, &work, nullptr)) helpers.push_back(id);
  work_off(&work);  // all of it, where no helper came
  for (gpointer id : helpers) gst_task_pool_join(pool_, id);
}

}  // namespace cudawarp
