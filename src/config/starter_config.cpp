#include "config/starter_config.h"

#include <algorithm>
#include <cmath>

#include "base/special_tokens.h"
#include "base/strings.h"
#include "config/scalar.h"

namespace regard {
namespace {

// Sizes of model and training for corpora of up to max_pairs pairs. Less text needs a smaller model
// and more regularisation.
struct Size {
  std::int64_t max_pairs;
  std::int64_t vocabulary;  // maximum, of sub-words
  std::int64_t embedding;
  std::int64_t hidden;
  double dropout;
  std::int64_t batch;  // target tokens
  std::int64_t epochs;
};
constexpr Size sizes[] = {{5'000, 1'000, 96, 96, 0.3, 512, 40},
                          {60'000, 6'000, 256, 256, 0.3, 1'024, 25},
                          {600'000, 12'000, 256, 512, 0.2, 2'048, 12},
                          {INT64_MAX, 24'000, 512, 512, 0.1, 4'096, 5}};
constexpr double tokens_per_word = 1.3;  // approximate, for sub-words
// With fewer distinct words on one side, each word is a token.
constexpr std::int64_t min_distinct_words = 1'000;
// With more distinct characters, the vocabulary leaves out the rarest.
constexpr std::int64_t max_characters = 800;

const Size& size_for(std::int64_t pairs) {
  return *std::ranges::find_if(sizes, [&](const Size& size) { return pairs <= size.max_pairs; });
}

std::int64_t round_up(double value, std::int64_t unit) {
  return unit * static_cast<std::int64_t>(std::ceil(value / static_cast<double>(unit)));
}

// True if the tokenizer should split words into sub-words.
bool needs_subwords(const CorpusStatistics& statistics) {
  return !statistics.src.split && !statistics.trg.split &&
         std::min(statistics.src.distinct_words, statistics.trg.distinct_words) >=
             min_distinct_words;
}

// Returns ", about 12 of 29000 here", the number of pairs with more tokens than `limit`, or "" if
// the lengths are unknown.
std::string skipped_text(const CorpusStatistics& statistics, std::int64_t limit,
                         bool splits_words) {
  if (statistics.pairs_by_length.empty()) return "";
  const double tokens = splits_words ? tokens_per_word : 1;
  std::int64_t longer = 0;
  for (std::size_t words = 0; words < statistics.pairs_by_length.size(); ++words) {
    const bool fits = tokens * static_cast<double>(words) <= static_cast<double>(limit);
    if (!fits) longer += statistics.pairs_by_length[words];
  }
  if (longer == 0) return ", none here";
  return fmt::format(",{} {} of {} here", splits_words ? " about" : "", longer, statistics.pairs);
}

std::string tokenizer_text(const CorpusStatistics& statistics, const Size& size) {
  const auto [min_words, max_words] =
      std::minmax(statistics.src.distinct_words, statistics.trg.distinct_words);
  const auto all_words = max_words + special_count;
  if (statistics.src.split || statistics.trg.split) {
    return fmt::format(
        "  # The text is already split into sub-words: each is a word here.\n"
        "  tokenizer:\n    kind: word\n    vocabulary_size: {}\n",
        all_words);
  }
  if (min_words < min_distinct_words) {
    return fmt::format(
        "  # One side has only {} distinct words. `kind: bpe` would split rare words.\n"
        "  tokenizer:\n    kind: word\n    vocabulary_size: {}\n",
        min_words, all_words);
  }
  // At most half of the distinct words, rounded down to hundreds.
  const auto vocabulary = std::min(size.vocabulary, min_words / 200 * 100);
  auto text = fmt::format(
      "  # Rare words are split into sub-words, so that no word is unknown. `joint: true` makes "
      "one\n"
      "  # vocabulary for both languages, which helps if they share names and letters.\n"
      "  tokenizer:\n    kind: bpe\n    vocabulary_size: {}\n",
      vocabulary);
  const auto characters =
      std::max(statistics.src.distinct_characters, statistics.trg.distinct_characters);
  // Single characters should fill at most a third of the vocabulary.
  if (characters > max_characters || characters * 3 > vocabulary) {
    text +=
        fmt::format("    character_coverage: 0.9995   # of {} distinct characters\n", characters);
  }
  return text;
}

std::string data_text(const StarterConfig& s, const Size& size) {
  auto text = fmt::format(
      "data:\n  # Line i of one file translates line i of the other: {}.\n  train:\n"
      "    - src: {}   # {}\n      trg: {}   # {}\n",
      counted(s.train.pairs, "pair"), to_yaml(s.train.src.path),
      statistics_text(s.train.src, s.train.pairs), to_yaml(s.train.trg.path),
      statistics_text(s.train.trg, s.train.pairs));
  if (s.dev_src.empty()) {
    text +=
        "  # No validation pair: training cannot tell when to stop or which checkpoint is the "
        "best.\n"
        "  # dev: {src: …, trg: …}\n";
  } else {
    text += fmt::format(
        "  # Not used for training. It decides when to stop and which checkpoint is the best.\n  "
        "dev:\n"
        "    src: {}\n    trg: {}\n",
        to_yaml(s.dev_src), to_yaml(s.dev_trg));
  }
  if (s.train.src.tokenised || s.train.trg.tokenised) {
    text +=
        "  # The text looks tokenised. Translations will be tokenised too, and their BLEU will "
        "not\n"
        "  # be comparable to that of raw text. regard does not need tokenised text.\n";
  }
  text += tokenizer_text(s.train, size);
  const auto length = std::max(s.train.src.length_percentile_99, s.train.trg.length_percentile_99);
  const auto limit = std::clamp(round_up(tokens_per_word * static_cast<double>(length), 10),
                                std::int64_t{20}, std::int64_t{250});
  text += fmt::format("  max_length: {}   # tokens; longer pairs are skipped{}\n", limit,
                      skipped_text(s.train, limit, needs_subwords(s.train)));
  return text;
}

std::string model_text(const StarterConfig& s, const Size& size) {
  return fmt::format(
      "model:\n  # Sizes for {}; larger corpora can use larger sizes.\n"
      "  encoder:\n    embedding_dim: {}\n    hidden_size: {}   # in each direction\n"
      "  decoder:\n    embedding_dim: {}\n    hidden_size: {}\n"
      "    readout_size: {}   # equal to embedding_dim because of tied_embeddings\n"
      "  attention:\n    kind: additive   # {}/attention.md lists all kinds\n    size: {}\n"
      "  dropout:   # raise it if the validation loss rises while the training loss falls\n"
      "    embeddings: {}\n    states: {}\n    readout: {}\n"
      "  tied_embeddings: output\n",
      counted(s.train.pairs, "pair"), size.embedding, size.hidden, size.embedding, size.hidden,
      size.embedding, s.docs_folder, size.hidden, size.dropout, size.dropout, size.dropout);
}

std::string training_text(const StarterConfig& s, const Size& size) {
  const auto tokens =
      static_cast<double>(s.train.pairs) * (tokens_per_word * s.train.trg.mean_words + 1);  // </s>
  const auto steps = std::max(1.0, tokens / static_cast<double>(size.batch));  // per epoch
  const auto total_steps = steps * static_cast<double>(size.epochs);
  auto text = fmt::format(
      "training:\n  epochs: {}   # of about {}\n  batch_size: {}   # target tokens\n"
      "  # Linear warm-up, then cosine decay to 0 at the last step.\n"
      "  learning_rate: 0.001\n  scheduling: cosine\n  warmup_steps: {}\n",
      size.epochs, counted(round_up(steps, 10), "step"), size.batch,
      std::clamp(round_up(total_steps / 20, 50), std::int64_t{50}, std::int64_t{2'000}));
  if (s.dev_src.empty()) return text;
  constexpr double long_epoch = 3'000;
  text += steps > long_epoch ? "  validation_every: 1000   # steps\n"
                             : "  validation_every: 1\n  validation_unit: epochs\n";
  return text +
         "  early_stopping_metric: bleu\n"
         "  patience: 8   # stop after this many validations without improvement\n";
}

}  // namespace

std::string statistics_text(const SideStatistics& side, std::int64_t lines) {
  return fmt::format("{}, {:.1f} words each, {} distinct{}{}", counted(lines, "line"),
                     side.mean_words, side.distinct_words, side.tokenised ? ", tokenised" : "",
                     side.split ? ", split into sub-words" : "");
}

std::string starter_config_yaml(const StarterConfig& s) {
  const auto& size = size_for(s.train.pairs);
  const auto direction =
      s.train.src.language.empty() || s.train.trg.language.empty()
          ? std::string("A first model")
          : fmt::format("A first model: {} to {}", s.train.src.language, s.train.trg.language);
  return fmt::format(
      "# {}, written by `regard config init` from statistics of the text. All values are\n"
      "# starting points. Keys that are missing here have their defaults\n"
      "# (`regard config print --help-comments` lists all keys).\n#\n"
      "#     regard train -c THIS_FILE\nname: {}\n\n{}\n{}\n{}",
      direction, to_yaml(s.name), data_text(s, size), model_text(s, size), training_text(s, size));
}

}  // namespace regard
