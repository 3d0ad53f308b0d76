#include "data/corpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "data/line_reader.h"
#include "tests/data/gzipped.h"
#include "tests/data/synthetic_corpus.h"
#include "text/vocabulary.h"

namespace regard::data_corpus_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CorpusTest : public testing::Test {
 protected:
  Corpus load(std::string_view source, std::string_view target) {
    options_.train = {{folder_.write("src", source), folder_.write("trg", target), 1}};
    return training_corpus(options_, codec_);
  }
  std::string error_of(std::string_view source, std::string_view target) {
    return message_of<InputError>([&] { load(source, target); });
  }

  ScratchFolder folder_;
  DataOptions options_;
  TextCodec codec_ = letter_words();
};

TEST_F(CorpusTest, KeepsTheTokensOfBothSides) {
  const Corpus corpus = load("a b\nc\n", "b\na a a\n");
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_THAT(corpus.pair(0).source, ElementsAre(4, 5));
  EXPECT_THAT(corpus.pair(1).source, ElementsAre(6));
  EXPECT_THAT(corpus.pair(0).target, ElementsAre(5));
  EXPECT_THAT(corpus.pair(1).target, ElementsAre(4, 4, 4));
}

TEST_F(CorpusTest, DifferentLineCountsNameBothFilesAndCounts) {
  EXPECT_THAT(error_of("a\nb\n", "a\nb\nc"), AllOf(HasSubstr(folder_.path("src") + " has 2 lines"),
                                                   HasSubstr(folder_.path("trg") + " has 3")));
}

TEST_F(CorpusTest, EitherFileMayBeTheShorter) {
  EXPECT_THAT(error_of("a\nb\n", "a\n"), HasSubstr("src has 2 lines"));
  EXPECT_THAT(error_of("", "a\n"), HasSubstr("src has 0 lines"));
  EXPECT_THAT(error_of("a\n", ""), HasSubstr("trg has 0"));
}

TEST_F(CorpusTest, ComparesLineCountsWithoutValidatingText) {
  const auto source = folder_.write("src", "\xFF\nb\n");
  const auto same = folder_.write("same", "a\nb");
  const auto shorter = folder_.write("shorter", "a\n");
  ThreadPool pool;
  const TextFiles files({source, same, shorter}, pool);
  EXPECT_NO_THROW(check_parallel(files.at(source), files.at(same)));
  EXPECT_THROW(check_parallel(files.at(source), files.at(shorter)), InputError);
}

TEST_F(CorpusTest, SkipsPairsAndCountsTheReasons) {
  options_.max_length = 4;
  options_.max_ratio = 3;
  const Corpus corpus = load("a\n\n\u00A0 \na\na a a a a\na a a a\na b c\n",  //
                             "a\na\nb\n\t\na\na\nz\n");
  EXPECT_EQ(corpus.size(), 2);
  const CorpusReport& report = corpus.report();
  EXPECT_EQ(report.read, 7);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.empty, 3);
  EXPECT_EQ(report.too_long, 1);
  EXPECT_EQ(report.high_ratio, 1);
  EXPECT_EQ(report.source.tokens, 4);
  EXPECT_EQ(report.source.max_length, 3);
  EXPECT_EQ(report.mean_length(report.source), 2);
  EXPECT_EQ(report.target.unknown, 1);
  EXPECT_EQ(report.unknown_rate(report.target), 0.5);
}

TEST_F(CorpusTest, LimitsAreInclusiveAndRatioZeroDisablesTheCheck) {
  options_.max_length = 4;
  options_.max_ratio = 4;
  EXPECT_EQ(load("a a a a\n", "a\n").size(), 1);
  options_.max_ratio = 0;
  options_.max_length = 100;
  EXPECT_EQ(load("a a a a a a a a a a a a a a a a\n", "a\n").size(), 1);
}

TEST_F(CorpusTest, NoPairLeftIsAnErrorWithCounts) {
  EXPECT_THAT(error_of("\n\n", "a\nb\n"), HasSubstr("no training pair is left of 2 read: 2 empty"));
  EXPECT_THAT(error_of("", ""), HasSubstr("of 0 read"));
}

