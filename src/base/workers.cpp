#include "base/workers.h"

#include <algorithm>
#include <atomic>
#include <system_error>

#include "base/counted.h"
#include "base/error.h"

namespace regard {

Workers::Workers(std::size_t count, const std::function<void()>& begin) : thrown_(count) {
  try {
    for (std::size_t w = 1; w < count; ++w) {
      threads_.emplace_back([this, w, begin] {
        try {
          if (begin) begin();
        } catch (...) {
          thrown_[w] = std::current_exception();  // for the first run() to throw
        }
        serve(w);
      });
    }
  } catch (const std::system_error& error) {
    end();
    throw EnvironmentError(
        "only {} of {} could be started ({}); set threads to fewer, or raise the limit to "
        "processes "
        "(ulimit -u) or to memory (ulimit -v)",
        threads_.size() + 1, counted(count, "thread"), error.code().message());
  } catch (...) {
    end();
    throw;
  }
}

Workers::~Workers() {
  end();
}

void Workers::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Workers::run(const std::function<void(std::size_t)>& job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    working_ = threads_.size();
    ++round_;
  }
  wake_.notify_all();
  attempt(0);
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

void deal(Workers& workers, std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  workers.run([&](std::size_t) {
    for (auto i = next++; i < count; i = next++) job(i);
  });
}

void deal_groups(Workers& workers, std::size_t count, std::size_t size,
                 const std::function<void(std::size_t, std::size_t)>& job,
                 const std::function<void(std::int64_t)>& progress) {
  std::mutex mutex;
  std::size_t done = 0;
  deal(workers, (count + size - 1) / size, [&](std::size_t i) {
    const auto begin = i * size;
    const auto end = std::min(count, begin + size);
    job(begin, end);
    const std::lock_guard lock(mutex);
    done += end - begin;
    if (progress) progress(static_cast<std::int64_t>(done));
  });
}

void Workers::serve(std::size_t worker) {
  for (std::uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
    }
    attempt(worker);
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) done_.notify_one();
  }
}

void Workers::attempt(std::size_t worker) {
  try {
    (*job_)(worker);
  } catch (...) {
    thrown_[worker] = std::current_exception();
  }
}

}  // namespace regard
