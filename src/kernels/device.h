// The device of the tensors, the threads that compute on it, and the choice between the fused
// operations of this folder and their reference implementations.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/thread_pool.h"
#include "kernels/loops/products.h"

namespace regard {

// Returns the device of this name: "auto" (a CUDA device if there is one, else cpu), "cpu", "cuda"
// or "cuda:N". Of several processes that train together on this machine, number `process` takes the
// CUDA device of that number, unless the name has one. Throws ConfigError for any other name,
// EnvironmentError for a missing device.
torch::Device find_device(const std::string& name, std::size_t process = 0);

// Creates a pool of `threads` threads, or, if it is 0, of one thread for each processor that this
// process may use (base/cpu.h); a single thread on other devices than the CPU. Disables LibTorch's
// own threads. Must be called before the first tensor is created. Warns of more threads than
// processors.
std::unique_ptr<ThreadPool> make_thread_pool(std::int64_t threads, torch::Device device);

// True if the device is a GPU that multiplies in TF32, and in bf16: NVIDIA's since Ampere.
bool has_tf32(torch::Device device);

// Sets whether a GPU may compute products of fp32 numbers in TF32, in cuBLAS and in cuDNN. LibTorch
// allows it in cuDNN (the encoders with an LSTM or `reset_gate: after`, and convolutions) from the
// start. Holds for the whole process.
void allow_tf32(bool allowed);

// Returns x on the device. Does not wait for the device. While the operations of a thread are
// captured (CaptureScope), a copy from the CPU throws CannotBeCaptured: a graph would repeat it
// with old numbers.
torch::Tensor to_device(const torch::Tensor& x, torch::Device device);

// Returns x on the CPU, by way of pinned memory. Waits for the device.
torch::Tensor from_device(const torch::Tensor& x);

// Copies x into `to`, which is on the device. Does not wait for it.
void copy_to_device(const torch::Tensor& x, const torch::Tensor& to);

struct CannotBeCaptured : std::logic_error {
  using std::logic_error::logic_error;
};

// Lives while the operations of this thread are captured as a graph.
class CaptureScope {
 public:
  CaptureScope();
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
};

}  // namespace regard

namespace regard::kernels {

// Returns the precision of this name in which a search packs weights: "fp32", "bf16", "int8", or
// "auto": bf16 on processors where it is faster, else fp32. "tf32" is Precision::full: it is
// LibTorch that multiplies so, if allow_tf32() allows it. Throws ConfigError for any other name,
// EnvironmentError if the device cannot multiply in this precision.
Precision find_precision(const std::string& name, torch::Device device);
// True if a search in the precision of this name needs allow_tf32(true): "tf32", or "auto" on a GPU
// that has it.
bool is_tf32_search(const std::string& name, torch::Device device);

// True if the fused operations can run on x: on the CPU in single or double precision, unless
// use_reference(true) was called.
bool is_fused_on(const torch::Tensor& x);

// True if x is in single precision on a device that has the operators of row_operators.h and
// loop_operators.h, a GPU of NVIDIA since Ampere, unless use_reference(true) was called.
bool has_kernel_operators(const torch::Tensor& x);

// For benchmarks and tests only. From now on, all threads use the reference implementations:
// LibTorch's operations, with autograd through each step. use_reference(false) undoes this.
void use_reference(bool wanted);

}  // namespace regard::kernels
