// A fixed set of threads that run a job together.
//
// regard is parallel over data only: each thread processes its own sentences, and no operation,
// such as a matrix product, uses several threads. At the sizes of translation models this is faster
// than threads inside each product. Idle threads sleep.
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
  // Starts count - 1 threads, each of which calls `begin` once, and waits for these calls; the
  // thread that calls run() is thread 0. count >= 1. Rethrows what `begin` throws, as run() does.
  // Throws EnvironmentError if the system cannot start the threads.
  explicit ThreadPool(std::size_t count = 1, const std::function<void()>& begin = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t count() const { return threads_.size() + 1; }
  // Runs job(w) on every thread w = 0 … count − 1 and waits. If several throw, rethrows the
  // exception of the lowest-numbered thread. Not reentrant; one thread may call it at a time.
  void run(const std::function<void(std::size_t)>& job);

 private:
  void start(std::size_t thread, std::size_t count);  // throws EnvironmentError
  void serve(std::size_t thread);                     // runs every job until end()
  void end();                                         // stops and joins the threads
  void run_job(std::size_t thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::uint64_t round_ = 0;  // number of the latest job
  std::size_t working_ = 0;  // started threads that have not finished the latest job
  bool ending_ = false;
  std::vector<std::exception_ptr> thrown_;  // one per thread
};

// Runs job(i) once for each i = 0 … count − 1, on the next free thread, and waits. Starts no
// further i after an exception, and rethrows that of the lowest i, which does not depend on the
// threads.
void parallel_for(ThreadPool& pool, std::size_t count, const std::function<void(std::size_t)>& job);

// Splits `count` items into ranges of `size` > 0 items and runs job(begin, end) once for each, on
// the next free thread; throws as parallel_for() does. After each range, calls `progress`, if set,
// with the number of items done so far. Calls of `progress` do not overlap.
void parallel_for_ranges(ThreadPool& pool, std::size_t count, std::size_t size,
                         const std::function<void(std::size_t, std::size_t)>& job,
                         const std::function<void(std::int64_t)>& progress = {});

}  // namespace regard
