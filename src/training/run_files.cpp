#include "training/run_files.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "config/writer.h"
#include "report/event_file.h"
#include "training/run_manifest.h"

namespace regard {
namespace {

void discard(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return;
  throw EnvironmentError("{}: cannot be removed for --fresh ({})", path.string(), error.message());
}

void warn_of_changes(const Json& before, const Json& now) {
  for (const auto& change : changes(before, now)) log::warning("{}", change);
}

}  // namespace

void check_is_for_runs(const RunFolder& run) {
  const auto manifest = run.path() / "manifest.json";
  std::error_code ignored;
  if (!run.list().empty() || !(std::filesystem::exists(run.path() / "config.yaml", ignored) ||
                               std::filesystem::exists(manifest, ignored))) {
    return;
  }
  std::string text;
  if (std::filesystem::exists(manifest, ignored)) {
    text = read_file<EnvironmentError>(manifest, "manifest");
  }
  const auto json = parse_json(text);
  if (json.is_object() && json.contains("regard")) return;
  throw ConfigError(
      "{}: has a config.yaml or manifest.json that is not of a run, and would be written over; "
      "give training.model_dir a folder of its own",
      run.path().string());
}

void start_over(const RunFolder& run) {
  namespace fs = std::filesystem;
  for (const auto* name : {"last", "best", "train.jsonl", "validations.tsv"}) {
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
    fs::remove(run.path() / name, ignored);  // unless something of the user's is left there
  }
}

void warn_of_changes(const RunFolder& run, const Setup& setup) {
  const auto before = read_run_manifest(run.path() / "manifest.json");
  const auto now = run_manifest(setup.options, "", setup.workers->count());
  warn_of_changes(before, now);
}

void record_sitting(const RunFolder& run, const Setup& setup, const std::string& command_line) {
  const auto path = run.path() / "manifest.json";
  auto manifest = run_manifest(setup.options, command_line, setup.workers->count());
  if (setup.checkpoint) {
    const auto before = read_run_manifest(path);
    warn_of_changes(before, manifest);
    if (!before.empty()) add_earlier_sittings(manifest, before);
  }
  write_file(path, to_text(manifest, 2) + "\n");
  write_file(run.path() / "config.yaml", write_options(setup.options));
}

void record_end(const RunFolder& run, std::int64_t step, const std::string& reason) {
  const auto path = run.path() / "manifest.json";
  auto manifest = read_run_manifest(path);
  manifest["stopped"] = {{"step", step}, {"reason", reason}};
  write_file(path, to_text(manifest, 2) + "\n");
}

}  // namespace regard
