#include "model/output/vocabulary_output.h"

#include "kernels/cross_entropy.h"
#include "kernels/gradient_factors.h"
#include "kernels/linear.h"
#include "kernels/token_probabilities.h"
#include "model/initialisation.h"
#include "model/output/batch_shortlist.h"

namespace regard {

VocabularyOutputLayer::VocabularyOutputLayer(const OutputLayerConfig& config) {
  const auto& [model, options, source_embedding, V, C, R] = config;
  const auto tied = options.tied_embeddings;
  embedding_ = source_embedding;
  if (tied != TiedEmbeddings::all) {
    embedding_ = model.register_parameter("target_embedding",
                                          torch::empty({V, options.decoder.embedding_dim}));
    embedding_normal(embedding_);
  }
  W_ = embedding_;
  if (tied == TiedEmbeddings::none) {
    W_ = model.register_parameter("output_weight", torch::empty({V, R}));
    xavier_uniform(W_);
  }
  b_ = model.register_parameter("output_bias", torch::zeros({V}));
}

torch::Tensor VocabularyOutputLayer::embed(const torch::Tensor& tokens,
                                           const EncoderOutput& /*encoded*/) {
  return kernels::embedding(embedding_, tokens);
}

Loss VocabularyOutputLayer::loss(const DecoderOutput& decoded, const EncoderOutput& /*encoded*/,
                                 const Targets& targets, const LossOptions& options) {
  return cross_entropy(decoded.readout, targets, W_, b_, options);
}

torch::Tensor VocabularyOutputLayer::target_nll(const DecoderOutput& decoded,
                                                const EncoderOutput& /*encoded*/,
                                                const Targets& targets) {
  return kernels::linear_nll(targets.rows_of(decoded.readout), W_, b_, targets.tokens);
}

torch::Tensor VocabularyOutputLayer::logits(const DecoderStep& step, const EncoderOutput& encoded) {
  if (encoded.shortlist) {
    return encoded.shortlist->logits(step.readout, W_, b_, encoded.sentences);
  }
  return kernels::linear(step.readout, W_, b_);
}

torch::Tensor VocabularyOutputLayer::log_probabilities(const DecoderOutput& decoded,
                                                       const EncoderOutput& /*encoded*/,
                                                       const Targets& targets) {
  return targets.scatter(
      kernels::target_log_probabilities(targets.rows_of(decoded.readout), W_, b_, targets.tokens));
}

}  // namespace regard
