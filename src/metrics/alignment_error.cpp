#include "metrics/alignment_error.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/strings.h"
#include "text/utf8.h"

namespace regard {

namespace {

constexpr std::string_view white_space = " \t\r";
constexpr char sure_sign = '-';
constexpr std::string_view possible_signs = "?p";

struct GoldLink {
  AlignmentLink link;
  char sign;  // the character between the numbers
};

std::optional<GoldLink> parse_link(std::string_view word) {
  AlignmentLink link{};
  const char* end = word.data() + word.size();
  const auto source = std::from_chars(word.data(), end, link.source);
  if (source.ec != std::errc() || source.ptr == end) return std::nullopt;
  const char sign = *source.ptr;
  if (sign != sure_sign && possible_signs.find(sign) == possible_signs.npos) return std::nullopt;
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  if (target.ec != std::errc() || target.ptr != end) return std::nullopt;
  return GoldLink{link, sign};
}

void sort_and_deduplicate(Alignment& links) {
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

std::size_t count_common(const Alignment& a, const Alignment& b) {
  Alignment common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return common.size();
}

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

GoldAlignment parse_alignment(std::string_view text, const std::string& file, std::size_t line) {
  GoldAlignment gold;
  if (is_blank(text)) return gold;
  for (auto start = text.find_first_not_of(white_space); start != text.npos;) {
    const auto end = std::min(text.find_first_of(white_space, start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const auto parsed = parse_link(word);
    if (!parsed) {
      throw InputError(
          "{}:{}: found '{}', expected an alignment link source-target, both counted from 0, as in "
          "0-0, or 0?0 for a possible link",
          file, line, excerpt(word));
    }
    if (parsed->sign == sure_sign) gold.sure.push_back(parsed->link);
    gold.possible.push_back(parsed->link);
    start = text.find_first_not_of(white_space, end);
  }
  sort_and_deduplicate(gold.sure);
  sort_and_deduplicate(gold.possible);
  return gold;
}

AlignmentScore score_alignments(const std::vector<Alignment>& proposed,
                                const std::vector<GoldAlignment>& gold) {
  if (proposed.size() != gold.size()) {
    throw InputError("found {}, but {}: give one line for each sentence",
                     counted(proposed.size(), "alignment"), counted(gold.size(), "gold alignment"));
  }
  AlignmentScore score;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    score.matches += count_common(proposed[i], gold[i].sure);
    score.possible_matches += count_common(proposed[i], gold[i].possible);
    score.proposed += proposed[i].size();
    score.sure += gold[i].sure.size();
  }
  score.precision = ratio(score.possible_matches, score.proposed);
  score.recall = ratio(score.matches, score.sure);
  score.error_rate = 1 - ratio(score.matches + score.possible_matches, score.proposed + score.sure);
  return score;
}

}  // namespace regard
