// Outputs other than a vocabulary, tested with files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/train.h"

namespace regard::cli_outputs_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class Outputs : public Train {
 protected:
  void write_training(const std::string& source, const std::string& target) const {
    for (const std::string set : {"train", "dev"}) {
      write_text(folder_ / (set + ".en"), source);
      write_text(folder_ / (set + ".fr"), target);
    }
  }
  Finished translate(const std::string& input, const Words& more = {}) const {
    return run(Words{"translate", "-m", path("run"), "--threads", "1"} + more, input);
  }
};

// Toy sentences, each with a unique word that is the same in both languages.
ToyCorpus with_unknown_words(std::size_t lines, unsigned seed, const std::string& prefix) {
  const auto toy = toy_corpus(lines, seed);
  const auto source = lines_of(toy.source), target = lines_of(toy.target);
  ToyCorpus corpus;
  for (std::size_t i = 0; i < lines; ++i) {
    corpus.source += fmt::format("{} {}{}\n", source[i], prefix, i);
    corpus.target += fmt::format("{} {}{}\n", target[i], prefix, i);
  }
  return corpus;
}

TEST_F(Outputs, CopiesUnseenWords) {
  const auto corpus = with_unknown_words(200, 1, "seen");
  write_training(corpus.source, corpus.target);
  const auto trained = train({"model.output.kind=copy", "data.tokenizer.min_frequency=2",
                              "training.max_steps=250", "training.validation_every=250"});
  ASSERT_EQ(trained.code, 0) << trained.err;

  const auto test = with_unknown_words(30, 5, "unseen");
  const auto found = translate(test.source, {"--batch-size", "1"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.out, translate(test.source, {"--batch-size", "64"}).out);
  const auto alignments = path("alignments");
  const auto n_best = translate(test.source, {"--n-best", "3", "--alignments", alignments});
  EXPECT_EQ(lines_of(read_text(alignments)).size(), lines_of(n_best.out).size());
  EXPECT_THAT(n_best.out, HasSubstr("0 ||| " + lines_of(found.out)[0] + " ||| "));
  EXPECT_EQ(translate("\n").out, "\n");

  const auto best = lines_of(found.out);
  ASSERT_EQ(best.size(), 30U);
  int through = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    through += (best[i] + " ").find(fmt::format(" unseen{} ", i)) != std::string::npos;
  }
  EXPECT_GE(through, 15);

  const auto scored = run({"evaluate", "-m", path("run"), "-s", file("test.en", test.source), "-r",
                           file("test.fr", test.target)});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("erplexity"));
}

