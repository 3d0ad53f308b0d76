#include "model/input_layer.h"

#include <gtest/gtest.h>

#include "model/random_stream.h"

namespace regard::input_layer_test {
namespace {

TEST(InputLayer, TokenDropoutSetsWholeEmbeddingsToZeroInTrainingOnly) {
  InputLayer layer(LayerKind::recurrent, 8, 8, {},
                   {.embeddings = 0, .states = 0, .readout = 0, .tokens = 0.25}, "model.encoder");
  const auto embedded = torch::rand({40, 50, 8}) + 1;
  const RandomStream stream(3, 1);
  layer.train();
  const auto x = layer.forward(embedded);
  const auto is_zero = x.eq(0).all(2);  // [40, 50]
  EXPECT_NEAR(is_zero.to(torch::kDouble).mean().item<double>(), 0.25, 0.04);
  EXPECT_TRUE(x.index({is_zero.logical_not()}).equal(embedded.index({is_zero.logical_not()})));
  EXPECT_FALSE(layer.forward(embedded).equal(x)) << "each pass cuts off others";
  layer.eval();
  EXPECT_TRUE(layer.forward(embedded).equal(embedded));
}

}  // namespace
}  // namespace regard::input_layer_test
