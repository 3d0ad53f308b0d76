// The source side of a model: embedding, input layer and encoder.
//
// The embedding of a source word is a row of the embedding matrix or, if the word is a vector x of
// F numbers (F = model.encoder.numbers), W x + b. The frames of a source of features are such
// vectors; with model.encoder.frame_stacking K, x is the concatenation of K consecutive frames. A
// convolutional encoder reads images, which are not embedded.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "config/model_options.h"
#include "model/encoder.h"
#include "model/input_layer.h"

namespace regard {

// The model draws its weights from one generator and names them in one order, in which the parts of
// both sides take turns: encoder, decoder, input layers, embedding.
class SourceEncoder {
 public:
  // Draws the weights of the encoder.
  explicit SourceEncoder(const ModelOptions& options);
  // Draws those of the input layer.
  void add_input(const ModelOptions& options);
  // Draws those of the embedding, which become parameters of `model`.
  void add_embedding(torch::nn::Module& model, std::int64_t vocabulary,
                     const ModelOptions& options);
  void register_encoder(torch::nn::Module& model) { model.register_module("encoder", encoder_); }
  void register_input(torch::nn::Module& model) {
    if (input_) model.register_module("source_input", input_);
  }

  // [V_src, E] for source vocabulary size V_src. For numbers, W [K (F + 1), E]: the last element of
  // a frame is 1 at </s> and 0 elsewhere (SourceVectors). Undefined for images.
  const torch::Tensor& embedding() const { return embedding_; }
  std::int64_t state_size() const { return encoder_->state_size(); }

  struct Encoded {
    EncoderOutput output;
    torch::Tensor embedded;  // [B, ceil(S / K), E], undefined for images
  };
  // Appends the weights of the layers to `self_attention`, unless it is null.
  Encoded encode(const SourceBatch& source, std::vector<torch::Tensor>* self_attention);

 private:
  torch::Tensor embed(const SourceBatch& source);  // -> [B, ceil(S / K), E]

  std::int64_t frame_stacking_;  // K
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<InputLayer> input_;  // null for images
  torch::Tensor embedding_;
  torch::Tensor bias_;  // b [E] for numbers, otherwise undefined
};

// Returns the maximum length of a source that an encoder and the attention of the decoder have
// positions for.
std::optional<LengthLimit> source_limit_of(const ModelOptions& options);

}  // namespace regard
