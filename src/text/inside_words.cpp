#include "text/inside_words.h"

#include "text/unicode.h"
#include "text/vocabulary.h"

namespace regard {

std::vector<bool> inside_words(const Tokenizer& tokenizer, TokenizerKind kind) {
  if (kind != TokenizerKind::bpe && kind != TokenizerKind::unigram) return {};
  std::vector<bool> inside(static_cast<std::size_t>(tokenizer.size()), false);
  for (std::int32_t id = special_count; id < tokenizer.size(); ++id) {
    const auto first = decode_utf8(tokenizer.token(id)).front();  // ▁ is neither
    inside[static_cast<std::size_t>(id)] = is_letter(first) || is_number(first);
  }
  return inside;
}

}  // namespace regard
