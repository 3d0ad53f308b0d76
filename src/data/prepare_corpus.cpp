#include "data/prepare_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

constexpr const char* prepare_lock_name = ".prepare.lock";
// A file that the folder has until prepared.json is written.
constexpr const char* unfinished_name = ".prepare.unfinished";

// True for the files that are written before prepared.json.
bool is_part(std::string_view name) {
  std::size_t number = 0;
  const auto digits = name.substr(std::min<std::size_t>(name.size(), 6));
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return is_codec_file(name) || name == shard_name(number);
}

// Begins an empty folder, or anew one that an earlier prepare did not finish. Throws ConfigError if
// the folder has other files, and EnvironmentError if it cannot be read.
void begin_folder(const fs::path& folder) {
  const auto marker = folder / unfinished_name;
  const bool is_unfinished = is_file(marker) && !is_file(folder / prepared_manifest_name);
  std::vector<fs::path> earlier;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (name == prepare_lock_name || name == unfinished_name) continue;
    if (!is_unfinished || !is_part(name)) {
      throw ConfigError(
          "{}: found {}, expected an empty folder; give another folder with -o, or remove this one "
          "if an earlier `regard prepare` wrote it",
          folder.string(), name);
    }
    earlier.push_back(entry.path());
  }
  if (error) throw EnvironmentError("{}: cannot be read ({})", folder.string(), error.message());
  for (const auto& path : earlier) fs::remove(path);
  write_file(marker, "");
}

// Writes the shards of a folder. The pairs of a finished shard are converted and written on another
// thread, while those of the next one are encoded.
class ShardWriter {
 public:
  ShardWriter(const fs::path& folder, PreparedManifest& manifest, const ShardLimits& limits)
      : folder_(folder), manifest_(manifest), limits_(limits) {}

  void begin(std::size_t corpus) {
    corpus_ = corpus;
    line_ = 0;
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
    auto name = shard_name(manifest_.shards.size());
    write_file(folder_ / name, bytes);
    manifest_.shards.push_back(
        {std::move(name), corpus, pairs.report, bytes.size(), sha256(bytes)});
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
  std::int64_t line_ = 0;  // the last line of the corpus that was added
  std::optional<Shard> waiting_;
};

// Writes config.yaml and the tokenizers.
void write_codec(const fs::path& folder, const Options& options, const TextCodec& codec,
                 PreparedManifest& manifest) {
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
}

PrepareResult result_of(const PreparedManifest& manifest, const Options& options) {
  PrepareResult result{.corpora = std::vector<CorpusReport>(options.data.train.size()),
                       .all = manifest.report(),
                       .shards = manifest.shards.size()};
  for (const auto& shard : manifest.shards) {
    result.corpora[shard.corpus].add(shard.report);
    result.bytes += shard.bytes;
  }
  return result;
}

}  // namespace

PrepareResult prepare_corpus(const Options& options, const fs::path& folder, ThreadPool& pool,
                             const ShardLimits& limits) {
  if (is_file(folder)) {
    throw ConfigError("{}: found a file, expected a folder; give another name with -o",
                      folder.string());
  }
  make_folder(folder);
  const FileLock lock(
      folder / prepare_lock_name,
      fmt::format("{}: another `regard prepare` writes to this folder; give another one with -o",
                  folder.string()));
  begin_folder(folder);
  const auto& data = options.data;
  const TextFiles files(training_paths(data, /*with_unused=*/true), pool);
  PreparedManifest manifest;
  for (const auto& corpus : data.train) {
    check_parallel(files.at(corpus.src), files.at(corpus.trg));
    manifest.text.push_back(files.at(corpus.src).digest());
    manifest.text.push_back(files.at(corpus.trg).digest());
  }
  const auto codec = make_text_codec(data, options.model, files, pool, options.threads);
  write_codec(folder, options, codec, manifest);

  DuplicateFilter duplicates;
  ShardWriter writer(folder, manifest, limits);
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const auto& corpus = data.train[i];
    if (corpus.weight == 0) continue;
    writer.begin(i);
    const auto tagged = codec.with_tags(corpus.src_tag, corpus.trg_tag);
    const PairEncoder encoder(data, tagged, data.tokenizer.sampling > 0, PairSelection::trained);
    encode_files({.source = files.at(corpus.src),
                  .target = files.at(corpus.trg),
                  .duplicates = data.remove_duplicates ? &duplicates : nullptr,
                  .background = [&] { writer.write_waiting(); }},
                 encoder, pool, [&](const CorpusPairs& pairs) { writer.add(pairs); });
    writer.end();
  }
  check_pairs_left(manifest.report(), data);
  write_file(folder / prepared_manifest_name, manifest.text_of_file());
  fs::remove(folder / unfinished_name);
  return result_of(manifest, options);
}

}  // namespace regard
