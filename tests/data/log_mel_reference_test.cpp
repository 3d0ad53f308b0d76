#include "data/log_mel.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/wav_bytes.h"

namespace regard::log_mel_reference_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t rate = 4000;
constexpr LogMelOptions options{.rate = rate, .bins = 6, .window = 12, .hop = 5};

std::vector<std::int16_t> sound(std::size_t n) {
  std::vector<std::int16_t> samples;
  for (std::size_t i = 0; i < n; ++i) {
    const auto t = static_cast<double>(i);
    samples.push_back(static_cast<std::int16_t>(9000 * std::sin(0.3 * t + 0.0004 * t * t) +
                                                static_cast<double>(i * 7919 % 2001) - 1000));
  }
  return samples;
}

// The equations of log_mel.h, number by number.
std::vector<double> frame_of(const std::vector<std::int16_t>& samples, std::size_t begin) {
  constexpr int window = 48;
  constexpr int N = 64;
  const auto x = [&](std::int64_t i) {
    return i < 0 || i >= std::ssize(samples) ? 0.0 : samples[static_cast<std::size_t>(i)] / 32768.0;
  };
  std::vector<double> power;
  for (int k = 0; k <= N / 2; ++k) {
    std::complex<double> sum;
    for (int n = 0; n < window; ++n) {
      const auto at = static_cast<std::int64_t>(begin) + n;
      const auto y = at < std::ssize(samples) ? x(at) - 0.97 * x(at - 1) : 0.0;
      const auto w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * n / window);
      sum += w * y * std::polar(1.0, -2 * std::numbers::pi * k * n / N);
    }
    power.push_back(std::norm(sum));
  }
  const auto mel = [](double f) { return 1127 * std::log(1 + f / 700); };
  std::vector<double> energies;
  const auto step = (mel(rate / 2.0) - mel(20)) / 7;
  for (int m = 1; m <= 6; ++m) {
    double energy = 0;
    for (int k = 0; k <= N / 2; ++k) {
      const auto from_left = (mel(1.0 * k * rate / N) - mel(20)) / step - (m - 1);
      energy +=
          std::max(0.0, std::min(from_left, 2 - from_left)) * power[static_cast<std::size_t>(k)];
    }
    energies.push_back(std::log(std::max(energy, 1e-10)));
  }
  return energies;
}

class LogMelReference : public testing::Test {
 protected:
  WavFile wav(const std::vector<std::int16_t>& samples, std::int64_t of_rate = rate) const {
    return WavFile(folder_.write("x.wav", wav_bytes(samples, of_rate)));
  }
  std::string fault_of(const std::string& bytes) const {
    return message_of<InputError>([&] { const WavFile file(folder_.write("bad.wav", bytes)); });
  }
  ScratchFolder folder_;
};

TEST_F(LogMelReference, EachFrameFollowsTheEquationsAndNoSampleIsLeftOut) {
  const LogMel log_mel(options);
  for (const std::size_t n : {1UL, 47UL, 48UL, 49UL, 68UL, 69UL, 500UL}) {
    const auto samples = sound(n);
    const auto features = log_mel(wav(samples));
    // The last frame has the last sample, and the one before it does not.
    const auto frames = log_mel.frames(static_cast<std::int64_t>(n));
    ASSERT_EQ(features.size(0), frames);
    EXPECT_GE((frames - 1) * 20 + 48, static_cast<std::int64_t>(n));
    if (frames > 1) {
      EXPECT_LT((frames - 2) * 20 + 48, static_cast<std::int64_t>(n));
    }
    for (std::int64_t t = 0; t < frames; ++t) {
      const auto expected = frame_of(samples, static_cast<std::size_t>(20 * t));
      for (std::int64_t m = 0; m < 6; ++m) {
        EXPECT_NEAR(features[t][m].item<double>(), expected[static_cast<std::size_t>(m)], 1e-9)
            << "n " << n << ", frame " << t << ", bin " << m;
      }
    }
  }
  EXPECT_EQ(log_mel.frames(0), 0);
}

TEST_F(LogMelReference, NormalisedFeaturesHaveMean0AndVariance1) {
  const auto features = LogMel(options)(wav(sound(900)));
  FeatureSums sums(6);
  sums.add(features.slice(0, 0, 10));
  sums.add(features.slice(0, 10));
  const auto x = normalised(features, sums.statistics()).to(torch::kDouble);
  EXPECT_TRUE(torch::allclose(x.mean(0), torch::zeros({6}, torch::kDouble), 0, 1e-6));
  EXPECT_TRUE(torch::allclose(x.var(0, false), torch::ones({6}, torch::kDouble), 1e-6));
}

TEST_F(LogMelReference, SilenceIsFinite) {
  const auto features = LogMel(options)(wav(std::vector<std::int16_t>(200, 0)));
  FeatureSums sums(6);
  sums.add(features);
  const auto x = normalised(features, sums.statistics());
  EXPECT_TRUE(torch::allclose(x, torch::zeros_like(x), 0, 1e-6));
}

TEST_F(LogMelReference, AnotherRateIsAnError) {
  EXPECT_THAT([&] { LogMel{options}(wav(sound(100), 8000)); },
              testing::ThrowsMessage<InputError>(HasSubstr("found 8000 Hz, expected 4000")));
}

TEST_F(LogMelReference, BinsThatNoFrequencyReachesAreAnError) {
  auto many = options;
  many.bins = 60;
  EXPECT_THROW(LogMel{many}, ConfigError);
  auto empty = options;
  empty.window = 0.2;
  EXPECT_THROW(LogMel{empty}, ConfigError);
}

TEST_F(LogMelReference, OtherWavFilesAreErrorsThatSayWhatWasFound) {
  const auto good = wav_bytes(sound(10), rate);
  EXPECT_EQ(fault_of(good), "");
  const auto with = [&](std::size_t at, char value) {
    auto bytes = good;
    bytes[at] = value;
    return fault_of(bytes);
  };
  EXPECT_THAT(with(20, 3), AllOf(HasSubstr("bad.wav: found WAV format 3"), HasSubstr("PCM")));
  EXPECT_THAT(with(22, 2), HasSubstr("found 2 channels, expected 1"));
  EXPECT_THAT(with(34, 24), HasSubstr("samples of 24 bits, expected 16"));
  EXPECT_THAT(with(0, 'X'), HasSubstr("found no WAV file"));
  EXPECT_THAT(with(36, 'X'), HasSubstr("found no samples"));
  EXPECT_THAT(fault_of(good.substr(0, good.size() - 1)), HasSubstr("but the file ends after 19"));
  EXPECT_THAT(fault_of(""), HasSubstr("found no WAV file"));
}

}  // namespace
}  // namespace regard::log_mel_reference_test
