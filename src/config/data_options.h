// Section `data`: corpora and tokenizer.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace regard {

// The help of the tags of a corpus, which are user symbols of the tokenizers.
inline constexpr std::string_view src_tag_help =
    "a user symbol before each source line, such as <2de>; docs/data.md";
inline constexpr std::string_view trg_tag_help =
    "a user symbol with which the decoder begins each target, in place of <s>; docs/data.md";

// A pair of parallel files: line i of one is the translation of line i of the other.
struct PairOptions {
  std::string src;
  std::string trg;
  std::string src_tag = {};
  std::string trg_tag = {};

  static constexpr auto fields = std::tuple{
      field("src", &PairOptions::src,
            "source text, one sentence per line, UTF-8: a file, plain or compressed, or a column, "
            "FILE#COLUMN (docs/formats.md)"),
      field("trg", &PairOptions::trg, "target text; line i is the translation of line i of `src`"),
      field("src_tag", &PairOptions::src_tag, src_tag_help),
      field("trg_tag", &PairOptions::trg_tag, trg_tag_help)};
};

struct CorpusOptions {
  std::string src;
  std::string trg;
  double weight = 1;
  std::string src_tag = {};
  std::string trg_tag = {};

  static constexpr auto fields = std::tuple{
      field("src", &CorpusOptions::src,
            "source text, one sentence per line, UTF-8: a file, plain or compressed, or a column, "
            "FILE#COLUMN (docs/formats.md)"),
      field("trg", &CorpusOptions::trg,
            "target text; line i is the translation of line i of `src`"),
      field("src_tag", &CorpusOptions::src_tag, src_tag_help),
      field("trg_tag", &CorpusOptions::trg_tag, trg_tag_help),
      field("weight", &CorpusOptions::weight,
            "how often an epoch uses each pair: 2 means twice, 0.5 every second epoch on average, "
            "0 never; all corpora together need at least one pair per epoch on average",
            between(0, 1000))};
};

// The content of the source files.
enum class SourceKind { text, features };
constexpr std::array<std::string_view, 2> enum_names(SourceKind) {
  return {"text", "features"};
}

enum class TokenizerKind { bpe, unigram, word, decomposed, character };
constexpr std::array<std::string_view, 5> enum_names(TokenizerKind) {
  return {"bpe", "unigram", "word", "decomposed", "character"};
}

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  std::int64_t vocabulary_size = 8000;
  bool joint = false;
  std::string src_file;
  std::string trg_file;
  std::vector<std::string> user_symbols;
  std::int64_t extend_by = 0;
  std::int64_t min_frequency = 1;
  double character_coverage = 1.0;
  bool lowercase = false;
  double sampling = 0;

  static constexpr auto fields = std::tuple{
      field(
          "kind", &TokenizerOptions::kind,
          "sub-words by SentencePiece (bpe, unigram), whitespace-separated words, words of which "
          "each composed character that stands alone is split into its parts (decomposed: Unicode "
          "NFD; 한 becomes three letters, é an e and its accent), or characters"),
      field("vocabulary_size", &TokenizerOptions::vocabulary_size,
            "size of each vocabulary, including the four special tokens but not `user_symbols`; "
            "for words and characters, the maximum size",
            between(5, max_count)),
      field("joint", &TokenizerOptions::joint,
            "use one vocabulary for both languages, trained on both"),
      field("src_file", &TokenizerOptions::src_file,
            "an existing source vocabulary (SentencePiece model, or one token per line) to use "
            "instead of training one"),
      field("trg_file", &TokenizerOptions::trg_file, "an existing target vocabulary"),
      field("user_symbols", &TokenizerOptions::user_symbols,
            "texts that are always one token, such as the tags [<2de>, <2fr>]; those that a "
            "vocabulary does not have are added at its end"),
      field("extend_by", &TokenizerOptions::extend_by,
            "with --init-from: number of entries to add to each vocabulary of the initial model, "
            "at most, learnt from data.train, for a new language or domain",
            between(0, max_count)),
      field("min_frequency", &TokenizerOptions::min_frequency,
            "words and characters that occur less often in the training text become <unk>",
            at_least(1)),
      field("character_coverage", &TokenizerOptions::character_coverage,
            "SentencePiece: fraction of the characters in the text that the vocabulary covers",
            between(0.9, 1)),
      field("lowercase", &TokenizerOptions::lowercase,
            "lower-case all text before it is tokenized"),
      field(
          "sampling", &TokenizerOptions::sampling,
          "sub-word regularisation in training (Kudo 2018; BPE-dropout, Provilkov 2020): smoothing "
          "alpha of unigram, or probability of dropping a merge of bpe; 0 is off; a sample with "
          "more tokens than the model has positions is replaced by the usual segmentation",
          between(0, 1))};
};

// Random changes of source tokens in training (data/noise.h).
struct NoiseOptions {
  double mask = 0;
  double span_length = 3;
  double drop = 0;
  std::int64_t shuffle = 0;

