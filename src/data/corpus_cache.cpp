#include "data/corpus_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/version.h"
#include "text/tokenizer.h"

namespace regard {
namespace {

constexpr std::string_view cache_magic = "regard corpus cache\n";
constexpr std::size_t hash_digits = 64;
constexpr std::size_t length_digits = 16;
constexpr std::size_t preamble_bytes = cache_magic.size() + hash_digits + length_digits + 1;
constexpr std::uint64_t max_header_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t cache_alignment = 64;
constexpr std::uint64_t chunk_bytes = std::uint64_t{8} << 20;

std::uint64_t aligned_offset(std::uint64_t at) {
  return (at + cache_alignment - 1) / cache_alignment * cache_alignment;
}

// Reads parts of a file. Thread-safe.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Returns nullopt if there is no regular file.
  std::optional<std::uint64_t> regular_size() const {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(status.st_size);
  }
  std::uint64_t size() const { return regular_size().value_or(0); }
  // Fills `to` from position `at`. Returns false on failure.
  bool read(std::span<char> to, std::uint64_t at) const {
    while (!to.empty()) {
      const ssize_t count = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      to = to.subspan(static_cast<std::size_t>(count));
      at += static_cast<std::uint64_t>(count);
    }
    return true;
  }

 private:
  int descriptor_;
};

// Returns the digest of a text, as TextDigest has it, or "" if it is not in a regular file or
// cannot be read.
std::string digest_of_text(const std::string& path) {
  const auto text = split_text_path(path);
  const InputFile file(text.file);
  const auto size = file.regular_size();
  if (!size) return "";
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < *size;) {
    const auto count = std::min<std::uint64_t>(buffer.size(), *size - at);
    const auto piece = std::span(buffer).first(static_cast<std::size_t>(count));
    if (!file.read(piece, at)) return "";
    hash.update({piece.data(), piece.size()});
    at += count;
  }
  hash.update(digest_suffix(text));
  return hash.hex_digest();
}

// Calls visit(name, list) for each array of the pairs: FlatLists or a vector.
template <typename Pairs, typename Visit>
void visit_arrays(Pairs& pairs, const Visit& visit) {
  visit("source", pairs.source);
  visit("target", pairs.target);
  visit("numbers", pairs.numbers);
  visit("extended_ids", pairs.extended_ids);
  visit("source_text", pairs.source_text);
  visit("target_text", pairs.target_text);
  visit("lines", pairs.lines);
}