TEST_F(CorpusTest, KeepsWeightsAndSkipsCorporaOfWeightZero) {
  const auto one = folder_.write("one", "a\n");
  const auto two = folder_.write("two", "a\nb\n");
  options_.train = {{one, one, 2}, {"missing", "missing", 0}, {two, two, 0.5}};
  const Corpus corpus = training_corpus(options_, codec_);
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_EQ(corpus.weight(0), 2);
  EXPECT_EQ(corpus.weight(1), 0.5);
  EXPECT_EQ(corpus.weight(2), 0.5);
  options_.train = {{one, one, 0}};
  EXPECT_THROW(training_corpus(options_, codec_), ConfigError);
}

TEST_F(CorpusTest, AnEpochNeedsOnePairOnAverage) {
  const auto one = folder_.write("one", "a\n");
  const auto ten = folder_.write("ten", "a\na\na\na\na\na\na\na\na\na\n");
  const auto pairs_of = [&](double weight_of_one, double weight_of_ten) {
    options_.train = {{one, one, weight_of_one}, {ten, ten, weight_of_ten}};
    return training_corpus(options_, codec_).size();
  };
  EXPECT_EQ(pairs_of(0, 0.1), 10);
  EXPECT_EQ(pairs_of(0.5, 0.05), 11);
  EXPECT_EQ(pairs_of(1, 1e-6), 11);
  EXPECT_THAT([&] { pairs_of(0.4, 0.05); },
              testing::ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("data.train.0.weight is 0.4, data.train.1.weight is 0.05"),
                        HasSubstr("0.9 of 11 pairs"))));
}

TEST_F(CorpusTest, TemperatureChangesTheSharesButNotTheSizeOfAnEpoch) {
  const auto one = folder_.write("one", "a\n");
  const auto four = folder_.write("four", "a\na\na\na\n");
  options_.train = {{one, one, 1}, {four, four, 2}};  // 1 and 8 pairs
  const auto weights = [&](double temperature) {
    options_.temperature = temperature;
    const auto corpus = training_corpus(options_, codec_);
    return std::vector<double>{corpus.weight(0), corpus.weight(1)};
  };
  EXPECT_THAT(weights(1), ElementsAre(1, 2));
  const double root = 1 + std::sqrt(8.0);
  EXPECT_THAT(weights(2), ElementsAre(testing::DoubleNear(9 / root, 1e-12),
                                      testing::DoubleNear(9 * std::sqrt(8.0) / root / 4, 1e-12)));
  EXPECT_THAT(weights(1000),
              ElementsAre(testing::DoubleNear(4.5, 0.01), testing::DoubleNear(4.5 / 4, 0.01)));
}

TEST_F(CorpusTest, RemovesExactDuplicatesOnRequest) {
  options_.train = {
      {folder_.write("a.src", "a b\na b\na b\na\n"), folder_.write("a.trg", "c\nc\na\nc\n")},
      {folder_.write("b.src", "b\na b\na  b\n"), folder_.write("b.trg", "b\na\nc\n")}};
  EXPECT_EQ(training_corpus(options_, codec_).size(), 7);
  options_.remove_duplicates = true;
  const auto corpus = training_corpus(options_, codec_);
  ASSERT_EQ(corpus.size(), 5);
  EXPECT_EQ(corpus.report().duplicates, 2);
  EXPECT_EQ(corpus.report().kept, 5);
  EXPECT_EQ(corpus.report().read, 7);
  EXPECT_EQ(corpus.report().source.tokens, 2 + 2 + 1 + 1 + 2);
  EXPECT_EQ(corpus.source_locations(std::vector<std::int64_t>{0, 1, 2, 3, 4}),
            options_.train[0].src + ":1, 3, 4, " + options_.train[1].src + ":1, 3");
}

TEST_F(CorpusTest, EqualLinesWithOtherTagsAreNoDuplicates) {
  const auto taxi = folder_.write("taxi", "taxi\n");
  options_.train = {{taxi, taxi}, {taxi, taxi}, {taxi, taxi}, {taxi, taxi}, {taxi, taxi}};
  options_.tokenizer.kind = TokenizerKind::word;
  options_.tokenizer.user_symbols = {"<de>", "<fr>"};
  options_.train[1].src_tag = options_.train[4].src_tag = "<de>";
  options_.train[2].src_tag = "<fr>";
  options_.train[3].trg_tag = "<de>";
  options_.remove_duplicates = true;
  const auto codec = make_text_codec(options_);
  EXPECT_EQ(training_corpus(options_, codec).report().kept, 4);
  EXPECT_EQ(training_corpus(options_, codec).report().duplicates, 1);
}

