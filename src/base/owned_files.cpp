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
constexpr std::size_t max_manifest_size = 16 << 20;  // bytes

// Entries of a run folder; see training/run_files.h.
constexpr std::array<std::string_view, 10> run_files = {
    ".lock",         "best",        "checkpoints", "config.yaml", "last",
    "manifest.json", "train.jsonl", "train.log",   "validation",  "validations.tsv"};
constexpr std::string_view event_file_prefix = "events.out.tfevents.";

// Files of a model folder. Its manifest may list more.
constexpr std::array<std::string_view, 9> model_files = {
    "config.yaml",  "manifest.json",     "model.safetensors",
    "source.model", "source.vocabulary", "target.vocabulary",
    "target.model", "training.json",     "training.safetensors"};

// Returns the manifest of the folder; is_discarded() if missing, unreadable or not JSON.
Json read_manifest(const fs::path& folder) {
  try {
    const auto path = folder / manifest_name;
    if (is_file(path))
      return parse_json(read_file<InputError>(path, "manifest", max_manifest_size));
  } catch (const InputError&) {
  }
  return Json(Json::value_t::discarded);
}

bool is_regard_manifest(const Json& manifest) {
  return manifest.is_object() && manifest.contains("regard");
}

// True for the manifest of a model folder. A run's manifest does not list files.
bool lists_files(const Json& manifest) {
  return is_regard_manifest(manifest) && manifest.contains("files");
}

bool is_model_folder(const fs::path& folder) {
  const bool has_model_files =
      is_file(folder / "model.safetensors") && is_file(folder / "config.yaml");
  return has_model_files || lists_files(read_manifest(folder));
}

bool is_model_file(const fs::path& folder, const std::string& name) {
  if (std::ranges::count(model_files, name) > 0) return true;
  const auto manifest = read_manifest(folder);
  return lists_files(manifest) && manifest.at("files").contains(name);
}

bool is_run_file(const std::string& name) {
  return std::ranges::count(run_files, name) > 0 || name.starts_with(event_file_prefix);
}

// Returns the absolute path, with links resolved in the part that exists, without a final slash.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  auto real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) real = fs::absolute(path, error).lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  const auto manifest = read_manifest(folder);
  if (is_regard_manifest(manifest)) return !manifest.contains("files");
  return is_file(folder / ".lock") && is_file(folder / "train.log");
}

void check_output_path(const fs::path& output) {
  const auto path = resolved(output);
  const auto reject = [&](const char* owner, const fs::path& folder) {
    throw ConfigError(
        "{}: belongs to the {} {} and would be overwritten; choose another name for the output",
        output.string(), owner, folder.string());
  };
  if (is_model_folder(path.parent_path()) && is_model_file(path.parent_path(), path.filename())) {
    reject("model folder", path.parent_path());
  }
  // Checks the file and every folder above it.
  for (auto at = path; at.has_relative_path(); at = at.parent_path()) {
    if (is_run_file(at.filename()) && is_run_folder(at.parent_path())) {
      reject("training run", at.parent_path());
    }
  }
}

}  // namespace regard