template <typename T>
std::string_view bytes_of(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

std::vector<std::string> chunk_hashes(std::string_view bytes, ThreadPool& pool) {
  std::vector<std::string> hashes((bytes.size() + chunk_bytes - 1) / chunk_bytes);
  parallel_for(pool, hashes.size(), [&](std::size_t i) {
    hashes[i] = sha256(bytes.substr(i * chunk_bytes, chunk_bytes));
  });
  return hashes;
}

// A damaged cache; caught in this file.
struct Damaged {};

// Throws Damaged unless `is_valid`.
void require(bool is_valid) {
  if (!is_valid) throw Damaged();
}

// Reads the arrays behind a header.
class ArrayReader {
 public:
  ArrayReader(const std::filesystem::path& path, const Json& header, std::uint64_t begin,
              ThreadPool& pool)
      : file_(path), arrays_(header.at("arrays")), begin_(begin), pool_(pool) {}

  // Throws Damaged if a byte differs from what was written.
  template <typename T>
  std::vector<T> read(const std::string& name) const {
    const auto [array, at] = find(name);
    const auto size = array.at("bytes").template get<std::uint64_t>();
    const auto& hashes = array.at("sha256");
    const auto file_size = file_.size();
    require(size % sizeof(T) == 0 && at <= file_size && size <= file_size - at &&
            hashes.size() == (size + chunk_bytes - 1) / chunk_bytes);
    std::vector<T> items(static_cast<std::size_t>(size / sizeof(T)));
    const std::span<char> bytes(reinterpret_cast<char*>(items.data()), size);
    std::atomic<bool> is_intact = true;
    parallel_for(pool_, hashes.size(), [&](std::size_t i) {
      const auto begin = i * chunk_bytes;
      const auto chunk = bytes.subspan(begin, std::min(chunk_bytes, size - begin));
      if (!file_.read(chunk, at + begin) || hashes[i] != sha256({chunk.data(), chunk.size()})) {
        is_intact = false;
      }
    });
    require(is_intact);
    return items;
  }

 private:
  // Returns the entry of an array and its position in the file.
  std::pair<const Json&, std::uint64_t> find(const std::string& name) const {
    auto at = begin_;
    for (const auto& array : arrays_) {
      if (array.at("name") == name) return {array, at};
      const auto size = array.at("bytes").get<std::uint64_t>();
      require(size <= file_.size());
      at = aligned_offset(at + size);
    }
    throw Damaged();
  }

  InputFile file_;
  const Json& arrays_;
  std::uint64_t begin_;
  ThreadPool& pool_;
};

template <typename T>
void read_array(const ArrayReader& reader, const std::string& name, std::vector<T>& items) {
  items = reader.read<T>(name);
}

template <typename T>
void read_array(const ArrayReader& reader, const std::string& name, FlatLists<T>& lists) {
  auto items = reader.read<T>(name);
  lists = {std::move(items), reader.read<std::size_t>(name + "_ends")};
}

// Collects the arrays of a file and their entries in its header.
class ArrayWriter {
 public:
  explicit ArrayWriter(ThreadPool& pool) : pool_(pool) {}

  // The bytes must outlive this.
  void add(const std::string& name, std::string_view bytes) {
    entries_.push_back(
        {{"name", name}, {"bytes", bytes.size()}, {"sha256", chunk_hashes(bytes, pool_)}});
    parts_.push_back(bytes);
    parts_.push_back(padding_after(bytes.size()));
  }
  template <typename T>
  void add(const std::string& name, const std::vector<T>& items) {
    add(name, bytes_of(items));
  }
  template <typename T>
  void add(const std::string& name, const FlatLists<T>& lists) {
    add(name, lists.items());
    add(name + "_ends", lists.ends());
  }
  const Json& entries() const { return entries_; }
  const std::vector<std::string_view>& parts() const { return parts_; }

  static std::string_view padding_after(std::uint64_t bytes) {
    static constexpr std::array<char, cache_alignment> zeros{};
    return {zeros.data(), static_cast<std::size_t>(aligned_offset(bytes) - bytes)};
  }

 private:
  ThreadPool& pool_;
  Json entries_ = Json::array();
  std::vector<std::string_view> parts_;
};

// Every corpus with the hashes of its files. Paths do not matter.
Json corpora_inputs(const DataOptions& options, const TextDigests& digests) {
  Json corpora = Json::array();
  for (const auto& corpus : options.train) {
    corpora.push_back({{"src", digests.at(corpus.src).sha256},
                       {"trg", digests.at(corpus.trg).sha256},
                       {"used", corpus.weight > 0}});
    if (!corpus.src_tag.empty()) corpora.back()["src_tag"] = corpus.src_tag;
  }
  return corpora;
}

Json common_inputs(const DataOptions& options, const ModelOptions& model,
                   const TextDigests& digests) {
  Json inputs = {{"regard", version()},
                 {"corpora", corpora_inputs(options, digests)},
                 {"max_length", options.max_length},  // also limits the bytes of a line
                 {"kind", enum_name(options.tokenizer.kind)},
                 {"lowercase", options.tokenizer.lowercase},
                 {"joint", options.tokenizer.joint},
                 {"numbers", model.encoder.numbers},
                 {"output", enum_name(model.output.kind)}};
  if (options.source == SourceKind::features) inputs["source"] = "features";
  const auto& symbols = options.tokenizer.user_symbols;
  if (!symbols.empty()) inputs["user_symbols"] = symbols;
  return inputs;
}

// Returns the options and digests that decide which tokenizers are trained.
Json tokenizer_inputs(const DataOptions& options, const ModelOptions& model,
                      const TextDigests& digests) {
  auto inputs = common_inputs(options, model, digests);
  const auto& tokenizer = options.tokenizer;
  inputs["vocabulary_size"] = tokenizer.vocabulary_size;
  inputs["min_frequency"] = tokenizer.min_frequency;
  inputs["character_coverage"] = tokenizer.character_coverage;
  return inputs;
}

// Returns the options, tokenizers and digests that decide how the corpus is tokenized.
Json corpus_inputs(const DataOptions& options, const ModelOptions& model, const TextCodec& codec,
                   const TextDigests& digests) {
  auto inputs = common_inputs(options, model, digests);
  inputs["source_tokenizer"] = sha256(codec.source->serialized());
  inputs["target_tokenizer"] = sha256(codec.target->serialized());
  inputs["max_ratio"] = options.max_ratio;
  inputs["text"] = options.tokenizer.sampling > 0;
  if (options.remove_duplicates) inputs["remove_duplicates"] = true;
  if (options.source == SourceKind::features) inputs["max_frames"] = options.max_frames;
  if (model.encoder.kind == EncoderKind::convolutional) {
    inputs["image_height"] = model.encoder.image_height;
  }
  return inputs;
}

bool has_tokenizer_file(const TokenizerOptions& options) {
  return !options.src_file.empty() || !options.trg_file.empty();
}

template <typename T>
bool is_list_of_lists(const FlatLists<T>& lists, std::size_t size) {
  const auto& ends = lists.ends();
  return lists.size() == size && std::ranges::is_sorted(ends) &&
         (ends.empty() ? 0 : ends.back()) == lists.items().size();
}

bool ids_are_below(std::span<const std::int32_t> ids, std::int64_t end) {
  return std::ranges::all_of(ids, [&](std::int32_t id) { return id >= 0 && id < end; });
}

// Throws Damaged if a pair has tokens, or an item that its file of features does not have.
void check_items(const CorpusPairs& pairs, std::span<const std::int64_t> part_ends,
                 const DataOptions& options, const FeatureFiles& features) {
  require(pairs.source.items().empty());
  std::size_t i = 0;
  std::size_t part = 0;
  for (const auto& corpus : options.train) {
    if (corpus.weight == 0) continue;
    const auto items = features.file(corpus.src).size();
    for (const auto end = static_cast<std::size_t>(part_ends[part++]); i < end; ++i) {
      require(pairs.lines[i] >= 1 && pairs.lines[i] <= items);
    }
  }
}

// Throws Damaged if the arrays do not fit together or are not those of the codec, or if a token is
// outside its vocabulary: the file may come from somewhere else. A target may copy or point to any
// position of its source.
void check(const CorpusPairs& pairs, std::span<const std::int64_t> part_ends,
           const DataOptions& options, const TextCodec& codec) {
  const auto size = pairs.lines.size();
  const bool has_text = options.tokenizer.sampling > 0;
  const bool refers = refers_to_source(codec.output);
  const bool copies = codec.output == OutputKind::copy;
  const auto width = codec.source->numbers("").size();  // values of a token
  const auto parts =
      std::ranges::count_if(options.train, [](const auto& c) { return c.weight > 0; });
  require(parts > 0 && std::ssize(part_ends) == parts && std::ranges::is_sorted(part_ends) &&
          part_ends.front() >= 0 && part_ends.back() == static_cast<std::int64_t>(size));
  require(is_list_of_lists(pairs.source, size) && is_list_of_lists(pairs.target, size));
  require(is_list_of_lists(pairs.numbers, width > 0 ? size : 0) &&
          is_list_of_lists(pairs.extended_ids, copies ? size : 0));
  require(is_list_of_lists(pairs.source_text, has_text ? size : 0) &&
          is_list_of_lists(pairs.target_text, has_text ? size : 0));
  require(ids_are_below(pairs.source.items(), codec.source->size()));
  if (codec.features) check_items(pairs, part_ends, options, *codec.features);
  const auto target_end = codec.target->size();
  for (std::size_t i = 0; i < size; ++i) {
    const auto states = pairs.source[i].size() + 1;  // with </s>
    const auto end_of_positions = target_end + static_cast<std::int64_t>(states);
    require(ids_are_below(pairs.target[i], refers ? end_of_positions : target_end) &&
            (width == 0 || pairs.numbers[i].size() == states * width) &&
            (!copies || (pairs.extended_ids[i].size() == states &&
                         ids_are_below(pairs.extended_ids[i], end_of_positions - 1))));
  }
}

Json read_cache_header(const InputFile& file, std::uint64_t& begin) {
  std::array<char, preamble_bytes> bytes{};
  require(file.size() > bytes.size() && file.read(bytes, 0));
  const std::string_view preamble(bytes.data(), bytes.size());
  require(preamble.starts_with(cache_magic) && preamble.back() == '\n');
  const auto digits = preamble.substr(cache_magic.size() + hash_digits, length_digits);
  std::uint64_t length = 0;
  const auto [end, fault] =
      std::from_chars(digits.data(), digits.data() + digits.size(), length, 16);
  require(fault == std::errc() && end == digits.data() + digits.size() &&
          length <= max_header_bytes && length <= file.size() - bytes.size());
  std::string text(static_cast<std::size_t>(length), '\0');
  require(file.read(text, bytes.size()) &&
          sha256(text) == preamble.substr(cache_magic.size(), hash_digits));
  begin = aligned_offset(bytes.size() + length);
  auto header = parse_json(text);
  require(header.is_object() && header.value("format", 0) == corpus_cache_format);
  return header;
}

// Returns read(), or nullopt if the cache is damaged.
template <typename Read>
auto if_intact(const std::filesystem::path& path, const Read& read)
    -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Damaged&) {
  } catch (const Json::exception&) {
  } catch (const InputError&) {  // a tokenizer cannot be loaded
  }
  log::info("{}: damaged, or of another version; it is made again", path.string());
  return std::nullopt;
}

}  // namespace

