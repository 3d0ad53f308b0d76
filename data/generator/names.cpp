#include "names.h"

#include <algorithm>
#include <array>

#include "corpus.h"

namespace regard::corpus {
namespace {

constexpr std::string_view consonants = "bdfgklmnprstvz";
constexpr std::string_view vowels = "aeiou";
constexpr std::string_view endings = "nrlskd";
constexpr std::array numbers = {"two", "three", "four", "five", "eight", "ten"};

char one_of(std::string_view letters, Random& random) {
  return letters[random.below(letters.size())];
}

// Draws until the word is of the share.
template <typename Draw>
std::string drawn(Share share, const Draw& draw) {
  while (true) {
    const std::string word = draw();
    if (held_out("open " + word) == (share == Share::unseen)) return word;
  }
}

std::string capitalised(std::string word) {
  if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

// Whether the word was there, as often in one language as in the other, and has been replaced.
enum class Found { nowhere, replaced, unlike };

Found replace(Sentence& sentence, const std::string& en, const std::string& fr,
              const std::string& by) {
  const auto in = [&](std::vector<std::string>& words, const std::string& word) {
    std::ptrdiff_t count = 0;
    for (std::string& w : words) {
      if (w != word && w != capitalised(word)) continue;
      w = by;
      ++count;
    }
    return count;
  };
  const auto in_english = in(sentence.en, en);
  const auto in_french = in(sentence.fr, fr);
  if (in_english != in_french) return Found::unlike;
  return in_english == 0 ? Found::nowhere : Found::replaced;
}

}  // namespace

std::string open_name(bool feminine, Share share, Random& random) {
  return drawn(share, [&] {
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

std::string open_number(Share share, Random& random) {
  return drawn(share, [&] { return std::to_string(11 + random.below(9989)); });
}

std::optional<Sentence> renamed(const Sentence& sentence, Share share, Random& random) {
  Sentence result = sentence;
  bool any = false;
  const auto put = [&](const std::string& en, const std::string& fr, const std::string& by) {
    const Found found = replace(result, en, fr, by);
    any = any || found == Found::replaced;
    return found != Found::unlike;
  };
  for (const Name& name : names()) {
    if (!put(name.en, name.fr, open_name(name.feminine, share, random))) return std::nullopt;
  }
  for (const char* number : numbers) {
    const std::string french = form(determiner(number).fr, 2);
    if (!put(number, french, open_number(share, random))) return std::nullopt;
  }
  if (!any) return std::nullopt;
  return result;
}

}  // namespace regard::corpus
