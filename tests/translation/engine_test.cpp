#include "translation/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "model/encoder_decoder.h"
#include "tests/model/small_model_options.h"
#include "tests/training/minimum_risk_case.h"
#include "text/tokenizer.h"

namespace regard::engine_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t V = 60;

// Results of a request, as they arrive.
class Results {
 public:
  // Returns the request for some lines.
  TranslationRequest request(const std::vector<std::string>& lines, const SearchRequest& search) {
    results_.resize(lines.size());
    TranslationRequest request{.lines = {}, .search = search, .finished = {}};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      request.lines.push_back(
          {.text = lines[i], .options = {.number = static_cast<std::int64_t>(i) + 1}});
    }
    request.finished = [this](std::size_t line, std::vector<Translation> sentences,
                              const std::exception_ptr& error) { add(line, sentences, error); };
    return request;
  }

  // Waits until so many lines are finished. Returns false after a minute.
  bool wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return finished_ >= count; });
  }
  bool wait() { return wait(results_.size()); }
  std::size_t finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
  }
  // For each line its hypotheses, or its error.
  std::vector<std::string> results() const {
    const std::lock_guard lock(mutex_);
    return results_;
  }

  static std::string text_of(const Translation& translation) {
    std::string text = "=";
    for (const auto& hypothesis : translation.hypotheses) {
      for (const auto token : hypothesis.tokens) text += std::to_string(token) + " ";
      text += fmt::format("{} {}|", hypothesis.score, hypothesis.log_probability);
    }
    return text;
  }

 private:
  void add(std::size_t line, const std::vector<Translation>& sentences,
           const std::exception_ptr& error) {
    std::string result;
    try {
      if (error) std::rethrow_exception(error);
      for (const auto& sentence : sentences) result += text_of(sentence);
    } catch (const std::exception& failure) {
      result = failure.what();
    }
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(results_[line], "") << "line " << line << " is finished twice";
    results_[line] = result;
    ++finished_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> results_;
  std::size_t finished_ = 0;
};

class EngineTest : public testing::TestWithParam<std::string> {
 protected:
  EngineTest() : pool_(2), translator_(model(), numbered_words(V), torch::kCPU, pool_) {}

  static std::shared_ptr<Seq2Seq> model() {
    torch::manual_seed(5);
    auto options = small_model_options(16);
    if (GetParam() == "transformer") {
      options.encoder.kind = EncoderKind::transformer;
      options.decoder.kind = LayerKind::transformer;
      // A line of more than 50 tokens is an error of the model.
      options.encoder.self_attention.position = PositionKind::learned;
      options.encoder.self_attention.max_positions = 50;
      options.decoder.self_attention.position = PositionKind::learned;
      options.decoder.self_attention.max_positions = 40;
    }
    auto model = std::make_shared<EncoderDecoder>(V, V, options);
    const torch::NoGradGuard guard;
    for (auto& [name, parameter] : parameters_of(*model)) {
      parameter.mul_(2);
      if (name == "output_bias") parameter[3] += 2;
    }
    model->eval();
    return model;
  }

  // Lines of 1 to 40 words.
  static std::vector<std::string> lines(std::size_t count, std::size_t seed = 0) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) {
      std::string line;
      for (std::size_t k = 0; k <= (i * 17 + seed) % 40; ++k) {
        line += "w" + std::to_string(4 + (i * 31 + k * 7 + seed) % (V - 4)) + " ";
      }
      all.push_back(line);
    }
    return all;
  }
  static SearchRequest search(std::int64_t beam_size, std::int64_t max_output_length = 12) {
    SearchRequest options;
    options.beam_size = beam_size;
    options.max_output_length = max_output_length;
    return options;
  }
  std::vector<std::string> alone(const std::vector<std::string>& lines,
                                 const SearchRequest& options) const {
    std::vector<std::string> results;
    for (const auto& translation : translator_.translate(lines, options, 1)) {
      results.push_back(Results::text_of(translation));
    }
    return results;
  }

  ThreadPool pool_;
  Translator translator_;
};

INSTANTIATE_TEST_SUITE_P(Models, EngineTest, testing::Values("gru", "transformer"),
                         [](const auto& tested) { return tested.param; });

