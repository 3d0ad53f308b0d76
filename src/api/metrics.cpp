#include "regard/metrics.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "config/reader.h"
#include "metrics/system_scores.h"
#include "text/unicode.h"

namespace regard {
namespace {

// The options of evaluate(). A number that is not set is below its range.
struct LibraryEvaluationOptions {
  std::string tokenize = "13a";
  std::string spm_model;
  bool lowercase = false;
  std::string smooth_method = "exp";
  double smooth_value = -1;
  std::int64_t chrf_char_order = 6;
  std::int64_t chrf_word_order = 0;
  double chrf_beta = 2;
  bool ter_normalized = false;
  bool ter_no_punct = false;
  bool ter_asian_support = false;
  bool ter_case_sensitive = false;
  bool sentence_level = false;
  bool confidence = false;
  std::int64_t resamples = -1;
  std::int64_t resampling_seed = -1;

  static constexpr auto fields = std::tuple{
      field("tokenize", &LibraryEvaluationOptions::tokenize, ""),
      field("spm_model", &LibraryEvaluationOptions::spm_model, ""),
      field("lowercase", &LibraryEvaluationOptions::lowercase, ""),
      field("smooth_method", &LibraryEvaluationOptions::smooth_method, ""),
      field("smooth_value", &LibraryEvaluationOptions::smooth_value, "", between(0, 1e6)),
      field("chrf_char_order", &LibraryEvaluationOptions::chrf_char_order, "", between(1, 9)),
      field("chrf_word_order", &LibraryEvaluationOptions::chrf_word_order, "", between(0, 9)),
      field("chrf_beta", &LibraryEvaluationOptions::chrf_beta, "", between(0, 100)),
      field("ter_normalized", &LibraryEvaluationOptions::ter_normalized, ""),
      field("ter_no_punct", &LibraryEvaluationOptions::ter_no_punct, ""),
      field("ter_asian_support", &LibraryEvaluationOptions::ter_asian_support, ""),
      field("ter_case_sensitive", &LibraryEvaluationOptions::ter_case_sensitive, ""),
      field("sentence_level", &LibraryEvaluationOptions::sentence_level, ""),
      field("confidence", &LibraryEvaluationOptions::confidence, ""),
      field("resamples", &LibraryEvaluationOptions::resamples, "", between(2, 1e6)),
      field("resampling_seed", &LibraryEvaluationOptions::resampling_seed, "", at_least(0))};
};

void check_combinations(const LibraryEvaluationOptions& given) {
  const bool wants_pieces = given.tokenize == "spm";
  if (wants_pieces == given.spm_model.empty()) {
    throw ConfigError(
        "spm_model: found {}, expected a SentencePiece model exactly with tokenize=spm",
        wants_pieces ? "none" : "one with tokenize=" + given.tokenize);
  }
  if (given.smooth_value >= 0 && given.smooth_method != "floor" && given.smooth_method != "add-k") {
    throw ConfigError("smooth_value: found smooth_method {}, expected floor or add-k",
                      given.smooth_method);
  }
  if (!given.confidence && (given.resamples >= 0 || given.resampling_seed >= 0)) {
    throw ConfigError("resamples, resampling_seed: there is no bootstrap; set confidence");
  }
}

EvaluationOptions evaluation_options(const std::vector<std::string>& metrics,
                                     const LibraryEvaluationOptions& given) {
  EvaluationOptions options;
  options.metrics = metrics;
  auto& [bleu, chrf, ter] = options.metric_options;
  bleu.tokenizer = parse_bleu_tokenizer(given.tokenize);
  bleu.smoothing = parse_bleu_smoothing(given.smooth_method);
  if (given.smooth_value >= 0) bleu.smoothing_value = given.smooth_value;
  bleu.lowercase = given.lowercase;
  bleu.effective_order = given.sentence_level;  // as sacreBLEU
  if (!given.spm_model.empty()) load_pieces(given.spm_model, bleu);
  chrf.char_order = static_cast<std::size_t>(given.chrf_char_order);
  chrf.word_order = static_cast<std::size_t>(given.chrf_word_order);
  chrf.beta = given.chrf_beta;
  chrf.lowercase = given.lowercase;
  ter = {given.ter_normalized, given.ter_no_punct, given.ter_asian_support,
         given.ter_case_sensitive};
  options.confidence = given.confidence;
  if (given.resamples >= 0) {
    options.resampling.resamples = static_cast<std::size_t>(given.resamples);
  }
  if (given.resampling_seed >= 0) {
    options.resampling.seed = static_cast<std::uint64_t>(given.resampling_seed);
  }
  check_metrics(options);
  return options;
}

void check_utf8(const std::vector<std::string>& lines, const std::string& name) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto at = first_invalid_utf8(lines[i]); at != std::string_view::npos) {
      throw InputError("{}:{}: byte {} is not UTF-8", name, i + 1, at + 1);
    }
  }
}

void check_texts(const std::vector<std::string>& hypotheses, const References& references) {
  check_references(hypotheses.size(), references);
  check_utf8(hypotheses, "hypothesis");
  for (std::size_t r = 0; r < references.size(); ++r) {
    const auto name = references.size() == 1 ? "reference" : fmt::format("reference {}", r + 1);
    check_utf8(references[r], name);
    if (std::ranges::all_of(references[r], is_blank)) {
      throw InputError("{}: empty, so there is nothing to score", name);
    }
  }
}

}  // namespace

std::vector<CorpusScore> evaluate(const std::vector<std::string>& hypotheses,
                                  const std::vector<std::vector<std::string>>& references,
                                  const std::vector<std::string>& metrics,
                                  const std::vector<std::string>& options) {
  LibraryEvaluationOptions given;
  for (const auto& option : options) assign_option(given, option, "evaluation option");
  check_combinations(given);
  const auto checked = evaluation_options(metrics, given);
  check_texts(hypotheses, references);
  const auto evaluation = score_systems({{"", hypotheses}}, references, checked);
  std::vector<CorpusScore> scores;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const auto& metric = *evaluation.metrics[m];
    const auto& [value, counts, sums, confidence, p_value] = evaluation.systems[0].scores[m];
    constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
    scores.push_back({metrics[m],
                      metric.name(),
                      value,
                      signature_of(metric, evaluation),
                      metric.details(sums),
                      {},
                      confidence ? confidence->mean : unknown,
                      confidence ? confidence->half_width : unknown});
    if (!given.sentence_level) continue;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      scores.back().sentence_scores.push_back(metric.score(counts.sentence(i)));
    }
  }
  return scores;
}

}  // namespace regard
