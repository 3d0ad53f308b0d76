// The kinds of attention that score each position independently (ScoreAttention). h_s is the
// encoder state at source position s. Outside of a subscript, s is the query, of width d:
//
//   additive    e_ts = vᵀ tanh(W s + U h_s + b)       (Bahdanau, Cho, Bengio 2015, A.1.2)
//   concat      e_ts = vᵀ tanh(W [s; h_s])            (Luong, Pham, Manning 2015, 3.1)
//   dot         e_ts = s · h_s                        (Luong, 3.1)
//   scaled_dot  e_ts = s · h_s / √d                   (Vaswani et al. 2017, 3.2.1)
//   general     e_ts = sᵀ W h_s                       (Luong, 3.1)
//   cosine      e_ts = β s · h_s / (|s| |h_s|)        (Graves, Wayne, Danihelka 2014, eq. 5 and 6)
//   location    e_t  = the first S elements of W s    (Luong, 3.1)
//
// Each kind except location is a content score: it reads only the content of a position, so a
// permutation of the positions permutes the scores.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/layers.h"

namespace regard {

// Also known as the MLP score, because W s + U h = [W U][s; h].
class Additive : public ScoreAttention {
 public:
  Additive(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  torch::Tensor keys(const torch::Tensor& states) override;  // U h_s + b
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;

 private:
  Linear W_{nullptr};  // [A, D]
  Linear U_{nullptr};  // [A, C], with b
  torch::Tensor v_;    // [A]
};

// Equal to the additive score without b, because W [s; h] = W_s s + W_h h. Only the default of
// model.decoder.query differs.
class Concat : public ScoreAttention {
 public:
  Concat(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  torch::Tensor keys(const torch::Tensor& states) override;  // W_h h_s
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;

 private:
  std::int64_t query_size_;
  torch::Tensor W_;  // [A, D + C]
  torch::Tensor v_;  // [A]
};

// Computes the keys of the scores that multiply query and key directly: both must have the same
// width.
class KeyProjection {
 public:
  // Registers the matrix "K" in `owner` if options.project_keys says so. Otherwise the keys are the
  // encoder states; throws ConfigError if query_size and state_size differ.
  KeyProjection(torch::nn::Module& owner, std::int64_t query_size, std::int64_t state_size,
                const AttentionOptions& options);

  // Returns the keys [B, S, D] of states [B, S, C]: K h_s, or the states unchanged.
  torch::Tensor operator()(const torch::Tensor& states);

 private:
  Linear K_{nullptr};  // [D, C]; empty if the keys are the states
};

class Dot : public ScoreAttention {
 public:
  // Throws ConfigError as KeyProjection does.
  Dot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
      double scale = 1);

  torch::Tensor keys(const torch::Tensor& states) override;
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;

 private:
  double scale_;
  KeyProjection projection_;
};

class ScaledDot : public Dot {
 public:
  ScaledDot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);
};

class General : public ScoreAttention {
 public:
  General(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  torch::Tensor keys(const torch::Tensor& states) override;  // W h_s
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;

 private:
  Linear W_{nullptr};  // [D, C]
};

// The sharpness β is softplus(b) with a learned b, or softplus(w · s_t + b) of each query as in the
// paper (`step`), or 1 (`none`).
class Cosine : public ScoreAttention {
 public:
  // Throws ConfigError as KeyProjection does.
  Cosine(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  // β h_s / |h_s|, without β if it depends on the query.
  torch::Tensor keys(const torch::Tensor& states) override;
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;
  // β s / |s| if β depends on the query. Otherwise s, which the kernels normalise.
  torch::Tensor transformed(const torch::Tensor& queries) override;
  bool transforms_queries() const override { return sharpness_ == Sharpness::step; }

 private:
  Sharpness sharpness_;
  KeyProjection projection_;
  torch::Tensor b_;          // [], if β is learned
  Linear of_step_{nullptr};  // w [1, D] and b, if β depends on the query
};

// Returns the initial b of a learned sharpness β = softplus(b), so that β = 8 initially. With β = 1
// every softmax would be nearly uniform, because a cosine is between −1 and 1.
double initial_sharpness_bias();

// Returns x / |x| along the last dimension. Divides vectors shorter than 1e-8 by 1e-8.
torch::Tensor normalised(const torch::Tensor& x);

// W has options.max_positions rows. keys() throws InputError for a longer source. There are no
// keys: keys() returns [B, S, 0], of which the kernels read only the number of positions.
class Location : public ScoreAttention {
 public:
  Location(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  torch::Tensor keys(const torch::Tensor& states) override;
  kernels::AttentionScore score_parameters(const torch::Tensor& keys) override;

 private:
  std::int64_t max_positions_;
  torch::Tensor W_;  // [max_positions, D]
};

}  // namespace regard