TEST_P(EngineTest, RequestsOfManyThreadsGetTheResultsOfATranslationAlone) {
  std::vector<SearchRequest> options = {search(1), search(4), search(3), search(1)};
  options[2].want_weights = true;
  options[3].samples = 2;
  constexpr std::size_t threads = 8;
  std::vector<std::vector<std::string>> expected;
  for (std::size_t t = 0; t < threads; ++t) {
    expected.push_back(alone(lines(5 + t, t), options[t % options.size()]));
  }
  Engine engine(translator_, 6);
  std::vector<std::thread> clients;
  for (std::size_t t = 0; t < threads; ++t) {
    clients.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        Results results;
        engine.submit(results.request(lines(5 + t, t), options[t % options.size()]));
        ASSERT_TRUE(results.wait());
        EXPECT_EQ(results.results(), expected[t]) << "client " << t << " in round " << round;
      }
    });
  }
  for (auto& client : clients) client.join();
  const auto numbers = engine.statistics();
  EXPECT_EQ(numbers.finished_lines, 5 * (5 + 6 + 7 + 8 + 9 + 10 + 11 + 12));
  EXPECT_EQ(numbers.failed_lines, 0);
  EXPECT_EQ(numbers.unfinished_sentences, 0);
  EXPECT_GT(numbers.source_tokens, numbers.finished_lines);
}

TEST_P(EngineTest, RequestsWithDifferentTagsShareTheBatches) {
  const std::vector<std::pair<std::string, std::string>> tags = {
      {"", ""}, {"", "w9"}, {"w7", ""}, {"w8", "w10"}};
  std::vector<TextCodec> codec;
  std::vector<std::vector<std::string>> expected;
  for (const auto& [source, target] : tags) {
    codec.push_back(numbered_words(V).with_tags(source, target));
    const Translator own(model(), codec.back(), torch::kCPU, pool_);
    expected.emplace_back();
    for (const auto& translation : own.translate(lines(20), search(3), 1)) {
      expected.back().push_back(Results::text_of(translation));
    }
  }
  ASSERT_NE(expected[0], expected[1]);
  ASSERT_NE(expected[0], expected[2]);
  Engine engine(translator_, 6);
  std::vector<Results> results(tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) {
    auto request = results[i].request(lines(20), search(3));
    request.codec = codec[i];
    engine.submit(std::move(request));
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    ASSERT_TRUE(results[i].wait());
    EXPECT_EQ(results[i].results(), expected[i]) << tags[i].first << ", " << tags[i].second;
  }
}

TEST_P(EngineTest, ABlankLineAndNoLineAreFinished) {
  Engine engine(translator_, 4);
  Results results;
  engine.submit(results.request({"", "w5", " "}, search(2)));
  ASSERT_TRUE(results.wait());
  EXPECT_EQ(results.results()[0], "=");
  EXPECT_THAT(results.results()[1], HasSubstr("|"));
  Results none;
  engine.submit(none.request({}, search(2)));
  EXPECT_EQ(engine.statistics().unfinished_sentences, 0);
}

TEST_P(EngineTest, AnErrorOfALineLeavesItsNeighboursAlone) {
  auto texts = lines(20);
  const auto expected = alone(texts, search(2));
  std::string long_line;
  for (int i = 0; i < 60; ++i) long_line += "w7 ";
  texts[7] = texts[13] = long_line;
  Engine engine(translator_, 4);
  Results results;
  engine.submit(results.request(texts, search(2)));
  ASSERT_TRUE(results.wait());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (GetParam() == "transformer" && (i == 7 || i == 13)) {
      EXPECT_THAT(results.results()[i],
                  StartsWith(fmt::format("source line {}: found 61 tokens", i + 1)));
    } else if (i != 7 && i != 13) {
      EXPECT_EQ(results.results()[i], expected[i]) << i;
    }
  }
  EXPECT_EQ(engine.statistics().failed_lines, GetParam() == "transformer" ? 2 : 0);
}

// The search throws for the batch of the bad line, which then fails alone.
TEST_P(EngineTest, AnErrorOfASearchIsTheErrorOfOneLine) {
  if (GetParam() != "transformer") GTEST_SKIP() << "no error of the decoder to test with";
  const auto texts = lines(20);
  auto short_translations = search(2, 60);
  short_translations.max_output_ratio = 0.01;  // 10 tokens, and what a prefix needs
  const auto expected = alone(texts, short_translations);
  Engine engine(translator_, 8);
  Results results;
  auto request = results.request(texts, short_translations);
  request.lines[11].options.prefix.assign(45, 7);  // the decoder has 40 positions
  engine.submit(std::move(request));
  ASSERT_TRUE(results.wait());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i == 11) {
      EXPECT_THAT(results.results()[i], HasSubstr("max_positions"));
    } else {
      EXPECT_EQ(results.results()[i], expected[i]) << i;
    }
  }
  EXPECT_EQ(engine.statistics().failed_lines, 1);
}

