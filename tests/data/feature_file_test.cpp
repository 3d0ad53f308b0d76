#include "data/feature_file.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "data/line_reader.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/data/feature_files.h"
#include "tests/data/small_corpus.h"

namespace regard::feature_file_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class FeatureFileTest : public testing::Test {
 protected:
  std::string write(const FeatureItems& content, const std::string& name = "x.safetensors") const {
    return folder_.write(name, feature_bytes(content));
  }
  std::string fault_of(const std::string& path) const {
    return message_of<InputError>([&] { const FeatureFile file(path); });
  }

  ScratchFolder folder_;
};

const FeatureItems two_items{2, {{1, 2, 3, 4}, {5, 6}}};

TEST_F(FeatureFileTest, HasTheFramesOfEachItem) {
  const FeatureFile file(write({2, {{1, 2, 3, 4}, {}, {5, 6}}, {{"frame_seconds", "0.01"}}}));
  EXPECT_EQ(file.size(), 3);
  EXPECT_EQ(file.width(), 2);
  EXPECT_EQ(file.frame_seconds(), 0.01);
  EXPECT_THAT(file.item(0).values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(file.item(0).count(), 2);
  EXPECT_EQ(file.item(1).count(), 0);
  EXPECT_THAT(file.checked_item(3).values, ElementsAre(5, 6));
}

TEST_F(FeatureFileTest, AnItemWithNaNOrInfinityNamesItsPlace) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinite = std::numeric_limits<float>::infinity();
  const auto path = write({2, {{1, 2, 3, 4}, {5, 6, 7, nan}, {infinite, 0}}});
  const FeatureFile file(path);
  EXPECT_NO_THROW(file.checked_item(1));
  EXPECT_THAT([&] { file.checked_item(2); },
              testing::ThrowsMessage<InputError>(
                  HasSubstr(path + ":2: frame 2, number 2 is nan, expected a finite")));
  EXPECT_THROW(file.checked_item(3), InputError);
  EXPECT_THROW(file.checked_item(4), InputError);
  EXPECT_THROW(file.checked_item(0), InputError);
}

TEST_F(FeatureFileTest, RejectsWhatDoesNotFit) {
  EXPECT_THAT(fault_of(folder_.write("a", "text")), HasSubstr("regard features"));
  const auto with = [&](const std::vector<SafetensorsEntry>& entries, std::size_t bytes) {
    return fault_of(
        folder_.write("b", encode_safetensors_header(entries, {}) + std::string(bytes, '\0')));
  };
  EXPECT_THAT(with({{"lengths", "I64", {1}, 0, 8}}, 8), HasSubstr("no tensor `features`"));
  EXPECT_THAT(with({{"lengths", "I64", {1}, 0, 8}, {"features", "F64", {1, 1}, 8, 16}}, 16),
              AllOf(HasSubstr("element type F64"), HasSubstr("expected F32")));
  EXPECT_THAT(with({{"lengths", "I64", {1}, 0, 8}, {"features", "F32", {2}, 8, 16}}, 16),
              HasSubstr("shape [2], expected [frames"));
  // The only item has no frame, but there are two.
  EXPECT_THAT(with({{"lengths", "I64", {1}, 0, 8}, {"features", "F32", {2, 1}, 8, 16}}, 16),
              HasSubstr("`features` has 2 frames, but the sum of `lengths` is 0"));
  auto bytes = feature_bytes(two_items);
  bytes[bytes.size() - 4 * 6 - 8 * 2] = 4;  // the length of the first item
  EXPECT_THAT(fault_of(folder_.write("c", bytes)),
              HasSubstr("item 1 has 4 frames by `lengths`, but `features` has 3 left"));
  bytes.pop_back();
  EXPECT_THAT(fault_of(folder_.write("d", bytes)), HasSubstr("the file holds"));
}

TEST_F(FeatureFileTest, ReadsAsTheNamesOfItsItemsIfFeaturesAreTheSource) {
  const auto path = write(two_items);
  EXPECT_THAT(read_lines(path, SourceKind::features), ElementsAre(path + ":1", path + ":2"));
  EXPECT_EQ(count_lines(path, SourceKind::features), 2);
  EXPECT_THROW(read_lines(path), InputError);
  const auto list = folder_.write("list", path + ":2\n");
  EXPECT_THAT(read_lines(list, SourceKind::features), ElementsAre(path + ":2"));
}

