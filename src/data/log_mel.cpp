#include "data/log_mel.h"

#include <torch/fft.h>
#include <torch/utils.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/strings.h"

namespace regard {
namespace {

constexpr double pre_emphasis = 0.97;
constexpr double lowest_frequency = 20;
constexpr double smallest_energy = 1e-10;
constexpr double smallest_deviation = 1e-5;

double mel(double frequency) {
  return 1127 * std::log1p(frequency / 700);
}

std::int64_t samples_in(double milliseconds, std::int64_t rate) {
  return std::llround(milliseconds * static_cast<double>(rate) / 1000);
}

}  // namespace

LogMel::LogMel(const LogMelOptions& options)
    : options_(options),
      window_(samples_in(options.window, options.rate)),
      hop_(samples_in(options.hop, options.rate)) {
  if (window_ < 2 || hop_ < 1) {
    throw ConfigError(
        "features: a window of {} ms has {} at {} Hz and a hop of {} ms {}, expected at least 2 "
        "and 1; raise --window or --hop",
        options.window, counted(window_, "sample"), options.rate, options.hop, hop_);
  }
  transform_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(window_)));
  const auto positions = torch::arange(window_, torch::kDouble);
  hann_ = 0.5 - 0.5 * (positions * (2 * std::numbers::pi / static_cast<double>(window_))).cos();
  const auto K = transform_ / 2 + 1;
  filters_ = torch::zeros({K, options.bins}, torch::kDouble);
  const auto top = static_cast<double>(options.rate) / 2;
  const auto low = mel(lowest_frequency);
  const auto width = (mel(top) - low) / static_cast<double>(options.bins + 1);
  auto* M = filters_.data_ptr<double>();
  std::vector<bool> is_empty(static_cast<std::size_t>(options.bins), true);
  for (std::int64_t k = 0; k < K; ++k) {
    const auto frequency = static_cast<double>(k) * static_cast<double>(options.rate) /
                           static_cast<double>(transform_);
    for (std::int64_t m = 0; m < options.bins; ++m) {
      const auto centre = low + width * static_cast<double>(m + 1);
      const auto height = 1 - std::abs(mel(frequency) - centre) / width;
      if (height <= 0) continue;
      M[k * options.bins + m] = height;
      is_empty[static_cast<std::size_t>(m)] = false;
    }
  }
  for (const bool empty : is_empty) {
    if (!empty) continue;
    throw ConfigError(
        "features: {} mel bins are narrower than the frequencies of a window of {} ms at {} Hz; "
        "use fewer --bins, or a longer --window",
        options.bins, options.window, options.rate);
  }
}

std::int64_t LogMel::frames(std::int64_t samples) const {
  if (samples == 0) return 0;
  return 1 + (std::max<std::int64_t>(0, samples - window_) + hop_ - 1) / hop_;
}

torch::Tensor LogMel::operator()(const WavFile& wav) const {
  if (wav.rate() != options_.rate) {
    throw InputError("found {} Hz, expected {} (--rate); convert it, for example with sox",
                     wav.rate(), options_.rate);
  }
  const auto n = frames(wav.size());
  if (n == 0) return torch::zeros({0, options_.bins}, torch::kDouble);
  auto y = torch::zeros({(n - 1) * hop_ + window_}, torch::kDouble);
  auto* to = y.data_ptr<double>();
  double before = 0;
  for (std::int64_t i = 0; i < wav.size(); ++i) {
    const auto x = wav.sample(i);
    to[i] = x - pre_emphasis * before;
    before = x;
  }
  const auto framed = y.unfold(0, window_, hop_) * hann_;  // [frames, window]
  const auto spectrum = torch::fft::rfft(framed, transform_);
  const auto power = torch::view_as_real(spectrum).square().sum(-1);  // [frames, N / 2 + 1]
  return power.matmul(filters_).clamp_min(smallest_energy).log();
}

FeatureSums::FeatureSums(std::int64_t bins)
    : sum_(torch::zeros({bins}, torch::kDouble)), squares_(torch::zeros_like(sum_)) {}

void FeatureSums::add(const torch::Tensor& features) {
  count_ += features.size(0);
  sum_ += features.sum(0);
  squares_ += features.square().sum(0);
}

FeatureStatistics FeatureSums::statistics() const {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, count_));
  const auto mean = sum_ / count;
  const auto variance = (squares_ / count - mean.square()).clamp_min(0);
  return {mean, variance.sqrt().clamp_min(smallest_deviation).reciprocal()};
}

torch::Tensor normalised(const torch::Tensor& features, const FeatureStatistics& statistics) {
  return ((features - statistics.mean) * statistics.scale).to(torch::kFloat).contiguous();
}

}  // namespace regard