TEST_P(EngineTest, ACancelledRequestEndsSoonAndAlone) {
  const auto others = lines(30, 3);
  const auto expected = alone(others, search(2));
  Engine engine(translator_, 4);
  Results cancelled;
  auto slow = search(4, 40);
  slow.max_output_ratio = 0;
  slow.min_output_length = 39;
  const auto number = engine.submit(cancelled.request(lines(3000), slow));
  Results other;
  engine.submit(other.request(others, search(2)));
  engine.cancel(number);
  engine.cancel(number);
  engine.cancel(number + 100);  // not known
  ASSERT_TRUE(cancelled.wait());
  EXPECT_GT(std::ranges::count(cancelled.results(), "the search was cancelled"), 2000);
  ASSERT_TRUE(other.wait());
  EXPECT_EQ(other.results(), expected);
}

TEST_P(EngineTest, ALargeRequestDoesNotHoldUpASmallOne) {
  Engine engine(translator_, 4);
  Results large;
  const auto number = engine.submit(large.request(lines(3000), search(3, 30)));
  ASSERT_TRUE(large.wait(10));
  Results small;
  engine.submit(small.request({"w5 w6 w7"}, search(1)));
  ASSERT_TRUE(small.wait());
  EXPECT_LT(large.finished(), 1500);
  engine.cancel(number);
  ASSERT_TRUE(large.wait());
}

TEST_P(EngineTest, ALineOfManyPartsDoesNotHoldUpASmallOne) {
  Engine engine(translator_, 4);
  Results large;
  auto request = large.request({"a document"}, search(3, 30));
  request.lines[0].parts = lines(3000);
  const auto number = engine.submit(std::move(request));
  EXPECT_GT(engine.statistics().unfinished_sentences, 1500);
  Results small;
  engine.submit(small.request({"w5 w6 w7"}, search(1)));
  ASSERT_TRUE(small.wait());
  EXPECT_EQ(large.finished(), 0);
  EXPECT_GT(engine.statistics().unfinished_sentences, 1500);
  engine.cancel(number);
  ASSERT_TRUE(large.wait());
  EXPECT_EQ(large.results()[0], "the search was cancelled");
  EXPECT_EQ(engine.statistics().unfinished_sentences, 0);
}

TEST_P(EngineTest, ALineGetsTheTranslationsOfItsPartsInTheirOrder) {
  const auto parts = lines(30);
  const auto translations = translator_.translate(parts, search(1), 10);
  std::string expected;
  for (const auto& translation : translations) expected += Results::text_of(translation);
  Engine engine(translator_, 4);
  Results results;
  auto request = results.request({"", "w5"}, search(1));
  request.lines[0].parts = parts;
  request.progress = [&](std::size_t line, std::size_t part, const std::string& text) {
    const auto& sentence = line == 0 ? translations[part].text : text;
    EXPECT_THAT(sentence, StartsWith(text));
    EXPECT_LT(part, line == 0 ? parts.size() : 1);
  };
  engine.submit(std::move(request));
  ASSERT_TRUE(results.wait());
  EXPECT_EQ(results.results()[0], expected);
  EXPECT_EQ(engine.statistics().finished_lines, 2);
}

TEST_P(EngineTest, AnErrorOfAPartIsTheErrorOfItsLine) {
  if (GetParam() != "transformer") GTEST_SKIP() << "takes lines of any length";
  std::string long_part;
  for (int i = 0; i < 60; ++i) long_part += "w7 ";
  Engine engine(translator_, 4);
  Results results;
  auto request = results.request({"", "w5"}, search(2));
  request.lines[0].parts = {"w5", long_part, "w6"};
  engine.submit(std::move(request));
  ASSERT_TRUE(results.wait());
  EXPECT_THAT(results.results()[0], StartsWith("source line 1: found 61 tokens"));
  EXPECT_THAT(results.results()[1], HasSubstr("|"));
  EXPECT_EQ(engine.statistics().failed_lines, 1);
}

