#include "model/transformer/positions.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "kernels/device.h"
#include "model/initialisation.h"

namespace regard {
namespace {

// The number of stored positions, enough for nearly all sentences. More positions are computed on
// demand, in blocks of this size: the values of a position must not depend on the other positions
// requested, but the rounding of LibTorch depends on the place of an element in its tensor.
constexpr std::int64_t stored_sinusoids = 512;

// Returns the sinusoids of positions first … first + n − 1: [n, D].
torch::Tensor sinusoids(std::int64_t first, std::int64_t n, std::int64_t D) {
  const auto t = torch::arange(first, first + n, torch::kDouble).unsqueeze(1);  // [n, 1]
  const auto i = torch::arange((D + 1) / 2, torch::kDouble);
  const auto angle = t * (i * (-2 * std::log(10000.0) / static_cast<double>(D))).exp();
  return torch::stack({angle.sin(), angle.cos()}, -1).flatten(1).narrow(1, 0, D);  // [n, D]
}

}  // namespace

Positions::Positions(const SelfAttentionOptions& options, std::int64_t D, std::string section)
    : kind_(options.position), section_(std::move(section)) {
  if (kind_ == PositionKind::learned) {
    p_ = register_parameter("p", torch::empty({options.max_positions, D}));
    embedding_normal(p_);
  } else if (kind_ == PositionKind::sinusoidal) {
    p_ = register_buffer("p", sinusoids(0, stored_sinusoids, D));
  }
}

torch::Tensor Positions::rows(std::int64_t first, std::int64_t n) const {
  if (first + n <= p_.size(0)) return p_.narrow(0, first, n);
  if (kind_ == PositionKind::sinusoidal) {
    const auto begin = first / stored_sinusoids * stored_sinusoids;
    std::vector<torch::Tensor> blocks;
    for (auto block = begin; block < first + n; block += stored_sinusoids) {
      blocks.push_back(
          block == 0 ? p_ : sinusoids(block, stored_sinusoids, p_.size(1)).to(p_.options()));
    }
    return torch::cat(blocks).narrow(0, first - begin, n);
  }
  throw InputError(
      "a sentence of {} or more is longer than the learned positions of the model "
      "({}.max_positions: {}); shorten it, or train with more positions",
      counted(first + n, "token"), section_, p_.size(0));
}

torch::Tensor Positions::of_rows(const DecoderState& state) const {
  if (!state.positions.defined()) return rows(state.position, 1);
  return rows(0, state.position + 1).index_select(0, to_device(state.positions, p_.device()));
}

torch::Tensor Positions::add_to(const torch::Tensor& x) const {
  return p_.defined() ? x + first(x.size(1)).to(x.scalar_type()) : x;
}

torch::Tensor Positions::add_to(const torch::Tensor& x, const DecoderState& state) const {
  return p_.defined() ? x + of_rows(state).to(x.scalar_type()) : x;
}

std::shared_ptr<Positions> make_rotation(const SelfAttentionOptions& options, std::int64_t D) {
  if (options.position != PositionKind::rotary) return nullptr;
  SelfAttentionOptions angles = options;
  angles.position = PositionKind::sinusoidal;
  return std::make_shared<Positions>(angles, D / options.heads, "");
}

}  // namespace regard
