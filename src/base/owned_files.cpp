#include "base/owned_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_name = "manifest.json";
constexpr std::size_t most_bytes = 16 << 20;  // of a manifest

// What a run has beside its checkpoints; see training/run_files.h.
constexpr std::array<std::string_view, 10> run_files = {
    ".lock",         "best",        "checkpoints", "config.yaml", "last",
    "manifest.json", "train.jsonl", "train.log",   "validation",  "validations.tsv"};
constexpr std::string_view event_file_prefix = "events.out.tfevents.";

// What a model folder may hold, whatever its manifest says.
constexpr std::array<std::string_view, 9> model_files = {
    "config.yaml",  "manifest.json",     "model.safetensors",
    "source.model", "source.vocabulary", "target.vocabulary",
    "target.model", "training.json",     "training.safetensors"};

// The manifest in the folder; discarded if there is none, or none that can be read.
Json manifest_of(const fs::path& folder) {
  try {
    const auto path = folder / manifest_name;
    if (is_file(path)) return parse_json(read_file<InputError>(path, "manifest", most_bytes));
  } catch (const InputError&) {
  }
  return Json(Json::value_t::discarded);
}

bool is_of_regard(const Json& manifest) {
  return manifest.is_object() && manifest.contains("regard");
}

bool lists_files(const Json& manifest) {
  return is_of_regard(manifest) && manifest.contains("files");
}

bool is_model(const fs::path& folder) {
  const bool looks_so = is_file(folder / "model.safetensors") && is_file(folder / "config.yaml");
  return looks_so || lists_files(manifest_of(folder));
}

bool is_file_of_model(const fs::path& folder, const std::string& name) {
  if (std::ranges::count(model_files, name) > 0) return true;
  const auto manifest = manifest_of(folder);
  return lists_files(manifest) && manifest.at("files").contains(name);
}

bool is_file_of_run(const std::string& name) {
  return std::ranges::count(run_files, name) > 0 || name.starts_with(event_file_prefix);
}

// The path without links, as far as it exists.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  auto real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) real = fs::absolute(path, error).lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

}  // namespace

bool is_run(const fs::path& folder) {
  const auto manifest = manifest_of(folder);
  if (is_of_regard(manifest)) return !manifest.contains("files");
  return is_file(folder / ".lock") && is_file(folder / "train.log");
}

void refuse_owned_file(const fs::path& output) {
  const auto path = resolved(output);
  const auto refuse = [&](const char* owner, const fs::path& folder) {
    throw ConfigError(
        "{}: belongs to the {} {}, and would be written over; give the output another name",
        output.string(), owner, folder.string());
  };
  if (is_model(path.parent_path()) && is_file_of_model(path.parent_path(), path.filename())) {
    refuse("model folder", path.parent_path());
  }
  // The file, or a folder that it lies in, belongs to a run.
  for (auto at = path; at.has_relative_path(); at = at.parent_path()) {
    if (is_file_of_run(at.filename()) && is_run(at.parent_path())) {
      refuse("training run", at.parent_path());
    }
  }
}

}  // namespace regard
