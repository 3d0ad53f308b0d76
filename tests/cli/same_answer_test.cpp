// A translation depends only on its line and the model: not on other lines, their order, the batch
// size, the threads or other outputs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <regex>

#include "tests/cli/run.h"

namespace regard::same_answer_test {
namespace {

using testing::SizeIs;

constexpr std::size_t count = 60;

struct Case {
  std::string name;
  std::filesystem::path (*model)();
  std::vector<std::string> options;
};

// The whole output for each line.
using Answers = std::vector<std::string>;

void expect_same(const Answers& found, const Answers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], expected[i]) << "line " << i + 1;
  }
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SameAnswer : public CliTest, public testing::WithParamInterface<Case> {
 protected:
  SameAnswer() {
    source_ = lines_of(toy_corpus(count, 5).source);
    source_[7] = "";  // blank lines are not translated
    source_[20] = source_[3];
    source_[21] = "nobody has seen these words";
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(3));
  }
  // Adds the alignments of each line if the case requests them.
  Answers answers(const Words& source, const Words& more) const {
    std::string input;
    for (const auto& line : source) input += line + "\n";
    write_text(folder_ / "in", input);
    Words arguments = {"translate", "-m", GetParam().model().string(), "-i", path("in")};
    for (const auto& option : GetParam().options) {
      arguments.push_back(option == "FILE" ? path("alignments") : option);
    }
    const auto finished = run(arguments + more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    auto found = by_line(finished.out, source.size());
    if (asks_for("--alignments")) {
      const auto links = lines_of(read_text(folder_ / "alignments"));
      EXPECT_THAT(links, SizeIs(source.size()));
      for (std::size_t i = 0; i < links.size(); ++i) found[i] += "\n" + links[i];
    }
    return found;
  }
  bool asks_for(const std::string& option) const {
    return std::ranges::find(GetParam().options, option) != GetParam().options.end();
  }
  Answers by_line(const std::string& out, std::size_t size) const {
    if (!asks_for("--explain")) {
      const auto found = without_line_numbers(lines_of(out));
      EXPECT_THAT(found, SizeIs(size));
      return found;
    }
    // Skips the line number of "line 8: …".
    Answers found(size);
    std::size_t at = 0;
    for (auto line : lines_of(out)) {
      if (line.starts_with("line ")) {
        at = std::stoul(line.substr(5)) - 1;
        line.erase(0, line.find(':'));
      }
      found.at(at) += line + "\n";
    }
    return found;
  }
  // A JSON object has the line number.
  static Answers without_line_numbers(Answers lines) {
    for (auto& line : lines) line = std::regex_replace(line, std::regex(R"("line":\s*\d+)"), "");
    return lines;
  }

  std::vector<std::string> source_;
  std::vector<std::size_t> order_;
};

TEST_P(SameAnswer, DoesNotDependOnBatchOrderOrThreads) {
  const auto one = answers(source_, {"--batch-size", "1", "--threads", "1"});
  ASSERT_THAT(one, SizeIs(count));
  expect_same({one[20]}, {one[3]});
  expect_same(answers(source_, {"--batch-size", "7", "--threads", "1"}), one);
  expect_same(answers(source_, {"--batch-size", "64", "--threads", "1"}), one);
  expect_same(answers(source_, {"--batch-size", "7", "--threads", "2"}), one);
  expect_same(answers(source_, {"--batch-size", "2", "--threads", "7"}), one);  // two windows
  std::vector<std::string> shuffled_source;
  Answers shuffled;
  for (const auto i : order_) {
    shuffled_source.push_back(source_[i]);
    shuffled.push_back(one[i]);
  }
  expect_same(answers(shuffled_source, {"--batch-size", "7", "--threads", "1"}), shuffled);
}

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, std::vector<std::string>>> searches = {
      {"Greedy", {"--beam-size", "1", "--json"}},
      {"Json", {"--beam-size", "5", "--n-best", "5", "--json"}},
      {"Alignments", {"--beam-size", "5", "--alignments", "FILE"}},
      {"Explained", {"--beam-size", "5", "--explain"}},
  };
  std::vector<Case> all;
  for (const auto& [name, options] : searches) {
    all.push_back({"Recurrent" + name, tiny_model, options});
    all.push_back({"Lstm" + name, tiny_lstm, options});
    all.push_back({"Transformer" + name, tiny_transformer, options});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Searches, SameAnswer, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

// Compares all digits of the scores of translations.
class SameScore : public testing::TestWithParam<std::filesystem::path (*)()> {};

TEST_P(SameScore, DoesNotDependOnBatchOrThreads) {
  const auto folder = fresh_folder();
  const auto corpus = toy_corpus(count, 8);
  write_text(folder / "src", corpus.source);
  write_text(folder / "trg", corpus.target);
  const auto scored = [&](const std::string& batch_size, const std::string& threads) {
    const auto finished =
        run({"score", "-m", GetParam()().string(), "-s", (folder / "src").string(), "-t",
             (folder / "trg").string(), "--words", "--json", "--batch-size", batch_size,
             "--threads", threads});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto alone = scored("1", "1");
  EXPECT_THAT(alone, testing::HasSubstr("perplexity"));
  EXPECT_EQ(scored("7", "1"), alone);
  EXPECT_EQ(scored("64", "1"), alone);
  EXPECT_EQ(scored("7", "2"), alone);
}

std::string name_of(std::size_t index) {
  const std::array<std::string, 3> names = {"Recurrent", "Lstm", "Transformer"};
  return names.at(index);
}
INSTANTIATE_TEST_SUITE_P(Models, SameScore,
                         testing::Values(&tiny_model, &tiny_lstm, &tiny_transformer),
                         [](const auto& model) { return name_of(model.index); });

class OneSearch : public testing::TestWithParam<std::filesystem::path (*)()> {};

TEST_P(OneSearch, BestDoesNotDependOnOtherOutputs) {
  const auto folder = fresh_folder();
  const auto input =
      toy_corpus(20, 6).source + "\n" + toy_corpus(9, 7).source;  // with a blank line
  const auto translate = [&](const Words& more) {
    const auto finished =
        run(Words{"translate", "-m", GetParam()().string(), "--beam-size", "5", "--threads", "1"} +
                more,
            input);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto best = translate({});
  const auto lines = lines_of(best);
  ASSERT_THAT(lines, SizeIs(30));
  EXPECT_EQ(translate({"--alignments", (folder / "alignments").string()}), best);
  EXPECT_EQ(translate({"--picture", (folder / "picture.svg").string()}), best);
  const auto n_best = lines_of(translate({"--n-best", "3"}));
  ASSERT_THAT(n_best, SizeIs(29 * 3 + 1));
  const auto explained = translate({"--explain"});
  for (std::size_t i = 0, first = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(n_best[first].starts_with(fmt::format("{} ||| {} ||| ", i, lines[i])))
        << n_best[first] << " against " << lines[i];
    first += lines[i].empty() ? 1 : 3;
    EXPECT_THAT(explained, testing::HasSubstr(fmt::format("line {}: {}\n", i + 1, lines[i])));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OneSearch, testing::Values(&tiny_model, &tiny_transformer),
                         [](const auto& model) {
                           return model.index == 0 ? "Recurrent" : "Transformer";
                         });

}  // namespace
}  // namespace regard::same_answer_test
