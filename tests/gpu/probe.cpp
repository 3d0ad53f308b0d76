// Tries operations on a GPU without the program: gpu_probe count|copy|add|index|touch|order|nccl.
#include <ATen/ATen.h>
#include <torch/cuda.h>

#include <cstdio>
#include <exception>
#include <set>
#include <string>
#ifdef REGARD_NCCL
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "training/process_group_nccl.h"
#endif

namespace {

const c10::Device gpu(c10::kCUDA, 0);

// Returns the sum of three ones over one process; 0 if this build has no NCCL.
int sum_by_nccl() {
#ifdef REGARD_NCCL
  const auto nccl = regard::connect_by_nccl(c10::make_intrusive<c10d::HashStore>(), 0, 1,
                                            std::chrono::seconds(60));
  std::vector<at::Tensor> ones{at::ones({3}, gpu)};
  nccl->allreduce(ones)->wait();
  const auto sum = ones[0].sum().to(at::kCPU).item<float>();
  nccl->shutdown();
  return static_cast<int>(sum);
#else
  return 0;
#endif
}

int probe(const std::string& what) {
  if (what == "count") return static_cast<int>(torch::cuda::device_count());
  const auto here = at::arange(4, at::kFloat);
  const auto there = here.to(gpu);
  if (what == "copy")
    return static_cast<int>((there * 2 + here[1]).to(at::kCPU).sum().item<float>());
  if (what == "index")
    return static_cast<int>(there.index_select(0, at::zeros({1}, at::kLong)).dim());
  if (what == "order") {  // the number of different results of one sum
    const auto x = at::rand({1000}, at::kFloat).to(gpu);
    const auto index = at::zeros({1000}, at::kLong).to(gpu);
    std::set<float> sums;
    for (int i = 0; i < 20; ++i) {
      sums.insert(at::zeros({1}, x.options()).scatter_add(0, index, x).to(at::kCPU).item<float>());
    }
    return static_cast<int>(sums.size());
  }
  if (what == "nccl") return sum_by_nccl();
  if (what == "touch") return static_cast<int>(*there.const_data_ptr<float>());
  return static_cast<int>((there + here).dim());
}

}  // namespace

int main(int, char** argv) {
  try {
    return probe(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 99;
  }
}
