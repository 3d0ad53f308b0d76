#include "data/text_codec.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "data/line_checks.h"
#include "text/plain_tokenizers.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

// The text and the threads with which a tokenizer is trained.
struct TrainingText {
  const TextFiles& files;
  ThreadPool& pool;
  std::int64_t threads;
};

// Reads the lines of several files that are no longer than a limit, one after the other.
class LineSequence {
 public:
  LineSequence(std::span<const TextFile* const> files, std::size_t max_bytes)
      : files_(files), max_bytes_(max_bytes) {}

  bool next(std::string& line) {
    std::string_view text;
    do {
      while (!block_ || next_line_ == block_->size()) {
        if (!next_block()) return false;
      }
      text = block_->line(next_line_++, files_[file_]->path());
    } while (text.size() > max_bytes_);
    line = text;
    is_blank_ = is_blank_ && is_blank(line);
    return true;
  }
  // True if all lines have been read and none has text.
  bool has_no_text() const { return file_ == files_.size() && is_blank_; }

 private:
  bool next_block() {
    for (; file_ < files_.size(); ++file_, reader_.reset()) {
      if (!reader_) reader_ = std::make_unique<TextFile::Reader>(*files_[file_]);
      block_ = reader_->next();
      next_line_ = 0;
      if (block_) return true;
    }
    return false;
  }

  std::span<const TextFile* const> files_;
  std::size_t max_bytes_;
  std::size_t file_ = 0;
  std::unique_ptr<TextFile::Reader> reader_;
  std::shared_ptr<const LineBlock> block_;
  std::size_t next_line_ = 0;
  bool is_blank_ = true;
};

// Counts the tokens of all lines that are no longer than `max_bytes`.
TokenCounts count_all_tokens(const TokenizerOptions& options, std::size_t max_bytes,
                             std::span<const TextFile* const> files, ThreadPool& pool) {
  std::vector<TokenCounts> counts(pool.count());  // of each thread
  for_each_block(pool, files,
                 [&](std::size_t thread, const LineBlock& block, const std::string& name) {
                   for (std::size_t i = 0; i < block.size(); ++i) {
                     const auto line = block.line(i, name);
                     if (line.size() <= max_bytes) count_tokens(options, line, counts[thread]);
                   }
                 });
  for (std::size_t thread = 1; thread < counts.size(); ++thread) {
    for (const auto& [token, count] : counts[thread]) counts[0][token] += count;
    counts[thread] = {};
  }
  return std::move(counts[0]);
}

[[noreturn]] void throw_no_text(const std::vector<std::string>& paths) {
  throw InputError("{}: found no text to make a vocabulary from", fmt::join(paths, ", "));
}

// Returns learn(text, lines): text is the files, lines a LineSource of their lines without those
// that training skips as too long. Names the files in its errors.
template <typename Learn>
auto learn_from(const TextFiles& files, const std::vector<std::string>& paths,
                const LineLimit& limit, const Learn& learn) {
  std::vector<const TextFile*> text;
  for (const auto& path : paths) text.push_back(&files.at(path));
  LineSequence lines(text, limit.bytes);
  try {
    return learn(text, [&](std::string& line) { return lines.next(line); });
  } catch (const InputError&) {
    if (lines.has_no_text()) throw_no_text(paths);
    throw;
  } catch (const ConfigError& error) {
    throw ConfigError("{} (text: {})", error.what(), fmt::join(paths, ", "));
  }
}

std::unique_ptr<Tokenizer> train_on(const DataOptions& data, const LineLimit& limit,
                                    const std::vector<std::string>& paths,
                                    const TrainingText& text) {
  const TokenizerOptions& options = data.tokenizer;
  return learn_from(text.files, paths, limit, [&](const auto& files, const LineSource& next_line) {
    if (!is_learnt_from_counts(options.kind)) {
      return train_tokenizer(options, next_line, text.threads);
    }
    const auto counts = count_all_tokens(options, limit.bytes, files, text.pool);
    if (counts.empty()) throw_no_text(paths);
    return make_tokenizer(options, counts);
  });
}

std::shared_ptr<const Tokenizer> from_file_or_text(const DataOptions& data, const LineLimit& limit,
                                                   const std::string& file,
                                                   const std::vector<std::string>& paths,
                                                   const TrainingText& text) {
  if (file.empty()) return train_on(data, limit, paths, text);
  return load_tokenizer_file(data.tokenizer, file);
}

// The files of the corpora with a weight above 0.
struct SidePaths {
  std::vector<std::string> source;
  std::vector<std::string> target;
};

SidePaths side_paths(const DataOptions& options) {
  SidePaths paths;
  for (const CorpusOptions& corpus : options.train) {
    if (corpus.weight == 0) continue;
    paths.source.push_back(corpus.src);
    paths.target.push_back(corpus.trg);
  }
  return paths;
}