CorpusCache::CorpusCache(std::filesystem::path path) : path_(std::move(path)) {
  const InputFile file(path_);
  if (!file.regular_size()) return;
  auto header = if_intact(path_, [&] {
    auto read = read_cache_header(file, begin_);
    for (const auto& known : read.at("files")) lines_[known.at(0)] = known.at(1);
    return read;
  });
  if (header) header_ = std::move(*header);
}

std::optional<TextDigests> CorpusCache::digests_of(const std::vector<std::string>& paths,
                                                   ThreadPool& pool) const {
  if (header_.is_null()) return std::nullopt;
  const std::set<std::string> distinct(paths.begin(), paths.end());
  const std::vector<std::string> files(distinct.begin(), distinct.end());
  std::vector<std::string> hashes(files.size());
  parallel_for(pool, files.size(), [&](std::size_t i) { hashes[i] = digest_of_text(files[i]); });
  TextDigests digests;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto known = lines_.find(hashes[i]);
    if (known == lines_.end()) return std::nullopt;
    digests[files[i]] = {known->second, hashes[i]};
  }
  return digests;
}

std::optional<TextCodec> CorpusCache::codec(const DataOptions& options, const ModelOptions& model,
                                            const TextDigests& digests, ThreadPool& pool) const {
  if (header_.is_null() || has_tokenizer_file(options.tokenizer) ||
      header_.value("tokenizer_inputs", Json()) != tokenizer_inputs(options, model, digests)) {
    return std::nullopt;
  }
  return if_intact(path_, [&] {
    const ArrayReader arrays(path_, header_, begin_, pool);
    const auto load = [&](const std::string& side) {
      const auto bytes = arrays.read<char>(side + "_tokenizer");
      return load_tokenizer(options.tokenizer, {bytes.data(), bytes.size()}, path_.string());
    };
    if (options.source == SourceKind::features) {
      auto found = feature_codec(model, feature_settings(options, model));
      found.target = load("target");
      return found;
    }
    return load_text_codec(model, options.tokenizer.joint, load);
  });
}

