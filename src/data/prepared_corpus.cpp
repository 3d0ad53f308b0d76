#include "data/prepared_corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/version.h"
#include "config/reader.h"
#include "config/writer.h"
#include "text/tokenizer.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prepared_format = "regard prepared corpus";
constexpr int manifest_version = 2;
// Increase it when the same text and options lead to other pairs, tokens or tokenizers than before.
constexpr int tokens_version = 3;
constexpr std::size_t max_manifest_bytes = std::size_t{256} << 20;
constexpr std::size_t max_file_bytes = std::size_t{256} << 20;
constexpr std::size_t shard_hash_digits = 64;

InputError damaged(const fs::path& file) {
  return InputError(
      "{}: damaged, or not written by `regard prepare`; run it again into another folder",
      file.string());
}

// Returns text(), with the hash of the text that has zeros in its place.
std::string with_hash(Json json) {
  json["sha256"] = std::string(shard_hash_digits, '0');
  json["sha256"] = sha256(to_text(json, 1));
  return to_text(json, 1) + "\n";
}

PreparedManifest manifest_from(const Json& json) {
  PreparedManifest manifest;
  for (const auto& file : json.at("files")) {
    manifest.files.push_back({file.at("file"), file.at("sha256")});
  }
  for (const auto& text : json.at("text")) {
    manifest.text.push_back({text.at("lines"), text.at("sha256")});
  }
  for (const auto& shard : json.at("shards")) {
    manifest.shards.push_back({shard.at("file"), shard.at("corpus"),
                               corpus_report_from(shard.at("report")), shard.at("bytes"),
                               shard.at("sha256")});
  }
  return manifest;
}

// True if the numbers fit together, and if every name is one that prepare uses.
bool is_consistent(const PreparedManifest& manifest) {
  const auto& shards = manifest.shards;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto& shard = shards[i];
    if (shard.file != shard_name(i) || shard.report.kept < 0 ||
        2 * shard.corpus + 1 >= manifest.text.size() ||
        (i > 0 && shard.corpus < shards[i - 1].corpus)) {
      return false;
    }
  }
  return manifest.text.size() % 2 == 0 &&
         std::ranges::all_of(manifest.files, is_codec_file, &PreparedManifest::File::name);
}

// Reads a small file of the folder and verifies its hash.
std::string read_verified(const fs::path& folder, const PreparedManifest& manifest,
                          const std::string& name) {
  const auto file = std::ranges::find(manifest.files, name, &PreparedManifest::File::name);
  if (file == manifest.files.end()) throw damaged(folder / prepared_manifest_name);
  auto bytes = read_file<InputError>(folder / name, "file of a prepared corpus", max_file_bytes);
  if (sha256(bytes) == file->sha256) return bytes;
  throw InputError("{}: changed since `regard prepare` wrote it; run it again into another folder",
                   (folder / name).string());
}

// Throws InputError if the file is missing, damaged or of another version.
PreparedManifest read_prepared_manifest(const fs::path& folder) {
  const auto path = folder / prepared_manifest_name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw InputError(
        "{}: found no {}: `regard prepare` did not finish here, or never ran; run it with -o {}",
        folder.string(), prepared_manifest_name, folder.string());
  }
  const auto text =
      read_file<InputError>(path, "manifest of a prepared corpus", max_manifest_bytes);
  auto json = parse_json(text);
  try {
    if (!json.is_object() || json.value("format", "") != prepared_format) throw damaged(path);
    if (const int found = json.value("version", 0); found != manifest_version) {
      throw InputError(
          "{}: found version {} of the format, expected {}; run `regard prepare` again into "
          "another folder",
          path.string(), found, manifest_version);
    }
    if (const int found = json.value("tokens", 0); found != tokens_version) {
      throw InputError(
          "{}: was made by another version of regard ({}), which has other tokens for the same "
          "text; run `regard prepare` again into another folder",
          path.string(), json.value("regard", ""));
    }
    if (with_hash(json) != text) throw damaged(path);
    auto manifest = manifest_from(json);
    if (!is_consistent(manifest)) throw damaged(path);
    return manifest;
  } catch (const Json::exception&) {
    throw damaged(path);
  }
}

