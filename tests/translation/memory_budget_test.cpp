#include "translation/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <thread>

#include "base/error.h"
#include "model/build_model.h"
#include "tests/checkpoint/scratch_folder.h"

namespace regard::memory_budget_test {
namespace {

TEST(MemoryBudget, ThrowsBeforeAllocatingBeyondTheLimit) {
  const MemoryBudget budget(4 << 20, "config.yaml: the model");
  EXPECT_EQ(message_of<CheckpointError>([] { torch::empty({std::int64_t{1} << 40}); }),
            "config.yaml: the model needs more than 4 MB of memory");
  EXPECT_NO_THROW(torch::zeros({1000}));
}

TEST(MemoryBudget, CountsFreedTensorsToo) {
  const MemoryBudget budget(1 << 20, "it");
  const auto many = [] {
    for (int i = 0; i < 100; ++i) torch::zeros({10'000});
  };
  EXPECT_NE(message_of<CheckpointError>(many), "");
}

TEST(MemoryBudget, TensorsOutliveTheBudget) {
  torch::Tensor tensor;
  {
    const MemoryBudget budget(1 << 20, "it");
    tensor = torch::full({1000}, 7);
  }
  EXPECT_EQ(tensor.sum().item<std::int64_t>(), 7000);
  EXPECT_NO_THROW(torch::zeros({1 << 20}));
}

TEST(MemoryBudget, EachThreadHasItsOwn) {
  const MemoryBudget budget(1 << 20, "it");
  std::thread other([] {
    EXPECT_NO_THROW(torch::zeros({1 << 20}));  // without a budget
    const MemoryBudget own(1 << 10, "the other");
    EXPECT_NE(message_of<CheckpointError>([] { torch::zeros({1 << 10}); }), "");
  });
  other.join();
  EXPECT_NO_THROW(torch::zeros({1 << 10}));
}

// Models that consist mostly of orthogonal matrices, whose initialisation needs the most memory.
TEST(MemoryBudget, IsEnoughForRealModels) {
  for (const auto cell : {CellKind::gru, CellKind::lstm, CellKind::tanh}) {
    for (const auto kind : {LayerKind::recurrent, LayerKind::transformer}) {
      ModelOptions options;
      options.encoder.kind =
          kind == LayerKind::transformer ? EncoderKind::transformer : EncoderKind::recurrent;
      options.decoder.kind = kind;
      options.encoder.cell = options.decoder.cell = cell;
      options.encoder.embedding_dim = options.decoder.embedding_dim = 512;
      options.encoder.hidden_size = options.decoder.hidden_size = 512;
      if (kind == LayerKind::recurrent) {
        options.encoder.embedding_dim = options.decoder.embedding_dim = 8;
        options.encoder.layers = options.decoder.layers = 4;
        options.decoder.readout_size = options.attention.size = 8;
      }
      std::uint64_t numbers = 0;
      for (const auto& parameter : build_model(5, 5, options)->parameters()) {
        numbers += static_cast<std::uint64_t>(parameter.numel());
      }
      constexpr std::uint64_t constant = std::uint64_t{64} << 20;
      const MemoryBudget budget(model_budget(numbers) - constant, "it");
      EXPECT_NO_THROW(build_model(5, 5, options)) << numbers;
    }
  }
}

}  // namespace
}  // namespace regard::memory_budget_test