TEST_F(CorpusTest, TrainingKeepsTextOnlyForSampling) {
  EXPECT_FALSE(load("a b\n", "c\n").has_text());
  options_.tokenizer.sampling = 0.1;
  const Corpus corpus = load("\na b\n", "c\nc  d\n");
  ASSERT_TRUE(corpus.has_text());
  EXPECT_EQ(corpus.pair(0).source_text, "a b");
  EXPECT_EQ(corpus.pair(0).target_text, "c  d");
}

TEST_F(CorpusTest, SourceLocationsListFilesAndLines) {
  options_.train = {{folder_.write("a.src", "a\n\nb\n"), folder_.write("a.trg", "a\na\na\n")},
                    {folder_.write("b.src", "b\n"), folder_.write("b.trg", "b\n")}};
  const Corpus corpus = training_corpus(options_, codec_);
  ASSERT_EQ(corpus.size(), 3);
  const auto locations = corpus.source_locations(std::vector<std::int64_t>{2, 0, 1});
  EXPECT_EQ(locations, options_.train[0].src + ":1, 3, " + options_.train[1].src + ":1");
}

TEST_F(CorpusTest, ValidationKeepsEveryLineAndItsText) {
  options_.dev = {folder_.write("src", "a\n\nb\n"),
                  folder_.write("trg", "\n\na a a a a a a a a a a a\n")};
  const Corpus corpus = validation_corpus(options_, codec_);
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_TRUE(corpus.pair(1).source.empty());
  EXPECT_EQ(corpus.pair(2).target.size(), 12u);
  EXPECT_EQ(corpus.pair(2).source_text, "b");
  EXPECT_EQ(corpus.pair(0).target_text, "");
}

TEST_F(CorpusTest, AnEmptyValidationSetIsAnError) {
  const auto path = folder_.write("src", "");
  options_.dev = {path, path};
  EXPECT_THROW(validation_corpus(options_, codec_), InputError);
}

TEST_F(CorpusTest, ErrorsInNumbersAndPositionsNameTheFileAndLine) {
  ModelOptions model;
  model.encoder.numbers = 1;
  model.output.kind = OutputKind::pointer;
  options_.tokenizer.kind = TokenizerKind::word;
  codec_ = make_text_codec(options_, model);
  const Corpus corpus = load("0.5 2\n1\n", "1 0\n0\n");
  EXPECT_THAT(corpus.pair(1).numbers, ElementsAre(1, 0, 0, 1));
  options_.dev = {folder_.write("dev.src", "\n3\n"), folder_.write("dev.trg", "\n0\n")};
  const Corpus dev = validation_corpus(options_, codec_);
  EXPECT_THAT(dev.pair(0).numbers, ElementsAre(0, 1));  // an empty line is kept
  EXPECT_THAT(dev.pair(1).numbers, ElementsAre(3, 0, 0, 1));
  EXPECT_THAT(corpus.pair(0).target, ElementsAre(5, 4));
  EXPECT_THAT(error_of("1 2\n3 x\n", "0\n0\n"), AllOf(HasSubstr("src:2: "), HasSubstr("`x`")));
  EXPECT_THAT(error_of("1 2\n3\n", "0\n1\n"),
              AllOf(HasSubstr("trg:2: "), HasSubstr("position 1"), HasSubstr("has 1 element,")));
  EXPECT_THAT(error_of("1 2\n", "first\n"), AllOf(HasSubstr("trg:1: "), HasSubstr("`first`")));
}

