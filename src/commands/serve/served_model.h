// A model behind the server: checks requests, translates them with an Engine, and writes the
// results as JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "data/line_checks.h"
#include "serve/translation_service.h"
#include "translation/engine.h"
#include "translation/long_lines.h"
#include "translation/phrase_constraints.h"
#include "translation/text_format.h"

namespace regard {

class ServedModel : public TranslationService {
 public:
  // `search` are the search options of requests that give none, `glossaries` files. Throws
  // ConfigError if the model cannot translate the text of a request, InputError for a glossary.
  ServedModel(std::string name, LoadedModel model, const SearchOptions& search,
              const RequestLimits& limits, const std::vector<std::string>& glossaries);

  Json description() const override;
  std::uint64_t submit(const TranslateRequest& request, Listener listener) override;
  void cancel(std::uint64_t request) override { engine_.cancel(request); }
  Statistics statistics() const override;

 private:
  class Answer;
  // A text with markup, and the number of its parts.
  struct MarkedText {
    Segment segment;
    std::size_t parts = 0;
  };
  // The texts of a line that are translated one by one.
  struct LineParts {
    std::vector<std::string> texts = {};  // none: the line as a whole
    std::vector<MarkedText> marked = {};  // what is between them, if markup is taken out
  };

  SearchRequest search_of_request(const TranslateRequest& request,
                                  const SearchOptions& search) const;
  TextCodec codec_of_request(const TranslateRequest& request) const;
  // Throws HttpError if a document has too many sentences.
  std::vector<LineParts> parts_of(const TranslateRequest& request,
                                  const SearchRequest& search) const;
  SentenceOptions constraints_of(const TranslateRequest& request,
                                 const SearchOptions& search) const;

  std::string name_;
  LoadedModel model_;
  SearchOptions search_;
  RequestLimits limits_;
  Translator translator_;
  LineLimit line_limit_;
  PhraseEncoder phrases_;
  LineSplitter splitter_;
  std::shared_ptr<const Glossary> glossary_;  // null: none
  Engine engine_;
};

}  // namespace regard
