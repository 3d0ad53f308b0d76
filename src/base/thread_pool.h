// A fixed set of threads that run a job together.
//
// regard is parallel over data only: each thread processes its own part and computes on one thread.
// For matrix products of this size that is faster than threads inside each product. Idle threads
// sleep.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace regard {

class ThreadPool {
 public:
  // Starts count - 1 threads; the calling thread is thread 0. count >= 1. Each new thread calls
  // `begin` once. Throws EnvironmentError if the system cannot start the threads.
  explicit ThreadPool(std::size_t count = 1, const std::function<void()>& begin = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t count() const { return threads_.size() + 1; }
  // Runs job(w) on every thread w = 0 … count − 1 and waits. If several throw, rethrows the
  // exception of the lowest-numbered thread. Not reentrant.
  void run(const std::function<void(std::size_t)>& job);

 private:
  void serve(std::size_t thread);
  void end();
  void run_job(std::size_t thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::uint64_t round_ = 0;  // number of the latest job
  std::size_t working_ = 0;
  bool ending_ = false;
  std::vector<std::exception_ptr> thrown_;
};

// Runs job(i) once for each i = 0 … count − 1, on the next free thread.
void parallel_for(ThreadPool& pool, std::size_t count, const std::function<void(std::size_t)>& job);

// Splits `count` items into ranges of `size` > 0 items and runs job(begin, end) once for each, on
// the next free thread. After each range, calls `progress`, if set, with the number of items done;
// calls do not overlap.
void parallel_for_ranges(ThreadPool& pool, std::size_t count, std::size_t size,
                         const std::function<void(std::size_t, std::size_t)>& job,
                         const std::function<void(std::int64_t)>& progress = {});

}  // namespace regard