// Encodes line by line with LineReader, as a reference for the parallel code.
CorpusPairs read_serially(const DataOptions& options, const TextCodec& codec) {
  CorpusPairs pairs;
  auto& report = pairs.report;
  for (const auto& part : options.train) {
    LineReader source(part.src);
    LineReader target(part.trg);
    std::string source_line;
    std::string target_line;
    while (source.next(source_line) && target.next(target_line)) {
      ++report.read;
      const auto line = codec.encode_source(source_line);
      const auto& ids = line.tokens;
      const auto target_ids = codec.encode_target(target_line, line);
      const auto longest = std::max(ids.size(), target_ids.size());
      const auto shortest = std::min(ids.size(), target_ids.size());
      std::int64_t* skipped = shortest == 0 ? &report.empty : nullptr;
      if (source_line.size() > 8192 || target_line.size() > 8192) skipped = &report.too_long;
      if (!skipped && longest > static_cast<std::size_t>(options.max_length)) {
        skipped = &report.too_long;
      }
      if (!skipped &&
          static_cast<double>(longest) > options.max_ratio * static_cast<double>(shortest)) {
        skipped = &report.high_ratio;
      }
      if (skipped) {
        ++*skipped;
        continue;
      }
      ++report.kept;
      const auto add = [](CorpusReport::Side& side, const std::vector<std::int32_t>& tokens) {
        side.tokens += std::ssize(tokens);
        side.unknown += std::ranges::count(tokens, unk_id);
        side.max_length = std::max(side.max_length, static_cast<std::int64_t>(tokens.size()));
      };
      add(report.source, ids);
      add(report.target, target_ids);
      pairs.source.add(ids);
      pairs.target.add(target_ids);
      pairs.lines.push_back(static_cast<std::uint32_t>(source.line_number()));
      if (!line.extended_ids.empty()) pairs.extended_ids.add(line.extended_ids);
      if (options.tokenizer.sampling == 0) continue;
      pairs.source_text.add(source_line);
      pairs.target_text.add(target_line);
    }
  }
  return pairs;
}

