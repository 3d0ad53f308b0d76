// regard average: averages the weights of several checkpoints.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "commands/loaded_model.h"
#include "report/run_logs.h"
#include "training/early_stopping.h"
#include "training/initial_model.h"
#include "translation/average_model.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

// Returns the validation scores of each step; NaN for a score that was not recorded. Skips rows
// without a step.
ScoredSteps read_scored_steps(const ValidationTable& validations) {
  const auto column = [&](const std::string& name) {
    auto numbers = validations.numbers(name);
    numbers.resize(validations.rows.size(), std::numeric_limits<double>::quiet_NaN());
    return numbers;
  };
  const auto steps = validations.steps();
  ScoredSteps scored;
  for (const auto& step : steps) scored.emplace_back(step.value_or(-1), Scores{});
  for (std::size_t m = 0; m < score_members.size(); ++m) {
    const auto values = column(std::string(enum_name(static_cast<Metric>(m))));
    for (std::size_t i = 0; i < scored.size(); ++i) {
      scored[i].second.*score_members.at(m) = values[i];
    }
  }
  std::erase_if(scored, [](const auto& validation) { return validation.first < 0; });
  return scored;
}

// Returns the validated steps that still have a checkpoint, best first.
std::vector<std::int64_t> best_steps(const RunFolder& run) {
  const auto kept = run.checkpoint_steps();
  if (kept.empty()) return kept;
  const auto options = read_model_options(FolderReader(run.checkpoint(kept.back())));
  const auto validations = read_validations((run.path() / "validations.tsv").string());
  auto best = ranking(options.training.early_stopping_metric, read_scored_steps(validations));
  std::erase_if(best, [&](auto step) { return !std::ranges::binary_search(kept, step); });
  return best;
}

// Returns the last or best checkpoints of the run, for --last and --best.
std::vector<fs::path> checkpoints_of_run(const AverageArguments& arguments) {
  const RunFolder run(arguments.models[0]);
  auto steps = arguments.best > 0 ? best_steps(run) : run.checkpoint_steps();
  if (arguments.best == 0) std::ranges::reverse(steps);
  const auto count = static_cast<std::size_t>(std::max(arguments.best, arguments.last));
  if (steps.size() < count) {
    throw CheckpointError(
        "{}: found {}{}, expected {}; training.{} sets how many a run keeps: resume it with a "
        "larger number (and with more epochs if it has ended)",
        run.path().string(), counted(steps.size(), "checkpoint"),
        arguments.best > 0 ? " with a score" : "", count,
        arguments.best > 0 ? "keep_best" : "keep_newest");
  }
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < count; ++i) folders.push_back(run.checkpoint(steps[i]));
  return folders;
}

std::vector<fs::path> model_folders(const AverageArguments& arguments) {
  const auto& models = arguments.models;
  if (arguments.last > 0 || arguments.best > 0) {
    if (models.size() == 1) return checkpoints_of_run(arguments);
    throw ConfigError("average: --{} needs one run folder, found {} models",
                      arguments.last > 0 ? "last" : "best", models.size());
  }
  if (models.size() == 1) {
    throw ConfigError(
        "average: found only one model, {}; give more models, or --last N or --best N", models[0]);
  }
  std::vector<fs::path> folders;
  for (const auto& model : models) folders.push_back(resolve_model(model));
  return folders;
}

// Returns the common descent of the models; empty if they have none and `force` is true. Throws
// ConfigError if they have none and it is false.
std::string common_descent(const std::vector<fs::path>& folders, bool force) {
  const auto first = descent_of(FolderReader(folders[0]));
  for (const auto& folder : folders) {
    const auto descent = descent_of(FolderReader(folder));
    if (!descent.empty() && descent == first) continue;
    if (force) return "";
    throw ConfigError(
        "average: {} and {} do not descend from the same initial weights, and the mean of weights "
        "that were trained independently translates badly; translate with both as an ensemble "
        "(translate -m A B), or use --force",
        folders[0].string(), folder.string());
  }
  return first;
}

}  // namespace

ExitCode average(const AverageArguments& arguments) {
  std::vector<fs::path> folders;
  std::string descent;
  const auto model = retry_if_removed([&] {
    folders = model_folders(arguments);
    check_model_output("average", folders, arguments.output);
    auto averaged = average_models(folders);
    descent = common_descent(folders, arguments.force);
    return averaged;
  });
  FolderWriter writer(arguments.output);
  add_model(writer, model.options, model.codec, model.weights);
  Json names = Json::array();
  for (const auto& folder : folders) names.push_back(folder.string());
  writer.commit({{"average_of", names}, {descent_key, descent}});
  log::info("Wrote the mean of {} to {}:\n  {}", counted(folders.size(), "model"), arguments.output,
            fmt::join(std::vector<std::string>(names), "\n  "));
  return ExitCode::ok;
}

}  // namespace regard
