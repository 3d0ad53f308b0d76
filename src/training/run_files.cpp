#include "training/run_files.h"

#include <filesystem>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "config/writer.h"
#include "report/event_file.h"
#include "training/run_manifest.h"
#include "translation/model_folder.h"

namespace regard {
namespace {

void discard(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return;
  throw EnvironmentError("{}: cannot be removed for --fresh ({})", path.string(), error.message());
}

void warn_of_differences(const Json& before, const Json& now) {
  for (const auto& change : manifest_differences(before, now)) log::warning("{}", change);
}

}  // namespace

void check_run_folder(const RunFolder& run) {
  namespace fs = std::filesystem;
  if (!run.checkpoint_steps().empty()) return;
  std::error_code ignored;
  if (fs::exists(run.path(), ignored) && !fs::is_directory(run.path(), ignored)) {
    throw ConfigError("training.model_dir: {}: found a file, expected a folder or a new name",
                      run.path().string());
  }
  const auto has = [&](const fs::path& name) {
    return fs::exists(fs::symlink_status(run.path() / name, ignored));
  };
  if (has("manifest.json")) {
    const auto manifest =
        parse_json(read_file<EnvironmentError>(run.path() / "manifest.json", "manifest"));
    if (is_run_manifest(manifest)) return;
    if (is_model_manifest(manifest)) {
      throw ConfigError(
          "training.model_dir: {} is a model, not a run; training would overwrite it. Set "
          "training.model_dir to another folder, and pass the model to --init-from",
          run.path().string());
    }
  }
  // A run that was killed before it wrote a manifest leaves its lock, and at most a log.
  const bool locked_before = has(".lock");
  std::vector<fs::path> written = {"manifest.json", "config.yaml", "train.jsonl", "validations.tsv",
                                   "validation",    "checkpoints", "last",        "best"};
  if (!locked_before) written.emplace_back("train.log");
  for (const auto& file : event_files(run.path())) written.push_back(file.filename());
  for (const auto& name : written) {
    if (!has(name)) continue;
    throw ConfigError(
        "training.model_dir: {}: {} exists and was not written by a run; training would overwrite "
        "it. Set training.model_dir to another folder",
        run.path().string(), name.string());
  }
}

void remove_run_files(const RunFolder& run) {
  namespace fs = std::filesystem;
  for (const auto* name :
       {"last", "best", "checkpoints/last", "checkpoints/best", "train.jsonl", "validations.tsv"}) {
    discard(run.path() / name);
  }
  for (const auto& file : event_files(run.path())) discard(file);
  for (const auto* name : {"checkpoints", "validation"}) {
    std::vector<fs::path> steps;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run.path() / name, ignored)) {
      if (entry.path().filename().string().starts_with("step-")) steps.push_back(entry.path());
    }
    for (const auto& step : steps) discard(step);
    fs::remove(run.path() / name, ignored);  // fails if it contains files of the user
  }
}

void warn_of_changes(const RunFolder& run, const Setup& setup) {
  const auto before = read_run_manifest(run.path() / "manifest.json");
  const auto now =
      run_manifest(setup.options, setup.digests, "", setup.pool->count(), setup.device.is_cpu());
  warn_of_differences(before, now);
}

void record_session(const RunFolder& run, const Setup& setup, const std::string& command_line) {
  const auto path = run.path() / "manifest.json";
  auto manifest = run_manifest(setup.options, setup.digests, command_line, setup.pool->count(),
                               setup.device.is_cpu());
  if (setup.checkpoint) {  // a resumed run
    const auto before = read_run_manifest(path);
    warn_of_differences(before, manifest);
    if (!before.empty()) add_earlier_sessions(manifest, before);
  }
  write_file(path, to_text(manifest, 2) + "\n");
  write_file(run.path() / "config.yaml", write_options(setup.options));
}

void record_search_options(const RunFolder& run, const SearchOptions& search) {
  std::set<std::filesystem::path> checkpoints;
  for (const auto& linked : {run.last(), run.best()}) {
    if (linked) checkpoints.insert(*linked);
  }
  bool has_changed = false;
  for (const auto& path : checkpoints) {
    const FolderReader checkpoint(path);
    const auto before = read_model_options(checkpoint);
    auto options = before;
    options.search = search;
    const auto differences = option_differences(before, options);
    if (differences.empty()) continue;
    FolderWriter writer(path);
    writer.keep_other_files();
    add_model_options(writer, options);
    writer.commit(checkpoint.info());
    has_changed = true;
    for (const auto& difference : differences) {
      log::info("{}: recorded {}", path.string(), difference.text());
    }
  }
  if (!has_changed) return;
  const auto options = read_model_options(FolderReader(*run.last()));
  write_file(run.path() / "config.yaml", write_options(options));
}

void record_end(const RunFolder& run, std::int64_t step, const std::string& reason) {
  run.check_not_moved();
  const auto path = run.path() / "manifest.json";
  auto manifest = read_run_manifest(path);
  manifest["stopped"] = {{"step", step}, {"reason", reason}};
  write_file(path, to_text(manifest, 2) + "\n");
}

}  // namespace regard