TEST_F(FeatureFileTest, FilesOfAModelHaveItsWidthAndSettings) {
  const auto path = write({2, {{1, 2}}, {{"settings", "8000 Hz"}}});
  EXPECT_THAT(FeatureFiles(2, "").item(path + ":1").values, ElementsAre(1, 2));
  EXPECT_THAT(FeatureFiles(2, "8000 Hz").item(path + ":1").values, ElementsAre(1, 2));
  const auto fault = [](const FeatureFiles& files, const std::string& name) {
    return message_of<InputError>([&] { files.item(name); });
  };
  EXPECT_THAT(fault(FeatureFiles(3, ""), path + ":1"),
              HasSubstr(path + ": found frames of 2 numbers, expected 3 (model.encoder.numbers)"));
  EXPECT_THAT(fault(FeatureFiles(2, "16000 Hz"), path + ":1"),
              AllOf(HasSubstr("(8000 Hz)"), HasSubstr("(16000 Hz)")));
  EXPECT_THAT(fault(FeatureFiles(2, ""), path + ":2"), HasSubstr("no item 2; the file has 1 item"));
  EXPECT_THAT(fault(FeatureFiles(2, ""), "the cat"), HasSubstr("found `the cat`"));
  EXPECT_THAT(fault(FeatureFiles(2, ""), path), HasSubstr("expected a feature file"));
}

class FeatureCorpus : public FeatureFileTest {
 protected:
  DataOptions options(const FeatureItems& content, const std::string& target) const {
    DataOptions data;
    data.source = SourceKind::features;
    data.tokenizer.kind = TokenizerKind::word;
    data.train = {{write(content), folder_.write("trg", target)}};
    return data;
  }
  static Corpus corpus(const DataOptions& data) {
    ModelOptions model;
    model.encoder.numbers = 2;
    return training_corpus(data, make_text_codec(data, model));
  }
};

TEST_F(FeatureCorpus, BatchesHoldTheFramesAndMarkTheEnd) {
  const auto pairs = corpus(options({2, {{5, 6}, {1, 2, 3, 4}}}, "a\nb c\n"));
  EXPECT_EQ(pairs.source_length(0), 1);
  EXPECT_EQ(pairs.source_length(1), 2);
  const std::vector<std::int64_t> both = {0, 1};
  const auto batch = make_batch(pairs, both);
  const auto expected = torch::tensor({1., 2., 0., 3., 4., 0., 0., 0., 1.,  // the longer first
                                       5., 6., 0., 0., 0., 1., 0., 0., 0.},
                                      torch::kFloat)
                            .view({2, 3, 3});
  EXPECT_TRUE(batch.source.elements().equal(expected)) << batch.source.elements();
  EXPECT_TRUE(batch.source.lengths.equal(torch::tensor({3, 2}, torch::kInt64)));
  EXPECT_EQ(batch.source_tokens, 5);
}

TEST_F(FeatureCorpus, SkipsAndCountsLongAndEmptyItemsOnly) {
  auto data = options({2, {{5, 6}, {}, {1, 2, 3, 4, 5, 6}, {7, 8}}}, "a\nb\nc\nd e f\n");
  data.max_frames = 2;
  data.max_length = 2;
  const auto pairs = corpus(data);
  EXPECT_EQ(pairs.report().kept, 1);
  EXPECT_EQ(pairs.report().empty, 1);
  EXPECT_EQ(pairs.report().too_long, 2);
  EXPECT_EQ(pairs.report().source.tokens, 1);
}

TEST_F(FeatureCorpus, FilesOfOtherSettingsAreRejected) {
  auto data = options({2, {{1, 2}}, {{"settings", "8000 Hz"}}}, "a\n");
  data.train.push_back(
      {write({2, {{1, 2}}, {{"settings", "16000 Hz"}}}, "y.safetensors"), data.train[0].trg});
  EXPECT_THROW(corpus(data), InputError);
}

}  // namespace
}  // namespace regard::feature_file_test