// SentencePiece learns mostly on one thread, so that two trainings at once take half of the time.
// They also need twice the memory, so only small texts are trained on at once.
bool can_train_both_at_once(const DataOptions& data, const TrainingText& text) {
  if (is_learnt_from_counts(data.tokenizer.kind) || text.pool.count() == 1) return false;
  return std::ranges::all_of(
      training_paths(data), [&](const std::string& path) { return text.files.at(path).is_kept(); });
}

// Returns the settings of the features of data.train. Throws InputError, with both files, if they
// differ, and the errors of FeatureFiles::file().
std::string feature_settings(const DataOptions& options, const ModelOptions& model) {
  const FeatureFiles files(model.encoder.numbers, "");
  const FeatureFile* first = nullptr;
  for (const auto& corpus : options.train) {
    if (corpus.weight == 0) continue;
    const auto& file = files.file(corpus.src);
    if (first == nullptr) first = &file;
    if (file.settings() == first->settings()) continue;
    throw InputError(
        "{}: found features of the settings `{}`, but {} has `{}`; compute both with the same "
        "settings (`regard features --like`)",
        file.path(), file.settings(), first->path(), first->settings());
  }
  return first == nullptr ? "" : first->settings();
}

}  // namespace

TextCodec TextCodec::with_tags(const std::optional<std::string>& of_source,
                               const std::optional<std::string>& of_target) const {
  const auto id_of = [](const Tokenizer& tokenizer, const std::string& tag) {
    const auto ids = tokenizer.encode(tag);
    if (ids.size() == 1 && ids[0] != unk_id) return ids[0];
    throw ConfigError(
        "found the tag {}, which is not one token of the vocabulary; add it to "
        "data.tokenizer.user_symbols when the vocabulary is made",
        tag);
  };
  auto tagged = *this;
  tagged.source_tag = of_source.value_or(source_tag);
  if (!tagged.source_tag.empty()) {
    if (source->ignores_text()) {
      throw ConfigError(
          "found the source tag {}, but a language model reads no source; leave it out",
          tagged.source_tag);
    }
    id_of(*source, tagged.source_tag);
  }
  if (of_target) tagged.first_target = of_target->empty() ? bos_id : id_of(*target, *of_target);
  return tagged;
}

std::string TextCodec::target_tag() const {
  return first_target == bos_id ? "" : target->token(first_target);
}

std::string TextCodec::tagged_source(std::string_view line) const {
  return source_tag.empty() ? std::string(line) : fmt::format("{} {}", source_tag, line);
}

SourceLine TextCodec::encode_source(std::string_view source_line) const {
  if (features) return {.frames = features->item(source_line)};
  const auto line = tagged_source(source_line);
  SourceLine encoded{.tokens = source->encode(line), .numbers = source->numbers(line)};
  if (output != OutputKind::copy) return encoded;
  encoded.extended_ids = target == source ? encoded.tokens : target->encode(line);
  const auto words = target->pieces(line, encoded.extended_ids);
  std::unordered_map<std::string_view, std::int64_t> oov_index;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (encoded.extended_ids[i] != unk_id) continue;
    const auto [entry, is_new] = oov_index.emplace(words[i], oov_index.size());
    if (is_new) encoded.oov_words.push_back(words[i]);
    encoded.extended_ids[i] = static_cast<std::int32_t>(target->size() + entry->second);
  }
  encoded.extended_ids.push_back(eos_id);
  return encoded;
}

std::vector<std::int32_t> TextCodec::encode_target(std::string_view line,
                                                   const SourceLine& source_line) const {
  auto ids = target->encode(line);
  const auto length = static_cast<std::int32_t>(source_line.tokens.size());
  if (output == OutputKind::pointer) {
    for (const auto id : ids) {
      if (id < first_position_id + length) continue;
      throw InputError("position {} is outside the source, which has {}, counted from 0",
                       id - first_position_id, counted(length, "element"));
    }
  }
  if (source_line.oov_words.empty()) return ids;
  std::unordered_map<std::string_view, std::int64_t> oov_index;
  for (const auto& word : source_line.oov_words) oov_index.emplace(word, oov_index.size());
  const auto words = target->pieces(line, ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto entry = oov_index.find(words[i]);
    if (ids[i] == unk_id && entry != oov_index.end()) {
      ids[i] = static_cast<std::int32_t>(target->size() + entry->second);
    }
  }
  return ids;
}

std::string TextCodec::decode(std::span<const std::int32_t> ids,
                              const std::vector<std::string>& oov_words) const {
  if (oov_words.empty()) return target->decode(ids);
  std::vector<std::string> tokens;
  for (const auto id : ids) {
    if (id >= special_count || id == unk_id) tokens.push_back(target_token(id, oov_words));
  }
  return target->join(tokens);
}

std::string TextCodec::target_token(std::int32_t id,
                                    const std::vector<std::string>& oov_words) const {
  if (oov_words.empty() || id < target->size()) return target->token(id);
  return oov_words.at(static_cast<std::size_t>(id - target->size()));
}

