// The figures of an evaluation as a person reads them, as JSON, and as a chart.
#pragma once

#include <string>

#include "base/json.h"
#include "commands/evaluation.h"

namespace regard {

enum class ReportFormat { text, json, markdown, latex };

// text, json, markdown, latex. Throws ConfigError, with the nearest and all names, for any other.
ReportFormat report_format_named(const std::string& name);

std::string to_text(const Evaluation& evaluation);
// The first system's figures; others under "compared" (by length) and all under "systems".
Json to_json(const Evaluation& evaluation);
Json to_json(const AlignmentScore& score);
std::string report(const Evaluation& evaluation, ReportFormat format);

// The first metric over the source's length as an SVG file, a line for each system; empty buckets
// are gaps.
std::string by_length_svg(const Evaluation& evaluation);

}  // namespace regard