// Corpora of many blocks, whose sides differ in bytes per line.
class ParallelCorpus : public testing::Test {
 protected:
  ParallelCorpus() {
    options_.max_length = 12;
    options_.max_ratio = 3;
    options_.tokenizer.kind = TokenizerKind::word;
    add_corpus("one", 30'000);
    add_corpus("two", 500);
    add_corpus("three", 4'000);
  }

  void add_corpus(const std::string& name, int lines) {
    Random random(static_cast<std::uint64_t>(lines));
    std::string source;
    std::string target;
    for (int i = 0; i < lines; ++i) {
      source += line(random, 14) + "\n";
      target += line(random, 14) + (i % 1'000 == 7 ? std::string(9'000, 'x') : "") + "\n";
    }
    options_.train.push_back(
        {folder_.write(name + ".src", gzipped(source)), folder_.write(name + ".trg", target), 1});
  }
  static std::string line(Random& random, std::uint64_t max_words) {
    std::string text;
    for (auto words = random.below(max_words + 1); words > 0; --words) {
      text += "w" + std::to_string(random.below(300) * random.below(300)) + " ";
    }
    return text;
  }
  // Returns the error of reading the files on some threads, or "".
  std::string error_with(std::size_t threads) const {
    return message_of<InputError>([&] {
      ThreadPool pool(threads);
      const TextFiles files(training_paths(options_), pool);
      Corpus::training(options_, make_text_codec(options_, model_, files, pool, 1), files, pool);
    });
  }
  // Replaces a line, counted from 1, of a plain file.
  void replace_line(const std::string& path, std::size_t number, const std::string& by) const {
    std::ifstream before(path, std::ios::binary);
    std::vector<std::string> lines;  // may not be UTF-8
    for (std::string line; std::getline(before, line);) lines.push_back(line);
    lines.at(number - 1) = by;
    std::ofstream file(path, std::ios::binary);
    for (const auto& each : lines) file << each << "\n";
  }

  ScratchFolder folder_;
  DataOptions options_;
  ModelOptions model_;
};

TEST_F(ParallelCorpus, EqualsReadingLineByLineWithAnyNumberOfThreads) {
  for (const auto output : {OutputKind::vocabulary, OutputKind::copy}) {
    for (const double sampling : {0.0, 0.1}) {
      options_.tokenizer.sampling = sampling;
      options_.tokenizer.vocabulary_size = 2'000;
      model_.output.kind = output;
      const auto codec = make_text_codec(options_, model_);
      const auto reference = read_serially(options_, codec);
      ASSERT_GT(reference.report.kept, 10'000);
      ASSERT_GT(reference.report.empty, 100);
      ASSERT_GT(reference.report.too_long, 100);
      ASSERT_GT(reference.report.high_ratio, 100);
      ASSERT_GT(reference.report.target.unknown, 100);
      for (const std::size_t threads : {1, 2, 5}) {
        for (const std::int64_t memory : {std::int64_t{0}, TextFiles::default_memory}) {
          ThreadPool pool(threads);
          const TextFiles files(training_paths(options_), pool, memory);
          const auto corpus = Corpus::training(options_, codec, files, pool);
          EXPECT_TRUE(corpus.pairs() == reference) << threads << " threads, memory " << memory;
          EXPECT_EQ(corpus.parts().size(), 3u);
        }
      }
    }
  }
}

TEST_F(ParallelCorpus, VocabulariesAreTheSameWithAnyNumberOfThreads) {
  for (const auto kind : {TokenizerKind::word, TokenizerKind::character}) {
    options_.tokenizer.kind = kind;
    for (const bool joint : {false, true}) {
      options_.tokenizer.joint = joint;
      const auto serial = make_text_codec(options_);
      TokenCounts counts;  // of the source side, as a reference
      for (const auto& corpus : options_.train) {
        for (const auto& text : read_lines(corpus.src)) {
          count_tokens(options_.tokenizer, text, counts);
        }
      }
      if (!joint) {
        EXPECT_EQ(serial.source->serialized(),
                  make_tokenizer(options_.tokenizer, counts)->serialized());
      }
      for (const std::size_t threads : {2, 5}) {
        ThreadPool pool(threads);
        for (const std::int64_t memory : {std::int64_t{0}, TextFiles::default_memory}) {
          const TextFiles files(training_paths(options_), pool, memory);
          const auto parallel = make_text_codec(options_, {}, files, pool, 1);
          EXPECT_EQ(parallel.source->serialized(), serial.source->serialized());
          EXPECT_EQ(parallel.target->serialized(), serial.target->serialized());
        }
      }
    }
  }
}

TEST_F(ParallelCorpus, ReportsTheFirstErrorOfTheText) {
  replace_line(options_.train[0].trg, 20'000, "\xFF");
  replace_line(options_.train[0].trg, 25'000, "\xFE");
  replace_line(options_.train[1].trg, 3, "\xFD");
  for (const std::size_t threads : {1, 2, 5}) {
    EXPECT_THAT(error_with(threads), HasSubstr("one.trg:20000: byte 1 of the line (0xFF)"));
  }
}

TEST_F(ParallelCorpus, ReportsTheFirstErrorOfEncoding) {
  std::string source;
  std::string target;
  for (int i = 1; i <= 40'000; ++i) {
    source += "1 2 3\n";
    target += i == 30'000 ? "3\n" : i == 30'001 || i == 39'999 ? "x\n" : "0 2\n";
  }
  options_.train = {{folder_.write("src", source), folder_.write("trg", target), 1}};
  model_.encoder.numbers = 1;
  model_.output.kind = OutputKind::pointer;
  for (const std::size_t threads : {1, 2, 5}) {
    EXPECT_THAT(error_with(threads), HasSubstr("trg:30000: position 3 is outside the source"));
  }
}

TEST_F(ParallelCorpus, WarnsOfTruncatedLinesInOrder) {
  std::string source;
  std::string target;
  std::vector<std::string> expected;
  for (int i = 1; i <= 20'000; ++i) {
    source += (i % 5'000 == 0 ? std::string(9'000, 'a') : "a") + "\n";
    target += (i % 5'000 == 0 || i == 7 ? std::string(9'000, 'b') : "b") + "\n";
    if (i % 5'000 == 0) expected.push_back(fmt::format("src:{}: the line has 9000", i));
    if (i % 5'000 == 0 || i == 7) expected.push_back(fmt::format("trg:{}: the line has 9000", i));
  }
  options_.dev = {folder_.write("src", source), folder_.write("trg", target)};
  const auto codec = letter_words();
  for (const std::size_t threads : {1, 2, 5}) {
    const auto log = folder_.path("log" + std::to_string(threads));
    log::open_file(log);
    ThreadPool pool(threads);
    const TextFiles files({options_.dev.src, options_.dev.trg}, pool);
    const auto corpus = Corpus::validation(options_, codec, files, pool);
    EXPECT_EQ(corpus.report().too_long, 5);
    EXPECT_EQ(corpus.pair(4'999).source_text.size(), 8'192u);
    const auto lines = read_lines(log);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(lines[i], HasSubstr(expected[i]));
  }
}

}  // namespace
}  // namespace regard::data_corpus_test
