#include "data/prepare_corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "config/writer.h"
#include "data/pair_encoder.h"
#include "data/prepared_corpus.h"
#include "data/prepared_shard.h"
#include "data/text_codec.h"
#include "data/text_files.h"

namespace regard {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_lock_name = ".lock";

// Throws ConfigError if a folder without a manifest has files.
void check_empty(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    // A killed process leaves its lock and, on some file systems, a temporary file.
    if (name == folder_lock_name ||
        name.starts_with(fmt::format("{}.part-", prepared_manifest_name))) {
      continue;
    }
    throw ConfigError(
        "{}: found {}, expected an empty folder or one of `regard prepare`; give another folder "
        "with -o",
        folder.string(), name);
  }
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw ConfigError("{}: found a file, expected a folder; give another name with -o",
                      folder.string());
  }
}

// Throws ConfigError if the folder was begun with other options or from other text.
void check_same_inputs(const fs::path& folder, const PreparedManifest& manifest,
                       const Options& before, const Options& now,
                       const std::vector<TextDigest>& text) {
  auto changed = pair_option_differences(before, now, /*tokenizer_training=*/true);
  for (const auto& difference : option_differences(before, now)) {
    if (difference.is_at("data.train") || difference.is_at("data.tokenizer.src_file") ||
        difference.is_at("data.tokenizer.trg_file") ||
        difference.is_at("data.tokenizer.sampling")) {
      changed.push_back(difference);
    }
  }
  auto differences = differences_text(changed);
  const auto paths = training_paths(now.data, /*with_unused=*/true);
  for (std::size_t i = 0; i < std::min(text.size(), manifest.text.size()); ++i) {
    if (text[i].sha256 == manifest.text[i].sha256) continue;
    differences += (fmt::format("\n  {}: the text has changed ({} then, {} now)", paths[i],
                                counted(manifest.text[i].lines, "line"), text[i].lines));
  }
  if (differences.empty()) return;
  throw ConfigError(
      "{}: was prepared from other inputs:{}\nGive another folder with -o, or remove this one",
      folder.string(), differences);
}

// Writes the shards of a folder. The pairs of a finished shard are converted and written on another
// thread, while those of the next one are encoded.
class ShardWriter {
 public:
  ShardWriter(const fs::path& folder, PreparedManifest& manifest, const ShardLimits& limits)
      : folder_(folder), manifest_(manifest), limits_(limits) {}

  // Begins with a corpus after the line that an earlier process reached.
  void begin(std::size_t corpus, std::int64_t line) {
    corpus_ = corpus;
    line_ = line;
  }
  void add(const CorpusPairs& pairs) {
    line_ += pairs.report.read;
    pairs_.append(pairs);
    const auto bytes = 4 * (pairs_.source.items().size() + pairs_.target.items().size() +
                            pairs_.extended_ids.items().size() + pairs_.numbers.items().size()) +
                       pairs_.source_text.items().size() + pairs_.target_text.items().size();
    if (pairs_.report.read >= limits_.lines || bytes >= limits_.bytes) end_shard();
  }
  // Writes the last shard of the corpus.
  void end() {
    if (pairs_.report.read > 0) end_shard();
    write_waiting();
  }
  // Writes the shard that waits, if any. May run at the same time as the encoding, but not as
  // another function of this object.
  void write_waiting() {
    if (!waiting_) return;
    const auto [pairs, corpus, line] = std::move(*waiting_);
    waiting_.reset();
    const auto bytes = shard_bytes(pairs);
    auto name = fmt::format("shard-{:05}.bin", manifest_.shards.size());
    write_file(folder_ / name, bytes);
    manifest_.shards.push_back(
        {std::move(name), corpus, line, pairs.report, bytes.size(), sha256(bytes)});
    write_file(folder_ / prepared_manifest_name, manifest_.text_of_file());
    log::info("{}: {} of corpus {} up to line {}", manifest_.shards.back().file,
              counted(pairs.report.kept, "pair"), corpus, line);
  }

 private:
  struct Shard {
    CorpusPairs pairs;
    std::size_t corpus;
    std::int64_t line;
  };
  void end_shard() {
    write_waiting();
    waiting_.emplace(Shard{std::exchange(pairs_, {}), corpus_, line_});
  }

  const fs::path& folder_;
  PreparedManifest& manifest_;
  ShardLimits limits_;
  CorpusPairs pairs_;  // of the current shard
  std::size_t corpus_ = 0;
  std::int64_t line_ = 0;  // the last line of the corpus in pairs_
  std::optional<Shard> waiting_;
};

