#include "training/step_graphs.h"

#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/log.h"
#include "base/process.h"
#include "kernels/device.h"

namespace regard {
namespace {

// A graph of a recurrent model has a node for each operation of each position.
constexpr std::int64_t max_positions = 256;
// Estimated multiplications and additions of a step: 6 · parameters · B · max(S, T). Above this
// limit the device is slower than the launches, so a graph gains nothing.
constexpr double small_step = 1e12;
constexpr std::int64_t max_graphs = 128;
// Dropout masks of a step, more than any recipe draws; a step that draws more is not captured.
constexpr std::int64_t max_keys = 2048;

bool draws_numbers(const ModelOptions& o) {
  const auto kind = o.attention.kind;
  const bool attends = o.kind == ModelKind::translation && o.decoder.kind == LayerKind::recurrent;
  return attends && (kind == AttentionKind::hard || kind == AttentionKind::monotonic);
}

std::int64_t most_tokens(const std::optional<LengthLimit>& limit) {
  return limit ? limit->max_tokens : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

bool StepGraphs::can_capture(torch::Device device, const Options& options) {
  const auto& o = options.training;
  return !device.is_cpu() && o.gradient_accumulation == 1 && o.r_drop == 0 &&
         o.objective == Objective::likelihood && !draws_numbers(options.model);
}

StepGraphs::StepGraphs(torch::Device device, const TrainingOptions& options, const Seq2Seq& model)
    : device_(device),
      capture_(device),
      is_enabled_(options.graphs == StepGraphMode::automatic && capture_.is_possible()),
      max_source_(most_tokens(model.source_limit())),
      max_target_(most_tokens(model.target_limit())) {
  for (const auto& parameter : model.parameters()) parameters_ += parameter.numel();
}

StepGraphs::Shape StepGraphs::shape_of(const Batch& batch) {
  auto shape = batch.source.elements().sizes().vec();
  shape.push_back(batch.target.size(1));
  return shape;
}

bool StepGraphs::is_small(const Batch& batch) const {
  const auto S = batch.source.positions(), T = batch.target.size(1);
  const auto positions = static_cast<double>(batch.size() * std::max(S, T));
  return std::max(S, T) <= max_positions &&
         6 * positions * static_cast<double>(parameters_) < small_step;
}

Batch StepGraphs::to_device(const Batch& batch) {
  if (!batch.can_be_padded() || !is_small(batch)) return batch.to(device_);
  auto padded = batch.padded(max_source_, max_target_);
  const auto known = steps_.find(shape_of(padded));
  if (known == steps_.end() || !known->second.graph) return padded.to(device_);
  const auto& memory = known->second.inputs.block;
  copy_to_device(padded.block, memory);
  return padded.with_block(memory);
}

void StepGraphs::set_inputs(const std::vector<double>& numbers, Random& random) {
  constexpr auto key_bytes = max_keys * static_cast<std::int64_t>(sizeof(std::int64_t));
  const auto values = torch::tensor(numbers, torch::kFloat);
  std::vector<std::int64_t> keys(max_keys);
  for (auto& key : keys) key = static_cast<std::int64_t>(random.next());
  const auto all = torch::cat({torch::tensor(keys).view(torch::kByte), values.view(torch::kByte)});
  if (!block_.defined()) {
    block_ = torch::empty_like(all, all.options().device(device_));
    keys_ = block_.narrow(0, 0, key_bytes).view(torch::kInt64);
    numbers_ = block_.slice(0, key_bytes).view(torch::kFloat);
  }
  copy_to_device(all, block_);
}

torch::Tensor StepGraphs::run(const Batch& batch, const std::vector<double>& numbers, Random random,
                              const Compute& compute) {
  set_inputs(numbers, random);
  if (!is_enabled_) return compute(batch, numbers_, {});
  auto& step = steps_[shape_of(batch)];
  step.last_use = ++uses_;
  if (!step.was_computed) {
    step.was_computed = true;
    return compute(batch, numbers_, {});
  }
  if (!step.graph) {
    try {
      capture_step(step, batch, compute);
    } catch (const std::exception& error) {
      const std::string_view text = error.what();
      log::info("training.graphs: steps are launched operation by operation: {}",
                is_out_of_memory(error) ? "a graph does not fit into the memory of the device"
                                        : text.substr(0, text.find('\n')));
      release();
      return compute(batch, numbers_, {});
    }
  }
  const auto& inputs = step.inputs.block;
  if (batch.block.const_data_ptr() != inputs.const_data_ptr()) inputs.copy_(batch.block);
  step.graph->launch();
  return step.result;
}

void StepGraphs::capture_step(Step& step, const Batch& batch, const Compute& compute) {
  if (captured_ >= max_graphs) release_oldest();
  const DeviceGraph* memory_owner = nullptr;
  for (const auto& [shape, known] : steps_) {
    if (known.graph) memory_owner = known.graph.get();
  }
  step.inputs = batch.with_block(batch.block.clone());
  step.graph =
      capture_.capture(memory_owner, [&] { step.result = compute(step.inputs, numbers_, keys_); });
  ++captured_;
}

void StepGraphs::release_oldest() {
  auto oldest = steps_.end();
  for (auto i = steps_.begin(); i != steps_.end(); ++i) {
    if (i->second.graph &&
        (oldest == steps_.end() || i->second.last_use < oldest->second.last_use)) {
      oldest = i;
    }
  }
  if (oldest == steps_.end()) return;
  steps_.erase(oldest);
  --captured_;
}

bool StepGraphs::release() {
  is_enabled_ = false;
  const bool had_graphs = captured_ > 0;
  steps_.clear();
  captured_ = 0;
  return had_graphs;
}

}  // namespace regard
