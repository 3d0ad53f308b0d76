// The translator: encoder, decoder and output layer. Any encoder can be combined with any decoder
// and any output layer.
#pragma once

#include "model/generator.h"
#include "model/source_encoder.h"

namespace regard {

class EncoderDecoder : public Generator {
 public:
  EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                 const ModelOptions& options);

  EncoderOutput encode(const SourceBatch& source) override { return encode(source, nullptr); }
  SelfAttention self_attention(const SourceBatch& source, const torch::Tensor& input) override;
  std::optional<LengthLimit> source_limit() const override { return source_limit_; }

 private:
  EncoderDecoder(SourceEncoder source, std::int64_t source_vocabulary,
                 std::int64_t target_vocabulary, const ModelOptions& options);
  // As SourceEncoder::encode(), also for decoder and output layer.
  EncoderOutput encode(const SourceBatch& source, std::vector<torch::Tensor>* self_attention);

  SourceEncoder source_;
  std::optional<LengthLimit> source_limit_;
};

}  // namespace regard
