#include "config/starter_config.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/special_tokens.h"
#include "base/strings.h"
#include "config/data_options.h"
#include "config/scalar.h"
#include "config/training_options.h"

namespace regard {
namespace {

struct RecurrentSize {
  std::int64_t embedding;
  std::int64_t hidden;
  double dropout;
  std::int64_t batch;  // target tokens
  std::int64_t epochs;
  double learning_rate;
  std::int64_t warmup;
};

struct TransformerSize {
  std::int64_t width;
  std::int64_t layers;  // of each side
  std::int64_t heads;
  std::int64_t feed_forward;
  double dropout;
  std::int64_t batch;  // target tokens
  std::int64_t epochs;
  double learning_rate;
  std::int64_t warmup;
};

// Sizes of model and training for corpora of up to max_pairs pairs. Less text needs a smaller model
// or more dropout. Up to 60,000 pairs they are measured (docs/own_language_pair.md,
// docs/results.md).
struct Size {
  std::int64_t max_pairs;
  std::int64_t vocabulary;  // maximum, of sub-words
  RecurrentSize recurrent;
  TransformerSize transformer;
};
constexpr Size sizes[] = {
    {.max_pairs = 5'000,
     .vocabulary = 1'000,
     .recurrent = {128, 256, 0.3, 512, 40, 0.003, 800},
     .transformer = {128, 3, 4, 256, 0.2, 800, 70, 0.003, 1'000}},
    {.max_pairs = 60'000,
     .vocabulary = 6'000,
     .recurrent = {256, 256, 0.3, 800, 30, 0.003, 1'000},
     .transformer = {256, 3, 4, 512, 0.15, 800, 30, 0.002, 1'000}},
    {.max_pairs = 600'000,
     .vocabulary = 12'000,
     .recurrent = {256, 512, 0.2, 2'048, 12, 0.002, 2'000},
     .transformer = {256, 4, 4, 1'024, 0.2, 4'000, 15, 0.002, 4'000}},
    {.max_pairs = INT64_MAX,
     .vocabulary = 24'000,
     .recurrent = {512, 512, 0.1, 4'096, 5, 0.001, 4'000},
     .transformer = {512, 6, 8, 2'048, 0.1, 8'000, 5, 0.0007, 4'000}},
};
// GRUs were better on the validation pair with up to 29,000 pairs; more were not tried.
constexpr std::int64_t max_pairs_for_recurrent = 60'000;
// On 25,000 lines of symbols, such as the letters of words, less dropout was better: 90.0 instead
// of 89.6 % of the validation lines of a text of old spellings exactly right (docs/tasks.md).
constexpr double max_dropout_of_symbols = 0.2;
// Each word is a token if one side has few distinct words that occur often, or too few to learn
// sub-words from.
constexpr std::int64_t few_distinct_words = 1'000;
constexpr std::int64_t too_few_words = 200;
constexpr double often = 10;             // mean occurrences of a distinct word
constexpr double mostly_one_word = 1.5;  // mean words of lines of which most are one word
constexpr double words_of_bleu = 4;      // BLEU counts sequences of four words
// An output layer should copy words from the source if such a share of the target words is there.
constexpr double mostly_copied = 0.5;
constexpr std::int64_t min_frequency_with_copies = 3;  // rarer words are copied
// With more distinct characters, the vocabulary leaves out the rarest.
constexpr std::int64_t max_characters = 800;
// A vocabulary has so many sub-words for each distinct character, at least.
constexpr double min_subwords_per_character = 1.25;
// max_length is so many times the length that 99 of 100 pairs do not exceed.
constexpr double room_for_longer_pairs = 1.2;
// A Transformer needs so many steps, however little text there is.
constexpr std::int64_t min_transformer_steps = 4'000;

const Size& size_for(std::int64_t pairs) {
  return *std::ranges::find_if(sizes, [&](const Size& size) { return pairs <= size.max_pairs; });
}

std::int64_t round_up(double value, std::int64_t unit) {
  return unit * static_cast<std::int64_t>(std::ceil(value / static_cast<double>(unit)));
}

// True if a side probably has no other words than those of the text.
bool has_closed_vocabulary(const CorpusStatistics& statistics) {
  const auto& side = statistics.src.distinct_words < statistics.trg.distinct_words ? statistics.src
                                                                                   : statistics.trg;
  if (side.distinct_words < too_few_words) return true;
  const auto words = side.mean_words * static_cast<double>(statistics.pairs);
  return side.distinct_words < few_distinct_words &&
         words >= often * static_cast<double>(side.distinct_words);
}

// True if the words of a side look like sub-words.
bool is_split(const CorpusStatistics& statistics) {
  return statistics.src.split || statistics.trg.split;
}

// True if the words of a side are symbols, such as letters, phones or the words of a formal
// language.
bool has_symbols(const CorpusStatistics& statistics) {
  return !is_split(statistics) &&
         std::min(statistics.src.distinct_words, statistics.trg.distinct_words) < too_few_words;
}

// True if most words of the target are copied from the source, such as the names and strings of a
// program in a comment about it (0.68 of them in the text of Oda et al. 2015), or the nouns of a
// sentence in its logical form (0.76). Translations copy names and numbers only (German Multi30k:
// 0.02). Symbols are few, and need no copies.
bool copies_words(const CorpusStatistics& statistics) {
  return statistics.copied_words >= mostly_copied && !is_split(statistics) &&
         !has_symbols(statistics);
}

// True if the lines of a side are single words, such as the entries of a dictionary.
bool has_single_words(const SideStatistics& side) {
  return side.mean_words < mostly_one_word && !side.unspaced;
}

// True if words are learnt by their letters: the lines of both sides are single words, or those of
// one side, most of which occur once.
bool needs_characters(const CorpusStatistics& statistics) {
  const auto& src = statistics.src;
  const auto& trg = statistics.trg;
  const auto is_list = [&](const SideStatistics& side) {
    return has_single_words(side) && 2 * side.distinct_words > statistics.pairs;
  };
  return !is_split(statistics) &&
         ((has_single_words(src) && has_single_words(trg)) || is_list(src) || is_list(trg));
}

// True if the tokenizer should split words into sub-words.
bool needs_subwords(const CorpusStatistics& statistics) {
  return !is_split(statistics) && !needs_characters(statistics) &&
         !has_closed_vocabulary(statistics) && !copies_words(statistics);
}

// Returns the metric that chooses the best checkpoint.
Metric starter_metric(const CorpusStatistics& statistics) {
  if (statistics.trg.unspaced) return Metric::chrf;
  const bool is_formal =
      has_symbols(statistics) || (copies_words(statistics) && has_closed_vocabulary(statistics));
  if (is_formal || has_single_words(statistics.trg)) return Metric::exact;
  return statistics.trg.mean_words < words_of_bleu ? Metric::chrf : Metric::bleu;
}

// True if the source has many symbols that are composed of few parts, such as Korean syllables.
bool has_composed_symbols(const CorpusStatistics& statistics) {
  const auto& src = statistics.src;
  return has_symbols(statistics) && src.distinct_parts > 0 &&
         src.distinct_words >= 2 * src.distinct_parts;
}

// Returns the number of measured pairs with more tokens than `limit`.
std::int64_t longer_pairs(const CorpusStatistics& statistics, std::int64_t limit) {
  const auto& lengths = statistics.pairs_by_length;
  const auto begin = std::min(std::ssize(lengths), limit + 1);
  return std::accumulate(lengths.begin() + begin, lengths.end(), std::int64_t{0});
}

}  // namespace

// A little more than the length that 99 of 100 pairs do not exceed.
std::int64_t starter_max_length(const CorpusStatistics& statistics) {
  constexpr std::int64_t unknown = 100;
  const auto& lengths = statistics.pairs_by_length;
  if (lengths.empty()) return unknown;
  const auto all = statistics.measured_pairs - statistics.empty_pairs;
  auto length = lengths.size() - 1;
  std::int64_t longer = 0;  // pairs that exceed `length`
  while (length > 0 && (longer + lengths[length]) * 100 <= all) longer += lengths[length--];
  return std::clamp(round_up(room_for_longer_pairs * static_cast<double>(length), 10),
                    std::int64_t{20}, std::int64_t{250});
}

// In a translation, a pair of very unequal lengths is probably no pair.
double starter_max_ratio(const CorpusStatistics& statistics) {
  return needs_subwords(statistics) || is_split(statistics) ? DataOptions().max_ratio : 0;
}

namespace {

// Returns ", 12 of 29000 here" for so many of the measured pairs, or "" if the lengths are unknown.
std::string pairs_text(const CorpusStatistics& statistics, std::int64_t pairs) {
  if (statistics.pairs_by_length.empty()) return "";
  const auto measured = statistics.measured_pairs;
  const bool is_sample = measured < statistics.pairs;
  if (pairs == 0) return is_sample ? ", hardly one here" : ", none here";
  return fmt::format(",{} {} of {} here", is_sample ? " about" : "",
                     is_sample ? pairs * statistics.pairs / measured : pairs, statistics.pairs);
}

// Returns the limits of the pairs that training keeps.
std::string limits_text(const CorpusStatistics& statistics) {
  const auto length = starter_max_length(statistics);
  auto text = fmt::format("  max_length: {}   # tokens; longer pairs are skipped{}\n", length,
                          pairs_text(statistics, longer_pairs(statistics, length)));
  if (statistics.uneven_pairs > 0) {
    const auto ratio = starter_max_ratio(statistics);
    text +=
        fmt::format("  max_ratio: {}   # pairs with one side more than {} times as long are {}{}\n",
                    ratio, DataOptions().max_ratio, ratio == 0 ? "kept" : "skipped",
                    pairs_text(statistics, statistics.uneven_pairs));
  }
  return text;
}

// True if both sides are written in one alphabet, so that they can share sub-words.
bool has_common_alphabet(const CorpusStatistics& statistics) {
  return 2 * statistics.common_characters >=
         std::min(statistics.src.distinct_characters, statistics.trg.distinct_characters);
}

bool has_joint_vocabulary(const CorpusStatistics& statistics) {
  return needs_subwords(statistics) && has_common_alphabet(statistics);
}

// The distinct characters of the side that has more of them.
std::int64_t most_characters(const CorpusStatistics& statistics) {
  return std::max(statistics.src.distinct_characters, statistics.trg.distinct_characters);
}

// Returns data.tokenizer with a comment for each choice of starter_tokenizer().
std::string tokenizer_text(const CorpusStatistics& statistics) {
  const auto options = starter_tokenizer(statistics);
  if (options.kind != TokenizerKind::bpe) {
    const auto& src = statistics.src;
    const auto why =
        options.kind == TokenizerKind::decomposed
            ? fmt::format(
                  "The {} distinct source words are composed of {} parts: a syllable of its "
                  "letters, a\n  # letter of itself and its accent. Rare words have frequent "
                  "parts.",
                  src.distinct_words, src.distinct_parts)
        : options.kind == TokenizerKind::character
            ? std::string(
                  "The lines of a side are single words, which are learnt by their letters.")
        : is_split(statistics)
            ? std::string("The text is already split into sub-words: each is a word here.")
        : copies_words(statistics)
            ? fmt::format(
                  "{:.0f} % of the distinct target words are in the source almost whenever they "
                  "occur.\n  # The output layer can copy them, also those that are not in the "
                  "vocabulary.",
                  100 * statistics.copied_words)
            : fmt::format(
                  "One side has only {} distinct words. `kind: bpe` would split rare words.",
                  std::min(statistics.src.distinct_words, statistics.trg.distinct_words));
    auto text = fmt::format("  # {}\n  tokenizer:\n    kind: {}\n    vocabulary_size: {}\n", why,
                            enum_name(options.kind), options.vocabulary_size);
    if (options.min_frequency > 1) {
      text += fmt::format("    min_frequency: {}\n", options.min_frequency);
    }
    return text;
  }
  auto text = fmt::format(
      "  # Rare words are split into sub-words, so that no word is unknown. `joint: true` makes "
      "one\n"
      "  # vocabulary for both languages, which helps if they share names and letters.\n"
      "  tokenizer:\n    kind: bpe\n    vocabulary_size: {}\n    joint: {}\n",
      options.vocabulary_size, options.joint);
  if (options.character_coverage < 1) {
    text += fmt::format("    character_coverage: {}   # of {} distinct characters\n",
                        options.character_coverage, most_characters(statistics));
  }
  return text;
}

std::string data_text(const StarterConfig& s) {
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
  const bool has_tokens = s.train.src.tokenised || s.train.trg.tokenised;
  if (has_tokens && starter_metric(s.train) == Metric::bleu) {
    text +=
        "  # The text looks tokenised. Translations will be tokenised too, and their BLEU will "
        "not\n"
        "  # be comparable to that of raw text. regard does not need tokenised text.\n";
  }
  return text + tokenizer_text(s.train) + limits_text(s.train);
}

// The output layer, if it is not the usual one.
std::string output_text(const CorpusStatistics& statistics) {
  return copies_words(statistics)
             ? "  output:\n    kind: copy   # a word of the vocabulary, or one of the source\n"
             : "";
}

// GRUs of the measured size, with the dropout for the kind of text.
RecurrentSize recurrent_size(const CorpusStatistics& statistics) {
  auto size = size_for(statistics.pairs).recurrent;
  const bool is_small = statistics.pairs <= sizes[0].max_pairs;
  if (has_symbols(statistics) && !is_small) {
    size.dropout = std::min(size.dropout, max_dropout_of_symbols);
  }
  return size;
}

std::string recurrent_text(const StarterConfig& s, const RecurrentSize& size) {
  return fmt::format(
      "model:\n  # GRUs with attention. Sizes for {}; larger corpora can use larger sizes.\n"
      "  # `regard config init --architecture transformer` proposes a Transformer.\n"
      "  encoder:\n    embedding_dim: {}\n    hidden_size: {}   # in each direction\n"
      "  decoder:\n    embedding_dim: {}\n    hidden_size: {}\n"
      "    readout_size: {}   # equal to embedding_dim because of tied_embeddings\n"
      "    query: between   # two GRUs with the attention between them; measured with additive\n"
      "                     # attention: remove this key to compare kinds of attention\n"
      "  attention:\n    kind: additive   # {}/attention.md lists all kinds\n    size: {}\n"
      "  dropout:   # raise it if the validation loss rises while the training loss falls\n"
      "    embeddings: {}\n    states: {}\n    readout: {}\n"
      "{}  tied_embeddings: {}\n",
      counted(s.train.pairs, "pair"), size.embedding, size.hidden, size.embedding, size.hidden,
      size.embedding, s.docs_folder, size.hidden, size.dropout, size.dropout, size.dropout,
      output_text(s.train), has_joint_vocabulary(s.train) ? "all" : "output");
}

std::string transformer_text(const StarterConfig& s, const TransformerSize& size) {
  const auto side = fmt::format(
      "    kind: transformer\n    embedding_dim: {}\n    hidden_size: {}\n    layers: {}\n"
      "    heads: {}\n    feed_forward_size: {}\n    position: rotary   # scores of self-attention "
      "depend on distances\n",
      size.width, size.width, size.layers, size.heads, size.feed_forward);
  return fmt::format(
      "model:\n  # A Transformer. Sizes for {}; larger corpora can use larger sizes.\n"
      "  # `regard config init --architecture recurrent` proposes GRUs with attention.\n"
      "  encoder:\n{}  decoder:\n{}"
      "  dropout:   # raise it if the validation loss rises while the training loss falls\n"
      "    embeddings: {}\n    states: {}\n    readout: 0\n"
      "{}  tied_embeddings: {}\n",
      counted(s.train.pairs, "pair"), side, side, size.dropout, size.dropout, output_text(s.train),
      has_joint_vocabulary(s.train) ? "all" : "output");
}

// The target tokens of the training text with </s>, from the measured pairs.
double target_tokens(const StarterConfig& s) {
  const auto kept = s.train.measured_pairs == 0 ? 1
                                                : static_cast<double>(s.train.kept_pairs) /
                                                      static_cast<double>(s.train.measured_pairs);
  return kept * static_cast<double>(s.train.pairs) * (s.train.trg.mean_tokens + 1);
}

// The number of steps in an epoch, approximately. `batch`: target tokens.
double steps_per_epoch(const StarterConfig& s, std::int64_t batch) {
  return std::max(1.0, target_tokens(s) / static_cast<double>(batch));
}

// Rounds up, from 100 on to tens.
std::int64_t rounded_steps(double steps) {
  return round_up(steps, steps < 100 ? 1 : 10);
}

std::string metric_text(const CorpusStatistics& statistics) {
  const auto metric = starter_metric(statistics);
  const auto* why = metric == Metric::exact   ? "   # lines that are right as a whole"
                    : metric == Metric::bleu  ? ""
                    : statistics.trg.unspaced ? "   # BLEU needs spaces between words"
                                              : "   # BLEU needs four words in a line";
  return fmt::format("  early_stopping_metric: {}{}\n", enum_name(metric), why);
}

// Epochs, batch, metric and, with a validation pair, when to validate and to stop.
std::string progress_text(const StarterConfig& s, std::int64_t epochs, std::int64_t batch,
                          const std::string& validation) {
  auto text =
      fmt::format("training:\n  epochs: {}   # of about {}\n  batch_size: {}   # target tokens\n",
                  epochs, counted(rounded_steps(steps_per_epoch(s, batch)), "step"), batch);
  const auto* patience = "  patience: 8   # stop after this many validations without improvement\n";
  text += s.dev_src.empty() ? metric_text(s.train) : validation + metric_text(s.train) + patience;
  return text + "  label_smoothing: 0.1   # 0: plain cross-entropy, −log P(y | x)\n";
}

constexpr const char* schedule_comment =
    "  # Linear warm-up, then proportional to 1 / √step. Validation and checkpoints use the "
    "moving\n"
    "  # average of the weights.\n";

std::string recurrent_training_text(const StarterConfig& s, const RecurrentSize& size) {
  const auto steps = steps_per_epoch(s, size.batch);
  constexpr double long_epoch = 1'000;
  return progress_text(s, size.epochs, size.batch,
                       steps > long_epoch ? "  validation_every: 1000   # steps\n"
                                          : "  validation_every: 1\n  validation_unit: epochs\n") +
         fmt::format(
             "{}  learning_rate: {}\n  scheduling: inverse_square_root\n  warmup_steps: {}\n"
             "  moving_average: 0.999\n",
             schedule_comment, size.learning_rate,
             std::clamp(round_up(steps * static_cast<double>(size.epochs) / 4, 50),
                        std::int64_t{50}, size.warmup));
}

std::string transformer_training_text(const StarterConfig& s, const TransformerSize& size) {
  const auto steps = steps_per_epoch(s, size.batch);
  const auto epochs =
      std::max(size.epochs, round_up(static_cast<double>(min_transformer_steps) / steps, 10));
  const auto total = steps * static_cast<double>(epochs);
  const auto every = std::clamp(round_up(total / 16, 50), std::int64_t{250}, std::int64_t{1'000});
  return progress_text(s, epochs, size.batch,
                       fmt::format("  validation_every: {}   # steps\n", every)) +
         fmt::format(
             "{}  learning_rate: {}\n  scheduling: inverse_square_root\n  warmup_steps: {}\n"
             "  adam_beta2: 0.98\n  moving_average: 0.999\n",
             schedule_comment, size.learning_rate, std::min(size.warmup, round_up(total / 4, 50)));
}

// The end and the limits of the search, where the default ones do not suit the targets of training
// or validation.
std::string search_text(const CorpusStatistics& statistics) {
  std::string text;
  if (starter_metric(statistics) == Metric::exact) {
    text =
        "  # The default ends when beam_size outputs have finished, though a longer one may be\n"
        "  # better.\n"
        "  early_stopping: exact\n";
  }
  const SearchOptions defaults;
  auto needed = defaults;
  for (const auto& outputs : {statistics.outputs, statistics.dev_outputs}) {
    if (!outputs.exceed_limits()) continue;
    needed.max_output_length = std::max(needed.max_output_length, outputs.needed_length());
    needed.max_output_ratio = std::max(needed.max_output_ratio, outputs.needed_ratio());
  }
  if (needed != defaults) {
    text += fmt::format(
        "  # Targets exceed a default limit: {} tokens, or {} times the source + 10.\n"
        "  max_output_length: {}\n  max_output_ratio: {}\n",
        defaults.max_output_length, defaults.max_output_ratio, needed.max_output_length,
        needed.max_output_ratio);
  }
  return text.empty() ? "" : "\nsearch:\n" + text;
}

}  // namespace

std::string statistics_text(const SideStatistics& side, std::int64_t lines) {
  const auto tokens =
      side.mean_tokens > 0 ? fmt::format(" and {:.1f} tokens", side.mean_tokens) : "";
  return fmt::format("{}, {:.1f} words{} each, {} distinct words{}{}", counted(lines, "line"),
                     side.mean_words, tokens, side.distinct_words,
                     side.tokenised ? ", tokenised" : "",
                     side.split ? ", split into sub-words" : "");
}

TokenizerOptions starter_tokenizer(const CorpusStatistics& statistics) {
  const auto& src = statistics.src;
  const auto& trg = statistics.trg;
  TokenizerOptions options;
  if (needs_characters(statistics)) {
    options.kind = TokenizerKind::character;
    options.vocabulary_size = most_characters(statistics) + special_count;
    return options;
  }
  if (!needs_subwords(statistics)) {
    options.kind =
        has_composed_symbols(statistics) ? TokenizerKind::decomposed : TokenizerKind::word;
    options.vocabulary_size = std::max(src.distinct_words, trg.distinct_words) + special_count;
    if (copies_words(statistics) && !has_closed_vocabulary(statistics)) {
      options.min_frequency = min_frequency_with_copies;
    }
    return options;
  }
  options.kind = TokenizerKind::bpe;
  options.joint = has_joint_vocabulary(statistics);
  const auto characters = most_characters(statistics);
  const auto alphabet = options.joint ? src.distinct_characters + trg.distinct_characters -
                                            statistics.common_characters
                                      : characters;
  // At most half of the distinct words, rounded down to hundreds, but more than the characters.
  const auto min_words = std::min(src.distinct_words, trg.distinct_words);
  options.vocabulary_size =
      std::max(std::min(size_for(statistics.pairs).vocabulary, min_words / 200 * 100),
               round_up(min_subwords_per_character * static_cast<double>(alphabet), 100));
  // Single characters should fill at most a third of the vocabulary.
  if (characters > max_characters || characters * 3 > options.vocabulary_size) {
    options.character_coverage = 0.9995;
  }
  return options;
}

std::string starter_config_yaml(const StarterConfig& s) {
  const auto recurrent = recurrent_size(s.train);
  const auto& transformer = size_for(s.train.pairs).transformer;
  const auto direction =
      s.train.src.language.empty() || s.train.trg.language.empty()
          ? std::string("A first model")
          : fmt::format("A first model: {} to {}", s.train.src.language, s.train.trg.language);
  const bool is_recurrent =
      s.architecture.value_or(s.train.pairs <= max_pairs_for_recurrent
                                  ? LayerKind::recurrent
                                  : LayerKind::transformer) == LayerKind::recurrent;
  return fmt::format(
      "# {}, written by `regard config init` from statistics of the text. All values are\n"
      "# starting points. Keys that are missing here have their defaults\n"
      "# (`regard config print --help-comments` lists all keys).\n"
      "# {}/own_language_pair.md says what comes next.\n#\n"
      "#     regard train -c THIS_FILE\nname: {}\n\n{}\n{}\n{}{}",
      direction, s.docs_folder, to_yaml(s.name), data_text(s),
      is_recurrent ? recurrent_text(s, recurrent) : transformer_text(s, transformer),
      is_recurrent ? recurrent_training_text(s, recurrent)
                   : transformer_training_text(s, transformer),
      search_text(s.train));
}

}  // namespace regard
