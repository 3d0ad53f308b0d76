// The substitutions of mteval-v13a.pl, which the tokenizers of BLEU and of TER are made of. White
// space goes around what is a token of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regard {

void replace_all(std::u32string& line, std::u32string_view from, std::u32string_view to);

// &quot; &amp; &lt; &gt; as the characters they stand for, in this order.
void replace_entities(std::u32string& line);
// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation but for the apostrophe, comma, dash and period.
std::u32string isolate_ascii_punctuation(std::u32string_view line);
// ([^0-9])([\.,]), then ([\.,])([^0-9]), then ([0-9])(-): numbers stay whole.
std::u32string isolate_marks_beside_numbers(std::u32string_view line);

// s/(one)/ \1 /g
template <typename One>
std::u32string isolate(std::u32string_view line, One one) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (char32_t c : line) {
    if (one(c)) {
      spaced += {U' ', c, U' '};
    } else {
      spaced += c;
    }
  }
  return spaced;
}

// s/(first)(second)/ \1 \2/g: as with any regex, what one match took is not looked at again.
template <typename First, typename Second>
std::u32string isolate_first(std::u32string_view line, First first, Second second) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && first(line[i]) && second(line[i + 1])) {
      spaced += {U' ', line[i], U' ', line[i + 1]};
      ++i;
    } else {
      spaced += line[i];
    }
  }
  return spaced;
}

// s/(first)(second)/\1 \2 /g
template <typename First, typename Second>
std::u32string isolate_second(std::u32string_view line, First first, Second second) {
  std::u32string spaced;
  spaced.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && first(line[i]) && second(line[i + 1])) {
      spaced += {line[i], U' ', line[i + 1], U' '};
      ++i;
    } else {
      spaced += line[i];
    }
  }
  return spaced;
}

}  // namespace regard
