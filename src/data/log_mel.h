// Sound as features: log-mel filterbanks of WAV files.
//
// The sound x, scaled to [-1, 1), is divided into frames of `window` milliseconds, one every `hop`
// milliseconds; zeros complete the last one, so that every sample is in a frame. For each frame
//
//   y_n = x_n − 0.97 x_{n−1}                 pre-emphasis
//   P_k = |Σ_n w_n y_n e^(−2πikn/N)|²        N: the next power of two; w: Hann's window,
//                                            periodic: ½ − ½ cos(2πn / window)
//   f_m = log max(Σ_k M_mk P_k, 1e-10)       M: `bins` triangles of equal width in mel, from 20 Hz
//                                            to half of the rate; mel(f) = 1127 ln(1 + f / 700)
//
// and the numbers of each bin are then normalised to mean 0 and variance 1: over the item, or over
// all items of a training set.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "data/wav_file.h"

namespace regard {

enum class FeatureNormalisation { item, global, none };
constexpr std::array<std::string_view, 3> enum_names(FeatureNormalisation) {
  return {"item", "global", "none"};
}

struct LogMelOptions {
  std::int64_t rate = 16000;  // samples per second
  std::int64_t bins = 80;
  double window = 25;  // milliseconds
  double hop = 10;
  FeatureNormalisation normalisation = FeatureNormalisation::item;
};

// Immutable, so threads can share it.
class LogMel {
 public:
  // Throws ConfigError if a window has fewer than two samples, a hop has none, or a mel bin is
  // narrower than the frequencies that the window tells apart.
  explicit LogMel(const LogMelOptions& options);

  // Returns the number of frames of a sound of this many samples.
  std::int64_t frames(std::int64_t samples) const;
  // Returns the features of a sound, double [frames, bins], not normalised. Throws InputError if
  // the rate is not that of the options.
  torch::Tensor operator()(const WavFile& wav) const;

 private:
  LogMelOptions options_;
  std::int64_t window_;  // in samples
  std::int64_t hop_;
  std::int64_t transform_;  // N
  torch::Tensor hann_;      // [window]
  torch::Tensor filters_;   // M transposed, [N / 2 + 1, bins]
};

// Mean and 1 / standard deviation of each bin, both double [bins].
struct FeatureStatistics {
  torch::Tensor mean;
  torch::Tensor scale;
};

// Adds up the numbers of each bin.
class FeatureSums {
 public:
  explicit FeatureSums(std::int64_t bins);
  void add(const torch::Tensor& features);  // double [frames, bins]
  FeatureStatistics statistics() const;

 private:
  std::int64_t count_ = 0;
  torch::Tensor sum_;      // [bins]
  torch::Tensor squares_;  // [bins]
};

// Returns (features − mean) · scale in single precision.
torch::Tensor normalised(const torch::Tensor& features, const FeatureStatistics& statistics);

}  // namespace regard
