// The metrics by the names they have on the command line.
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
  ChrfOptions chrf;  // chrf++ has two word orders whatever these say
  TerOptions ter;
};

// bleu, chrf, chrf++, ter.
const std::vector<std::string>& metric_names();
// Throws ConfigError, with the nearest name and all of them, for any other.
std::unique_ptr<const CorpusMetric> metric_named(std::string_view name,
                                                 const MetricOptions& options);

}  // namespace regard
