#include "model/ensemble.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/device.h"
#include "kernels/functions.h"

namespace regard {
namespace {

[[noreturn]] void throw_not_trainable() {
  throw std::logic_error("an ensemble cannot be trained");
}

// Returns the sum, added in order.
torch::Tensor sum_of(const std::vector<torch::Tensor>& tensors) {
  auto sum = tensors.front();
  for (std::size_t i = 1; i < tensors.size(); ++i) sum = sum + tensors[i];
  return sum;
}

std::optional<LengthLimit> smallest_limit(const std::vector<std::shared_ptr<Seq2Seq>>& members,
                                          std::optional<LengthLimit> (Seq2Seq::*limit_of)() const) {
  std::optional<LengthLimit> result;
  for (const auto& member : members) {
    const auto limit = ((*member).*limit_of)();
    if (limit && (!result || limit->max_tokens < result->max_tokens)) result = limit;
  }
  return result;
}

}  // namespace

Ensemble::Ensemble(std::vector<std::shared_ptr<Seq2Seq>> members, EnsembleMean mean,
                   std::vector<double> weights, std::optional<std::int64_t> last_members_first)
    : members_(std::move(members)),
      mean_(mean),
      weights_(std::move(weights)),
      last_members_first_(last_members_first) {
  if (weights_.empty()) weights_.assign(members_.size(), 1);
  if (members_.empty() || weights_.size() != members_.size()) {
    throw std::invalid_argument("an ensemble needs one weight for each member");
  }
  const auto sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!(weights_[m] > 0) || !std::isfinite(sum)) {
      throw std::invalid_argument("the weights of an ensemble must be above 0");
    }
    if (mean_ != EnsembleMean::fusion) weights_[m] /= sum;
    register_module("member" + std::to_string(m), members_[m]);
  }
}

EncoderOutput Ensemble::encode(const SourceBatch& source) {
  EncoderOutput encoded;
  for (const auto& member : members_) encoded.members.push_back(member->encode(source));
  encoded.mask = encoded.members[0].mask;
  encoded.lengths = encoded.members[0].lengths;
  encoded.lengths_on_device = encoded.members[0].lengths_on_device;
  encoded.padding = encoded.members[0].padding;
  return encoded;
}

DecoderState Ensemble::initial_state(const EncoderOutput& encoded) {
  DecoderState state;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    state.members.push_back(members_[m]->initial_state(encoded.members[m]));
  }
  return state;
}

torch::Tensor Ensemble::tokens_of(std::size_t m, const torch::Tensor& tokens,
                                  const DecoderState& state) const {
  if (!last_members_first_ || m + 1 < members_.size()) return tokens;
  if (state.positions.defined()) {
    return tokens.masked_fill(to_device(state.positions.eq(0), tokens.device()),
                              *last_members_first_);
  }
  return state.position == 0 ? torch::full_like(tokens, *last_members_first_) : tokens;
}

DecoderStep Ensemble::step(const torch::Tensor& tokens, const DecoderState& state,
                           const EncoderOutput& encoded, bool want_weights) {
  DecoderStep combined;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    auto step = members_[m]->step(tokens_of(m, tokens, state), state.members[m], encoded.members[m],
                                  want_weights);
    combined.state.members.push_back(std::move(step.state));
    combined.members.push_back(std::move(step));
  }
  if (want_weights) combined.weights = mean_attention(combined.members);
  combined.state.set_position_after(state);
  return combined;
}

DecoderOutput Ensemble::decode(const torch::Tensor& input, const EncoderOutput& encoded,
                               bool want_weights) {
  DecoderOutput combined;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    auto own_input = input;
    if (last_members_first_ && m + 1 == members_.size()) {
      own_input = input.clone();
      own_input.select(1, 0).fill_(*last_members_first_);
    }
    combined.members.push_back(members_[m]->decode(own_input, encoded.members[m], want_weights));
  }
  if (want_weights) combined.weights = mean_attention(combined.members);
  return combined;
}

template <typename Parts>
torch::Tensor Ensemble::mean_attention(const Parts& parts) const {
  std::vector<torch::Tensor> attention;
  double total = 0;  // weight of the members with attention
  for (std::size_t m = 0; m < parts.size(); ++m) {
    if (!parts[m].weights.defined()) continue;
    attention.push_back(parts[m].weights * weights_[m]);
    total += weights_[m];
  }
  return attention.empty() ? torch::Tensor() : sum_of(attention) / total;
}

torch::Tensor Ensemble::MeanOutputLayer::logits(const DecoderStep& step,
                                                const EncoderOutput& encoded) {
  const auto& weights = ensemble_.weights_;
  const bool is_linear = ensemble_.mean_ == EnsembleMean::linear;
  std::vector<torch::Tensor> log_p;  // each [N, V]
  for (std::size_t m = 0; m < step.members.size(); ++m) {
    auto& output_layer = ensemble_.members_[m]->output_layer();
    const auto member_log_p =
        kernels::log_softmax(output_layer.logits(step.members[m], encoded.members[m]));
    log_p.push_back(is_linear ? member_log_p + std::log(weights[m]) : member_log_p * weights[m]);
  }
  return is_linear ? kernels::log_sum_exp(torch::stack(log_p)) : sum_of(log_p);
}

bool Ensemble::has_attention_weights() const {
  for (const auto& member : members_) {
    if (member->has_attention_weights()) return true;
  }
  return false;
}

std::optional<LengthLimit> Ensemble::source_limit() const {
  return smallest_limit(members_, &Seq2Seq::source_limit);
}

std::optional<LengthLimit> Ensemble::target_limit() const {
  return smallest_limit(members_, &Seq2Seq::target_limit);
}

bool Ensemble::MeanOutputLayer::supports_shortlist() const {
  return std::ranges::all_of(ensemble_.members_, [](const auto& member) {
    return member->output_layer().supports_shortlist();
  });
}

torch::Tensor Ensemble::MeanOutputLayer::embed(const torch::Tensor& /*tokens*/,
                                               const EncoderOutput& /*encoded*/) {
  throw_not_trainable();
}

Loss Ensemble::MeanOutputLayer::loss(const DecoderOutput& /*decoded*/,
                                     const EncoderOutput& /*encoded*/, const Targets& /*targets*/,
                                     const LossOptions& /*options*/) {
  throw_not_trainable();
}

torch::Tensor Ensemble::MeanOutputLayer::target_nll(const DecoderOutput& /*decoded*/,
                                                    const EncoderOutput& /*encoded*/,
                                                    const Targets& /*targets*/) {
  throw_not_trainable();
}

}  // namespace regard
