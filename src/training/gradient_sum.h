// The sum of the gradients that several threads compute for shards of a batch.
//
//   g = g_0 + g_1 + … + g_{n−1}      g_i: the gradient for one shard
//
// Terms are added parameter by parameter, while the backward passes are running. The terms of each
// parameter are added in the order 0 … n − 1, so that rounding does not depend on thread timing. A
// term that is computed before its turn is buffered. The buffer is limited to twice the memory of
// the weights; if a term does not fit, its thread waits for its turn. So memory does not grow with
// the number of threads.
//
// Parts of the sum are handed on as soon as they are complete, so that several processes can add up
// theirs while the backward pass still computes others (Li et al. 2020, PyTorch Distributed).
#pragma once

#include <torch/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/gradient_factors.h"
#include "optim/parameter_buffer.h"

namespace regard {

class GradientSum {
 public:
  // Registers a hook on each parameter of `weights` that requires a gradient. The gradient of the
  // others is 0. The destructor removes the hooks.
  explicit GradientSum(const ParameterBuffer& weights);
  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Called with the numbers [begin, end) of flat() when they are complete: for consecutive parts
  // from the end of the buffer to its beginning, whichever is complete first. Must not wait long.
  // Calls do not overlap, but come from any thread that adds.
  using OnPart = std::function<void(std::int64_t begin, std::int64_t end)>;

  // Starts a new sum. Its terms are numbered from 0. If `on_part` is given, there must be `terms`
  // of them; parts that are not complete before finish() are handed on by it, also after a fail().
  void begin(std::size_t terms = 0, OnPart on_part = {});

  // Runs the backward pass of a scalar `objective` and adds the gradient as term number `term`.
  // Thread-safe. Each term must be added or skipped exactly once, and each thread must process its
  // terms in ascending order: otherwise other threads would wait forever. A thread that cannot do
  // this must call fail().
  void add(std::size_t term, const torch::Tensor& objective);
  // Counts the term as zero. Thread-safe.
  void skip(std::size_t term);
  // Ends the sum with an error, which finish() rethrows. add() and skip() then throw, also in
  // threads that are waiting. Thread-safe.
  void fail(std::exception_ptr error);

  // Adds what the shards have noted in their backward passes. Must be called once, after all
  // threads have returned from add() and skip(), and only without on_part.
  void add_factors(std::span<kernels::GradientFactors> of_shards, ThreadPool& pool);

  // Completes the sum. Must be called after all threads have returned from add() and skip().
  // Rethrows the error of the first fail().
  void finish();

  // Returns the sum, a flat buffer with the layout of the weights.
  const torch::Tensor& flat() const { return gradient_.flat(); }

 private:
  struct RunningTerm;
  // The sum of the gradients of one parameter.
  struct Entry {
    std::size_t next = 0;                          // number of the next term to add
    bool has_value = false;                        // false: the sum is zero, its memory unset
    std::map<std::size_t, torch::Tensor> waiting;  // buffered terms; undefined: zero
  };

  // A range of the flat buffer with whole parameters.
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t parameters = 0;
    std::size_t incomplete = 0;  // parameters of this sum
  };

  // Called by autograd when the gradient of a parameter is ready.
  torch::Tensor hook(std::size_t parameter, const torch::Tensor& gradient);
  // Adds the gradient if it is the term's turn; otherwise buffers it or waits.
  void add_in_order(std::size_t parameter, std::size_t term, torch::Tensor gradient);
  void accumulate(std::size_t parameter, const torch::Tensor& gradient);
  // Adds the gradients of all parameters with few operations.
  void accumulate_all(const std::vector<torch::Tensor>& gradients);
  // Counts a parameter as complete and hands on the parts that are.
  void complete(std::size_t parameter);
  void hand_on_next_part();

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> trained_;      // the parameters that require a gradient
  std::vector<std::size_t> trained_index_;  // of each in parameters_
  std::vector<unsigned> hooks_;             // of each
  ParameterBuffer gradient_;
  std::int64_t max_buffered_bytes_;   // limit of buffered_bytes_, in bytes
  RunningTerm* on_device_ = nullptr;  // the term whose backward pass runs, not on the CPU
  std::vector<Part> parts_;           // from the end of the buffer to its beginning
  std::vector<std::size_t> part_of_;  // by parameter

  std::mutex mutex_;                      // guards the members below
  std::condition_variable turn_changed_;  // notified if Entry::next or error_ changed
  std::vector<Entry> entries_;
  std::int64_t buffered_bytes_ = 0;  // size of the buffered gradients, in bytes
  std::size_t terms_ = 0;            // only with on_part_
  OnPart on_part_;
  std::size_t next_part_ = 0;
  std::exception_ptr error_;
};

}  // namespace regard