std::optional<Corpus> CorpusCache::corpus(const DataOptions& options, const ModelOptions& model,
                                          const TextCodec& codec, const TextDigests& digests,
                                          ThreadPool& pool) const {
  if (header_.is_null() ||
      header_.value("corpus_inputs", Json()) != corpus_inputs(options, model, codec, digests)) {
    return std::nullopt;
  }
  std::vector<std::int64_t> part_ends;
  auto pairs = if_intact(path_, [&] {
    const ArrayReader arrays(path_, header_, begin_, pool);
    CorpusPairs read;
    visit_arrays(read, [&](const char* name, auto& array) { read_array(arrays, name, array); });
    read.report = corpus_report_from(header_.at("report"));
    part_ends = header_.at("part_ends").get<std::vector<std::int64_t>>();
    check(read, part_ends, options, codec);
    return read;
  });
  if (!pairs) return std::nullopt;
  return Corpus::training(options, codec, std::move(*pairs), part_ends);
}

void CorpusCache::write(const std::filesystem::path& path, const DataOptions& options,
                        const ModelOptions& model, const Corpus& corpus, bool trained,
                        const TextDigests& digests, ThreadPool& pool) {
  const auto& codec = corpus.codec();
  const auto source = codec.source->serialized();
  const auto target = codec.target->serialized();
  ArrayWriter arrays(pool);
  arrays.add("source_tokenizer", source);
  arrays.add("target_tokenizer", target);
  visit_arrays(corpus.pairs(),
               [&](const char* name, const auto& array) { arrays.add(name, array); });
  Json files = Json::array();
  for (const auto& part : options.train) {
    for (const auto& file : {part.src, part.trg}) {
      const auto& digest = digests.at(file);
      files.push_back(Json::array({digest.sha256, digest.lines}));
    }
  }
  Json header = {{"format", corpus_cache_format},
                 {"files", std::move(files)},
                 {"corpus_inputs", corpus_inputs(options, model, codec, digests)},
                 {"part_ends", corpus.part_ends()},
                 {"report", to_json(corpus.report())},
                 {"arrays", arrays.entries()}};
  if (trained && !has_tokenizer_file(options.tokenizer)) {
    header["tokenizer_inputs"] = tokenizer_inputs(options, model, digests);
  }
  const auto text = to_text(header);
  const auto preamble = fmt::format("{}{}{:016x}\n", cache_magic, sha256(text), text.size());
  std::vector<std::string_view> parts = {preamble, text,
                                         ArrayWriter::padding_after(preamble.size() + text.size())};
  parts.insert(parts.end(), arrays.parts().begin(), arrays.parts().end());
  write_file(path, parts, /*wait_for_disk=*/false);
}

}  // namespace regard
