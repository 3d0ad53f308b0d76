// A fixed set of threads that do a job together.
//
// regard works in parallel in one way only: each worker has a share of the data and does its
// arithmetic on one thread. Products of the sizes met here gain more from that than from threads
// inside each product, and idle workers sleep.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace regard {

class Workers {
 public:
  // `count` at least 1; the calling thread is worker 0. `begin` runs once in each other thread.
  // EnvironmentError where the system gives no more threads.
  explicit Workers(std::size_t count = 1, const std::function<void()>& begin = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t count() const { return threads_.size() + 1; }
  // job(w) for w = 0 … count − 1 at once; returns when all have. Of what they throw, the lowest
  // worker's is thrown on. Not to be called from within a job.
  void run(const std::function<void(std::size_t)>& job);

 private:
  void serve(std::size_t worker);
  void end();
  void attempt(std::size_t worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::uint64_t round_ = 0;  // of the latest job
  std::size_t working_ = 0;
  bool ending_ = false;
  std::vector<std::exception_ptr> thrown_;
};

// job(i) for i = 0 … count − 1, each once, by whichever worker is free.
void deal(Workers& workers, std::size_t count, const std::function<void(std::size_t)>& job);

// The same for `count` items in groups of `size` > 0: job(begin, end). `progress`, where there is
// one, hears after each group how many items are done, from one worker at a time.
void deal_groups(Workers& workers, std::size_t count, std::size_t size,
                 const std::function<void(std::size_t, std::size_t)>& job,
                 const std::function<void(std::int64_t)>& progress = {});

}  // namespace regard
