#include "config/metric_settings.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/choice.h"
#include "base/error.h"

namespace regard {
namespace {

// Returns the metrics that read a setting; none for those of all metrics.
std::vector<std::string> metrics_that_read(std::string_view key) {
  if (key == "tokenize" || key == "smooth_method") return {"bleu"};
  if (key == "lowercase") return {"bleu", "chrf", "chrf++"};
  if (key == "chrf_word_order") return {"chrf"};
  if (key.starts_with("chrf_")) return {"chrf", "chrf++"};
  if (key.starts_with("ter_")) return {"ter"};
  return {};
}

}  // namespace

void check_metric_settings(const MetricSettings& settings, const std::vector<std::string>& metrics,
                           bool counts_words, std::string (*spell)(std::string_view key)) {
  const MetricSettings defaults;
  const auto tokenizer = spell("tokenize") + "=";
  const bool wants_pieces = settings.tokenize == BleuTokenizer::sentencepiece;
  if (wants_pieces == settings.spm_model.empty()) {
    throw ConfigError(
        "{}: found {}, expected a SentencePiece model exactly with {}spm", spell("spm_model"),
        wants_pieces ? "none"
                     : fmt::format("one with {}{}", tokenizer, enum_name(settings.tokenize)),
        tokenizer);
  }
  if (settings.smooth_value >= 0 && settings.smooth_method != BleuSmoothing::floor &&
      settings.smooth_method != BleuSmoothing::add_k) {
    throw ConfigError("{}: found {} {}, expected floor or add-k", spell("smooth_value"),
                      spell("smooth_method"), enum_name(settings.smooth_method));
  }
  const bool bootstraps = settings.confidence || settings.paired_bs;
  const auto bootstrap = fmt::format("{} or {}", spell("confidence"), spell("paired_bs"));
  if (settings.resamples != defaults.resamples && !bootstraps) {
    throw ConfigError("{}: there is no bootstrap; set {}", spell("resamples"), bootstrap);
  }
  if (settings.trials != defaults.trials && !settings.paired_ar) {
    throw ConfigError("{}: there is no randomisation test; set {}", spell("trials"),
                      spell("paired_ar"));
  }
  if (settings.resampling_seed != defaults.resampling_seed && !bootstraps && !settings.paired_ar) {
    throw ConfigError("{}: there is no resampling; set {} or {}", spell("resampling_seed"),
                      bootstrap, spell("paired_ar"));
  }
  for_each_field(
      [&](const auto& field, const auto& value, const auto& fallback) {
        const auto readers = metrics_that_read(field.name);
        if (value == fallback || readers.empty()) return;
        if (counts_words && (field.name == "tokenize" || field.name == "lowercase")) return;
        if (std::ranges::find_first_of(metrics, readers) != metrics.end()) return;
        throw ConfigError("{}: found no metric that reads it, expected {} in {}", spell(field.name),
                          fmt::join(readers, " or "), spell("metrics"));
      },
      settings, defaults);
}

}  // namespace regard
