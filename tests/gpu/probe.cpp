// Tries operations on a GPU without regard: gpu_probe count|copy|add|index|touch|order.
#include <ATen/ATen.h>
#include <torch/cuda.h>

#include <cstdio>
#include <exception>
#include <set>
#include <string>

namespace {

const c10::Device gpu(c10::kCUDA, 0);

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
