#include "translation/front_end.h"

#include <utility>

#include "base/error.h"
#include "translation/ensemble_folders.h"

namespace regard {

FrontEnd::FrontEnd(const TranslationModel& model)
    : tokenizer_(model.options.data.tokenizer),
      translates_text_(translates_text(model.options)),
      limit_(source_line_limit(model.codec, model.options.data)),
      phrases_(model.codec, tokenizer_.kind),
      splitter_(model.codec, tokenizer_.user_symbols, languages(model.options).first) {}

std::shared_ptr<const Glossary> FrontEnd::glossary(
    const std::vector<GlossaryEntry>& entries) const {
  if (!translates_text_) throw ConfigError("glossary: the model does not translate words");
  return std::make_shared<const Glossary>(entries, phrases_, tokenizer_.user_symbols);
}

std::optional<std::int64_t> FrontEnd::max_words(std::int64_t split_length, bool whole_lines,
                                                const SearchRequest& search,
                                                bool has_constraints) const {
  if (!translates_text_) {
    if (split_length == 0) return std::nullopt;
    throw ConfigError("split_length: the source of the model has no sentences to split at");
  }
  const bool is_whole = whole_lines || search.n_best > 1 || search.samples > 0 ||
                        search.mbr != MbrMetric::none || search.want_tree || has_constraints;
  if (split_length == 0 && is_whole) return std::nullopt;
  return split_length;
}

Translation FrontEnd::join(std::vector<Translation> parts, const TextCodec& codec) const {
  if (parts.size() == 1) return std::move(parts.front());
  return join_translations(parts, codec, tokenizer_.kind);
}

}  // namespace regard
