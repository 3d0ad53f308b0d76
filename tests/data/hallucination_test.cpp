#include "data/hallucination.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "data/batch_sampler.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::hallucination_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

TextCodec two_vocabularies() {
  TokenizerOptions options;
  options.kind = TokenizerKind::word;
  const std::shared_ptr<const Tokenizer> source =
      train_tokenizer(options, lines_of({"<N> <V> a b c d e f"}));
  const std::shared_ptr<const Tokenizer> target =
      train_tokenizer(options, lines_of({"x y f f e e e d d d d c c c c c b a"}));
  return {source, target};
}

class HallucinatedPairs : public testing::Test {
 protected:
  Corpus corpus(const std::string& source, const std::string& target, TextCodec codec) const {
    DataOptions data;
    data.tokenizer.kind = TokenizerKind::word;
    data.train = {{folder_.write("src", source), folder_.write("trg", target), 1}};
    return training_corpus(data, codec);
  }

  TestFolder folder_;
};

TEST_F(HallucinatedPairs, HaveTheSameNewTokensOnBothSidesAndKeepTheOthers) {
  const auto pairs = corpus("<N> a b c\n<V> d e f\n", "a b c x\nd e f y\n", two_vocabularies());
  const auto& codec = pairs.codec();
  const Hallucination hallucination({.rate = 1, .length = 3}, pairs);
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto example = example_of(pairs, 0);
    Random random(seed);
    hallucination.apply(example, pairs, random);
    const auto source = codec.source->decode(example.source);
    const auto target = codec.target->decode(example.target);
    EXPECT_EQ(source.substr(0, 4), "<N> ");
    EXPECT_EQ(source.substr(4) + " x", target);
    EXPECT_EQ(source.find_first_of("NVxy", 4), std::string::npos) << "not from a stretch";
    has_changed = has_changed || target != "a b c x";
    auto again = example_of(pairs, 0);
    Random same(seed);
    hallucination.apply(again, pairs, same);
    EXPECT_EQ(again.source, example.source);
    EXPECT_EQ(again.target, example.target);
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(HallucinatedPairs, AreAsManyAsTheRateSays) {
  const auto pairs = corpus("a b c\nd e f\n", "a b c\nd e f\n", two_vocabularies());
  const Hallucination hallucination({.rate = 0.3, .length = 3}, pairs);
  int changed = 0;
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    auto example = example_of(pairs, 0);
    hallucination.apply(example, pairs, random);
    if (example.target != example_of(pairs, 0).target) ++changed;
  }
  // One of 216 draws gives the same tokens.
  EXPECT_NEAR(changed / 2000.0, 0.3 * 215 / 216, 0.04);
}

TEST_F(HallucinatedPairs, KeepTagsAndTheCopiesOfAText) {
  const auto line = "a b c d\n";
  DataOptions data;
  data.tokenizer.kind = TokenizerKind::word;
  const auto same = folder_.write("same", line);
  data.train = {{same, same, 1}, {folder_.write("src", line), folder_.write("trg", line), 1}};
  data.train[1].src_tag = "a";
  const auto pairs = training_corpus(data, letter_words());
  const Hallucination hallucination({.rate = 1, .length = 2}, pairs);
  const auto tag = pairs.codec().source->encode("a").front();
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    auto copy = example_of(pairs, 0);
    hallucination.apply(copy, pairs, random);
    EXPECT_EQ(copy.target, example_of(pairs, 0).target);
    auto tagged = example_of(pairs, 1);
    hallucination.apply(tagged, pairs, random);
    EXPECT_EQ(tagged.source.front(), tag);
    EXPECT_EQ(Tokens(tagged.source.begin() + 1, tagged.source.end()), tagged.target);
    has_changed = has_changed || tagged.target != example_of(pairs, 1).target;
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(HallucinatedPairs, AreCopiedByAnOutputThatCopies) {
  auto codec = two_vocabularies();
  codec.output = OutputKind::copy;
  // z is outside of both vocabularies: a copied word of its line.
  const auto pairs = corpus("<N> a b z\n<V> d e f\n", "a b z x\nd e f y\n", codec);
  const Hallucination hallucination({.rate = 1, .length = 3}, pairs);
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    auto example = example_of(pairs, 0);
    const auto before = example;
    hallucination.apply(example, pairs, random);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(example.extended_ids[k + 1], example.target[k]);
      EXPECT_LT(example.target[k], codec.target->size()) << "a word that only another line has";
    }
    EXPECT_EQ(example.extended_ids.back(), before.extended_ids.back());
    has_changed = has_changed || example.target != before.target;
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(HallucinatedPairs, DifferByEpochAndNotByRun) {
  const auto pairs = corpus("a b c\nd e f\n", "a b c\nd e f\n", two_vocabularies());
  const auto batch = [&](std::int64_t epoch) {
    const Hallucination hallucination({.rate = 1, .length = 3}, pairs);
    return BatchSampler(pairs, {10, BatchType::sentence}, 1, {}, {}, hallucination).batch(epoch, 0);
  };
  EXPECT_TRUE(batch(0).target.equal(batch(0).target));
  EXPECT_FALSE(batch(0).target.equal(batch(1).target));
}

TEST_F(HallucinatedPairs, NeedAPairWithACommonStretch) {
  const auto pairs = corpus("a b c\n", "d e f\n", two_vocabularies());
  try {
    Hallucination({.rate = 0.5, .length = 2}, pairs);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("data.hallucination"), HasSubstr("2 equal tokens")));
  }
  EXPECT_NO_THROW(Hallucination({.rate = 0, .length = 2}, pairs));
}

}  // namespace
}  // namespace regard::hallucination_test
