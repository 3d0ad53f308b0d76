#include "training/run_manifest.h"

#include <torch/version.h>

#include <algorithm>
#include <string_view>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/version.h"
#include "kernels/loops/products.h"

namespace regard {
namespace {

constexpr std::size_t max_run_manifest_bytes =
    16 << 20;  // of a manifest, which grows with each session
constexpr const char* earlier_sessions_key = "earlier_sessions";

Json file_entry(const std::string& path, const TextDigest& digest) {
  return {{"path", path}, {"sha256", digest.sha256}, {"lines", digest.lines}};
}

// Adds a sentence to `found` for each file under the key `list` whose text has changed. Compares it
// with the earlier file of the same path or, if there is none and both lists are equally long, of
// the same index.
void add_changed_files(const Json& before, const Json& now, const char* list,
                       std::string_view effect, std::vector<std::string>& found) {
  const auto old = before.value(list, Json::array());
  const auto& files = now.at(list);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& file = files[i];
    auto earlier =
        std::ranges::find(old, file.at("path"), [](const Json& f) { return f.at("path"); });
    if (earlier == old.end() && old.size() == files.size()) {
      earlier = old.begin() + static_cast<std::ptrdiff_t>(i);
    }
    if (earlier == old.end() || earlier->at("sha256") == file.at("sha256")) continue;
    found.push_back(
        fmt::format("{}: the text has changed since the last session ({} then, {} now); {}",
                    file.at("path").get<std::string>(),
                    counted(earlier->at("lines").get<std::int64_t>(), "line"),
                    file.at("lines").get<std::int64_t>(), effect));
  }
}

// True if this is a list of objects as returned by file_entry().
bool are_file_entries(const Json& files) {
  const auto is_entry = [](const Json& file) {
    return file.is_object() && file.value("path", Json()).is_string() &&
           file.value("sha256", Json()).is_string() &&
           file.value("lines", Json()).is_number_unsigned();
  };
  return files.is_array() && std::ranges::all_of(files, is_entry);
}

// True if the values that this file reads have the expected types.
bool is_well_formed(const Json& manifest) {
  return manifest.is_object() && are_file_entries(manifest.value("data", Json::array())) &&
         are_file_entries(manifest.value("tokenizer_files", Json::array())) &&
         manifest.value(earlier_sessions_key, Json::array()).is_array();
}

}  // namespace

Json run_manifest(const Options& options, const TextDigests& digests,
                  const std::string& command_line, std::size_t threads, bool on_cpu) {
  Json files = Json::array();
  const auto add = [&](const std::string& path) {
    files.push_back(file_entry(path, digests.at(path)));
  };
  if (!options.data.prepared.empty()) add(options.data.prepared);
  for (const auto& corpus : options.data.train) {
    add(corpus.src);
    add(corpus.trg);
  }
  if (!options.data.dev.src.empty()) {
    add(options.data.dev.src);
    add(options.data.dev.trg);
  }
  Json tokenizers = Json::array();
  for (const auto& path : {options.data.tokenizer.src_file, options.data.tokenizer.trg_file}) {
    std::error_code ignored;
    if (!path.empty() && std::filesystem::exists(path, ignored)) {
      tokenizers.push_back(file_entry(path, digest_of(path)));
    }
  }
  const auto& o = options.training;
  const std::string bf16_products = has_amx_products() ? "AMX-BF16" : "AVX512-BF16";
  const auto products =
      o.precision == TrainingPrecision::bf16 && on_cpu         ? "regard, " + bf16_products
      : on_cpu && kernels::has_faster_products_than_libtorch() ? "regard, " + cpu_level_name()
                                                               : std::string("LibTorch");
  return {{"regard", version()},
          {"libtorch", TORCH_VERSION},
          {"command", command_line},
          {"random_seed", o.random_seed},
          {"threads", threads},
          {"shards", o.shards},
          {"precision", enum_name(o.precision)},
          {"products", products},
          {"data", std::move(files)},
          {"tokenizer_files", std::move(tokenizers)}};
}

bool is_run_manifest(const Json& manifest) {
  return manifest.is_object() && manifest.contains("regard") && manifest.contains("command");
}

bool is_model_manifest(const Json& manifest) {
  return manifest.is_object() && manifest.contains("regard") && manifest.contains("files");
}

std::vector<std::string> manifest_differences(const Json& before, const Json& now) {
  std::vector<std::string> found;
  add_changed_files(before, now, "data", "the run continues with the new text", found);
  add_changed_files(before, now, "tokenizer_files", "the run keeps its tokenizers", found);
  const auto compare = [&](const char* key, const std::string& what, const std::string& effect) {
    if (!before.contains(key) || before.at(key) == now.at(key)) return;
    const auto text = [](const Json& value) {
      return value.is_string() ? value.get<std::string>() : value.dump();
    };
    found.push_back(fmt::format("{}: {} in the last session, {} now; {}", what,
                                text(before.at(key)), text(now.at(key)), effect));
  };
  const std::string digits = "results may differ in their last digits";
  compare("regard", "regard's version", digits);
  compare("libtorch", "LibTorch's version", digits);
  if (now.value("shards", 0) == 0) compare("threads", "threads", digits);
  compare("precision", "precision", "both precisions are equally good");
  compare("products", "matrix products", digits);
  return found;
}

void add_earlier_sessions(Json& manifest, const Json& before) {
  auto sessions = before.value(earlier_sessions_key, Json::array());
  auto last = before;
  last.erase(earlier_sessions_key);
  sessions.push_back(last);
  manifest[earlier_sessions_key] = sessions;
}

Json read_run_manifest(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Json::object();
  auto manifest =
      parse_json(read_file<CheckpointError>(path, "manifest of the run", max_run_manifest_bytes));
  if (!is_well_formed(manifest)) {
    throw CheckpointError(
        "{}: damaged, or not written by regard. Move it away to continue without it; the "
        "checkpoints do not need it",
        path.string());
  }
  return manifest;
}

}  // namespace regard
