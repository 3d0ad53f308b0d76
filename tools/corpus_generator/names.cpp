#include "names.h"

#include <algorithm>
#include <array>

#include "corpus.h"
#include "phrase.h"

namespace regard::corpus {
namespace {

constexpr std::string_view consonants = "bdfgklmnprstvz";
constexpr std::string_view vowels = "aeiou";
constexpr std::string_view endings = "nrlskd";
constexpr std::array number_words = {"two", "three", "four", "five", "eight", "ten"};

char one_of(std::string_view letters, Random& random) {
  return letters[random.below(letters.size())];
}

// Calls draw() until the word belongs to the split.
template <typename Draw>
std::string draw_from(NameSplit split, const Draw& draw) {
  while (true) {
    const std::string word = draw();
    if (is_held_out("open " + word) == (split == NameSplit::unseen)) return word;
  }
}

// The result of replacing a word: absent, replaced, or not equally frequent in both languages.
enum class Replacement { absent, replaced, mismatch };

Replacement replace(Sentence& sentence, const std::string& en, const std::string& fr,
                    const std::string& replacement) {
  const auto replace_in = [&](std::vector<std::string>& words, const std::string& word) {
    std::ptrdiff_t count = 0;
    for (std::string& w : words) {
      if (w != word && w != capitalised(word)) continue;
      w = replacement;
      ++count;
    }
    return count;
  };
  const auto english_count = replace_in(sentence.en, en);
  const auto french_count = replace_in(sentence.fr, fr);
  if (english_count != french_count) return Replacement::mismatch;
  return english_count == 0 ? Replacement::absent : Replacement::replaced;
}

}  // namespace

std::string random_name(bool feminine, NameSplit split, Random& random) {
  return draw_from(split, [&] {
    std::string name;
    for (int syllable = 0; syllable < 2; ++syllable) {
      name += one_of(consonants, random);
      name += one_of(vowels, random);
    }
    name += one_of(consonants, random);
    name += feminine ? 'a' : one_of(vowels, random);
    if (!feminine) name += one_of(endings, random);
    return capitalised(name);
  });
}

std::string random_number(NameSplit split, Random& random) {
  return draw_from(split, [&] { return std::to_string(11 + random.below(9989)); });
}

std::optional<Sentence> replace_names(const Sentence& sentence, NameSplit split, Random& random) {
  Sentence result = sentence;
  bool any = false;
  const auto put = [&](const std::string& en, const std::string& fr,
                       const std::string& replacement) {
    const Replacement result_of_word = replace(result, en, fr, replacement);
    any = any || result_of_word == Replacement::replaced;
    return result_of_word != Replacement::mismatch;
  };
  for (const Name& name : names()) {
    if (!put(name.en, name.fr, random_name(name.feminine, split, random))) return std::nullopt;
  }
  for (const char* number : number_words) {
    const std::string french = form(determiner(number).fr, 2);
    if (!put(number, french, random_number(split, random))) return std::nullopt;
  }
  if (!any) return std::nullopt;
  return result;
}

}  // namespace regard::corpus
