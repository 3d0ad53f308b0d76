#include "data/corpus.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/data/synthetic_corpus.h"

namespace regard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CorpusTest : public testing::Test {
 protected:
  Corpus load(std::string_view source, std::string_view target) {
    options_.train = {{folder_.write("src", source), folder_.write("trg", target), 1}};
    return Corpus::training(options_, tokenizers_);
  }
  std::string error_of(std::string_view source, std::string_view target) {
    try {
      load(source, target);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  TestFolder folder_;
  DataOptions options_;
  Tokenizers tokenizers_ = letter_words();
};

TEST_F(CorpusTest, KeepsTheTokensOfBothSides) {
  const Corpus corpus = load("a b\nc\n", "b\na a a\n");
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_THAT(corpus.source(0), ElementsAre(4, 5));
  EXPECT_THAT(corpus.source(1), ElementsAre(6));
  EXPECT_THAT(corpus.target(0), ElementsAre(5));
  EXPECT_THAT(corpus.target(1), ElementsAre(4, 4, 4));
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
  EXPECT_NO_THROW(check_parallel(source, folder_.write("trg", "a\nb")));
  EXPECT_THROW(check_parallel(source, folder_.write("trg", "a\n")), InputError);
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
  const Corpus corpus = Corpus::training(options_, tokenizers_);
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_EQ(corpus.weight(0), 2);
  EXPECT_EQ(corpus.weight(1), 0.5);
  EXPECT_EQ(corpus.weight(2), 0.5);
  options_.train = {{one, one, 0}};
  EXPECT_THROW(Corpus::training(options_, tokenizers_), ConfigError);
}

TEST_F(CorpusTest, AnEpochNeedsOnePairOnAverage) {
  const auto one = folder_.write("one", "a\n");
  const auto ten = folder_.write("ten", "a\na\na\na\na\na\na\na\na\na\n");
  const auto pairs_of = [&](double weight_of_one, double weight_of_ten) {
    options_.train = {{one, one, weight_of_one}, {ten, ten, weight_of_ten}};
    return Corpus::training(options_, tokenizers_).size();
  };
  EXPECT_EQ(pairs_of(0, 0.1), 10);
  EXPECT_EQ(pairs_of(0.5, 0.05), 11);
  EXPECT_EQ(pairs_of(1, 1e-6), 11);
  EXPECT_THAT([&] { pairs_of(0.4, 0.05); },
              testing::ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("data.train.0.weight is 0.4, data.train.1.weight is 0.05"),
                        HasSubstr("0.9 of 11 pairs"))));
}

TEST_F(CorpusTest, TrainingKeepsTextOnlyForSampling) {
  EXPECT_FALSE(load("a b\n", "c\n").has_text());
  options_.tokenizer.sampling = 0.1;
  const Corpus corpus = load("\na b\n", "c\nc  d\n");
  ASSERT_TRUE(corpus.has_text());
  EXPECT_EQ(corpus.source_text(0), "a b");
  EXPECT_EQ(corpus.target_text(0), "c  d");
}

TEST_F(CorpusTest, SourceLocationsListFilesAndLines) {
  options_.train = {{folder_.write("a.src", "a\n\nb\n"), folder_.write("a.trg", "a\na\na\n")},
                    {folder_.write("b.src", "b\n"), folder_.write("b.trg", "b\n")}};
  const Corpus corpus = Corpus::training(options_, tokenizers_);
  ASSERT_EQ(corpus.size(), 3);
  const auto locations = corpus.source_locations(std::vector<std::int64_t>{2, 0, 1});
  EXPECT_EQ(locations, options_.train[0].src + ":1, 3, " + options_.train[1].src + ":1");
}

TEST_F(CorpusTest, ValidationKeepsEveryLineAndItsText) {
  options_.dev = {folder_.write("src", "a\n\nb\n"),
                  folder_.write("trg", "\n\na a a a a a a a a a a a\n")};
  const Corpus corpus = Corpus::validation(options_, tokenizers_);
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_TRUE(corpus.source(1).empty());
  EXPECT_EQ(corpus.target(2).size(), 12u);
  EXPECT_EQ(corpus.source_text(2), "b");
  EXPECT_EQ(corpus.target_text(0), "");
}

TEST_F(CorpusTest, AnEmptyValidationSetIsAnError) {
  const auto path = folder_.write("src", "");
  options_.dev = {path, path};
  EXPECT_THROW(Corpus::validation(options_, tokenizers_), InputError);
}

TEST_F(CorpusTest, ErrorsInNumbersAndPositionsNameTheFileAndLine) {
  ModelOptions model;
  model.encoder.numbers = 1;
  model.output.kind = OutputKind::pointer;
  options_.tokenizer.kind = TokenizerKind::word;
  tokenizers_ = make_tokenizers(options_, model);
  const Corpus corpus = load("0.5 2\n1\n", "1 0\n0\n");
  EXPECT_THAT(corpus.numbers(1), ElementsAre(1, 0, 0, 1));
  options_.dev = {folder_.write("dev.src", "\n3\n"), folder_.write("dev.trg", "\n0\n")};
  const Corpus dev = Corpus::validation(options_, tokenizers_);
  EXPECT_THAT(dev.numbers(0), ElementsAre(0, 1));  // an empty line is kept
  EXPECT_THAT(dev.numbers(1), ElementsAre(3, 0, 0, 1));
  EXPECT_THAT(corpus.target(0), ElementsAre(5, 4));
  EXPECT_THAT(error_of("1 2\n3 x\n", "0\n0\n"), AllOf(HasSubstr("src:2: "), HasSubstr("`x`")));
  EXPECT_THAT(error_of("1 2\n3\n", "0\n1\n"),
              AllOf(HasSubstr("trg:2: "), HasSubstr("position 1"), HasSubstr("has 1 element,")));
  EXPECT_THAT(error_of("1 2\n", "first\n"), AllOf(HasSubstr("trg:1: "), HasSubstr("`first`")));
}

}  // namespace
}  // namespace regard
