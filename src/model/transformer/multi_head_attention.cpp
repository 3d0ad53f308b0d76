#include "model/transformer/multi_head_attention.h"

#include "kernels/scaled_dot_product.h"

namespace regard {

MultiHeadAttention::MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads,
                                       double dropout)
    : heads_(heads), dropout_(std::make_shared<Dropout>(dropout)) {
  W_Q_ = register_module("W_Q", Linear(D, D));
  W_KV_ = register_module("W_KV", Linear(C, 2 * D));
  W_O_ = register_module("W_O", Linear(D, D));
  register_module("dropout", dropout_);
}

torch::Tensor MultiHeadAttention::keys_and_values(const torch::Tensor& z,
                                                  const torch::Tensor& rotation) {
  return kernels::rotate(W_KV_(z), width(), rotation);
}

kernels::HeadsOutput MultiHeadAttention::forward(const torch::Tensor& x,
                                                 const torch::Tensor& keys_and_values,
                                                 const kernels::Padding& padding, bool causal,
                                                 bool want_weights, const torch::Tensor& rotation) {
  const auto q = kernels::rotate(W_Q_(x), width(), rotation);
  auto attended = kernels::multi_head_attention(q, keys_and_values, heads_, padding, causal,
                                                want_weights, dropout_->draw());
  attended.y = W_O_(attended.y);
  return attended;
}

}  // namespace regard