TextCodec feature_codec(const ModelOptions& model, const std::string& settings) {
  const bool reads_images = model.encoder.kind == EncoderKind::convolutional;
  return {.source = make_features_tokenizer(settings),
          .target = {},
          .output = model.output.kind,
          .features = std::make_shared<const FeatureFiles>(
              model.encoder.numbers, settings, reads_images ? model.encoder.image_height : 0),
          .frames_per_state = frames_per_state(model.encoder),
          .grid = grid_of(model.encoder),
          .image_channels = model.encoder.image_channels};
}

std::shared_ptr<const Tokenizer> fixed_source_tokenizer(const ModelOptions& options) {
  if (options.kind == ModelKind::language_model) return make_empty_tokenizer();
  return options.encoder.numbers > 0 ? make_numbers_tokenizer(options.encoder.numbers) : nullptr;
}

std::shared_ptr<const Tokenizer> fixed_target_tokenizer(const ModelOptions& options) {
  return options.output.kind == OutputKind::pointer ? make_positions_tokenizer() : nullptr;
}

TextCodec make_text_codec(const DataOptions& options, const ModelOptions& model,
                          const TextFiles& files, ThreadPool& pool, std::int64_t threads) {
  const TrainingText training{files, pool, threads};
  const TokenizerOptions& tokenizer = options.tokenizer;
  auto [source_paths, target_paths] = side_paths(options);
  if (options.source == SourceKind::features) {
    auto made = feature_codec(model, feature_settings(options, model));
    made.target =
        from_file_or_text(options, text_limit(options), tokenizer.trg_file, target_paths, training);
    return made;
  }
  if (!tokenizer.joint) {
    const auto text = text_limit(options);
    const auto target = fixed_target_tokenizer(model);
    // Positions refer to all words of a source line, so no line may be skipped for its bytes.
    const auto source_limit = target ? element_limit(options) : text;
    std::shared_ptr<const Tokenizer> made[] = {fixed_source_tokenizer(model), target};
    const auto make = [&](std::size_t side) {
      if (made[side]) return;
      made[side] =
          side == 0
              ? from_file_or_text(options, source_limit, tokenizer.src_file, source_paths, training)
              : from_file_or_text(options, text, tokenizer.trg_file, target_paths, training);
    };
    if (can_train_both_at_once(options, training)) {
      parallel_for(pool, 2, make);
    } else {
      make(0);
      make(1);
    }
    return {made[0], made[1], model.output.kind};
  }
  if (!tokenizer.src_file.empty() && !tokenizer.trg_file.empty() &&
      tokenizer.src_file != tokenizer.trg_file) {
    throw ConfigError(
        "data.tokenizer.joint is on, but src_file ({}) and trg_file ({}) differ; give one file",
        tokenizer.src_file, tokenizer.trg_file);
  }
  source_paths.insert(source_paths.end(), target_paths.begin(), target_paths.end());
  const std::string& file = tokenizer.src_file.empty() ? tokenizer.trg_file : tokenizer.src_file;
  const auto both = from_file_or_text(options, text_limit(options), file, source_paths, training);
  return {both, both, model.output.kind};
}

TextCodec extend_text_codec(const DataOptions& options, const TextCodec& initial,
                            const TextFiles& files, std::int64_t threads) {
  const auto extend = [&](const std::shared_ptr<const Tokenizer>& tokenizer,
                          const std::vector<std::string>& paths) {
    const auto bytes = tokenizer->serialized();
    if (bytes.empty()) return tokenizer;  // numbers, positions: no vocabulary
    const auto extended =
        learn_from(files, paths, text_limit(options), [&](auto&, const LineSource& next_line) {
          return extend_tokenizer(options.tokenizer, bytes, next_line, threads);
        });
    return std::shared_ptr<const Tokenizer>(
        load_tokenizer(options.tokenizer, extended, "the extended vocabulary"));
  };
  auto paths = side_paths(options);
  auto extended = initial;
  if (options.tokenizer.joint) {
    paths.source.insert(paths.source.end(), paths.target.begin(), paths.target.end());
    extended.source = extended.target = extend(initial.source, paths.source);
    return extended;
  }
  if (!initial.features) extended.source = extend(initial.source, paths.source);
  extended.target = extend(initial.target, paths.target);
  return extended;
}

std::shared_ptr<const Tokenizer> load_tokenizer_file(const TokenizerOptions& options,
                                                     const std::string& file) {
  auto bytes = read_file<InputError>(file, "vocabulary that data.tokenizer names");
  if (options.kind == TokenizerKind::bpe || options.kind == TokenizerKind::unigram) {
    bytes = with_special_pieces_first(bytes);
  }
  return load_tokenizer(options, bytes, file);
}

std::vector<std::string> training_paths(const DataOptions& options, bool with_unused) {
  std::vector<std::string> paths;
  for (const auto& corpus : options.train) {
    if (corpus.weight == 0 && !with_unused) continue;
    paths.push_back(corpus.src);
    paths.push_back(corpus.trg);
  }
  return paths;
}

}  // namespace regard
