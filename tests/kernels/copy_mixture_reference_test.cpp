#include "kernels/copy_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/mode.h"
#include "kernels/packed_weights.h"

namespace regard::kernels::copy_mixture_reference_test {
namespace {

torch::Tensor in_search(const std::function<torch::Tensor()>& compute) {
  PackedWeights packed;
  const auto mode = Mode::search(packed);
  return compute();
}

// Words of the vocabulary 0 … 4, and 5 and 6 behind it.
TEST(CopyMixtureReference, ACopyMixtureIsTheSumOfBothProbabilitiesInASearchAndOutside) {
  const auto ids = torch::tensor({{4, 5, 4, 2}, {6, 1, 0, 0}});
  const auto lengths = torch::tensor({4, 2});
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto log_p = torch::randn({2, 3, 5}, type).log_softmax(-1);
    const auto gate = torch::randn({2, 3, 1}, type);
    auto weights = torch::rand({2, 3, 4}, type);
    weights[1].narrow(1, 2, 2).fill_(0);
    weights[0][1][3] = 0;  // of a word of the vocabulary
    weights = weights / weights.sum(-1, true);
    const auto compute = [&] { return copy_mixture(log_p, gate, weights, ids, lengths, 7); };
    const auto found = compute();
    ASSERT_EQ(found.sizes(), torch::IntArrayRef({2, 3, 7}));
    const auto tolerance = type == torch::kDouble ? 1e-12 : 1e-5;
    EXPECT_TRUE(torch::allclose(in_search(compute), found, tolerance, tolerance));
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t g = 0; g < 3; ++g) {
        const auto p_gen = 1 / (1 + std::exp(-gate[b][g][0].item<double>()));
        for (std::int64_t y = 0; y < 7; ++y) {
          double p = y < 5 ? p_gen * std::exp(log_p[b][g][y].item<double>()) : 0;
          for (std::int64_t s = 0; s < lengths[b].item<std::int64_t>(); ++s) {
            if (ids[b][s].item<std::int64_t>() == y) {
              p += (1 - p_gen) * weights[b][g][s].item<double>();
            }
          }
          EXPECT_NEAR(std::exp(found[b][g][y].item<double>()), p,
                      type == torch::kDouble ? 1e-12 : 1e-6);
        }
      }
    }
  }
}

TEST(CopyMixtureReference, AWordBehindTheVocabularyThatLostAllWeightHasTheLeastProbability) {
  const auto weights = torch::tensor({{{1.0, 0.0}}});
  const auto compute = [&] {
    return copy_mixture(torch::zeros({1, 1, 2}).log_softmax(-1), torch::zeros({1, 1, 1}), weights,
                        torch::tensor({{0, 2}}), torch::tensor({2}), 4);
  };
  for (const auto& found : {compute(), in_search(compute)}) {
    EXPECT_NEAR(found[0][0][2].item<double>(),
                std::log(std::numeric_limits<float>::min()) + std::log(0.5), 1e-4);
    EXPECT_EQ(found[0][0][3].item<double>(), -std::numeric_limits<double>::infinity());
  }
}

}  // namespace
}  // namespace regard::kernels::copy_mixture_reference_test
