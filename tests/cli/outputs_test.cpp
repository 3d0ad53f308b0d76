// Outputs other than a vocabulary, from files to files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/train.h"

namespace regard {
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
  Finished translate(const std::string& input, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"translate", "-m", (folder_ / "run").string(), "--threads", "1"});
    return run(more, input);
  }
};

// Toy sentences, each with a word that no other line has, the same in both languages.
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

TEST_F(Outputs, ACopyingModelSaysWordsItHasNeverSeen) {
  const auto corpus = with_unknown_words(200, 1, "seen");
  write_training(corpus.source, corpus.target);
  const auto trained = train({"model.output.kind=copy", "data.tokenizer.min_frequency=2",
                              "training.max_steps=250", "training.validation_every=250"});
  ASSERT_EQ(trained.code, 0) << trained.err;

  const auto test = with_unknown_words(30, 5, "unseen");
  const auto found = translate(test.source, {"--batch-size", "1"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.out, translate(test.source, {"--batch-size", "64"}).out);
  const auto alignments = (folder_ / "alignments").string();
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

  write_text(folder_ / "test.en", test.source);
  write_text(folder_ / "test.fr", test.target);
  const auto scored = run({"evaluate", "-m", (folder_ / "run").string(), "-s",
                           (folder_ / "test.en").string(), "-r", (folder_ / "test.fr").string()});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("erplexity"));
}

TEST_F(Outputs, CopyingWantsWordsAndWeights) {
  const auto pieces = train({"model.output.kind=copy", "data.tokenizer.kind=bpe"});
  EXPECT_EQ(pieces.code, 2);
  EXPECT_THAT(pieces.err, HasSubstr("sub-words and characters have no unseen words"));
  const auto blind =
      train({"model.output.kind=copy", "model.attention.kind=none", "model.attention.size=512"});
  EXPECT_EQ(blind.code, 2);
  EXPECT_THAT(blind.err, HasSubstr("are no distribution"));
}

TEST_F(Outputs, APointerSaysPositionsAndNamesWhatItCannotRead) {
  const std::vector<std::string> options = {"model.encoder.numbers=2", "model.output.kind=pointer"};
  write_training("0,1 2,3\n0.5,1 1,2 -1,0\n", "1 0\n2 0\n");
  const auto trained = train(options);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto found = translate("1,2 3,4\n\n0,0 0,0 5,6\n");
  EXPECT_THAT(found.out, MatchesRegex("([01] ?)*\n\n([012] ?)*\n"));
  const auto bad = translate("1,2\n3\n");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, HasSubstr("source line 2: `3` has 1 numbers, wanted 2"));

  const auto other = (folder_ / "other").string();
  auto narrower = options;
  narrower[0] = "model.encoder.numbers=1";
  narrower.push_back("training.model_dir=" + other);
  write_training("0 2\n0.5 1 -1\n", "1 0\n2 0\n");
  const auto trained_too = train(narrower);
  ASSERT_EQ(trained_too.code, 0) << trained_too.err;
  const auto mixed = run({"translate", "-m", (folder_ / "run").string(), "-m", other}, "1,2\n");
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("has another model.encoder.numbers than"));

  write_training("0,1 2,3\n0.5,1 1,2\n", "1 0\n2 0\n");
  auto fresh = options;
  fresh.emplace_back("--fresh");
  const auto refused = train(fresh);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("train.fr:2: position 2 is none of the source"));
}

}  // namespace
}  // namespace regard
