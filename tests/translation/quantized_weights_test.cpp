#include "translation/quantized_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <map>
#include <string>

#include "base/error.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::quantized_weights_test {
namespace {

using testing::HasSubstr;
using torch::Tensor;

std::map<std::string, Tensor> as_map(const NamedTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

TEST(QuantizedWeights, EachNumberIsWithinHalfAStep) {
  torch::manual_seed(1);
  const NamedTensors weights = {{"W", torch::randn({80, 70})}, {"U", torch::randn({2, 50, 60})}};
  const auto stored = as_map(quantize(weights));
  const auto read = dequantize(quantize(weights), "model");
  ASSERT_EQ(read.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& [name, weight] = weights[i];
    EXPECT_EQ(read[i].first, name);
    EXPECT_EQ(stored.at(name).scalar_type(), torch::kChar);
    const auto step = stored.at(name + ".scale");
    EXPECT_TRUE(((read[i].second - weight).abs() <= 0.501 * step).all().item<bool>());
  }
}

TEST(QuantizedWeights, RowsOrColumnsShareAScaleWhicheverLosesLess) {
  const auto by_row = torch::randn({70, 80}) * torch::logspace(0, 4, 70).unsqueeze(1);
  const auto stored = as_map(quantize({{"rows", by_row}, {"columns", by_row.t().contiguous()}}));
  EXPECT_EQ(stored.at("rows.scale").sizes(), (std::vector<std::int64_t>{70, 1}));
  EXPECT_EQ(stored.at("columns.scale").sizes(), (std::vector<std::int64_t>{1, 70}));
}

TEST(QuantizedWeights, QuantizedTwiceTheyStayTheSame) {
  const auto once = dequantize(quantize({{"W", torch::randn({80, 70})}}), "model");
  const auto twice = dequantize(quantize(once), "model");
  EXPECT_TRUE(torch::allclose(once[0].second, twice[0].second, 1e-6, 1e-7));
}

TEST(QuantizedWeights, VectorsAndSmallMatricesStayAsTheyAre) {
  const NamedTensors weights = {{"b", torch::randn({9000})},
                                {"W", torch::randn({20, 20})},
                                {"E", torch::randn({80, 80}, torch::kDouble)}};
  const auto stored = quantize(weights);
  ASSERT_EQ(stored.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(torch::equal(stored[i].second, weights[i].second));
}

TEST(QuantizedWeights, ZerosStayZeros) {
  const auto read = dequantize(quantize({{"W", torch::zeros({80, 70})}}), "model");
  EXPECT_EQ(read[0].second.count_nonzero().item<int>(), 0);
}

TEST(QuantizedWeights, WeightsThatAreNotFiniteAreRejected) {
  auto weight = torch::randn({80, 70});
  weight[3][4] = std::nan("");
  EXPECT_THAT(message_of<CheckpointError>([&] {
                quantize({{"W", weight}});
              }),
              HasSubstr("W: found a weight that is not a finite number"));
}

TEST(QuantizedWeights, AMissingOrWrongScaleIsAnError) {
  auto stored = quantize({{"W", torch::randn({80, 70})}});
  const auto read = [&] { dequantize(stored, "m/model.safetensors"); };
  stored[1].second = torch::ones({3, 3});
  EXPECT_THAT(message_of<CheckpointError>(read),
              HasSubstr("m/model.safetensors: W has 8-bit numbers, but W.scale is missing or does "
                        "not fit"));
  stored.pop_back();
  EXPECT_THAT(message_of<CheckpointError>(read), HasSubstr("W.scale is missing"));
}

}  // namespace
}  // namespace regard::quantized_weights_test
