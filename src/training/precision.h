// The precision of a training.
#pragma once

#include <torch/types.h>

#include <optional>

#include "config/options.h"

namespace regard {

// Returns the precision in which this machine trains: a precision other than `automatic` itself,
// `recorded` if that is given, or the fastest that the device has. Throws EnvironmentError if the
// device does not have it.
TrainingPrecision resolve_precision(TrainingPrecision wanted, torch::Device device,
                                    std::optional<TrainingPrecision> recorded = std::nullopt);

}  // namespace regard
