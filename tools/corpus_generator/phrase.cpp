#include "phrase.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "morphology.h"

namespace regard::corpus {

std::string capitalised(std::string word) {
  const auto first = static_cast<unsigned char>(word.at(0));
  if (first >= 'a' && first <= 'z') {
    word[0] = static_cast<char>(first - 'a' + 'A');
  } else if (first == 0xC3) {  // à … ÿ: two bytes, 0xC3 0xA0 … 0xBF
    word[1] = static_cast<char>(static_cast<unsigned char>(word[1]) - 0x20);
  }
  return word;
}

namespace {

bool share_a_meaning(const Token& a, const Token& b) {
  return std::any_of(a.meanings.begin(), a.meanings.end(), [&](int meaning) {
    return std::find(b.meanings.begin(), b.meanings.end(), meaning) != b.meanings.end();
  });
}

}  // namespace

Phrase& Phrase::operator+=(const Phrase& next) {
  en.insert(en.end(), next.en.begin(), next.en.end());
  fr.insert(fr.end(), next.fr.begin(), next.fr.end());
  return *this;
}

void Draft::combine(std::string_view kind, std::string_view left, std::string_view right) {
  combinations_.push_back(fmt::format("{} {} {}", kind, left, right));
}

void append(Tokens& tokens, std::string_view text, int meaning) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) tokens.push_back({word, {meaning}});
}

Phrase translate(std::string_view en, std::string_view fr, Draft& draft) {
  Phrase phrase;
  const int meaning = draft.meaning();
  append(phrase.en, en, meaning);
  append(phrase.fr, fr, meaning);
  return phrase;
}

Phrase translate(const Expression& expression, Draft& draft) {
  Phrase phrase;
  std::istringstream en{expression.en}, fr{expression.fr};
  for (std::string word; en >> word;) phrase.en.push_back({word, {draft.meaning()}});
  for (std::string word; fr >> word;) {
    const auto slash = word.find('/');
    const Token& source = phrase.en.at(std::stoul(word.substr(slash + 1)));
    phrase.fr.push_back({word.substr(0, slash), source.meanings});
  }
  return phrase;
}

Sentence finish(Phrase phrase, std::string_view mark, Draft& draft) {
  phrase += translate(mark, mark, draft);
  phrase.fr = contract(std::move(phrase.fr));
  Sentence sentence;
  for (const Token& token : phrase.en) sentence.en.push_back(token.text);
  for (const Token& token : phrase.fr) sentence.fr.push_back(token.text);
  sentence.en[0] = capitalised(sentence.en[0]);
  sentence.fr[0] = capitalised(sentence.fr[0]);
  for (std::size_t i = 0; i < phrase.en.size(); ++i)
    for (std::size_t j = 0; j < phrase.fr.size(); ++j)
      if (share_a_meaning(phrase.en[i], phrase.fr[j]))
        sentence.alignment.emplace_back(static_cast<int>(i), static_cast<int>(j));
  sentence.combinations = draft.combinations();
  return sentence;
}

std::string line(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string pharaoh(const Sentence& sentence) {
  std::string text;
  for (const auto& [source, target] : sentence.alignment)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  return text;
}

}  // namespace regard::corpus
