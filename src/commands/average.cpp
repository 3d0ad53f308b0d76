// regard average: one model of several checkpoints.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/error.h"
#include "base/log.h"
#include "base/owned_files.h"
#include "checkpoint/folder.h"
#include "checkpoint/run_folder.h"
#include "commands/commands.h"
#include "report/journal.h"
#include "training/scores.h"
#include "translation/average_model.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

ScoredSteps scored_steps(const Validations& validations) {
  const auto column = [&](const std::string& name) {
    auto numbers = validations.numbers(name);
    numbers.resize(validations.rows.size(), std::numeric_limits<double>::quiet_NaN());
    return numbers;
  };
  const auto steps = validations.steps();
  const auto loss = column("loss");
  const auto perplexity = column("perplexity");
  const auto bleu = column("bleu");
  const auto chrf = column("chrf");
  ScoredSteps scored;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i]) {
      scored.emplace_back(*steps[i], Scores{loss[i], perplexity[i], bleu[i], chrf[i]});
    }
  }
  return scored;
}

// The steps whose checkpoints are still there, best first.
std::vector<std::int64_t> best_steps(const RunFolder& run) {
  const auto kept = run.list();
  if (kept.empty()) return kept;
  const auto options = read_model_options(FolderReader(run.checkpoint(kept.back())));
  const auto validations = read_validations((run.path() / "validations.tsv").string());
  auto best = ranking(options.training.early_stopping_metric, scored_steps(validations));
  std::erase_if(best, [&](auto step) { return !std::ranges::binary_search(kept, step); });
  return best;
}

std::vector<fs::path> of_run(const AverageArguments& arguments) {
  const RunFolder run(arguments.models[0]);
  auto steps = arguments.best > 0 ? best_steps(run) : run.list();
  if (arguments.best == 0) std::ranges::reverse(steps);
  const auto wanted = static_cast<std::size_t>(std::max(arguments.best, arguments.last));
  if (steps.size() < wanted) {
    throw CheckpointError(
        "{}: found {}{}, wanted {}; training.keep_newest and training.keep_best say "
        "how many a training keeps",
        run.path().string(), counted(steps.size(), "checkpoint"),
        arguments.best > 0 ? " with a score" : "", wanted);
  }
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < wanted; ++i) folders.push_back(run.checkpoint(steps[i]));
  return folders;
}

std::vector<fs::path> chosen(const AverageArguments& arguments) {
  const auto& models = arguments.models;
  if (arguments.last > 0 || arguments.best > 0) {
    if (models.size() == 1) return of_run(arguments);
    throw ConfigError("average: --{} is for one run folder, and {} models are given",
                      arguments.last > 0 ? "last" : "best", models.size());
  }
  if (models.size() == 1) {
    throw ConfigError("average: {} is one model; say --last N or --best N, or give more models",
                      models[0]);
  }
  std::vector<fs::path> folders;
  for (const auto& model : models) folders.push_back(resolve_model(model));
  return folders;
}

// Before anything is read: a place where the model could not or must not be written.
void check_output(const std::vector<fs::path>& folders, const fs::path& output) {
  std::error_code ignored;
  for (const auto& folder : folders) {
    if (fs::equivalent(folder, output, ignored)) {
      throw ConfigError("average: {} is one of the models; give -o another name", output.string());
    }
  }
  refuse_owned_file(output);
  if (is_run(output)) {
    throw ConfigError("average: {} is a training run; give -o another name", output.string());
  }
  check_replaceable(output);
}

}  // namespace

ExitCode average(const AverageArguments& arguments) {
  const auto folders = chosen(arguments);
  check_output(folders, arguments.output);
  const auto model = average_models(folders);
  FolderWriter writer(arguments.output);
  add_model(writer, model.options, model.tokenizers, model.weights);
  Json names = Json::array();
  for (const auto& folder : folders) names.push_back(folder.string());
  writer.commit({{"average_of", names}});
  log::info("The mean of {}, in {}:\n  {}", counted(folders.size(), "model"), arguments.output,
            fmt::join(std::vector<std::string>(names), "\n  "));
  return ExitCode::ok;
}

}  // namespace regard
