#include "data/tokenizers.h"

#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "data/line_reader.h"
#include "text/utf8.h"

namespace regard {
namespace {

// All lines of several files, one after the other.
std::unique_ptr<Tokenizer> train_on(const TokenizerOptions& options,
                                    const std::vector<std::string>& paths) {
  std::size_t next_path = 0;
  std::unique_ptr<LineReader> reader;
  bool blank = true;
  bool read_all = false;
  const LineSource source = [&](std::string& line) {
    while (!reader || !reader->next(line)) {
      read_all = next_path == paths.size();
      if (read_all) return false;
      reader = std::make_unique<LineReader>(paths[next_path++]);
    }
    blank = blank && is_blank(line);
    return true;
  };
  try {
    return train_tokenizer(options, source);
  } catch (const InputError&) {
    if (!read_all || !blank) throw;
    throw InputError("{}: no text to make a vocabulary of", fmt::join(paths, ", "));
  } catch (const ConfigError& error) {
    throw ConfigError("{} (text: {})", error.what(), fmt::join(paths, ", "));
  }
}

std::shared_ptr<const Tokenizer> from_file_or_text(const TokenizerOptions& options,
                                                   const std::string& file,
                                                   const std::vector<std::string>& paths) {
  if (file.empty()) return train_on(options, paths);
  return load_tokenizer(options,
                        read_file<InputError>(file, "vocabulary that data.tokenizer names"), file);
}

}  // namespace

Tokenizers make_tokenizers(const DataOptions& options) {
  const TokenizerOptions& tokenizer = options.tokenizer;
  std::vector<std::string> source_paths;
  std::vector<std::string> target_paths;
  for (const CorpusOptions& corpus : options.train) {
    if (corpus.weight == 0) continue;
    source_paths.push_back(corpus.src);
    target_paths.push_back(corpus.trg);
  }
  if (!tokenizer.joint) {
    return {from_file_or_text(tokenizer, tokenizer.src_file, source_paths),
            from_file_or_text(tokenizer, tokenizer.trg_file, target_paths)};
  }
  if (!tokenizer.src_file.empty() && !tokenizer.trg_file.empty() &&
      tokenizer.src_file != tokenizer.trg_file) {
    throw ConfigError(
        "data.tokenizer.joint is on, but src_file ({}) and trg_file ({}) differ; give one file",
        tokenizer.src_file, tokenizer.trg_file);
  }
  source_paths.insert(source_paths.end(), target_paths.begin(), target_paths.end());
  const std::string& file = tokenizer.src_file.empty() ? tokenizer.trg_file : tokenizer.src_file;
  const auto both = from_file_or_text(tokenizer, file, source_paths);
  return {both, both};
}

}  // namespace regard
