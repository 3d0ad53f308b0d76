#include "data/hallucination.h"

#include <gmock/gmock.h>

#include <memory>

#include "base/error.h"
#include "data/batch_sampler.h"
#include "tests/data/synthetic_corpus.h"

namespace regard::hallucination_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
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

TextCodec one_vocabulary(const TokenizerOptions& options, const std::vector<std::string>& lines) {
  const std::shared_ptr<const Tokenizer> both = train_tokenizer(options, lines_of(lines));
  return {both, both};
}

class HallucinatedPairs : public testing::Test {
 protected:
  HallucinatedPairs() {
    data_.tokenizer.kind = TokenizerKind::word;
    data_.hallucination = {.rate = 1, .length = 3};
  }
  Corpus corpus(const std::string& source, const std::string& target, const TextCodec& codec) {
    data_.train = {{folder_.write("src", source), folder_.write("trg", target), 1}};
    return training_corpus(data_, codec);
  }
  // Returns pair i with substrings replaced.
  Example changed(const Corpus& corpus, std::int64_t i, std::uint64_t seed) const {
    auto example = example_of(corpus, i);
    Random random(seed);
    Hallucination(data_, corpus).apply(example, corpus, random);
    return example;
  }

  ScratchFolder folder_;
  DataOptions data_;
};

TEST_F(HallucinatedPairs, HaveTheSameNewTokensOnBothSidesAndKeepTheOthers) {
  const auto pairs = corpus("<N> a b c\n<V> d e f\n", "a b c x\nd e f y\n", two_vocabularies());
  const auto& codec = pairs.codec();
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto example = changed(pairs, 0, seed);
    const auto source = codec.source->decode(example.source);
    const auto target = codec.target->decode(example.target);
    EXPECT_EQ(source.substr(0, 4), "<N> ");
    EXPECT_EQ(source.substr(4) + " x", target);
    EXPECT_EQ(source.find_first_of("NVxy", 4), std::string::npos) << "not from a substring";
    has_changed = has_changed || target != "a b c x";
    EXPECT_EQ(changed(pairs, 0, seed).target, example.target);
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(HallucinatedPairs, AreChangedAtAllPositionsOfASubstring) {
  const auto pairs = corpus("a b c\n", "a b c x a b c\n", two_vocabularies());
  const auto example = changed(pairs, 0, 1);
  const auto source = pairs.codec().source->decode(example.source);
  EXPECT_EQ(pairs.codec().target->decode(example.target), source + " x " + source);
  EXPECT_NE(source, "a b c");
}

TEST_F(HallucinatedPairs, AreAsManyAsTheRateSays) {
  const auto pairs = corpus("a b c\nd e f\n", "a b c\nd e f\n", two_vocabularies());
  data_.hallucination.rate = 0.3;
  const Hallucination hallucination(data_, pairs);
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

TEST_F(HallucinatedPairs, AreNotThoseOfACopiedText) {
  const auto line = "a b c d\n";
  const auto same = folder_.write("same", line);
  data_.train = {{same, same, 1}, {folder_.write("src", line), folder_.write("trg", line), 1}};
  const auto pairs = training_corpus(data_, letter_words());
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(changed(pairs, 0, seed).target, example_of(pairs, 0).target);
    has_changed = has_changed || changed(pairs, 1, seed).target != example_of(pairs, 1).target;
  }
  EXPECT_TRUE(has_changed);
  data_.train.pop_back();
  const auto copies = training_corpus(data_, letter_words());
  EXPECT_THROW(Hallucination(data_, copies).is_active(), ConfigError);
}

TEST_F(HallucinatedPairs, KeepTagsUserSymbolsAndBlanks) {
  // Without the tag, the common substring of the first pair would have four tokens.
  data_.train = {{folder_.write("src", "b c d\na b _ c d\n"),
                  folder_.write("trg", "a b c d\na b _ c d\n"), 1}};
  data_.train[0].src_tag = "a";
  data_.hallucination.length = 2;
  const auto plain = letter_words("a b c d _");
  const auto pairs = training_corpus(data_, plain);
  const auto id = [&](const std::string& token) { return plain.source->encode(token).front(); };
  data_.tokenizer.user_symbols = {"a", "_"};
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto tagged = changed(pairs, 0, seed);
    has_changed = has_changed || tagged.target != example_of(pairs, 0).target;
    EXPECT_EQ(tagged.source.front(), id("a"));
    EXPECT_EQ(tagged.target.front(), id("a"));
    const auto marked = changed(pairs, 1, seed);
    EXPECT_EQ(marked.target[2], id("_"));
    EXPECT_EQ(std::ranges::count(marked.target, id("_")), 1);
  }
  EXPECT_TRUE(has_changed);
  data_.tokenizer = {};
  data_.tokenizer.kind = TokenizerKind::character;
  const auto letters = corpus("ab cd\n", "ab cd\n", one_vocabulary(data_.tokenizer, {"ab cd"}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto text = letters.codec().target->decode(changed(letters, 0, seed).target);
    EXPECT_EQ(text.find(' '), 2) << text;
    EXPECT_EQ(text.find(' ', 3), std::string::npos) << text;
  }
}

TEST_F(HallucinatedPairs, KeepTheBeginningsOfWordsAndThePartsOfCharacters) {
  data_.tokenizer.kind = TokenizerKind::bpe;
  data_.tokenizer.vocabulary_size = 12;
  const std::vector<std::string> lines = {"ab ba ab", "ba cab abc", "ab cc"};
  const auto text = "ab ba ab\nba cab abc\nab cc\n";
  const auto words = corpus(text, text, one_vocabulary(data_.tokenizer, lines));
  bool has_changed = false;
  for (std::int64_t pair = 0; pair < 3; ++pair) {
    const auto before = example_of(words, pair);
    const auto example = changed(words, pair, 5);
    has_changed = has_changed || example.target != before.target;
    for (std::size_t i = 0; i < before.target.size(); ++i) {
      const auto begins = [&](std::int32_t token) {
        return words.codec().target->token(token).starts_with("▁");
      };
      EXPECT_EQ(begins(example.target[i]), begins(before.target[i])) << pair << " " << i;
    }
    EXPECT_EQ(example.source, example.target);
  }
  EXPECT_TRUE(has_changed);
  data_.tokenizer = {};
  data_.tokenizer.kind = TokenizerKind::decomposed;
  const auto syllables =
      corpus("한 국 말\n", "한 국 말\n", one_vocabulary(data_.tokenizer, {"한 국 말"}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto example = changed(syllables, 0, seed);
    for (std::size_t i = 0; i < example.target.size(); ++i) {
      EXPECT_EQ(syllables.codec().target->token(example.target[i]).starts_with("￭"), i % 3 != 0);
    }
  }
}

TEST_F(HallucinatedPairs, AreCopiedByAnOutputThatCopies) {
  auto codec = two_vocabularies();
  codec.output = OutputKind::copy;
  // z is outside of both vocabularies: a copied word of its line.
  const auto pairs = corpus("<N> a b z\n<V> d e f\n", "a b z x z\nd e f y\n", codec);
  bool has_changed = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto before = example_of(pairs, 0);
    const auto example = changed(pairs, 0, seed);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(example.extended_ids[k + 1], example.target[k]);
      EXPECT_EQ(codec.source->token(example.source[k + 1]), codec.target->token(example.target[k]));
      EXPECT_LT(example.target[k], codec.target->size()) << "a word that only this line has";
    }
    EXPECT_EQ(example.extended_ids.back(), before.extended_ids.back());
    EXPECT_GE(before.target[4], codec.target->size()) << "copied";
    EXPECT_EQ(example.target[4], unk_id) << "the source has no z any more";
    has_changed = has_changed || example.target != before.target;
  }
  EXPECT_TRUE(has_changed);
}