// Throws InputError if the configuration is not the one in the manifest.
Options read_prepared_options(const fs::path& folder, const PreparedManifest& manifest) {
  const auto yaml = read_verified(folder, manifest, prepared_config_name);
  try {
    return parse_options(yaml, (folder / prepared_config_name).string());
  } catch (const ConfigError& error) {
    throw InputError("{}", error.what());
  }
}

// Throws InputError if a tokenizer is not the one in the manifest.
TextCodec read_prepared_codec(const fs::path& folder, const PreparedManifest& manifest,
                              const Options& options) {
  const auto read = [&](const std::string& side) {
    const auto name = side + ".tokenizer";
    return load_tokenizer(options.data.tokenizer, read_verified(folder, manifest, name),
                          (folder / name).string());
  };
  return load_text_codec(options.model, options.data.tokenizer.joint, read);
}

// Throws InputError if the file has not the size and the hash of the manifest.
void verify_shard(const fs::path& folder, const PreparedManifest::Shard& shard) {
  const MappedFile file(folder / shard.file);
  if (file.bytes().size() == shard.bytes && sha256(file.bytes()) == shard.sha256) return;
  throw InputError(
      "{}: damaged: its bytes are not those that `regard prepare` wrote; run it again into another "
      "folder",
      (folder / shard.file).string());
}

// True for a key that decides which pairs there are.
bool decides_pairs(const Difference& difference, bool tokenizer_training) {
  const auto is_one_of = [&](std::span<const std::string_view> keys) {
    return std::ranges::count(keys, difference.key) > 0;
  };
  static constexpr std::array<std::string_view, 8> always = {
      "data.max_length",       "data.max_ratio",       "data.remove_duplicates",
      "data.tokenizer.kind",   "data.tokenizer.joint", "data.tokenizer.lowercase",
      "model.encoder.numbers", "model.output.kind"};
  static constexpr std::array<std::string_view, 4> of_tokenizer = {
      "data.tokenizer.vocabulary_size", "data.tokenizer.min_frequency",
      "data.tokenizer.character_coverage", "data.tokenizer.user_symbols"};
  return is_one_of(always) || (tokenizer_training && is_one_of(of_tokenizer));
}

}  // namespace

std::string shard_name(std::size_t number) {
  return fmt::format("shard-{:05}.bin", number);
}

bool is_codec_file(std::string_view name) {
  return name == prepared_config_name || name == "source.tokenizer" || name == "target.tokenizer";
}

CorpusReport PreparedManifest::report() const {
  CorpusReport total;
  for (const auto& shard : shards) total.add(shard.report);
  return total;
}

std::string PreparedManifest::text_of_file() const {
  Json json = {{"format", prepared_format},   {"version", manifest_version},
               {"tokens", tokens_version},    {"regard", version()},
               {"report", to_json(report())}, {"files", Json::array()},
               {"text", Json::array()},       {"shards", Json::array()}};
  for (const auto& file : files) {
    json["files"].push_back({{"file", file.name}, {"sha256", file.sha256}});
  }
  for (const auto& digest : text) {
    json["text"].push_back({{"lines", digest.lines}, {"sha256", digest.sha256}});
  }
  for (const auto& shard : shards) {
    json["shards"].push_back({{"file", shard.file},
                              {"corpus", shard.corpus},
                              {"pairs", shard.report.kept},
                              {"bytes", shard.bytes},
                              {"sha256", shard.sha256},
                              {"report", to_json(shard.report)}});
  }
  return with_hash(std::move(json));
}

