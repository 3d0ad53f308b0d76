// The parts of the page of `regard report`: the run's records, and the quality of a translated
// text. A part is empty if there is nothing to show.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "commands/run_record.h"

namespace regard {

// Best scores, steps, time and the reason for stopping.
std::string summary_html(const RunRecord& run);
std::string learning_curves_html(const RunRecord& run);
// Translations of `count` validation sentences over time, one row per change.
std::string translation_history_html(const RunRecord& run, const ScoredText& text,
                                     std::size_t count);
// Layers and the resolved configuration.
std::string configuration_html(const RunRecord& run);

// BLEU by source length, in up to five buckets of about equal size, each with its 95 % confidence
// interval by bootstrap.
std::string bleu_by_length_html(const ScoredText& text);

// The `count` sentences with the highest and the lowest chrF.
std::string best_and_worst_html(const ScoredText& text, std::size_t count);

}  // namespace regard
