#include "model/transformer/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace regard::positions_test {
namespace {

SelfAttentionOptions options_with(PositionKind position, std::int64_t max_positions = 256) {
  SelfAttentionOptions options;
  options.position = position;
  options.max_positions = max_positions;
  return options;
}

DecoderState at(std::int64_t position) {
  DecoderState state;
  state.position = position;
  return state;
}

TEST(Positions, SinesAndCosinesAreTheFormulas) {
  for (const std::int64_t D : {6, 5}) {
    Positions positions(options_with(PositionKind::sinusoidal), D, "model.encoder");
    const auto p = positions.add_to(torch::zeros({1, 1005, D}))[0];
    // Among those that are kept, and beyond.
    for (const std::int64_t n : {0, 1, 7, 509, 513, 1004}) {
      for (std::int64_t j = 0; j < D; ++j) {
        const auto i = static_cast<double>(j / 2);
        const auto angle =
            static_cast<double>(n) / std::pow(10000.0, 2 * i / static_cast<double>(D));
        EXPECT_NEAR(p[n][j].item<double>(), j % 2 == 0 ? std::sin(angle) : std::cos(angle), 1e-6)
            << n << " " << j;
      }
    }
  }
}

TEST(Positions, OneStepHasThePositionItIsAt) {
  for (const auto kind : {PositionKind::sinusoidal, PositionKind::learned}) {
    Positions positions(options_with(kind), 4, "model.decoder");
    const auto x = torch::randn({3, 5, 4});
    const auto at_once = positions.add_to(x);
    for (std::int64_t t = 0; t < 5; ++t) {
      EXPECT_TRUE(torch::equal(positions.add_to(x.select(1, t), at(t)), at_once.select(1, t))) << t;
    }
  }
}

TEST(Positions, EachRowOfAStepHasItsOwnPosition) {
  for (const auto kind : {PositionKind::sinusoidal, PositionKind::learned}) {
    Positions positions(options_with(kind), 4, "model.decoder");
    const auto x = torch::randn({3, 4});
    auto state = at(9);
    state.positions = torch::tensor({2, 9, 0}, torch::kInt64);
    const auto found = positions.add_to(x, state);
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto alone = at(state.positions[row].item<std::int64_t>());
      EXPECT_TRUE(torch::equal(found[row], positions.add_to(x, alone)[row])) << row;
    }
  }
}

TEST(Positions, BeyondThoseThatAreKeptTheyDoNotDependOnTheOthers) {
  Positions positions(options_with(PositionKind::sinusoidal), 7, "model.encoder");
  const auto longest = positions.add_to(torch::zeros({1, 1100, 7}));
  for (const std::int64_t n : {1, 511, 513, 777, 1025}) {
    EXPECT_TRUE(torch::equal(positions.add_to(torch::zeros({1, n, 7})), longest.narrow(1, 0, n)));
    EXPECT_TRUE(torch::equal(positions.add_to(torch::zeros({2, 7}), at(n))[1], longest[0][n]));
  }
  auto state = at(777);
  state.positions = torch::tensor({3, 777, 512}, torch::kInt64);
  EXPECT_TRUE(torch::equal(positions.add_to(torch::zeros({3, 7}), state),
                           longest[0].index_select(0, state.positions)));
}

TEST(Positions, NoneAddsNothing) {
  const auto x = torch::randn({1, 3, 4});
  for (const auto kind : {PositionKind::none, PositionKind::automatic, PositionKind::rotary}) {
    EXPECT_TRUE(torch::equal(Positions(options_with(kind), 4, "").add_to(x), x));
  }
}

TEST(Positions, BeyondTheLastLearnedOneIsAnErrorThatSaysSo) {
  const Positions positions(options_with(PositionKind::learned, 5), 4, "model.decoder");
  EXPECT_EQ(positions.parameters()[0].sizes(), (std::vector<std::int64_t>{5, 4}));
  EXPECT_NO_THROW(positions.add_to(torch::zeros({1, 5, 4})));
  EXPECT_NO_THROW(positions.add_to(torch::zeros({2, 4}), at(4)));
  EXPECT_THAT(
      [&] {
        positions.add_to(torch::zeros({2, 4}), at(5));
      },
      testing::ThrowsMessage<InputError>(testing::AllOf(
          testing::HasSubstr("6 tokens"), testing::HasSubstr("model.decoder.max_positions: 5"))));
}

}  // namespace
}  // namespace regard::positions_test
