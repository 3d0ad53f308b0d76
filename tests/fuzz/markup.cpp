// Markup in lines: text/markup.h and translation/mark_placement.h. The first line of the input is
// the source, the second the translation; the bytes after it are attention weights.
#include "translation/mark_placement.h"

#include <algorithm>

#include "tests/fuzz/target.h"
#include "tests/translation/words_of.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto text = fuzz::as_text(data, size);
  const auto first = std::min(text.find('\n'), text.size());
  const auto second = std::min(text.find('\n', first + 1), text.size());
  const std::string source(text.substr(0, first));
  const std::string target(first < second ? text.substr(first + 1, second - first - 1) : "");
  if (first_invalid_utf8(source) != source.npos || first_invalid_utf8(target) != target.npos)
    return 0;
  const auto line = take_out(source, {true, true, true, true});
  const auto source_words = words_of(line.text);
  const auto target_words = words_of(target);
  if (source_words.size() * target_words.size() > 10000) return 0;
  std::vector<std::vector<float>> weights;
  auto next = second;
  for (std::size_t j = 0; j < target_words.size(); ++j) {
    weights.emplace_back();
    for (std::size_t i = 0; i < source_words.size(); ++i) {
      weights.back().push_back(next < text.size() ? static_cast<unsigned char>(text[next++]) : 0);
    }
  }
  const auto result = put_back(line, {target, source_words, target_words, &weights});
  std::size_t bytes = target.size();
  for (const auto& mark : line.marks) {
    bytes += mark.bytes.size();
    fuzz::check(result.find(mark.bytes) != result.npos, "each mark is in the translation");
  }
  const auto visible = [](std::string_view all) {
    return std::ranges::count_if(decode_utf8(all), [](char32_t c) { return !is_space(c); });
  };
  std::string marks;
  for (const auto& mark : line.marks) marks += mark.bytes;
  fuzz::check(line.marks.empty() || visible(result) == visible(target) + visible(marks),
              "marks and words are there once");
  fuzz::check(result.size() <= bytes + 2 * line.marks.size(), "at most two spaces for each mark");
  return 0;
}
