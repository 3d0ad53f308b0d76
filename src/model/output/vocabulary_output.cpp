#include "model/output/vocabulary_output.h"

#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {

VocabularyOutput::VocabularyOutput(const OutputPlace& place) {
  const auto& [model, options, source_embedding, V, C, R] = place;
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

torch::Tensor VocabularyOutput::embed(const torch::Tensor& tokens, const Memory& /*memory*/) {
  return torch::embedding(embedding_, tokens);
}

Loss VocabularyOutput::loss(const Decoded& decoded, const Memory& /*memory*/,
                            const torch::Tensor& targets, double label_smoothing) {
  return cross_entropy(decoded.readout, targets, W_, b_, label_smoothing);
}

torch::Tensor VocabularyOutput::logits(const DecoderStep& step, const Memory& /*memory*/) {
  return kernels::linear(step.readout, W_, b_);
}

}  // namespace regard
