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

namespace regard {

class ServedModel : public TranslationService {
 public:
  // `search` are the search options of requests that give none. Throws ConfigError if the model
  // cannot translate the text of a request.
  ServedModel(std::string name, LoadedModel model, const SearchOptions& search,
              const RequestLimits& limits);

  Json description() const override;
  std::uint64_t submit(const TranslateRequest& request, Listener listener) override;
  void cancel(std::uint64_t request) override { engine_.cancel(request); }
  Statistics statistics() const override;

 private:
  class Answer;

  SearchRequest search_of_request(const TranslateRequest& request,
                                  const SearchOptions& search) const;
  TextCodec codec_of_request(const TranslateRequest& request) const;
  SentenceOptions constraints_of(const TranslateRequest& request,
                                 const SearchOptions& search) const;

  std::string name_;
  LoadedModel model_;
  SearchOptions search_;
  RequestLimits limits_;
  Translator translator_;
  LineLimit line_limit_;
  std::vector<bool> continues_word_;
  Engine engine_;
};

}  // namespace regard
