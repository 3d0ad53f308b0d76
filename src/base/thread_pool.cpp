#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <system_error>

#include "base/error.h"
#include "base/strings.h"

namespace regard {

ThreadPool::ThreadPool(std::size_t count, const std::function<void()>& begin) : thrown_(count) {
  try {
    for (std::size_t w = 1; w < count; ++w) start(w, count);
    if (!begin) return;
    run([&](std::size_t w) {
      if (w > 0) begin();
    });
  } catch (...) {
    end();
    throw;
  }
}

void ThreadPool::start(std::size_t thread, std::size_t count) {
  try {
    threads_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error& error) {
    throw EnvironmentError(
        "only {} of {} could be started ({}); reduce `threads`, or raise the limit on processes "
        "(ulimit -u) or on memory (ulimit -v)",
        threads_.size() + 1, counted(count, "thread"), error.code().message());
  }
}

ThreadPool::~ThreadPool() {
  end();
}

void ThreadPool::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::run(const std::function<void(std::size_t)>& job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    working_ = threads_.size();
    ++round_;
  }
  wake_.notify_all();
  run_job(0);
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return working_ == 0; });
  }
  std::exception_ptr first;
  for (auto& thrown : thrown_) {
    if (thrown && !first) first = thrown;
    thrown = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void parallel_for(ThreadPool& pool, std::size_t count,
                  const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed = count;  // the lowest i that threw
  std::exception_ptr error;
  pool.run([&](std::size_t) {
    for (auto i = next++; i < count; i = next++) {
      try {
        job(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) error = std::current_exception();
        failed = std::min(failed, i);
        next = count;
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

void parallel_for_ranges(ThreadPool& pool, std::size_t count, std::size_t size,
                         const std::function<void(std::size_t, std::size_t)>& job,
                         const std::function<void(std::int64_t)>& progress) {
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(pool, (count + size - 1) / size, [&](std::size_t i) {
    const auto begin = i * size;
    const auto end = std::min(count, begin + size);
    job(begin, end);
    const std::lock_guard lock(mutex);
    done += end - begin;
    if (progress) progress(static_cast<std::int64_t>(done));
  });
}

void ThreadPool::serve(std::size_t thread) {
  for (std::uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
    }
    run_job(thread);
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) done_.notify_one();
  }
}

void ThreadPool::run_job(std::size_t thread) {
  try {
    (*job_)(thread);
  } catch (...) {
    thrown_[thread] = std::current_exception();
  }
}

}  // namespace regard
