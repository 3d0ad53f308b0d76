// A translation depends on its line and the model, and on nothing else: not on the lines about it,
// their order, the batch size, the threads, or what else is written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "tests/cli/run.h"

namespace regard {
namespace {

using testing::SizeIs;

constexpr std::size_t count = 60;

struct Case {
  std::string name;
  std::filesystem::path (*model)();
  std::vector<std::string> options;
  double tolerance;  // of figures, between batches
};

// What is written for one line, its figures apart: a Transformer's attention is LibTorch's, whose
// sums depend in their last digits on the longest sentence of the batch.
struct Answer {
  std::string text;
  std::vector<double> figures;
};
using Answers = std::vector<Answer>;

void expect_same(const Answers& found, const Answers& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(fmt::format("line {}", i + 1));
    EXPECT_EQ(found[i].text, wanted[i].text);
    EXPECT_THAT(found[i].figures,
                testing::Pointwise(testing::DoubleNear(tolerance), wanted[i].figures));
  }
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SameAnswer : public testing::TestWithParam<Case> {
 protected:
  SameAnswer() {
    source_ = lines_of(toy_corpus(count, 5).source);
    source_[7] = "";  // what is not translated
    source_[20] = source_[3];
    source_[21] = "nobody has seen these words";
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(3));
  }
  // What is written for each line, and the alignments of each where the case asks for them.
  Answers answers(const std::vector<std::string>& source,
                  const std::vector<std::string>& more) const {
    std::string input;
    for (const auto& line : source) input += line + "\n";
    write_text(folder_ / "in", input);
    std::vector<std::string> arguments = {"translate", "-m", GetParam().model().string(), "-i",
                                          (folder_ / "in").string()};
    for (auto option : GetParam().options) {
      arguments.push_back(option == "FILE" ? alignments_.string() : option);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    auto found = by_line(finished.out, source.size());
    if (asks_for("--alignments")) {
      const auto links = lines_of(read_text(alignments_));
      EXPECT_THAT(links, SizeIs(source.size()));
      for (std::size_t i = 0; i < links.size(); ++i) found[i].text += "\n" + links[i];
    }
    return found;
  }
  bool asks_for(const std::string& option) const {
    return std::ranges::find(GetParam().options, option) != GetParam().options.end();
  }
  Answers by_line(const std::string& out, std::size_t size) const {
    Answers found;
    if (!asks_for("--n-best") && !asks_for("--explain")) {
      for (const auto& line : lines_of(out)) found.push_back({line, {}});
      EXPECT_THAT(found, SizeIs(size));
      return found;
    }
    // Behind the line's number: "7 ||| …" counts from 0, "line 8: …" from 1.
    found.resize(size);
    std::size_t at = 0;
    for (auto line : lines_of(out)) {
      if (asks_for("--n-best")) {
        at = std::stoul(line);
        line.erase(0, line.find(' '));
        const auto figures = line.find("logprob= ");
        found.at(at).figures.push_back(std::stod(line.substr(figures + 9)));
        found.at(at).figures.push_back(std::stod(line.substr(line.rfind(' '))));
        line.resize(figures);
      } else if (line.starts_with("line ")) {
        at = std::stoul(line.substr(5)) - 1;
        line.erase(0, line.find(':'));
      }
      found.at(at).text += line + "\n";
    }
    return found;
  }

  std::filesystem::path folder_ = fresh_folder();
  std::filesystem::path alignments_ = folder_ / "alignments";
  std::vector<std::string> source_;
  std::vector<std::size_t> order_;
};

TEST_P(SameAnswer, WhateverTheBatchTheOrderAndTheThreads) {
  const double tolerance = GetParam().tolerance;
  const auto one = answers(source_, {"--batch-size", "1", "--threads", "1"});
  ASSERT_THAT(one, SizeIs(count));
  expect_same({one[20]}, {one[3]}, tolerance);
  const auto seven = answers(source_, {"--batch-size", "7", "--threads", "1"});
  expect_same(seven, one, tolerance);
  expect_same(answers(source_, {"--batch-size", "64", "--threads", "1"}), one, tolerance);
  expect_same(answers(source_, {"--batch-size", "7", "--threads", "2"}), seven, 0);
  expect_same(answers(source_, {"--batch-size", "7", "--threads", "2"}), seven, 0);
  std::vector<std::string> shuffled_source;
  Answers shuffled;
  for (const auto i : order_) {
    shuffled_source.push_back(source_[i]);
    shuffled.push_back(one[i]);
  }
  expect_same(answers(shuffled_source, {"--batch-size", "7", "--threads", "1"}), shuffled,
              tolerance);
}

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, std::vector<std::string>>> searches = {
      {"Greedy", {"--beam-size", "1"}},
      {"Beam", {"--beam-size", "5"}},
      {"NBest", {"--beam-size", "5", "--n-best", "5"}},
      {"Alignments", {"--beam-size", "5", "--alignments", "FILE"}},
      {"Explained", {"--beam-size", "5", "--explain"}},
  };
  std::vector<Case> all;
  for (const auto& [name, options] : searches) {
    all.push_back({"Recurrent" + name, tiny_model, options, 0});
    all.push_back({"Transformer" + name, tiny_transformer, options, 1.5e-4});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Searches, SameAnswer, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

class OneSearch : public testing::TestWithParam<std::filesystem::path (*)()> {};

TEST_P(OneSearch, GivesTheSameBestWhateverElseIsWritten) {
  const auto folder = fresh_folder();
  const auto input =
      toy_corpus(20, 6).source + "\n" + toy_corpus(9, 7).source;  // with a blank line
  const auto translate = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"translate", "-m", GetParam()().string(), "--beam-size", "5", "--threads", "1"});
    const auto finished = run(more, input);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  };
  const auto best = translate({});
  const auto lines = lines_of(best);
  ASSERT_THAT(lines, SizeIs(30));
  EXPECT_EQ(translate({"--alignments", (folder / "alignments").string()}), best);
  EXPECT_EQ(translate({"--picture", (folder / "picture.html").string()}), best);
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
}  // namespace regard
