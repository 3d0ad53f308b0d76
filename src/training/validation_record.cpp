#include "training/validation_record.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "report/format.h"

namespace regard {
namespace {

const std::vector<std::string> columns = {"step", "epoch",         "loss",    "perplexity", "bleu",
                                          "chrf", "learning_rate", "seconds", "best"};

}  // namespace

ValidationRecord::ValidationRecord(const RunFolder& run, std::optional<std::int64_t> resume_step)
    : run_(run), rows_((run.path() / "validations.tsv").string(), columns, resume_step) {}

void ValidationRecord::add(const Validation& validation, const TrainingPosition& position,
                           double learning_rate, double seconds, bool is_best) {
  const auto& scores = validation.scores;
  const bool translates = !std::isnan(scores.bleu);
  log::info("validation at step {}: loss {}  perplexity {}{}  ({}){}", position.step,
            format_fixed(scores.loss, 4), format_fixed(scores.perplexity, 2),
            translates ? fmt::format("  BLEU {:.2f}  chrF {:.2f}", scores.bleu, scores.chrf) : "",
            format_duration(validation.seconds), is_best ? "  best so far" : "");
  rows_.append({{"step", position.step},
                {"epoch", position.current_epoch()},
                {"loss", scores.loss},
                {"perplexity", scores.perplexity},
                {"bleu", translates ? Json(scores.bleu) : Json()},
                {"chrf", translates ? Json(scores.chrf) : Json()},
                {"learning_rate", learning_rate},
                {"seconds", seconds},
                {"best", is_best ? "*" : ""}});
  if (!translates) return;
  const auto file = translations_file(run_.path(), position.step);
  std::string text;
  for (const auto& line : validation.translations) text += line + "\n";
  run_.make_folder_inside(file.parent_path().filename().string());
  write_file(file, text);
}

std::vector<std::size_t> evenly_spread(std::size_t lines, std::size_t count) {
  const auto shown = std::min(count, lines);
  std::vector<std::size_t> chosen;  // the middles of `shown` equal parts
  for (std::size_t k = 0; k < shown; ++k) chosen.push_back((2 * k + 1) * lines / (2 * shown));
  return chosen;
}

void log_examples(const Validator& validator, const std::vector<std::string>& translations,
                  std::int64_t count) {
  bool first = true;
  for (const auto i : evenly_spread(translations.size(), static_cast<std::size_t>(count))) {
    if (!std::exchange(first, false)) log::info("");
    log::info("  source     {}", validator.sources()[i]);
    log::info("  reference  {}", validator.references()[i]);
    log::info("  model      {}", translations[i]);
  }
}

}  // namespace regard
