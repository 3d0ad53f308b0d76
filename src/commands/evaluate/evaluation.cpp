#include "commands/evaluate/evaluation.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "data/line_checks.h"
#include "data/line_reader.h"
#include "text/unicode.h"

namespace regard {
namespace {

void warn_of_byte_order_mark(const LineReader& reader, bool is_scored) {
  if (!reader.had_byte_order_mark()) return;
  log::warning("{}:1: begins with a byte order mark (U+FEFF), which is ignored{}", reader.name(),
               is_scored ? "; sacreBLEU scores it as a part of the first word, so its scores "
                           "differ: remove the mark from the file to compare"
                         : "");
}

// Warns if the file begins with a byte order mark. `is_scored`: true for hypotheses and references.
std::vector<std::string> read_text(const std::string& path, bool is_scored,
                                   SourceKind source = SourceKind::text) {
  LineReader reader(path, source);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  warn_of_byte_order_mark(reader, is_scored);
  return lines;
}

// Reads a label for each of the `count` lines of the reference.
std::vector<std::string> read_labels(const std::string& path, const std::string& reference,
                                     std::size_t count) {
  auto labels = read_text(path, /*is_scored=*/false);
  if (labels.size() != count) {
    throw InputError("{}: found {}, expected {}, a label for each line of {}{}", input_name(path),
                     counted(labels.size(), "line"), count, input_name(reference),
                     other_line_break(path));
  }
  const auto empty = std::ranges::find_if(labels, is_blank);
  if (empty != labels.end()) {
    throw InputError(
        "{}:{}: found no label, expected one on each line; name a group, such as other",
        input_name(path), empty - labels.begin() + 1);
  }
  return labels;
}

Systems read_systems(const std::vector<std::string>& files) {
  Systems systems;
  const auto names = system_names(files);
  for (std::size_t f = 0; f < files.size(); ++f) {
    systems.emplace_back(names[f], read_text(files[f], /*is_scored=*/true));
  }
  return systems;
}

}  // namespace

std::vector<GoldAlignment> read_alignments(const std::string& path) {
  std::vector<GoldAlignment> alignments;
  for (const auto& line : read_lines(path)) {
    alignments.push_back(parse_alignment(line, input_name(path), alignments.size() + 1));
  }
  return alignments;
}

void check_links(const std::string& path, const std::vector<GoldAlignment>& alignments,
                 const std::vector<std::string>& source, const std::vector<std::string>& target) {
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    const auto source_words = split_at_ascii_space(source.at(i)).size();
    const auto target_words = split_at_ascii_space(target.at(i)).size();
    for (const auto& link : alignments[i].possible) {
      if (link.source < source_words && link.target < target_words) continue;
      throw InputError(
          "{}:{}: found the link {}-{}, but the source has {} and the target {}; words are counted "
          "from 0",
          input_name(path), i + 1, link.source, link.target, counted(source_words, "word"),
          target_words);
    }
  }
}

std::string system_name(const std::filesystem::path& path) {
  if (path == "-") return input_name("-");
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

std::string system_name(const std::vector<std::string>& models) {
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(system_name(std::filesystem::path(model)));
  return fmt::format("{}", fmt::join(names, " + "));
}

std::vector<std::string> system_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::filesystem::path path : paths) {
    const auto same = std::ranges::count(paths, system_name(path),
                                         [](const auto& other) { return system_name(other); });
    names.push_back(same > 1 ? path.string() : system_name(path));
  }
  return names;
}

EvaluationTexts read_texts(const EvaluationFiles& files, SourceKind source) {
  EvaluationTexts texts;
  for (const auto& path : files.references) {
    texts.references.push_back(read_text(path, /*is_scored=*/true));
    if (!std::ranges::all_of(texts.references.back(), is_blank)) continue;
    throw InputError("{}: empty, so there is nothing to score", path);
  }
  const auto& first = files.references[0];
  const auto count = texts.references[0].size();
  for (std::size_t r = 1; r < texts.references.size(); ++r) {
    check_line_counts(files.references[r], texts.references[r].size(), first, count);
  }
  if (!files.source.empty()) {
    texts.source = read_text(files.source, /*is_scored=*/false, source);
    check_line_counts(files.source, texts.source.size(), first, count);
  }
  texts.systems = read_systems(files.systems);
  for (std::size_t s = 0; s < files.systems.size(); ++s) {
    check_line_counts(files.systems[s], texts.systems[s].second.size(), first, count);
  }
  if (!files.gold.empty()) {
    texts.gold = read_alignments(files.gold);
    check_line_counts(files.gold, texts.gold.size(), first, count);
    check_links(files.gold, texts.gold, texts.source, texts.references[0]);
  }
  if (!files.labels.empty()) texts.labels = read_labels(files.labels, first, count);
  return texts;
}

WordFrequencies count_words(const std::vector<std::string>& files, const BleuOptions& options) {
  WordFrequencies frequencies(options);
  for (const auto& file : files) {
    LineReader reader(file);
    std::int64_t lines = 0;
    for (std::string line; reader.next(line);) lines += frequencies.add(line) ? 1 : 0;
    warn_of_byte_order_mark(reader, /*is_scored=*/false);
    if (lines == 0) throw InputError("{}: empty, so there are no words to count", file);
  }
  return frequencies;
}

}  // namespace regard
