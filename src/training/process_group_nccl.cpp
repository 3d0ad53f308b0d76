#include "training/process_group_nccl.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace regard {

std::string gpu_identity(torch::Device device) {
  if (c10d::getNcclVersion() != fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH))
    return "";
  std::string identity;
  for (const char byte : at::cuda::getDeviceProperties(device.index())->uuid.bytes) {
    identity += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return identity;
}

c10::intrusive_ptr<c10d::Backend> connect_by_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                                  std::size_t rank, std::size_t size,
                                                  std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, static_cast<int>(rank),
                                                     static_cast<int>(size), options);
}

}  // namespace regard
