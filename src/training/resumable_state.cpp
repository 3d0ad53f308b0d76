#include "training/resumable_state.h"

#include <torch/utils.h>

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <stdexcept>

#include "base/error.h"

namespace regard {
namespace {

constexpr const char* numbers_file = "training.json";
constexpr const char* tensors_file = "training.safetensors";

at::Generator generator(torch::Device device) {
  return at::globalContext().defaultGenerator(device);
}

// Returns the random generators in use, with the names under which they are saved.
std::map<std::string, at::Generator> generators(torch::Device device) {
  std::map<std::string, at::Generator> found = {{"random.cpu", generator(torch::kCPU)}};
  if (device.is_cuda()) found.emplace("random.cuda", generator(device));
  return found;
}

// Returns all tensors of the state except those of the generators. With a moving average, this
// includes the weights, because model.safetensors then has the averages.
NamedParameters tensors_of(const ResumableState& state) {
  NamedParameters tensors;
  for (const auto& [name, tensor] : state.optimizer.state()) {
    tensors.emplace_back("optimizer." + name, tensor);
  }
  if (state.average != nullptr) {
    for (const auto& [name, tensor] : state.parameters) {
      tensors.emplace_back("weights." + name, tensor.detach());
    }
  }
  return tensors;
}

// Returns NaN for null: numbers that are not finite are saved as null.
double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json numbers_of(const ResumableState& state) {
  Json validations = Json::array();
  for (const auto& [step, scores] : state.early_stopping.history()) {
    auto& entry = validations.emplace_back(Json{{"step", step}});
    for (std::size_t m = 0; m < score_members.size(); ++m) {
      const auto score = scores.*score_members.at(m);
      if (is_optional(static_cast<Metric>(m)) && std::isnan(score)) continue;
      entry[std::string(enum_name(static_cast<Metric>(m)))] = score;
    }
  }
  const auto& schedule = state.schedule.state();
  Json numbers = {{"step", state.position.step},
                  {"epoch", state.position.epoch},
                  {"batch", state.position.batch},
                  {"mean_log_p", state.position.mean_log_p},
                  {"skipped", state.position.skipped},
                  {"skipped_in_a_row", state.position.skipped_in_a_row},
                  {"schedule",
                   {{"rollbacks", schedule.rollbacks},
                    {"decreases", schedule.decreases},
                    {"validations_without_improvement", schedule.validations_without_improvement}}},
                  {"validations", std::move(validations)},
                  {"log", state.log.state()}};
  if (state.pending_validation) numbers["pending_validation"] = true;
  return numbers;
}

// Returns a count. Throws std::invalid_argument for other values.
std::int64_t count_at(const Json& json, const char* key) {
  constexpr std::uint64_t max_count = std::uint64_t{1} << 53;  // more is damage
  const auto& count = json.at(key);
  if (count.is_number_unsigned() && count.get<std::uint64_t>() <= max_count) return count;
  throw std::invalid_argument(fmt::format("{}: found {}, expected a count", key, count.dump()));
}

// Sets the parts of the trainer to which `state` refers.
void set_numbers(const Json& json, const ResumableState& state) {
  state.position = {.step = count_at(json, "step"),
                    .epoch = count_at(json, "epoch"),
                    .batch = count_at(json, "batch"),
                    .mean_log_p = json.at("mean_log_p"),
                    .skipped = count_at(json, "skipped"),
                    .skipped_in_a_row = count_at(json, "skipped_in_a_row")};
  state.pending_validation = json.value("pending_validation", false);
  const auto& schedule = json.at("schedule");
  state.schedule.set_state({count_at(schedule, "rollbacks"), count_at(schedule, "decreases"),
                            count_at(schedule, "validations_without_improvement")});
  ScoredSteps history;
  for (const auto& entry : json.at("validations")) {
    auto& scores = history.emplace_back(count_at(entry, "step"), Scores{}).second;
    for (std::size_t m = 0; m < score_members.size(); ++m) {
      const std::string name(enum_name(static_cast<Metric>(m)));
      if (is_optional(static_cast<Metric>(m)) && !entry.contains(name)) continue;
      scores.*score_members.at(m) = number_or_nan(entry.at(name));
    }
  }
  state.early_stopping.set_history(history);
  state.log.set_state(json.at("log"));
}

Json parse_numbers(const FolderReader& folder) {
  const auto text = folder.text(numbers_file);
  std::string fault;
  auto json = parse_json(text, &fault);
  if (json.is_discarded()) {
    throw CheckpointError("{}: not JSON ({})", (folder.path() / numbers_file).string(), fault);
  }
  return json;
}

}  // namespace

void add_state(FolderWriter& folder, const ResumableState& state) {
  auto tensors = tensors_of(state);
  for (auto& [name, random] : generators(state.device)) {
    tensors.emplace_back(name, random.get_state());
  }
  folder.add_tensors(tensors_file, std::move(tensors));
  add_numbers(folder, state);
}

void add_numbers(FolderWriter& folder, const ResumableState& state) {
  folder.add_text(numbers_file, numbers_of(state).dump(1) + "\n");
}

void read_state(const FolderReader& folder, ResumableState state) {
  const torch::NoGradGuard guard;
  const auto numbers = parse_numbers(folder);
  if (numbers.is_object() && !numbers.value("schedule", Json::object()).contains("rollbacks")) {
    throw CheckpointError(
        "{}: found the training state of an earlier version of regard, which this one cannot "
        "continue; start a new run with the weights (--init-from)",
        (folder.path() / numbers_file).string());
  }
  const auto where = (folder.path() / tensors_file).string();
  std::map<std::string, torch::Tensor> saved;
  for (auto& [name, tensor] : folder.tensors(tensors_file)) saved.emplace(name, tensor);
  for (auto& [name, tensor] : tensors_of(state)) {
    const auto found = saved.find(name);
    if (found == saved.end() || found->second.sizes() != tensor.sizes()) {
      throw CheckpointError(
          "{}: {} `{}`; it was trained with another optimizer or model; use --fresh to start over",
          where, found == saved.end() ? "has no" : "has another shape of", name);
    }
    tensor.copy_(found->second);
  }
  try {
    set_numbers(numbers, state);
  } catch (const std::exception& error) {  // from the JSON library or count_at()
    throw CheckpointError("{}: {}", (folder.path() / numbers_file).string(), error.what());
  }
  for (auto& [name, random] : generators(state.device)) {
    const auto found = saved.find(name);  // missing if the run has moved from the CPU to a GPU
    if (found != saved.end()) random.set_state(found->second);
  }
}

void verify_state(const FolderReader& folder) {
  for (const auto* name : {numbers_file, tensors_file}) folder.verify(name);
}

std::int64_t saved_step(const FolderReader& folder) {
  const auto json = parse_numbers(folder);
  try {
    return count_at(json, "step");
  } catch (const std::exception& error) {
    throw CheckpointError("{}: {}", (folder.path() / numbers_file).string(), error.what());
  }
}

}  // namespace regard
