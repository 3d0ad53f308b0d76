// The parts of a run's page that come from its own records. Each is empty where there is nothing to
// show.
#pragma once

#include <cstddef>
#include <string>

#include "commands/run_record.h"

namespace regard {

// What came of it, at a glance.
std::string facts_html(const RunRecord& run);
std::string curves_html(const RunRecord& run);
// What became of a few validation sentences, from validation to validation: a row for each change.
std::string progress_html(const RunRecord& run, const ScoredText& text, std::size_t count);
// Layers, recipe and the resolved configuration.
std::string configuration_html(const RunRecord& run);

}  // namespace regard
