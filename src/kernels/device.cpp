#include "kernels/device.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/DeviceGuard.h>
#include <torch/cuda.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <atomic>

#include "base/cpu.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"

namespace regard {

torch::Device find_device(const std::string& name, std::size_t process) {
  if (name == "cpu") return torch::kCPU;
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (name == "auto" && count == 0) return torch::kCPU;
  auto index = static_cast<int>(process);
  const bool has_index = name != "cuda" && name != "auto";
  if (has_index) {
    const std::string_view prefix = "cuda:";
    index =
        name.starts_with(prefix) ? parse_number<int>(name.substr(prefix.size())).value_or(-1) : -1;
    if (index < 0) {
      throw ConfigError("device: found `{}`, expected auto, cpu, cuda or cuda:N", name);
    }
  }
  if (index >= count && process > 0 && !has_index) {
    throw EnvironmentError(
        "device: {} processes or more train on this machine, which has {}; start one process for "
        "each device",
        process + 1, counted(count, "CUDA device"));
  }
  if (index >= count) {
    throw EnvironmentError(
        "device: {} was asked for, but this machine has {} that LibTorch {} can use; say "
        "device=cpu, or device=auto to take what there is",
        name, counted(count, "CUDA device"), TORCH_VERSION);
  }
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(index)};
}

std::unique_ptr<ThreadPool> make_thread_pool(std::int64_t threads, torch::Device device) {
  const auto usable = usable_processors();
  if (threads > usable) {
    log::warning("threads: {} were asked for, but this process may use {}", threads,
                 counted(usable, "processor"));
  }
  if (!device.is_cpu()) return std::make_unique<ThreadPool>(1);
  at::set_num_threads(1);
  // MKL chooses the code of its vector functions (tanh, exp, …) in the first call, without a lock:
  // of two threads that make it at once, one may get other code, and so other last bits.
  at::tanh(torch::zeros({1}));
  const auto count = threads > 0 ? threads : usable;
  return std::make_unique<ThreadPool>(static_cast<std::size_t>(count),
                                      [] { at::init_num_threads(); });
}

bool has_tf32(torch::Device device) {
  if (!device.is_cuda()) return false;
  // The condition of LibTorch is a compute capability of 8 or more, of the current device.
  const c10::DeviceGuard guard(device);
  return at::detail::getCUDAHooks().supportsBFloat16ConvolutionWithCuDNNv8();
}

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

namespace {

thread_local bool is_capturing = false;

}  // namespace

CaptureScope::CaptureScope() {
  is_capturing = true;
}

CaptureScope::~CaptureScope() {
  is_capturing = false;
}

torch::Tensor to_device(const torch::Tensor& x, torch::Device device) {
  if (x.device() == device || !device.is_cuda()) return x.to(device);
  if (is_capturing) throw CannotBeCaptured("a step copies numbers from the CPU");
  return x.pin_memory().to(device, /*non_blocking=*/true);
}

torch::Tensor from_device(const torch::Tensor& x) {
  if (!x.is_cuda()) return x.cpu();
  auto here = torch::empty(x.sizes(), x.options().device(torch::kCPU).pinned_memory(true));
  return here.copy_(x);
}

void copy_to_device(const torch::Tensor& x, const torch::Tensor& to) {
  to.copy_(to.is_cuda() ? x.pin_memory() : x, /*non_blocking=*/true);
}

}  // namespace regard

namespace regard::kernels {
namespace {

// True if products in bf16 are faster than in fp32. With AVX512-BF16 alone, processors of Intel
// multiply in 0.7 of the speed of fp32.
bool has_fast_bf16_products() {
#if defined(__x86_64__)
  return can_multiply(Precision::bf16) && (has_amx_products() || !__builtin_cpu_is("intel"));
#else
  return can_multiply(Precision::bf16);
#endif
}

}  // namespace

Precision find_precision(const std::string& name, torch::Device device) {
  if (name == "auto") {
    return device.is_cpu() && has_fast_bf16_products() ? Precision::bf16 : Precision::full;
  }
  const bool on_gpu = !device.is_cpu();
  const auto check = [&](bool can_multiply, std::string_view needed) {
    if (can_multiply) return;
    throw EnvironmentError("precision: found {}, which needs {}; use auto or fp32", name, needed);
  };
  if (name == "fp32") return Precision::full;
  if (name == "tf32") {
    check(has_tf32(device), "a GPU that has it (NVIDIA, since Ampere)");
    return Precision::full;
  }
  if (name == "bf16") {
    check(on_gpu ? has_tf32(device) : can_multiply(Precision::bf16),
          on_gpu ? "a GPU that has it (NVIDIA, since Ampere)" : "a processor with AVX512-BF16");
    return Precision::bf16;
  }
  if (name == "int8") {
    check(!on_gpu && can_multiply(Precision::int8),
          on_gpu ? "device=cpu" : "a processor with AVX512-VNNI");
    return Precision::int8;
  }
  throw ConfigError("precision: found `{}`, expected auto, fp32, tf32, bf16 or int8", name);
}

bool is_tf32_search(const std::string& name, torch::Device device) {
  return name == "tf32" || (name == "auto" && has_tf32(device));
}

namespace {

std::atomic<bool> reference_wanted = false;

}  // namespace

bool is_fused_on(const torch::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble) &&
         !reference_wanted;
}

#ifdef REGARD_CUDA_KERNELS
void link_cuda_kernels();  // cuda_kernels.cpp
#endif

bool has_kernel_operators(const torch::Tensor& x) {
#ifdef REGARD_CUDA_KERNELS
  link_cuda_kernels();
#endif
  if (!x.is_cuda() || x.scalar_type() != torch::kFloat || reference_wanted) return false;
  static const bool on_cuda = c10::Dispatcher::singleton()
                                  .findSchemaOrThrow("regard::dropout", "")
                                  .hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA);
  // The kernels are compiled for the GPUs that have TF32 (cmake/Torch.cmake).
  return on_cuda && has_tf32(x.device());
}

void use_reference(bool wanted) {
  reference_wanted = wanted;
}

}  // namespace regard::kernels
