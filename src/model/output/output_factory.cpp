#include "model/output/output_factory.h"

#include <stdexcept>

#include "base/error.h"
#include "model/attention/table.h"
#include "model/output/copy_output.h"
#include "model/output/pointer_output.h"
#include "model/output/vocabulary_output.h"

namespace regard {

std::unique_ptr<OutputLayer> make_output_layer(const OutputLayerConfig& config) {
  switch (config.options.output.kind) {
    case OutputKind::pointer:
      return std::make_unique<PointerOutputLayer>(config);
    case OutputKind::copy:
      return std::make_unique<CopyOutputLayer>(config);
    case OutputKind::vocabulary:
      return std::make_unique<VocabularyOutputLayer>(config);
  }
  throw std::logic_error("an output layer without a class");
}

void check_output_layer(const ModelOptions& model, const SourceLocations& locations) {
  if (model.output.kind != OutputKind::copy) return;
  if (model.decoder.kind == LayerKind::transformer) return;
  const auto location = locations.of("model.output.kind");
  const auto attention =
      make_attention(model.decoder.hidden_size, state_size(model.encoder), model.attention);
  if (attention->traits().is_distribution) return;
  throw ConfigError(
      "{}{}model.output.kind: copy uses attention weights as probabilities of the source words, "
      "but the weights of model.attention.kind: {} do not sum to 1; use additive, or another kind "
      "whose weights sum to 1",
      location, location.empty() ? "" : ": ", enum_name(model.attention.kind));
}

}  // namespace regard
