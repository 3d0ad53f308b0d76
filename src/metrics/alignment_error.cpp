#include "metrics/alignment_error.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "text/utf8.h"

namespace regard {

namespace {

constexpr std::string_view blanks = " \t\r";

std::optional<AlignmentLink> parse_link(std::string_view word) {
  AlignmentLink link{};
  const char* end = word.data() + word.size();
  const auto source = std::from_chars(word.data(), end, link.source);
  if (source.ec != std::errc() || source.ptr == end || *source.ptr != '-') return std::nullopt;
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  if (target.ec != std::errc() || target.ptr != end) return std::nullopt;
  return link;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Alignment parse_alignment(std::string_view text, const std::string& file, std::size_t line) {
  Alignment links;
  if (is_blank(text)) return links;
  for (auto start = text.find_first_not_of(blanks); start != text.npos;) {
    const auto end = std::min(text.find_first_of(blanks, start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const auto link = parse_link(word);
    if (!link) {
      throw InputError(
          "{}:{}: '{}' is no alignment link: write source-target, both counted from 0, as in 0-0",
          file, line, excerpt(word));
    }
    links.push_back(*link);
    start = text.find_first_not_of(blanks, end);
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

AlignmentScore score_alignments(const std::vector<Alignment>& proposed,
                                const std::vector<Alignment>& gold) {
  if (proposed.size() != gold.size()) {
    throw InputError("there are {} alignments, but {} gold ones: give one line for each sentence",
                     proposed.size(), gold.size());
  }
  AlignmentScore score;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    Alignment common;
    std::set_intersection(proposed[i].begin(), proposed[i].end(), gold[i].begin(), gold[i].end(),
                          std::back_inserter(common));
    score.matches += common.size();
    score.proposed += proposed[i].size();
    score.sure += gold[i].size();
  }
  score.precision = share(score.matches, score.proposed);
  score.recall = share(score.matches, score.sure);
  score.error_rate = 1 - share(2 * score.matches, score.proposed + score.sure);
  return score;
}

}  // namespace regard