TEST_F(Outputs, CopiesPartsOfUnseenWords) {
  const auto corpus = with_unknown_words(200, 1, "n");
  write_training(corpus.source, corpus.target);
  const auto test = with_unknown_words(300, 5, "n");  // from n200 on, they are new
  // Returns how many of the new words are in their translations.
  const auto through = [&](const std::string& output) {
    // Without dropout, 14 to 90 of the words are copied, depending on the seed and the processor.
    const auto trained = train({"--fresh", "model.output.kind=" + output, "data.tokenizer.kind=bpe",
                                "data.tokenizer.joint=true", "data.tokenizer.vocabulary_size=60",
                                "model.dropout.embeddings=0.1", "model.dropout.states=0.1",
                                "training.max_steps=400", "training.validation_every=400"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    const auto found = translate(test.source, {"--batch-size", "1"});
    EXPECT_EQ(found.out, translate(test.source, {"--batch-size", "64"}).out) << found.err;
    const auto best = lines_of(found.out);
    int count = 0;
    for (std::size_t i = 200; i < best.size(); ++i) {
      count += (best[i] + " ").find(fmt::format(" n{} ", i)) != std::string::npos;
    }
    return count;
  };
  const auto copied = through("copy");
  EXPECT_GE(copied, 50);
  EXPECT_GE(copied, through("vocabulary") + 25);
}

TEST_F(Outputs, CopyingNeedsACommonVocabularyOrWordsAndWeights) {
  const auto pieces = train({"model.output.kind=copy", "data.tokenizer.kind=bpe"});
  EXPECT_EQ(pieces.code, 2);
  EXPECT_THAT(pieces.err, HasSubstr("set data.tokenizer.joint to true"));
  const auto blind =
      train({"model.output.kind=copy", "model.attention.kind=none", "model.attention.size=512"});
  EXPECT_EQ(blind.code, 2);
  EXPECT_THAT(blind.err, HasSubstr("do not sum to 1"));
}

TEST_F(Outputs, PointerOutputsPositionsAndReportsBadInput) {
  const Words options = {"model.encoder.numbers=2", "model.output.kind=pointer",
                         "training.max_steps=20"};
  write_training("0,1 2,3\n0.5,1 1,2 -1,0\n", "1 0\n2 0\n");
  const auto trained = train(options);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto found = translate("1,2 3,4\n\n0,0 0,0 5,6\n");
  EXPECT_THAT(found.out, MatchesRegex("([01] ?)*\n\n([012] ?)*\n"));
  const auto bad = translate("1,2\n3\n");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, HasSubstr("source line 2: `3` has 1 number, expected 2"));
  EXPECT_EQ(bad.out, translate("1,2\n").out);

  write_training("0 2\n0.5 1 -1\n", "1 0\n2 0\n");
  const auto narrower =
      train(options + Words{"model.encoder.numbers=1", "training.model_dir=" + path("other"),
                            "training.max_steps=1"});
  ASSERT_EQ(narrower.code, 0) << narrower.err;
  const auto mixed = run({"translate", "-m", path("run"), "-m", path("other")}, "1,2\n");
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("the model.encoder.numbers of "));

  write_training("0,1 2,3\n0.5,1 1,2\n", "1 0\n2 0\n");
  const auto refused = train(options + Words{"--fresh"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("train.fr:2: position 2 is outside the source"));
}

std::string repeated(const std::string& word, std::size_t times) {
  std::string line;
  for (std::size_t i = 0; i < times; ++i) line += (i == 0 ? "" : " ") + word;
  return line;
}

// Lines of at least 20,000 bytes, whose last number is the target.
TEST_F(Outputs, ReadsLongSequencesToTheEnd) {
  const auto longer = repeated("0.1234567", 2000);
  for (const std::string numbers : {"1", "0"}) {  // as numbers, and as words
    SCOPED_TRACE(numbers);
    write_training("0.5 0.25\n" + longer + "\n", "1 0\n1999\n");
    const auto trained =
        train({"model.encoder.numbers=" + numbers, "model.output.kind=pointer", "--fresh",
               "data.max_length=2000", "data.max_ratio=0", "training.max_steps=1",
               "training.validation_every=1", "training.early_stopping_metric=exact",
               "search.max_output_length=3"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_THAT(trained.err, testing::Not(HasSubstr("warning")));
    const auto found = translate(longer + "\n", {"--json"});
    EXPECT_EQ(found.code, 0);
    EXPECT_EQ(found.err, "");
    const auto scored = run({"score", "-m", path("run"), "-s", file("long", longer + "\n"), "-t",
                             file("last", "1999\n")});
    EXPECT_EQ(scored.code, 0) << scored.err;
  }
}

TEST_F(Outputs, TooManyElementsIsAnErrorWithTheLine) {
  const Words options = {"model.encoder.numbers=1",    "model.output.kind=pointer",
                         "training.max_steps=1",       "training.validation_every=1",
                         "search.max_output_length=3", "--fresh"};
  const std::string good = "0.5 0.25\n";
  const auto too_long = good + repeated("1", 8193) + "\n";
  const auto named = [](const std::string& file) {
    return HasSubstr(file + ":2: found 8193 elements, expected at most 8192");
  };
  const auto refused = [&](const std::string& name, const std::string& text) {
    write_training(good + good, "1\n0\n");
    file(name, text);
    const auto finished = train(options);
    EXPECT_EQ(finished.code, 3) << name;
    EXPECT_THAT(finished.err, named(name));
  };
  refused("train.en", too_long);
  refused("dev.en", too_long);
  refused("dev.fr", "1\n" + repeated("0", 8193) + "\n");
  refused("train.fr", "1\n" + repeated("0", 8193) + "\n");

  write_training(good + good, "1\n0\n");
  ASSERT_EQ(train(options).code, 0);
  const auto source = file("long", too_long), target = file("target", "0\n0\n");
  const auto model = path("run");
  const auto translated = run({"translate", "-m", model, "-i", source});
  EXPECT_EQ(translated.code, 3);
  EXPECT_THAT(translated.err, named(source));
  EXPECT_EQ(lines_of(translated.out).size(), 1u) << "the line before is translated";
  for (const auto& verb : {Words{"score", "-m", model, "-s", source, "-t", target},
                           {"evaluate", "-m", model, "-s", source, "-r", target}}) {
    const auto finished = run(verb);
    EXPECT_EQ(finished.code, 3) << verb[0];
    EXPECT_THAT(finished.err, named(source)) << verb[0];
  }
}

}  // namespace
}  // namespace regard::cli_outputs_test
