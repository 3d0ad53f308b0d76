#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "checkpoint/run_folder.h"

namespace regard {
namespace fs = std::filesystem;
namespace {

constexpr const char* weights_name = "model.safetensors";
constexpr std::size_t max_suggestions = 5;

bool is_model(const fs::path& path) {
  return is_file(path / weights_name);
}

// Returns the folders in `folder` that resolve_model() accepts, sorted by name, for an error
// message: if there are more than max_suggestions, the rest is replaced by "…".
std::vector<std::string> models_in(const fs::path& folder) {
  std::vector<std::string> models;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.filename().string().starts_with('.')) continue;
    if (is_model(path) || !RunFolder(path).checkpoint_steps().empty())
      models.push_back(path.string());
  }
  std::ranges::sort(models);
  if (models.size() > max_suggestions) {
    models.resize(max_suggestions);
    models.emplace_back("…");
  }
  return models;
}

std::vector<std::string> models_near(const fs::path& path) {
  std::vector<std::string> models = models_in(path);
  if (models.empty()) models = models_in(path.has_parent_path() ? path.parent_path() : ".");
  return models;
}

// Returns "; did you mean `runs/mine`?" if `path` is the name of a run in runs/, otherwise "".
std::string suggest_run(const fs::path& path) {
  const auto run = fs::path("runs") / path;
  if (!is_model(run) && RunFolder(run).checkpoint_steps().empty()) return "";
  return fmt::format("; did you mean `{}`?", run.string());
}

}  // namespace

fs::path resolve_model(const fs::path& path) {
  if (is_model(path)) return path;
  const RunFolder run(path);
  std::error_code ignored;
  const bool has_links = fs::exists(fs::symlink_status(path / "best", ignored)) ||
                         fs::exists(fs::symlink_status(path / "last", ignored));
  std::optional<fs::path> checkpoint = run.best();
  const char* which = checkpoint ? "best" : "newest";
  if (!checkpoint) checkpoint = run.last();
  if (checkpoint && is_model(*checkpoint)) {
    if (!has_links) {
      log::warning(
          "{}: found neither `best` nor `last`, as after a copy without links; using {}, the {} "
          "checkpoint",
          path.string(), checkpoint->string(), which);
    }
    return *checkpoint;
  }
  if (fs::exists(path / "train.log", ignored)) {
    throw CheckpointError(
        "{}: the run has no checkpoint yet; its training saves the first one at the first "
        "validation, or after training.save_every steps",
        path.string());
  }
  std::string message = fmt::format(
      "{}: {} (looked for: {}, or a run's best, last and checkpoints/step-*)", path.string(),
      fs::exists(path, ignored) ? "no model found" : "no such folder", weights_name);
  const auto suggestion = path.is_relative() ? suggest_run(path) : "";
  const std::vector<std::string> models = models_near(path);
  message += suggestion;
  if (suggestion.empty() && !models.empty())
    message += fmt::format("; found: {}", fmt::join(models, ", "));
  throw CheckpointError("{}", message);
}

}  // namespace regard
