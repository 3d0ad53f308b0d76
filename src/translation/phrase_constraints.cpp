#include "translation/phrase_constraints.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "decoding/lexical_constraints.h"
#include "text/unicode.h"

namespace regard {
namespace {

using Phrase = std::vector<std::int32_t>;

bool contains_phrase(const Phrase& tokens, const Phrase& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

}  // namespace

Phrase encode_phrase(const TextCodec& codec, const std::string& phrase, const std::string& place,
                     std::string_view option) {
  const auto ids = codec.target->encode(phrase);
  const auto unknown = std::find(ids.begin(), ids.end(), unk_id);
  if (unknown == ids.end()) return ids;
  const auto pieces = codec.target->pieces(phrase, ids);
  const auto at = static_cast<std::size_t>(unknown - ids.begin());
  throw InputError("{}: `{}` is not in the model's vocabulary, so {} cannot use it", place,
                   excerpt(at < pieces.size() ? pieces[at] : phrase), option);
}

std::optional<Phrase> encode_banned_phrase(const TextCodec& codec, std::string_view phrase) {
  auto ids = codec.target->encode(phrase);
  if (std::ranges::count(ids, unk_id) > 0) return std::nullopt;
  return ids;
}

void check_constraints(const SentenceOptions& sentence, const TextCodec& codec,
                       std::int64_t max_output_length, const ConstraintPlaces& places,
                       std::string_view advice) {
  auto needed = sentence.prefix.size();
  for (const auto& phrase : sentence.required_phrases) needed += phrase.size();
  // The maximum includes </s>.
  if (needed > 0 && static_cast<std::int64_t>(needed) >= max_output_length) {
    throw InputError("{}: found {}, expected fewer than max_output_length, {}; raise it with {}",
                     sentence.required_phrases.empty() ? places.prefix : places.required,
                     counted(needed, "token"), max_output_length, advice);
  }
  for (const auto& ban : sentence.bad_words) {
    const auto contradicts = [&](const Phrase& phrase) { return contains_phrase(phrase, ban); };
    const bool is_required = std::any_of(sentence.required_phrases.begin(),
                                         sentence.required_phrases.end(), contradicts);
    if (!is_required && !contradicts(sentence.prefix)) continue;
    throw InputError("{}: `{}` is banned, but {} requires it", places.banned,
                     codec.target->decode(ban), is_required ? places.required : places.prefix);
  }
}

bool meets_constraints(const SentenceOptions& sentence, const std::vector<Hypothesis>& hypotheses,
                       const std::vector<bool>& continues_word) {
  if (sentence.required_phrases.empty()) return true;
  return std::ranges::all_of(hypotheses, [&](const Hypothesis& hypothesis) {
    return constraint_progress(hypothesis.tokens, sentence.required_phrases, continues_word)
        .complete;
  });
}

}  // namespace regard
