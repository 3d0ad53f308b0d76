#include "answers/split.h"

#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "data/corpus_look.h"
#include "data/line_checks.h"
#include "data/line_reader.h"

namespace regard {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// Which `count` of the `total` lines are drawn.
std::vector<bool> drawn(std::size_t total, std::size_t count) {
  std::vector<std::size_t> order(total);
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  std::vector<bool> chosen(total);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + random.below(total - i)]);
    chosen[order[i]] = true;
  }
  return chosen;
}

// Of source and target: what tells them apart in the files' names.
std::pair<std::string, std::string> endings(const std::string& src, const std::string& trg) {
  const auto source = language_of(src), target = language_of(trg);
  if (source.empty() || target.empty() || source == target) return {"src", "trg"};
  return {source, target};
}

std::string new_file(const fs::path& stem, const std::string& part, const std::string& ending) {
  const auto path = fmt::format("{}.{}.{}", stem.string(), part, ending);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return path;
  throw ConfigError("{}: is there already; give the model another name, or name the file as --dev",
                    path);
}

}  // namespace

SplitFiles split_pairs(const std::string& src, const std::string& trg, std::int64_t apart,
                       const fs::path& stem) {
  const auto sources = read_lines(src);
  const auto targets = read_lines(trg);
  check_line_counts(src, static_cast<std::int64_t>(sources.size()), trg,
                    static_cast<std::int64_t>(targets.size()));
  const auto count = static_cast<std::size_t>(apart);
  if (count >= sources.size()) {
    throw ConfigError("--split: found {}, wanted less than the {} of {}", apart,
                      counted(sources.size(), "pair"), src);
  }
  const auto [source, target] = endings(src, trg);
  const SplitFiles files = {new_file(stem, "train", source), new_file(stem, "train", target),
                            new_file(stem, "dev", source), new_file(stem, "dev", target)};
  const auto chosen = drawn(sources.size(), count);
  std::unordered_set<std::string> set_apart;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (chosen[i]) set_apart.insert(sources[i]);
  }
  std::string text[4];
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!chosen[i] && set_apart.contains(sources[i])) continue;
    text[chosen[i] ? 2 : 0] += sources[i] + "\n";
    text[chosen[i] ? 3 : 1] += targets[i] + "\n";
  }
  if (text[0].empty()) {
    throw ConfigError(
        "--split {}: no pair would be left to train on; {} has too few different ones", apart, src);
  }
  write_file(files.train_src, text[0]);
  write_file(files.train_trg, text[1]);
  write_file(files.dev_src, text[2]);
  write_file(files.dev_trg, text[3]);
  return files;
}

}  // namespace regard