TEST_F(HallucinatedPairs, DifferByEpochAndNotByRun) {
  const auto pairs = corpus("a b c\n", "a b c\n", two_vocabularies());
  const auto target = [&](std::int64_t epoch, const Hallucination& hallucination) {
    return BatchSampler(pairs, {10, BatchType::sentence}, 1, {}, {}, hallucination)
        .batch(epoch, 0)
        .target;
  };
  const Hallucination active(data_, pairs);
  int changed = 0;
  int differing = 0;
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_TRUE(target(epoch, active).equal(target(epoch, active)));
    changed += target(epoch, active).equal(target(epoch, {})) ? 0 : 1;
    differing += target(epoch, active).equal(target(epoch + 1, active)) ? 0 : 1;
  }
  EXPECT_GE(changed, 3);
  EXPECT_GE(differing, 3);
}

TEST_F(HallucinatedPairs, NeedAPairWithACommonSubstring) {
  const auto pairs = corpus("a b c\n", "d e f\n", two_vocabularies());
  EXPECT_THAT(
      [&] { const Hallucination hallucination(data_, pairs); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("data.hallucination"), HasSubstr("3 equal tokens"),
                                       HasSubstr("1 training pair"))));
  data_.hallucination.rate = 0;
  EXPECT_FALSE(Hallucination(data_, pairs).is_active());
}

}  // namespace
}  // namespace regard::hallucination_test
