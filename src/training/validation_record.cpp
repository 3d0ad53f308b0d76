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

std::vector<std::string> columns(Metric metric) {
  std::vector<std::string> names = {"step", "epoch",         "loss",    "perplexity", "bleu",
                                    "chrf", "learning_rate", "seconds", "best"};
  if (is_optional(metric)) names.emplace_back(enum_name(metric));
  return names;
}

}  // namespace

ValidationRecord::ValidationRecord(const RunFolder& run, const Validator& validator, Metric metric,
                                   std::optional<std::int64_t> resume_step)
    : run_(run),
      validator_(validator),
      metric_(metric),
      rows_((run.path() / "validations.tsv").string(), columns(metric), resume_step) {}

void ValidationRecord::add(const Validation& validation, const TrainingPosition& position,
                           double learning_rate, double seconds, bool is_best) {
  const auto& scores = validation.scores;
  const bool translates = !std::isnan(scores.bleu);
  const auto selecting = score_at(scores, metric_);
  std::string translated;
  if (translates) translated = fmt::format("  BLEU {:.2f}  chrF {:.2f}", scores.bleu, scores.chrf);
  if (is_optional(metric_)) translated += fmt::format("  {} {:.2f}", enum_name(metric_), selecting);
  log::info("validation at step {}: loss {}  perplexity {}{}  ({}){}", position.step,
            format_fixed(scores.loss, 4), format_fixed(scores.perplexity, 2), translated,
            format_duration(validation.seconds), is_best ? "  best so far" : "");
  Json row = {{"step", position.step},
              {"epoch", position.current_epoch()},
              {"loss", scores.loss},
              {"perplexity", scores.perplexity},
              {"bleu", translates ? Json(scores.bleu) : Json()},
              {"chrf", translates ? Json(scores.chrf) : Json()},
              {"learning_rate", learning_rate},
              {"seconds", seconds},
              {"best", is_best ? "*" : ""}};
  if (is_optional(metric_)) row[std::string(enum_name(metric_))] = selecting;
  rows_.append(row);
  if (!translates) return;
  const auto file = translations_file(run_.path(), position.step);
  run_.make_folder_inside(file.parent_path().filename().string());
  if (!std::exchange(has_text_, true)) {
    write(validation_source_file(run_.path()), validator_.sources());
    write(validation_reference_file(run_.path()), validator_.references());
  }
  write(file, validation.translations);
}

void ValidationRecord::write(const std::filesystem::path& file,
                             const std::vector<std::string>& lines) const {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
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
