#include "model/transformer/positions.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "kernels/device.h"
#include "model/initialisation.h"

namespace regard {
namespace {

// The number of stored positions, enough for nearly all sentences. Others are computed on demand.
constexpr std::int64_t stored_sinusoids = 512;

// Returns the sinusoids of positions t [n] int64, which is on the CPU: [n, D]. A position has the
// same bits whatever the others are. With LibTorch's functions it would not: their rounding depends
// on the place of an element in its tensor.
torch::Tensor sinusoids(const torch::Tensor& t, std::int64_t D) {
  std::vector<double> rates;  // of each pair of elements
  for (std::int64_t i = 0; i < D; i += 2) {
    rates.push_back(std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(D)));
  }
  const auto of_rows = t.contiguous();
  auto p = torch::empty({t.size(0), D}, torch::kDouble);
  auto* to = p.mutable_data_ptr<double>();
  for (std::int64_t row = 0; row < t.size(0); ++row) {
    const auto position = static_cast<double>(of_rows.const_data_ptr<std::int64_t>()[row]);
    for (std::int64_t i = 0; i < D; ++i) {
      const auto angle = position * rates[static_cast<std::size_t>(i / 2)];
      *to++ = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return p;
}

}  // namespace

Positions::Positions(const SelfAttentionOptions& options, std::int64_t D, std::string section)
    : kind_(options.position), section_(std::move(section)) {
  if (kind_ == PositionKind::learned) {
    p_ = register_parameter("p", torch::empty({options.max_positions, D}));
    embedding_normal(p_);
  } else if (kind_ == PositionKind::sinusoidal) {
    p_ = register_buffer("p", sinusoids(torch::arange(stored_sinusoids, torch::kInt64), D));
  }
}

torch::Tensor Positions::rows(std::int64_t first, std::int64_t n) const {
  if (first + n <= p_.size(0)) return p_.narrow(0, first, n);
  if (kind_ == PositionKind::sinusoidal) {
    const auto missing = torch::arange(std::max(first, stored_sinusoids), first + n, torch::kInt64);
    return torch::cat({p_.slice(0, first), compute(missing)});
  }
  throw InputError(
      "a sentence of {} or more is longer than the learned positions of the model "
      "({}.max_positions: {}); shorten it, or train with more positions",
      counted(first + n, "token"), section_, p_.size(0));
}

torch::Tensor Positions::compute(const torch::Tensor& t) const {
  return to_device(sinusoids(t, p_.size(1)).to(p_.scalar_type()), p_.device());
}

torch::Tensor Positions::of_rows(const DecoderState& state) const {
  if (!state.positions.defined()) return rows(state.position, 1);
  if (kind_ == PositionKind::sinusoidal && state.position >= stored_sinusoids) {
    return compute(state.positions);
  }
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
