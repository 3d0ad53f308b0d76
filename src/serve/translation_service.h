// A model as the server sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/json.h"
#include "serve/translate_request.h"

namespace regard {

// All functions are thread-safe.
class TranslationService {
 public:
  virtual ~TranslationService() = default;

  // An element of GET /models, without its name and limits.
  virtual Json description() const = 0;

  // Called from any thread, several at once. Must not throw, except `reserve`.
  struct Listener {
    // Called once, before work begins, with the number of sentences, as unfinished_sentences counts
    // them, and an estimate of the bytes of the answer. May throw HttpError, which submit() passes
    // on.
    std::function<void(std::size_t sentences, std::size_t bytes)> reserve;
    // Called once for each line: with its element of `translations`, which may be an error.
    std::function<void(std::size_t line, Json translation)> finished;
    // Called with the best hypothesis so far of a line. May be empty.
    std::function<void(std::size_t line, std::string text)> partial;
  };
  // Begins to translate a request. Returns its number. Throws HttpError if the model cannot do what
  // it asks for; `finished` is not called then.
  virtual std::uint64_t submit(const TranslateRequest& request, Listener listener) = 0;
  // Ends a request soon; its lines that are not finished get an error.
  virtual void cancel(std::uint64_t request) = 0;

  struct Statistics {
    std::uint64_t finished_lines = 0;
    std::uint64_t failed_lines = 0;
    std::uint64_t unfinished_sentences = 0;  // waiting or in a batch
    std::uint64_t source_tokens = 0;
    std::uint64_t target_tokens = 0;
  };
  virtual Statistics statistics() const = 0;
};

}  // namespace regard
