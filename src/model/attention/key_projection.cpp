#include "model/attention/key_projection.h"

#include "base/error.h"

namespace regard {

KeyProjection::KeyProjection(torch::nn::Module& owner, std::int64_t query_size,
                             std::int64_t state_size, const AttentionOptions& options) {
  if (options.project_keys) {
    K_ = owner.register_module("K", Linear(state_size, query_size, false));
  } else if (query_size != state_size) {
    const auto* key = options.score == options.kind ? "score" : "kind";  // is it inside another?
    throw ConfigError(
        "model.attention.{}: {} compares the decoder's state with the encoder's, but they are {} "
        "and {} wide (model.decoder.hidden_size; model.encoder.hidden_size, twice where it is "
        "bidirectional). Make them equal, or set model.attention.project_keys: true",
        key, options.kind, query_size, state_size);
  }
}

torch::Tensor KeyProjection::operator()(const torch::Tensor& states) {
  return K_.is_empty() ? states : K_(states);
}

}  // namespace regard
