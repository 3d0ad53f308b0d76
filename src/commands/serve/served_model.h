// A model behind the server: checks requests, translates them with an Engine, and writes the
// results as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/loaded_model.h"
#include "serve/translation_service.h"
#include "translation/engine.h"
#include "translation/front_end.h"
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

  // As submit(), but a fault of the request can also be a ConfigError or an InputError.
  std::uint64_t start(const TranslateRequest& request, Listener listener);
  SearchRequest search_of_request(const TranslateRequest& request,
                                  const SearchOptions& search) const;
  // See FrontEnd::max_words(). Throws HttpError if the documents have too many sentences.
  std::vector<LineParts> parts_of(const TranslateRequest& request,
                                  std::optional<std::int64_t> max_words) const;

  std::string name_;
  LoadedModel model_;
  SearchOptions search_;
  RequestLimits limits_;
  Translator translator_;
  FrontEnd front_end_;
  std::shared_ptr<const Glossary> glossary_;  // null: none
  Engine engine_;
};

}  // namespace regard