// Removes the shards from the first damaged one on from the manifest.
void keep_intact_shards(const fs::path& folder, PreparedManifest& manifest, ThreadPool& pool) {
  auto& shards = manifest.shards;
  std::vector<char> is_intact(shards.size());
  parallel_for(pool, shards.size(), [&](std::size_t i) {
    try {
      verify_shard(folder, shards[i]);
      is_intact[i] = 1;
    } catch (const InputError&) {
    }
  });
  const auto first = static_cast<std::size_t>(std::ranges::find(is_intact, 0) - is_intact.begin());
  if (first == shards.size()) return;
  log::warning("{}: missing or damaged; it and the shards after it are made anew",
               (folder / shards[first].file).string());
  shards.resize(first);
  manifest.is_complete = false;
}

// Writes config.yaml and the tokenizers, and returns the manifest that a new folder starts with.
// The first file is a manifest without files, so that the folder of a killed process is recognised.
PreparedManifest begin_folder(const fs::path& folder, const Options& options,
                              const TextCodec& codec, std::vector<TextDigest> text) {
  PreparedManifest manifest;
  write_file(folder / prepared_manifest_name, manifest.text_of_file());
  manifest.text = std::move(text);
  const auto add = [&](const std::string& name, const std::string& bytes) {
    write_file(folder / name, bytes);
    manifest.files.push_back({name, sha256(bytes)});
  };
  add(prepared_config_name, write_options(options));
  if (!fixed_source_tokenizer(options.model)) {
    add("source.tokenizer", codec.source->serialized());
  }
  if (!options.data.tokenizer.joint && !fixed_target_tokenizer(options.model)) {
    add("target.tokenizer", codec.target->serialized());
  }
  write_file(folder / prepared_manifest_name, manifest.text_of_file());
  return manifest;
}

PrepareResult result_of(const PreparedManifest& manifest, const Options& options,
                        std::size_t kept_shards) {
  PrepareResult result{.corpora = std::vector<CorpusReport>(options.data.train.size()),
                       .all = manifest.report(),
                       .shards = manifest.shards.size(),
                       .kept_shards = kept_shards};
  for (const auto& shard : manifest.shards) {
    result.corpora[shard.corpus].add(shard.report);
    result.bytes += shard.bytes;
  }
  return result;
}

}  // namespace

PrepareResult prepare_corpus(const Options& options, const fs::path& folder, ThreadPool& pool,
                             const ShardLimits& limits) {
  if (!read_prepared_manifest(folder)) check_empty(folder);
  make_folder(folder);
  const FileLock lock(
      folder / folder_lock_name,
      fmt::format("{}: another `regard prepare` writes to this folder; wait for its end",
                  folder.string()));
  auto manifest = read_prepared_manifest(folder);
  const auto& data = options.data;
  const TextFiles files(training_paths(data, /*with_unused=*/true), pool);
  std::vector<TextDigest> text;
  for (const auto& corpus : data.train) {
    check_parallel(files.at(corpus.src), files.at(corpus.trg));
    text.push_back(files.at(corpus.src).digest());
    text.push_back(files.at(corpus.trg).digest());
  }
  TextCodec codec;
  if (manifest && !manifest->files.empty()) {
    const auto before = read_prepared_options(folder, *manifest);
    check_same_inputs(folder, *manifest, before, options, text);
    codec = read_prepared_codec(folder, *manifest, before);
    keep_intact_shards(folder, *manifest, pool);
  } else {
    codec = make_text_codec(data, options.model, files, pool, options.threads);
    manifest = begin_folder(folder, options, codec, std::move(text));
  }
  const auto kept_shards = manifest->shards.size();
  if (manifest->is_complete) return result_of(*manifest, options, kept_shards);

  DuplicateFilter duplicates;
  const bool has_shards = !manifest->shards.empty();
  const auto last_corpus = has_shards ? manifest->shards.back().corpus : 0;
  const auto last_line = has_shards ? manifest->shards.back().end_line : 0;
  ShardWriter writer(folder, *manifest, limits);
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const auto& corpus = data.train[i];
    const auto& source = files.at(corpus.src);
    const auto done = i < last_corpus ? source.digest().lines : i == last_corpus ? last_line : 0;
    const bool is_done = done == source.digest().lines;
    if (corpus.weight == 0 || (is_done && !data.remove_duplicates)) continue;
    writer.begin(i, done);
    const auto tagged = codec.with_tags(corpus.src_tag, corpus.trg_tag);
    const PairEncoder encoder(data, tagged, data.tokenizer.sampling > 0, PairSelection::trained);
    encode_files({.source = source,
                  .target = files.at(corpus.trg),
                  .skipped_lines = done,
                  .duplicates = data.remove_duplicates ? &duplicates : nullptr,
                  .background = [&] { writer.write_waiting(); }},
                 encoder, pool, [&](const CorpusPairs& pairs) { writer.add(pairs); });
    writer.end();
  }
  check_pairs_left(manifest->report(), data);
  manifest->is_complete = true;
  write_file(folder / prepared_manifest_name, manifest->text_of_file());
  return result_of(*manifest, options, kept_shards);
}

}  // namespace regard
