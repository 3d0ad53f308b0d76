#include "config/starter_choices.h"

#include <algorithm>

#include "base/special_tokens.h"

namespace regard {
namespace {

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
// Up to 60,000 lines of letters have the small GRUs, and more than many_words of them less dropout
// and fewer epochs: with 25,000 words of bohoric, 90.0 instead of 89.6 % of the validation lines
// were exactly right; 7,000 inflected words were trained with a dropout of 0.3 (docs/tasks.md).
constexpr std::int64_t many_words = 10'000;
constexpr double dropout_of_many_words = 0.2;
constexpr std::int64_t epochs_of_many_words = 30;
// Each word is a token if one side has few distinct words that occur often, or too few to learn
// sub-words from.
constexpr std::int64_t few_distinct_words = 1'000;
constexpr std::int64_t too_few_words = 200;
constexpr double often = 10;             // mean occurrences of a distinct word
constexpr double mostly_one_word = 1.5;  // mean words of lines of which most are one word
constexpr double words_of_bleu = 4;      // BLEU counts sequences of four words
// An output layer should copy words from the source if such a share of the target words is there.
constexpr double mostly_copied = 0.5;
// Up to so many lines of letters have more epochs. With 700 inflected words, 40 epochs are 500 to
// 1,000 steps (docs/tasks.md).
constexpr std::int64_t very_few_words = 1'500;
constexpr std::int64_t epochs_of_very_few_words = 200;
// Transformers for letters (docs/tasks.md): target tokens of a batch, and epochs.
constexpr std::int64_t transformer_batch_of_letters = 512;
constexpr std::int64_t transformer_epochs_of_words = 120;
constexpr std::int64_t transformer_epochs_of_very_few_words = 600;
// Up to very_few_words lines have data.hallucination if such a share of the target tokens is in
// common substrings. Three inflected languages with 0.69 to 0.75 gained 2.8 to 8.9 points with
// GRUs, two with 0.38 and 0.46 gained -1.4 and 1.8. With a Transformer, the first of these two lost
// 0.6 and the second gained 13.
constexpr double mostly_repeated = 0.5;
constexpr double often_repeated = 0.35;  // enough for a Transformer
constexpr double hallucination_rate = 0.3;
constexpr std::int64_t min_frequency_with_copies = 3;  // rarer words are copied
constexpr std::int64_t parts_of_formal_text = 250;  // sub-words, so few that most words have some
// With more distinct characters, the vocabulary leaves out the rarest.
constexpr std::int64_t max_characters = 800;
// A vocabulary has so many sub-words for each distinct character, at least.
constexpr double min_subwords_per_character = 1.25;
// max_length is so many times the length that 99 of 100 pairs do not exceed.
constexpr double room_for_longer_pairs = 1.2;

const Size& size_for(std::int64_t pairs) {
  return *std::ranges::find_if(sizes, [&](const Size& size) { return pairs <= size.max_pairs; });
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

// True if the words of a side are symbols, such as letters, phones or the words of a formal
// language.
bool has_symbols(const CorpusStatistics& statistics) {
  return !is_split(statistics) &&
         std::min(statistics.src.distinct_words, statistics.trg.distinct_words) < too_few_words;
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

// True if the tokens are symbols or the letters of single words.
bool has_letters(const CorpusStatistics& statistics) {
  return has_symbols(statistics) || needs_characters(statistics);
}

// True if the tokenizer should split words into sub-words.
bool needs_subwords(const CorpusStatistics& statistics) {
  return !is_split(statistics) && !needs_characters(statistics) &&
         !has_closed_vocabulary(statistics) && !copies_words(statistics);
}

// True if a text that copies words probably has no other words, such as logical forms.
bool is_formal(const CorpusStatistics& statistics) {
  return copies_words(statistics) && has_closed_vocabulary(statistics);
}

// True if the source has many symbols that are composed of few parts, such as Korean syllables.
bool has_composed_symbols(const CorpusStatistics& statistics) {
  const auto& src = statistics.src;
  return has_symbols(statistics) && src.distinct_parts > 0 &&
         src.distinct_words >= 2 * src.distinct_parts;
}

// True if both sides are written in one alphabet, so that they can share sub-words.
bool has_common_alphabet(const CorpusStatistics& statistics) {
  return 2 * statistics.common_characters >=
         std::min(statistics.src.distinct_characters, statistics.trg.distinct_characters);
}

bool has_joint_vocabulary(const CorpusStatistics& statistics) {
  return needs_subwords(statistics) && has_common_alphabet(statistics);
}

// True if letters or copied words have small models, also of more text than other words. 16,000
// lines of Python had 74.3 % of the validation lines exactly right with them, and 73.1 with those
// of a translation (docs/tasks.md).
bool needs_small_model(const CorpusStatistics& statistics) {
  return statistics.pairs <= sizes[1].max_pairs &&
         (has_letters(statistics) || copies_words(statistics));
}

// True if the models have the sizes of those of COGS: 5,001 to 60,000 pairs of formal text.
bool has_sizes_of_formal_text(const CorpusStatistics& statistics) {
  return copies_parts(statistics) && statistics.pairs > sizes[0].max_pairs &&
         statistics.pairs <= sizes[1].max_pairs;
}

// Returns the size of the models of COGS (docs/tasks.md), with at least as many training pairs in
// all epochs.
auto for_formal_text(auto size, std::int64_t pairs) {
  constexpr std::int64_t measured_pairs = 24'155;
  constexpr std::int64_t measured_epochs = 20;
  size.dropout = 0.1;
  size.batch = 1'024;
  size.epochs = std::max(measured_epochs, measured_epochs * measured_pairs / pairs);
  return size;
}

}  // namespace

bool is_split(const CorpusStatistics& statistics) {
  return statistics.src.split || statistics.trg.split;
}

bool copies_words(const CorpusStatistics& statistics) {
  return statistics.copied_words >= mostly_copied && !is_split(statistics) &&
         !has_symbols(statistics) && !needs_characters(statistics);
}

bool copies_parts(const CorpusStatistics& statistics) {
  return is_formal(statistics) && has_common_alphabet(statistics);
}

double starter_hallucination_rate(const CorpusStatistics& statistics, LayerKind architecture) {
  const auto enough = architecture == LayerKind::transformer ? often_repeated : mostly_repeated;
  return statistics.pairs <= very_few_words && has_letters(statistics) &&
                 statistics.src.path != statistics.trg.path && statistics.repeated_tokens >= enough
             ? hallucination_rate
             : 0;
}

std::int64_t most_characters(const CorpusStatistics& statistics) {
  return std::max(statistics.src.distinct_characters, statistics.trg.distinct_characters);
}

Metric starter_metric(const CorpusStatistics& statistics) {
  if (statistics.trg.unspaced) return Metric::chrf;
  if (has_symbols(statistics) || copies_words(statistics) || has_single_words(statistics.trg)) {
    return Metric::exact;
  }
  return statistics.trg.mean_words < words_of_bleu ? Metric::chrf : Metric::bleu;
}

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

RecurrentSize starter_recurrent_size(const CorpusStatistics& statistics) {
  const auto pairs = statistics.pairs;
  if (has_sizes_of_formal_text(statistics)) return for_formal_text(sizes[0].recurrent, pairs);
  if (!needs_small_model(statistics)) return size_for(pairs).recurrent;
  auto size = sizes[0].recurrent;
  if (copies_words(statistics)) return size;
  if (pairs <= very_few_words) size.epochs = epochs_of_very_few_words;
  if (pairs > many_words) {
    size.dropout = dropout_of_many_words;
    size.epochs = epochs_of_many_words;
  }
  return size;
}

TransformerSize starter_transformer_size(const CorpusStatistics& statistics) {
  const auto pairs = statistics.pairs;
  if (has_sizes_of_formal_text(statistics)) return for_formal_text(sizes[0].transformer, pairs);
  if (!needs_small_model(statistics)) return size_for(pairs).transformer;
  auto size = sizes[0].transformer;
  size.batch = transformer_batch_of_letters;
  size.epochs = copies_words(statistics)  ? transformer_epochs_of_words
                : pairs <= very_few_words ? transformer_epochs_of_very_few_words
                : pairs <= many_words     ? transformer_epochs_of_words
                                          : epochs_of_many_words;
  return size;
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
  const auto joint_alphabet =
      src.distinct_characters + trg.distinct_characters - statistics.common_characters;
  if (copies_parts(statistics)) {
    options.kind = TokenizerKind::bpe;
    options.joint = true;
    options.vocabulary_size = std::max(parts_of_formal_text, 2 * joint_alphabet);
    return options;
  }
  if (!needs_subwords(statistics)) {
    options.kind =
        has_composed_symbols(statistics) ? TokenizerKind::decomposed : TokenizerKind::word;
    options.vocabulary_size = std::max(src.distinct_words, trg.distinct_words) + special_count;
    if (copies_words(statistics) && !is_formal(statistics)) {
      options.min_frequency = min_frequency_with_copies;
    }
    return options;
  }
  options.kind = TokenizerKind::bpe;
  options.joint = has_joint_vocabulary(statistics);
  const auto characters = most_characters(statistics);
  const auto alphabet = options.joint ? joint_alphabet : characters;
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

}  // namespace regard