  static constexpr auto fields =
      std::tuple{field("mask", &NoiseOptions::mask,
                       "fraction of the source tokens that are masked, on average: 0.3 for BART, "
                       "0.15 for BERT; 0 is off",
                       between(0, 0.9)),
                 field("span_length", &NoiseOptions::span_length,
                       "mean number of consecutive tokens that one <unk> replaces (Poisson "
                       "distribution), at least 0.5; 0: <unk> replaces each masked token by itself",
                       between(0, 100), only(Part::translation, Part::masking)),
                 field("drop", &NoiseOptions::drop, "probability of leaving out a source token",
                       between(0, 0.9), only(Part::translation)),
                 field("shuffle", &NoiseOptions::shuffle,
                       "how many positions a source token can move, at most (Lample et al. 2018)",
                       between(0, 1000), only(Part::translation))};
};

// Returns true if the source of a denoising corpus is changed.
constexpr bool is_active(const NoiseOptions& o) {
  return o.mask > 0 || o.drop > 0 || o.shuffle > 0;
}

// Options of data hallucination (data/hallucination.h).
struct HallucinationOptions {
  double rate = 0;
  std::int64_t length = 3;

  static constexpr auto fields = std::tuple{
      field("rate", &HallucinationOptions::rate,
            "probability of replacing a common substring, in each epoch; 0 is off", between(0, 1),
            only(Part::translation)),
      field("length", &HallucinationOptions::length, "least number of tokens of a common substring",
            between(1, max_count), only(Part::hallucination))};
};

struct DataOptions {
  SourceKind source = SourceKind::text;
  std::vector<CorpusOptions> train;
  PairOptions dev;
  TokenizerOptions tokenizer;
  NoiseOptions noise;
  HallucinationOptions hallucination;
  std::int64_t max_length = 100;
  std::int64_t max_frames = 3000;
  double max_ratio = 9;
  bool remove_duplicates = false;
  double temperature = 1;
  std::string prepared;

  static constexpr auto fields = std::tuple{
      field("source", &DataOptions::source,
            "the source files are text, or files of `regard features`: item i, a sequence of "
            "vectors of model.encoder.numbers numbers, belongs to line i of `trg`"),
      field("train", &DataOptions::train, "the training corpora"),
      field("dev", &DataOptions::dev, "the validation pair; without it there is no validation"),
      field("tokenizer", &DataOptions::tokenizer, "conversion of text to tokens"),
      field("noise", &DataOptions::noise,
            "pre-training: random changes of the source of each corpus whose `src` and `trg` are "
            "the same file, and of such a validation pair (docs/language_models.md)",
            only(Part::encoder)),
      field("hallucination", &DataOptions::hallucination,
            "for little text whose target copies parts of the source: in training, substrings that "
            "both sides of a pair have in common, such as the stem of a word, are replaced by "
            "random tokens, the same on both sides (Anastasopoulos and Neubig 2019)",
            only(Part::translation)),
      field("max_length", &DataOptions::max_length,
            "skip training pairs with more tokens than this on either side", between(1, max_count)),
      field("max_frames", &DataOptions::max_frames,
            "skip training pairs with more frames than this; max_length and max_ratio do not apply "
            "to frames",
            between(1, max_count), only(Part::features)),
      field("max_ratio", &DataOptions::max_ratio,
            "skip training pairs with one side this many times longer than the other; 0 is off",
            at_least(0)),
      field("remove_duplicates", &DataOptions::remove_duplicates,
            "skip training pairs whose lines are equal to those of an earlier pair, on both sides "
            "and in all corpora"),
      field("temperature", &DataOptions::temperature,
            "mix the corpora by temperature: the share of each in an epoch becomes proportional to "
            "its share raised to 1 / temperature; 1 keeps the sizes and weights, more raises the "
            "share of small corpora; an epoch keeps its number of pairs",
            between(1, 1000)),
      field("prepared", &DataOptions::prepared,
            "a folder of `regard prepare` to train from, instead of the text of `train`: for "
            "corpora larger than memory")};
};

// Returns true if two paths differ at most in parts such as `./`.
inline bool is_same_path(const std::string& a, const std::string& b) {
  const auto normal = [](const std::string& path) {
    return std::filesystem::path(path).lexically_normal();
  };
  return a == b || normal(a) == normal(b);
}

// Returns true if the model is to reconstruct a text from itself, with noise: source and target are
// the same file.
template <typename Pair>
bool is_denoising(const DataOptions& o, const Pair& pair) {
  return is_active(o.noise) && !pair.src.empty() && is_same_path(pair.src, pair.trg);
}

// Returns the maximum number of source tokens or frames of a training pair.
constexpr std::int64_t max_source_length(const DataOptions& o) {
  return o.source == SourceKind::text ? o.max_length : o.max_frames;
}

}  // namespace regard
