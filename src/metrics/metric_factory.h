// Creates metrics from their names on the command line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/corpus_metric.h"
#include "metrics/ter.h"

namespace regard {

struct MetricOptions {
  BleuOptions bleu;
  ChrfOptions chrf;  // word_order is ignored by chrf++, which has 2
  TerOptions ter;
};

// Returns bleu, chrf, chrf++, ter, wer, cer, per and exact.
const std::vector<std::string>& metric_names();
// Throws ConfigError, with the nearest and all names, for another name.
std::unique_ptr<const CorpusMetric> make_metric(std::string_view name,
                                                const MetricOptions& options);

}  // namespace regard
