// Scores translations as `regard evaluate` does: BLEU, chrF, chrF++ and TER as in sacreBLEU, word
// and character error rates, exact match.
//
//   #include <regard/metrics.h>
//   std::cout << regard::evaluate({"le chat"}, {{"le chien"}}, {"bleu"})[0].score;
#pragma once

#include <string>
#include <vector>

namespace regard {

struct CorpusScore {
  std::string metric;                   // as requested: "bleu"
  std::string name;                     // "BLEU", "chrF2++"
  double score;                         // of the whole text
  std::string signature;                // sacreBLEU's, with the version of regard
  std::string details;                  // what sacreBLEU prints after the score; may be empty
  std::vector<double> sentence_scores;  // of each line; empty without the option sentence_level
  // With the option confidence, the mean of the resamples and half the width of their central
  // 95 %; otherwise NaN.
  double confidence_mean;
  double confidence_half_width;
};

// Returns one score for each metric (docs/evaluation.md). references[r][i] is the r-th reference of
// hypotheses[i]. `options` have the names of the long options of `regard evaluate`, with _ for -:
// {"tokenize=intl", "lowercase=true"}. Supported are tokenize, spm_model, lowercase, smooth_method,
// smooth_value, chrf_char_order, chrf_word_order, chrf_beta, ter_normalized, ter_no_punct,
// ter_asian_support, ter_case_sensitive, sentence_level, confidence, resamples, resampling_seed.
//
// Throws for an unknown metric or option, an option that no metric reads, a reference with another
// number of lines or without text, and a line that is not UTF-8. Does not warn of texts that look
// tokenised, as the program does. Thread-safe. error_kind.h tells the kinds of errors.
__attribute__((visibility("default"))) std::vector<CorpusScore> evaluate(
    const std::vector<std::string>& hypotheses,
    const std::vector<std::vector<std::string>>& references,
    const std::vector<std::string>& metrics = {"bleu", "chrf"},
    const std::vector<std::string>& options = {});

}  // namespace regard
