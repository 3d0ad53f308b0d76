#include "config/starter_config.h"

#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "config/data_options.h"
#include "config/scalar.h"
#include "config/training_options.h"

namespace regard {
namespace {

// A Transformer needs so many steps, however little text there is.
constexpr std::int64_t min_transformer_steps = 4'000;

// Returns the number of measured pairs with more tokens than `limit`.
std::int64_t longer_pairs(const CorpusStatistics& statistics, std::int64_t limit) {
  const auto& lengths = statistics.pairs_by_length;
  const auto begin = std::min(std::ssize(lengths), limit + 1);
  return std::accumulate(lengths.begin() + begin, lengths.end(), std::int64_t{0});
}

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
  const auto why =
      copies_parts(statistics)
          ? fmt::format(
                "{:.0f} % of the distinct target words are in the source almost whenever they "
                "occur. The\n  # output layer copies their parts, also of a word that the training "
                "text has once.",
                100 * statistics.copied_words)
          : std::string(
                "Rare words are split into sub-words, so that no word is unknown. `joint: true` "
                "makes one\n  # vocabulary for both languages, which helps if they share names and "
                "letters.");
  auto text =
      fmt::format("  # {}\n  tokenizer:\n    kind: bpe\n    vocabulary_size: {}\n    joint: {}\n",
                  why, options.vocabulary_size, options.joint);
  if (options.character_coverage < 1) {
    text += fmt::format("    character_coverage: {}   # of {} distinct characters\n",
                        options.character_coverage, most_characters(statistics));
  }
  return text;
}

LayerKind architecture_of(const StarterConfig& s) {
  return s.architecture.value_or(s.train.pairs <= max_pairs_for_recurrent ? LayerKind::recurrent
                                                                          : LayerKind::transformer);
}

std::string hallucination_text(const StarterConfig& s) {
  const auto rate = starter_hallucination_rate(s.train, architecture_of(s));
  if (rate == 0) return "";
  return fmt::format(
      "  # {:.0f} % of the target tokens are in substrings that the source has too, such as stems. "
      "In each\n  # epoch, some of these are replaced by random tokens. Compare with a training "
      "without this section.\n  hallucination:\n    rate: {}\n",
      100 * s.train.repeated_tokens, rate);
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
  return text + tokenizer_text(s.train) + hallucination_text(s) + limits_text(s.train);
}

// The output layer, if it is not the usual one.
std::string output_text(const CorpusStatistics& statistics) {
  return copies_words(statistics)
             ? "  output:\n    kind: copy   # a token of the vocabulary, or one of the source\n"
             : "";
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
      output_text(s.train), starter_tokenizer(s.train).joint ? "all" : "output");
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
      starter_tokenizer(s.train).joint ? "all" : "output");
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
  const bool is_formal = copies_parts(s.train);
  const auto when =
      is_formal
          ? fmt::format(
                "  # Once, at the end: the best checkpoint for this text is not the best for other "
                "text.\n  validation_every: {}\n  validation_unit: epochs\n",
                epochs)
          : validation;
  const auto* patience =
      is_formal ? "" : "  patience: 8   # stop after this many validations without improvement\n";
  text += s.dev_src.empty() ? metric_text(s.train) : when + metric_text(s.train) + patience;
  if (!is_formal) text += "  # keep_newest: 4   # checkpoints to keep, for `regard average`\n";
  return text + fmt::format("  label_smoothing: {}   # 0: plain cross-entropy, −log P(y | x)\n",
                            is_formal ? "0" : "0.1");
}

constexpr const char* schedule_comment =
    "  # Linear warm-up, then proportional to 1 / √step. Validation and checkpoints use the "
    "moving\n"
    "  # average of the weights.\n";

std::string recurrent_training_text(const StarterConfig& s, const RecurrentSize& size) {
  const auto steps = steps_per_epoch(s, size.batch);
  constexpr double long_epoch = 1'000;
  constexpr std::int64_t most_validations = 40;
  return progress_text(
             s, size.epochs, size.batch,
             steps > long_epoch
                 ? "  validation_every: 1000   # steps\n"
                 : fmt::format("  validation_every: {}\n  validation_unit: epochs\n",
                               std::max<std::int64_t>(1, size.epochs / most_validations))) +
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
        "  # The default ends when beam_size outputs have finished and none of the others is\n"
        "  # better, though one may become better.\n"
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

std::string starter_config_yaml(const StarterConfig& s) {
  const auto recurrent = starter_recurrent_size(s.train);
  const auto transformer = starter_transformer_size(s.train);
  const auto direction =
      s.train.src.language.empty() || s.train.trg.language.empty()
          ? std::string("A first model")
          : fmt::format("A first model: {} to {}", s.train.src.language, s.train.trg.language);
  const bool is_recurrent = architecture_of(s) == LayerKind::recurrent;
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