TEST_P(EngineTest, ThePartsOfALineThatHasFailedAreNotSearched) {
  if (GetParam() != "transformer") GTEST_SKIP() << "takes lines of any length";
  std::string long_part;  // the longest, which is taken first
  for (int i = 0; i < 60; ++i) long_part += "w7 ";
  Engine engine(translator_, 4);
  Results results;
  auto request = results.request({"", "w5"}, search(1));
  request.lines[0].parts = lines(3000);
  request.lines[0].parts.push_back(long_part);
  std::mutex mutex;
  std::set<std::size_t> searched;  // parts
  request.progress = [&](std::size_t line, std::size_t part, const std::string& /*text*/) {
    const std::lock_guard lock(mutex);
    if (line == 0) searched.insert(part);
  };
  engine.submit(std::move(request));
  ASSERT_TRUE(results.wait());
  EXPECT_THAT(results.results()[0], StartsWith("source line 1: found 61 tokens"));
  EXPECT_THAT(results.results()[1], HasSubstr("|"));
  EXPECT_EQ(engine.statistics().failed_lines, 1);
  EXPECT_EQ(engine.statistics().unfinished_sentences, 0);
  const std::lock_guard lock(mutex);
  EXPECT_LT(searched.size(), 1500);
}

TEST_P(EngineTest, ALongSentenceDoesNotHoldUpOthers) {
  if (GetParam() != "gru") GTEST_SKIP() << "its translations end at the last position";
  Results never;  // outlives the engine, which cancels it
  Engine engine(translator_, 4);
  auto endless = search(1, 1000000);
  endless.max_output_ratio = 0;
  endless.min_output_length = 999999;
  engine.submit(never.request(lines(2), endless));  // one for each thread
  Results small;
  engine.submit(small.request(lines(40), search(2)));
  ASSERT_TRUE(small.wait());
  EXPECT_EQ(never.finished(), 0);
}

TEST_P(EngineTest, ReportsEachGreedyTranslationAsItGrows) {
  const auto translations = translator_.translate(lines(10), search(1), 10);
  Engine engine(translator_, 4);
  Results results;
  auto request = results.request(lines(10), search(1));
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::string>> texts;
  request.progress = [&](std::size_t line, std::size_t part, std::string text) {
    EXPECT_EQ(part, 0);
    const std::lock_guard lock(mutex);
    texts[line].push_back(std::move(text));
  };
  engine.submit(std::move(request));
  ASSERT_TRUE(results.wait());
  for (std::size_t line = 0; line < 10; ++line) {
    for (std::size_t i = 0; i < texts[line].size(); ++i) {
      EXPECT_THAT(translations[line].text, StartsWith(texts[line][i]));
      if (i > 0) {
        EXPECT_GT(texts[line][i].size(), texts[line][i - 1].size());
      }
    }
    EXPECT_GE(texts[line].size() + 1, translations[line].hypotheses[0].tokens.size());
  }
}

// The first result throws, which ends the queue. The second request comes while the lines of the
// first end with that error.
TEST_P(EngineTest, EachLineEndsOnceAfterAnErrorOfTheQueue) {
  Results first;
  Results second;
  std::atomic<bool> has_thrown = false;
  std::atomic<bool> has_submitted = false;
  Engine engine(translator_, 4);
  auto request = first.request(lines(100), search(2));
  request.finished = [&, add = request.finished](std::size_t line,
                                                 std::vector<Translation> sentences,
                                                 const std::exception_ptr& error) {
    add(line, std::move(sentences), error);
    if (!error && !has_thrown.exchange(true)) throw std::runtime_error("the queue ends");
    if (error && !has_submitted.exchange(true)) {
      engine.submit(second.request(lines(3), search(2)));
    }
  };
  engine.submit(std::move(request));
  ASSERT_TRUE(first.wait());
  EXPECT_EQ(second.results(), std::vector<std::string>(3, "the queue ends"));
  EXPECT_EQ(engine.statistics().unfinished_sentences, 0);
}

TEST_P(EngineTest, TheDestructorCancelsAndWaits) {
  Results results;
  {
    Engine engine(translator_, 4);
    engine.submit(results.request(lines(2000), search(4, 30)));
  }
  EXPECT_EQ(results.finished(), 2000);
}

}  // namespace
}  // namespace regard::engine_test
