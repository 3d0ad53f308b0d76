#include "translation/continuous_batch.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/decoding/table_model.h"
#include "tests/decoding/table_search.h"
#include "translation/memory_budget.h"

namespace regard::continuous_batch_test {
namespace {

using testing::Each;

constexpr int sentence_count = 3;
// The index in the table of the first sentence. That of an empty source is 3, the id of </s>.
constexpr std::int32_t first_in_table = 4;

// Counts the batches, and throws for the next `failures` of them.
class CountingModel : public TableModel {
 public:
  using TableModel::TableModel;

  EncoderOutput encode(const SourceBatch& source) override {
    ++batches;
    if (failures > 0) {
      --failures;
      throw std::bad_alloc();
    }
    return TableModel::encode(source);
  }

  int batches = 0;
  int failures = 0;
};

// Takes the results of sentences, and has no more of them.
class Results : public SentenceSupply {
 public:
  QueuedSentences take(std::size_t /*most*/) override { return {}; }
  void finish(const QueuedSentences& sentences) override {
    for (const auto* sentence : sentences) {
      add(*sentence, fmt::format("{}", sentence->translation.hypotheses[0].tokens));
    }
  }
  void fail(const QueuedSentences& sentences, const std::exception_ptr& error) override {
    for (const auto* sentence : sentences) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& thrown) {
        add(*sentence, thrown.what());
      }
    }
  }
  void partial(const QueuedSentence& /*sentence*/, const std::string& /*text*/) override {}
  bool should_join() const override { return false; }

  std::vector<std::string> of_lines = std::vector<std::string>(sentence_count);

 private:
  void add(const QueuedSentence& sentence, const std::string& result) {
    auto& known = of_lines[sentence.line->index];
    EXPECT_EQ(known, "") << "line " << sentence.line->index << " ends twice";
    known = result;
  }
};

class ContinuousBatchTest : public testing::Test {
 protected:
  static torch::Tensor table() {
    torch::manual_seed(7);
    return random_table(first_in_table + sentence_count, 2);
  }

  // Translates sentences of two tokens in one batch. Returns the tokens or the error of each.
  std::vector<std::string> translate() {
    std::vector<QueuedLine> lines(sentence_count);
    std::vector<QueuedSentence> sentences(sentence_count);
    QueuedSentences queued;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      lines[i].index = i;
      sentences[i].line = &lines[i];
      sentences[i].source.tokens = {first_in_table + static_cast<std::int32_t>(i), 5};
      queued.push_back(&sentences[i]);
    }
    const ContinuousBatch::Steps steps = {
        .search_request = [this](const auto&) -> const SearchRequest& { return options_; },
        .sentence_options =
            [this](const auto&) {
              if (on_join_) on_join_();
              return SentenceOptions();
            },
        .complete = [](QueuedSentence&) {},
        .text = [](const auto&, const auto&) { return std::string(); },
    };
    Results results;
    kernels::PackedWeights packed;
    ContinuousBatch(model_, torch::kCPU, packed, /*graphs=*/nullptr, steps, sentence_count, results)
        .run(queued);
    return results.of_lines;
  }

  CountingModel model_{table()};
  SearchRequest options_ = table_options(/*beam=*/2, /*longest=*/8);
  std::function<void()> on_join_;  // called for each sentence before its batch is encoded
};

TEST_F(ContinuousBatchTest, ABatchThatCannotBeEncodedIsTranslatedSentenceBySentence) {
  const auto expected = translate();
  // Without their sources, all sentences would have the same translation.
  EXPECT_GT(std::set(expected.begin(), expected.end()).size(), 1);
  model_.batches = 0;
  model_.failures = 1;
  EXPECT_EQ(translate(), expected);
  EXPECT_EQ(model_.batches, 1 + sentence_count);
}

TEST_F(ContinuousBatchTest, ABatchWhoseTensorsDoNotFitIsTranslatedSentenceBySentence) {
  const auto expected = translate();
  std::optional<MemoryBudget> nothing;
  int joined = 0;
  on_join_ = [&] {
    if (joined++ == 0) nothing.emplace(0, "the batch");
    if (joined > sentence_count) nothing.reset();
  };
  model_.batches = 0;
  EXPECT_EQ(translate(), expected);
  EXPECT_EQ(joined, 2 * sentence_count);
  EXPECT_EQ(model_.batches, sentence_count);
}

TEST_F(ContinuousBatchTest, AnErrorOfASentenceAloneIsItsResult) {
  model_.failures = 1 + sentence_count;
  EXPECT_THAT(translate(), Each(std::bad_alloc().what()));
}

TEST_F(ContinuousBatchTest, ACancelledSearchEndsAllItsSentencesAndEncodesNoneAgain) {
  options_.min_output_length = 4;
  int steps = 0;
  options_.cancelled = [&] { return ++steps > 2; };
  EXPECT_THAT(translate(), Each(CancelledSearch().what()));
  EXPECT_EQ(model_.batches, 1);
  EXPECT_EQ(steps, 3);
}

}  // namespace
}  // namespace regard::continuous_batch_test
