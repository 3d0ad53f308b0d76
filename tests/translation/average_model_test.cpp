#include "translation/average_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "model/build_model.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/model/small_model_options.h"

namespace regard::average_model_test {
namespace {

using testing::HasSubstr;

Options small() {
  Options options;
  options.data.tokenizer.kind = TokenizerKind::word;
  options.data.tokenizer.joint = true;
  options.model = small_model_options(4);
  return options;
}

class AverageModelTest : public testing::Test {
 protected:
  // Saves a model with new initial weights and returns its folder.
  std::filesystem::path save(const std::string& name, const Options& options = small(),
                             const std::string& words = "cat\ndog\n") {
    TextCodec codec;
    codec.source = codec.target = load_tokenizer(
        options.data.tokenizer, "<pad>\n<unk>\n<s>\n</s>\n" + words, name + ".vocabulary");
    const auto model = build_model(codec.source->size(), codec.target->size(), options.model);
    FolderWriter folder(scratch_ / name);
    add_model(folder, options, codec, parameters_of(*model));
    folder.commit();
    return scratch_ / name;
  }
  static NamedTensors weights(const std::filesystem::path& folder) {
    return read_weights(FolderReader(folder));
  }

  ScratchFolder scratch_;
};

TEST_F(AverageModelTest, AveragesEachWeight) {
  torch::manual_seed(1);
  const auto a = save("a");
  const auto b = save("b");
  const auto c = save("c");
  const auto average = average_models({a, b, c});
  const auto [of_a, of_b, of_c] = std::tuple(weights(a), weights(b), weights(c));
  ASSERT_EQ(average.weights.size(), of_a.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto& [name, mean] = average.weights[i];
    EXPECT_EQ(name, of_a[i].first);
    EXPECT_EQ(mean.scalar_type(), torch::kFloat);
    const auto expected = (of_a[i].second + of_b[i].second + of_c[i].second) / 3;
    EXPECT_TRUE(torch::allclose(mean, expected, 1e-6, 1e-7)) << name;
  }
}

TEST_F(AverageModelTest, AverageOfOneModelIsThatModelExactly) {
  const auto a = save("a");
  const auto average = average_models({a, a, a, a});
  const auto of_a = weights(a);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    EXPECT_TRUE(torch::equal(average.weights[i].second, of_a[i].second)) << of_a[i].first;
  }
}

TEST_F(AverageModelTest, DropoutAndSamplingMayDiffer) {
  auto other = small();
  other.model.dropout.readout = 0.4;
  EXPECT_NO_THROW(average_models({save("a"), save("b", other)}));
}

TEST_F(AverageModelTest, NamesTheOptionThatDiffers) {
  auto other = small();
  other.model.decoder.readout_size = 6;
  const auto folders = std::vector{save("a"), save("b", other)};
  const auto message = message_of<ConfigError>([&] { average_models(folders); });
  EXPECT_THAT(message, HasSubstr(folders[1].string()));
  EXPECT_THAT(message, HasSubstr("model.decoder.readout_size: 4 → 6"));
}

TEST_F(AverageModelTest, RefusesOtherVocabularies) {
  const auto folders = std::vector{save("a"), save("b", small(), "dog\ncat\n")};
  const auto message = message_of<ConfigError>([&] { average_models(folders); });
  EXPECT_THAT(message, HasSubstr("its vocabulary differs from that of"));
}

}  // namespace
}  // namespace regard::average_model_test
