#include "answers/train_dev_split.h"

#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/strings.h"
#include "data/corpus_statistics.h"
#include "data/line_checks.h"
#include "data/line_reader.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// Draws `count` of `total` lines. Element i is true if line i was drawn.
std::vector<bool> draw_lines(std::size_t total, std::size_t count) {
  std::vector<std::size_t> order(total);
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  std::vector<bool> is_dev(total);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + random.below(total - i)]);
    is_dev[order[i]] = true;
  }
  return is_dev;
}

// Returns the file extensions of source and target.
std::pair<std::string, std::string> extensions(const std::string& src, const std::string& trg) {
  const auto source = language_from_path(src), target = language_from_path(trg);
  if (source.empty() || target.empty() || source == target) return {"src", "trg"};
  return {source, target};
}

std::string new_file(const fs::path& stem, const std::string& part, const std::string& extension) {
  const auto path = fmt::format("{}.{}.{}", stem.string(), part, extension);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return path;
  throw ConfigError("{}: file exists; give the model another name, or pass the file with --dev",
                    path);
}

}  // namespace

SplitFiles split_pairs(const std::string& src, const std::string& trg, std::int64_t dev_pairs,
                       const fs::path& stem) {
  const auto sources = read_lines(src);
  const auto targets = read_lines(trg);
  check_line_counts(src, static_cast<std::int64_t>(sources.size()), trg,
                    static_cast<std::int64_t>(targets.size()));
  const auto count = static_cast<std::size_t>(dev_pairs);
  if (count >= sources.size()) {
    throw ConfigError("--split: found {}, expected less than the {} of {}", dev_pairs,
                      counted(sources.size(), "pair"), src);
  }
  const auto [source, target] = extensions(src, trg);
  const SplitFiles files = {new_file(stem, "train", source), new_file(stem, "train", target),
                            new_file(stem, "dev", source), new_file(stem, "dev", target)};
  const auto is_dev = draw_lines(sources.size(), count);
  std::unordered_set<std::string> dev_sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_dev[i]) dev_sources.insert(sources[i]);
  }
  std::string text[4];
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!is_dev[i] && dev_sources.contains(sources[i])) continue;
    text[is_dev[i] ? 2 : 0] += sources[i] + "\n";
    text[is_dev[i] ? 3 : 1] += targets[i] + "\n";
  }
  if (text[0].empty()) {
    throw ConfigError("--split {}: no training pair would be left; {} has too few distinct pairs",
                      dev_pairs, src);
  }
  write_file(files.train_src, text[0]);
  write_file(files.train_trg, text[1]);
  write_file(files.dev_src, text[2]);
  write_file(files.dev_trg, text[3]);
  return files;
}

}  // namespace regard
