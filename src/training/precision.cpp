#include "training/precision.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/field.h"
#include "kernels/device.h"
#include "kernels/loops/products.h"

namespace regard {

TrainingPrecision resolve_precision(TrainingPrecision wanted, torch::Device device,
                                    std::optional<TrainingPrecision> recorded) {
  using enum TrainingPrecision;
  const bool has_bf16 =
      device.is_cuda() ? has_tf32(device) : kernels::can_multiply(kernels::Precision::bf16);
  auto precision = wanted;
  if (wanted == automatic && recorded) {
    // Runs of versions without this option were in single precision.
    precision = *recorded == automatic ? fp32 : *recorded;
  } else if (wanted == automatic) {
    precision = has_tf32(device)                                                      ? tf32
                : kernels::find_precision("auto", device) == kernels::Precision::bf16 ? bf16
                                                                                      : fp32;
  }
  const bool is_missing =
      (precision == bf16 && !has_bf16) || (precision == tf32 && !has_tf32(device));
  if (!is_missing) return precision;
  throw EnvironmentError(
      "training.precision: {}{}, which {} on this machine does not have; set training.precision to "
      "fp32",
      wanted == automatic ? "this run was started in " : "found ", enum_name(precision),
      precision == tf32 || !device.is_cpu() ? fmt::format("the device {}", device.str())
                                            : "the processor");
}

}  // namespace regard
