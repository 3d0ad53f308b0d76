#include "model/output/vocabulary_output.h"

#include "kernels/fused.h"
#include "kernels/packed_matrix.h"
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

Logits VocabularyOutput::logits() {
  if (!kernels::is_fused_on(W_)) {
    return [W = W_, b = b_](const DecoderStep& step, const Memory&) {
      return torch::linear(step.readout, W, b);
    };
  }
  return [packed = kernels::PackedMatrix(W_.detach().t()), b = b_.detach()](const DecoderStep& step,
                                                                            const Memory&) {
    const auto logits = b.repeat({step.readout.size(0), 1});  // never the bias itself
    packed.multiply(step.readout.contiguous(), logits, /*add=*/true);
    return logits;
  };
}

}  // namespace regard
