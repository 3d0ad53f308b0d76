#include "data/tokenizers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "text/plain_tokenizers.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {
namespace {

// Trains a tokenizer on the lines of several files, without lines that training skips as too long.
std::unique_ptr<Tokenizer> train_on(const DataOptions& data, const LineLimit& limit,
                                    const std::vector<std::string>& paths, std::int64_t threads) {
  const TokenizerOptions& options = data.tokenizer;
  std::size_t next_path = 0;
  std::unique_ptr<LineReader> reader;
  bool blank = true;
  bool read_all = false;
  const LineSource source = [&](std::string& line) {
    do {
      while (!reader || !reader->next(line)) {
        read_all = next_path == paths.size();
        if (read_all) return false;
        reader = std::make_unique<LineReader>(paths[next_path++]);
      }
    } while (line.size() > limit.bytes);
    blank = blank && is_blank(line);
    return true;
  };
  try {
    return train_tokenizer(options, source, threads);
  } catch (const InputError&) {
    if (!read_all || !blank) throw;
    throw InputError("{}: found no text to make a vocabulary from", fmt::join(paths, ", "));
  } catch (const ConfigError& error) {
    throw ConfigError("{} (text: {})", error.what(), fmt::join(paths, ", "));
  }
}

std::shared_ptr<const Tokenizer> from_file_or_text(const DataOptions& data, const LineLimit& limit,
                                                   const std::string& file,
                                                   const std::vector<std::string>& paths,
                                                   std::int64_t threads) {
  if (file.empty()) return train_on(data, limit, paths, threads);
  auto bytes = read_file<InputError>(file, "vocabulary that data.tokenizer names");
  const auto kind = data.tokenizer.kind;
  if (kind == TokenizerKind::bpe || kind == TokenizerKind::unigram) {
    bytes = with_special_pieces_first(bytes);
  }
  return load_tokenizer(data.tokenizer, bytes, file);
}

}  // namespace

SourceLine Tokenizers::encode_source(std::string_view line) const {
  SourceLine encoded{.tokens = source->encode(line), .numbers = source->numbers(line)};
  if (output != OutputKind::copy) return encoded;
  encoded.extended_ids = target->encode(line);
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

std::vector<std::int32_t> Tokenizers::encode_target(std::string_view line,
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

std::string Tokenizers::decode(std::span<const std::int32_t> ids,
                               const std::vector<std::string>& oov_words) const {
  if (oov_words.empty()) return target->decode(ids);
  std::vector<std::string> tokens;
  for (const auto id : ids) {
    if (id >= special_count || id == unk_id) tokens.push_back(target_token(id, oov_words));
  }
  return target->join(tokens);
}

std::string Tokenizers::target_token(std::int32_t id,
                                     const std::vector<std::string>& oov_words) const {
  if (oov_words.empty() || id < target->size()) return target->token(id);
  return oov_words.at(static_cast<std::size_t>(id - target->size()));
}

std::shared_ptr<const Tokenizer> fixed_source_tokenizer(const ModelOptions& options) {
  return options.encoder.numbers > 0 ? make_numbers_tokenizer(options.encoder.numbers) : nullptr;
}

std::shared_ptr<const Tokenizer> fixed_target_tokenizer(const ModelOptions& options) {
  return options.output.kind == OutputKind::pointer ? make_positions_tokenizer() : nullptr;
}

Tokenizers make_tokenizers(const DataOptions& options, const ModelOptions& model,
                           std::int64_t threads) {
  const TokenizerOptions& tokenizer = options.tokenizer;
  std::vector<std::string> source_paths;
  std::vector<std::string> target_paths;
  for (const CorpusOptions& corpus : options.train) {
    if (corpus.weight == 0) continue;
    source_paths.push_back(corpus.src);
    target_paths.push_back(corpus.trg);
  }
  if (!tokenizer.joint) {
    auto source = fixed_source_tokenizer(model);
    auto target = fixed_target_tokenizer(model);
    const auto text = text_limit(options);
    // Positions refer to all words of a source line, so no line may be skipped for its bytes.
    const auto source_limit = target ? element_limit(options) : text;
    if (!source) {
      source = from_file_or_text(options, source_limit, tokenizer.src_file, source_paths, threads);
    }
    if (!target) {
      target = from_file_or_text(options, text, tokenizer.trg_file, target_paths, threads);
    }
    return {source, target, model.output.kind};
  }
  if (!tokenizer.src_file.empty() && !tokenizer.trg_file.empty() &&
      tokenizer.src_file != tokenizer.trg_file) {
    throw ConfigError(
        "data.tokenizer.joint is on, but src_file ({}) and trg_file ({}) differ; give one file",
        tokenizer.src_file, tokenizer.trg_file);
  }
  source_paths.insert(source_paths.end(), target_paths.begin(), target_paths.end());
  const std::string& file = tokenizer.src_file.empty() ? tokenizer.trg_file : tokenizer.src_file;
  const auto both = from_file_or_text(options, text_limit(options), file, source_paths, threads);
  return {both, both, model.output.kind};
}

}  // namespace regard