PreparedCorpus::PreparedCorpus(const fs::path& folder)
    : folder_(folder),
      manifest_(read_prepared_manifest(folder)),
      options_(read_prepared_options(folder, manifest_)) {
  if (manifest_.text.size() != 2 * options_.data.train.size()) {
    throw damaged(folder / prepared_manifest_name);
  }
  codec_ = read_prepared_codec(folder, manifest_, options_);
  report_ = manifest_.report();
  digest_ = {report_.read, sha256(manifest_.text_of_file())};
  const ShardVocabulary vocabulary{codec_.source->size(), codec_.target->size(),
                                   refers_to_source(codec_.output)};
  corpus_ends_.resize(options_.data.train.size());
  std::size_t bytes = 0;
  std::int64_t end = 0;
  for (const auto& shard : manifest_.shards) {
    const auto path = folder / shard.file;
    const auto& file = files_.emplace_back(path);
    const auto& opened = shards_.emplace_back(path.string(), file.bytes(), vocabulary);
    if (file.bytes().size() != shard.bytes || opened.size() != shard.report.kept) {
      throw InputError(
          "{}: found {} pairs in {} bytes, expected {} in {}; run `regard prepare` again into "
          "another folder",
          path.string(), opened.size(), file.bytes().size(), shard.report.kept, shard.bytes);
    }
    file.prefetch(0, opened.index_bytes());
    has_text_ = has_text_ || opened.has_text();
    bytes += file.bytes().size();
    end += opened.size();
    shard_ends_.push_back(end);
    for (auto corpus = shard.corpus; corpus < corpus_ends_.size(); ++corpus) {
      corpus_ends_[corpus] = end;
    }
  }
  exceeds_memory_ = bytes > usable_memory() / 2;
  if (!exceeds_memory_) return;
  for (const auto& file : files_) file.expect_random_access();
}

TextDigests PreparedCorpus::text_digests() const {
  TextDigests digests;
  for (std::size_t i = 0; i < options_.data.train.size(); ++i) {
    digests[options_.data.train[i].src] = manifest_.text[2 * i];
    digests[options_.data.train[i].trg] = manifest_.text[2 * i + 1];
  }
  return digests;
}

PreparedCorpus::Place PreparedCorpus::place(std::int64_t i) const {
  const auto shard =
      static_cast<std::size_t>(std::ranges::upper_bound(shard_ends_, i) - shard_ends_.begin());
  return {shard, shard == 0 ? i : i - shard_ends_[shard - 1]};
}

std::int64_t PreparedCorpus::source_length(std::int64_t i) const {
  const auto at = place(i);
  return shards_[at.shard].source_length(at.i);
}

std::int64_t PreparedCorpus::target_length(std::int64_t i) const {
  const auto at = place(i);
  return shards_[at.shard].target_length(at.i);
}

void PreparedCorpus::prefetch_length(std::int64_t i) const {
  const auto at = place(i);
  shards_[at.shard].prefetch_length(at.i);
}

std::int64_t PreparedCorpus::line(std::int64_t i) const {
  const auto at = place(i);
  return shards_[at.shard].line(at.i);
}

void PreparedCorpus::prefetch(std::span<const std::int64_t> pairs) const {
  if (!exceeds_memory_) return;
  for (const auto pair : pairs) {
    const auto at = place(pair);
    const auto [begin, bytes] = shards_[at.shard].place(at.i);
    files_[at.shard].prefetch(begin, bytes);
  }
}

CorpusPair PreparedCorpus::pair(std::int64_t i) const {
  const auto at = place(i);
  return shards_[at.shard].pair(at.i);
}

void PreparedCorpus::check_options(const Options& now, bool tokenizer_training) const {
  auto differences = option_differences(options_, now);
  std::erase_if(differences, [&](const Difference& difference) {
    return !decides_pairs(difference, tokenizer_training);
  });
  if (differences.empty()) return;
  throw ConfigError(
      "data.prepared: {} was prepared with other options:{}\nRestore these, or run `regard "
      "prepare` again into another folder",
      folder_.string(), differences_text(differences));
}

void PreparedCorpus::verify(ThreadPool& pool) const {
  parallel_for(pool, manifest_.shards.size(),
               [&](std::size_t i) { verify_shard(folder_, manifest_.shards[i]); });
}

}  // namespace regard
