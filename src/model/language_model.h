// A language model: a decoder without a source, P(y) = Π_t P(y_t | y_<t).
#pragma once

#include "model/generator.h"

namespace regard {

class LanguageModel : public Generator {
 public:
  LanguageModel(std::int64_t vocabulary, const ModelOptions& options);

  // Returns one position without numbers for each sentence: only the number of sentences is read.
  EncoderOutput encode(const SourceBatch& source) override;
  SelfAttention self_attention(const SourceBatch& source, const torch::Tensor& input) override;
};

}  // namespace regard
