#include "kernels/fused.h"

#include <atomic>

namespace regard::kernels {
namespace {

std::atomic<bool> reference_wanted = false;

}  // namespace

bool is_fused_on(const torch::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble) &&
         !reference_wanted;
}

void use_reference(bool wanted) {
  reference_wanted = wanted;
}

}  // namespace regard::kernels
