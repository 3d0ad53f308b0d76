// Writes an evaluation as text, JSON, Markdown or LaTeX, and as a chart.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/json.h"
#include "commands/evaluate/evaluation.h"
#include "report/table.h"

namespace regard {

enum class ReportFormat { text, json, sacrebleu, markdown, latex };
constexpr std::array<std::string_view, 5> enum_names(ReportFormat) {
  return {"text", "json", "sacrebleu", "markdown", "latex"};
}

// One row per system, one column per metric: "37.0 (37.0 ± 1.1) (p = 0.0010)*", with a star if p is
// below 0.05, as in sacreBLEU, and the scores differ. Adds perplexity and alignment error rate of
// models.
Table score_table(const Evaluation& evaluation);
std::string to_text(const Evaluation& evaluation);
// Returns the first system's scores. With several systems, "compared" has the others' scores by
// length and "systems" has the scores of all.
Json to_json(const Evaluation& evaluation);
Json to_json(const AlignmentScore& score);
std::string report(const Evaluation& evaluation, ReportFormat format);

// Returns the scores of each line: as text, a line with the scores of every metric, those of
// further systems after them, separated by tabs; as JSON, an array with an object for each line.
std::string sentence_report(const Evaluation& evaluation, ReportFormat format);

// Returns an SVG file with the first metric by source length, one line per system. Empty buckets
// are gaps.
std::string by_length_svg(const Evaluation& evaluation);

// Returns "11–20", or "21+" for an open bucket.
std::string bucket_label(const LengthBucket& bucket);

}  // namespace regard
