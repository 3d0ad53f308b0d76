#include "metrics/metric_factory.h"

#include "base/suggest.h"
#include "metrics/error_rate.h"

namespace regard {

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {"bleu", "chrf", "chrf++", "ter",
                                                 "wer",  "cer",  "per",    "exact"};
  return names;
}

std::unique_ptr<const CorpusMetric> make_metric(std::string_view name,
                                                const MetricOptions& options) {
  if (name == "bleu") return std::make_unique<Bleu>(options.bleu);
  if (name == "chrf") return std::make_unique<Chrf>(options.chrf);
  if (name == "ter") return std::make_unique<Ter>(options.ter);
  if (name == "wer") return std::make_unique<ErrorRate>(ErrorRate::Symbols::words);
  if (name == "cer") return std::make_unique<ErrorRate>(ErrorRate::Symbols::characters);
  if (name == "per") return std::make_unique<ErrorRate>(ErrorRate::Symbols::phones);
  if (name == "exact") return std::make_unique<ExactMatch>();
  if (name == "chrf++") {
    auto chrf = options.chrf;
    chrf.word_order = 2;
    return std::make_unique<Chrf>(chrf);
  }
  throw unknown_name("metric", name, metric_names());
}

}  // namespace regard
