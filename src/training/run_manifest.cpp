#include "training/run_manifest.h"

#include <torch/version.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/version.h"
#include "data/line_reader.h"

namespace regard {
namespace {

constexpr std::size_t most_bytes = 16 << 20;

Json file_entry(const std::string& path) {
  const auto bytes = read_file<InputError>(path, "data file");
  return {{"path", path}, {"sha256", sha256(bytes)}, {"lines", count_lines(path)}};
}

bool is_sound(const Json& manifest) {
  if (!manifest.is_object()) return false;
  const auto files = manifest.value("data", Json::array());
  const auto is_entry = [](const Json& file) {
    return file.is_object() && file.value("path", Json()).is_string() &&
           file.value("sha256", Json()).is_string() &&
           file.value("lines", Json()).is_number_unsigned();
  };
  return files.is_array() && std::ranges::all_of(files, is_entry) &&
         manifest.value("earlier_sittings", Json::array()).is_array();
}

}  // namespace

Json run_manifest(const Options& options, const std::string& command_line, std::size_t threads) {
  Json files = Json::array();
  for (const auto& corpus : options.data.train) {
    files.push_back(file_entry(corpus.src));
    files.push_back(file_entry(corpus.trg));
  }
  if (!options.data.dev.src.empty()) {
    files.push_back(file_entry(options.data.dev.src));
    files.push_back(file_entry(options.data.dev.trg));
  }
  return {{"regard", version()},     {"libtorch", TORCH_VERSION},
          {"command", command_line}, {"random_seed", options.training.random_seed},
          {"threads", threads},      {"data", std::move(files)}};
}

std::vector<std::string> changed_data(const Json& before, const Json& now) {
  std::vector<std::string> changes;
  for (const auto& file : now.at("data")) {
    for (const auto& old : before.value("data", Json::array())) {
      if (old.value("path", "") != file.at("path") || old.value("sha256", "") == file.at("sha256"))
        continue;
      changes.push_back(
          fmt::format("{}: is another text than the one this run was trained on so far ({} lines "
                      "then, {} now); the run goes on with the new one",
                      file.at("path").get<std::string>(), old.value("lines", std::int64_t{0}),
                      file.at("lines").get<std::int64_t>()));
    }
  }
  return changes;
}

void add_earlier_sittings(Json& manifest, const Json& before) {
  auto sittings = before.value("earlier_sittings", Json::array());
  auto last = before;
  last.erase("earlier_sittings");
  sittings.push_back(last);
  manifest["earlier_sittings"] = sittings;
}

Json read_run_manifest(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Json::object();
  auto manifest = parse_json(read_file<CheckpointError>(path, "manifest of the run", most_bytes));
  if (!is_sound(manifest)) {
    throw CheckpointError(
        "{}: damaged, or none of regard's; what it says of the run is lost. Move it away to go on "
        "without; the checkpoints do not need it",
        path.string());
  }
  return manifest;
}

}  // namespace regard
