// Section `data`: the corpora and how their text becomes tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace regard {

// A pair of parallel files: line i of one translates line i of the other.
struct PairOptions {
  std::string src;
  std::string trg;
};

template <typename Field>
void describe(PairOptions& o, Field&& field) {
  field("src", o.src, "source file, one sentence a line, UTF-8, plain or .gz");
  field("trg", o.trg, "target file, line i translating line i of `src`");
}

struct CorpusOptions {
  std::string src;
  std::string trg;
  double weight = 1;
};

template <typename Field>
void describe(CorpusOptions& o, Field&& field) {
  field("src", o.src, "source file, one sentence a line, UTF-8, plain or .gz");
  field("trg", o.trg, "target file, line i translating line i of `src`");
  field("weight", o.weight,
        "how often an epoch shows each pair: 2 is twice, 0.5 is every other epoch on average; 0 "
        "leaves the corpus out, and all corpora together need a pair an epoch on average",
        between(0, 1000));
}

enum class TokenizerKind { bpe, unigram, word, character };
constexpr std::array<std::string_view, 4> enum_names(TokenizerKind) {
  return {"bpe", "unigram", "word", "character"};
}

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  std::int64_t vocabulary_size = 8000;
  bool joint = false;
  std::string src_file;
  std::string trg_file;
  std::int64_t min_frequency = 1;
  double character_coverage = 1.0;
  bool lowercase = false;
  double sampling = 0;
};

template <typename Field>
void describe(TokenizerOptions& o, Field&& field) {
  field("kind", o.kind,
        "sub-words by SentencePiece (bpe, unigram), whitespace-separated words, or characters");
  field("vocabulary_size", o.vocabulary_size,
        "entries of each vocabulary, the four special ones included; words and characters: at most "
        "so many",
        between(5, largest_count));
  field("joint", o.joint, "one vocabulary for both languages, trained on both");
  field("src_file", o.src_file,
        "an existing source vocabulary (SentencePiece model, or one token a line) instead of "
        "training one");
  field("trg_file", o.trg_file, "an existing target vocabulary");
  field("min_frequency", o.min_frequency,
        "words and characters seen less often in training become <unk>", at_least(1));
  field("character_coverage", o.character_coverage,
        "SentencePiece: share of all characters that the vocabulary covers", between(0.9, 1));
  field("lowercase", o.lowercase, "lower-case all text before it is tokenized");
  field("sampling", o.sampling,
        "sub-word regularisation in training (Kudo 2018; BPE-dropout, Provilkov 2020): unigram's "
        "smoothing alpha, or bpe's probability of dropping a merge; 0 is off; a sample with more "
        "tokens than the model has positions gives way to the usual segmentation",
        between(0, 1));
}

struct DataOptions {
  std::vector<CorpusOptions> train;
  PairOptions dev;
  TokenizerOptions tokenizer;
  std::int64_t max_length = 100;
  double max_ratio = 9;
};

template <typename Field>
void describe(DataOptions& o, Field&& field) {
  field("train", o.train, "the training corpora");
  field("dev", o.dev, "the validation pair; without one, nothing is validated");
  field("tokenizer", o.tokenizer, "how text becomes tokens");
  field("max_length", o.max_length,
        "training pairs with more tokens than this on either side are left out",
        between(1, largest_count));
  field("max_ratio", o.max_ratio,
        "training pairs with one side this many times longer than the other are left out; 0 is off",
        at_least(0));
}

}  // namespace regard
