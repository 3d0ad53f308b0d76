// The options of metrics, their intervals and tests. `regard evaluate` and evaluate() of the
// library (include/regard/metrics.h) both take them from the fields.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "config/field.h"

namespace regard {

// The tokenizers of BLEU:
//   13a   mteval-v13a.pl, used by WMT: separates ASCII punctuation, keeps numbers whole
//   intl  mteval-v14.pl --international-tokenization: separates all Unicode punctuation and symbols
//   zh    each Chinese character is a token, the rest as in 13a
//   char  each character is a token
//   spm   the pieces of a SentencePiece model, such as that of FLORES-200 (BleuOptions::pieces)
//   none  splits only at white space
enum class BleuTokenizer { mteval_13a, intl, chinese, character, sentencepiece, none };
// The names, here and below, are those in a signature of sacreBLEU.
constexpr std::array<std::string_view, 6> enum_names(BleuTokenizer) {
  return {"13a", "intl", "zh", "char", "spm", "none"};
}

// Smoothing (Chen and Cherry 2014). total is the number of the system's n-grams of an order, value
// is BleuOptions::smoothing_value:
//   exp    the k-th order without matches has precision 1 / (2^k total)
//   floor  an order without matches has precision value / total
//   add_k  adds value to matches and total of all orders above 1
//   none   the precision of an order without matches is 0
enum class BleuSmoothing { exp, floor, add_k, none };
constexpr std::array<std::string_view, 4> enum_names(BleuSmoothing) {
  return {"exp", "floor", "add-k", "none"};
}

struct MetricSettings {
  BleuTokenizer tokenize = BleuTokenizer::mteval_13a;
  std::string spm_model;
  BleuSmoothing smooth_method = BleuSmoothing::exp;
  double smooth_value = -1;  // below 0: not given
  bool lowercase = false;
  std::int64_t chrf_char_order = 6;
  double chrf_beta = 2;
  std::int64_t chrf_word_order = 0;
  bool ter_normalized = false;
  bool ter_no_punct = false;
  bool ter_asian_support = false;
  bool ter_case_sensitive = false;
  bool sentence_level = false;
  bool confidence = false;
  bool paired_bs = false;
  bool paired_ar = false;
  std::int64_t resamples = 1000;
  std::int64_t trials = 10'000;
  std::int64_t resampling_seed = 12'345;

  static constexpr auto fields = std::tuple{
      field("tokenize", &MetricSettings::tokenize, "BLEU's tokenizer, as in sacreBLEU"),
      field("spm_model", &MetricSettings::spm_model,
            "SentencePiece model of --tokenize spm, such as that of FLORES-200"),
      field("smooth_method", &MetricSettings::smooth_method,
            "smoothing of BLEU for precisions without a match, as in sacreBLEU (default exp)"),
      field("smooth_value", &MetricSettings::smooth_value,
            "parameter of floor (default 0.1) or add-k (default 1)", between(0, 1e6)),
      field("lowercase", &MetricSettings::lowercase, "ignore case in BLEU and chrF"),
      field("chrf_char_order", &MetricSettings::chrf_char_order,
            "order of character n-grams in chrF (default 6)", between(1, 9)),
      field("chrf_beta", &MetricSettings::chrf_beta,
            "weight of recall relative to precision in chrF (default 2)", between(0, 100)),
      field("chrf_word_order", &MetricSettings::chrf_word_order,
            "order of word n-grams in chrF; 2 is chrF++", between(0, 9)),
      field("ter_normalized", &MetricSettings::ter_normalized,
            "TER: separate punctuation from words"),
      field("ter_no_punct", &MetricSettings::ter_no_punct, "TER: remove punctuation"),
      field("ter_asian_support", &MetricSettings::ter_asian_support,
            "TER: apply the two options above also to Chinese and Japanese"),
      field("ter_case_sensitive", &MetricSettings::ter_case_sensitive, "TER: do not ignore case"),
      field("sentence_level", &MetricSettings::sentence_level, "the scores of each line"),
      field("confidence", &MetricSettings::confidence,
            "95 % confidence intervals by bootstrap resampling"),
      field("paired_bs", &MetricSettings::paired_bs,
            "p-values of the differences from the first system, by paired bootstrap"),
      field("paired_ar", &MetricSettings::paired_ar,
            "p-values by paired approximate randomisation"),
      field("resamples", &MetricSettings::resamples, "number of bootstrap samples (default 1000)",
            between(2, 1e6)),
      field("trials", &MetricSettings::trials, "number of randomisation trials (default 10000)",
            between(1, 1e7)),
      field("resampling_seed", &MetricSettings::resampling_seed,
            "random seed of bootstrap and randomisation (default 12345)", at_least(0))};
};

// Throws ConfigError if settings contradict each other, or if a setting that differs from its
// default has no effect on these metrics, nor on the words that are counted by frequency if
// `counts_words`. `spell` returns a key as the user writes it, such as --chrf-beta.
void check_metric_settings(const MetricSettings& settings, const std::vector<std::string>& metrics,
                           bool counts_words, std::string (*spell)(std::string_view key));

}  // namespace regard
