// The results of a request to /translate while its model translates it: as JSON text, in the order
// of the lines or as server-sent events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/http_message.h"
#include "serve/server_memory.h"
#include "serve/translate_request.h"
#include "serve/translation_service.h"

namespace regard {

// Returns a server-sent event.
std::string event_text(const std::string& event, const Json& data);

// Shared by the handler of the request and the threads of the model. Thread-safe.
class RequestResults {
 public:
  // `wake` is called when there is something to take; it must not throw. `memory` must live until
  // close().
  RequestResults(const TranslateRequest& request, ServerMemory::Lease& memory,
                 std::function<void()> wake);

  // Counts the estimated bytes of the answer. Throws HttpError if they are too many.
  void reserve(std::size_t bytes);
  // Stores the element of `translations` of a line, or its error.
  void finish(std::size_t line, Json translation);
  // Stores the best hypothesis so far. A slow client gets only the last of several.
  void set_partial(std::size_t line, std::string text);
  // Ignores what comes later.
  void close();

  // Returns the events since the last call. Throws HttpError if the answer needs too much memory.
  std::vector<std::string> take_events();
  // True if all lines are finished and all events taken. Throws as take_events().
  bool is_finished() const;
  // Return the translations in the order of the lines, with commas between them, and the error of
  // the first line that has one. Call them once, when all lines are finished.
  std::string take_results();
  const std::optional<Json>& first_error() const { return first_error_; }

 private:
  void add(std::size_t bytes);

  const bool is_stream_;
  mutable std::mutex mutex_;
  std::vector<std::string> results_;
  std::vector<std::string> events_;
  std::map<std::size_t, std::string> partial_;
  std::optional<Json> first_error_;
  std::optional<HttpError> failure_;
  std::size_t unfinished_;
  std::size_t reserved_ = 0;
  std::size_t bytes_ = 0;
  ServerMemory::Lease* memory_;  // nullptr after close()
  std::function<void()> wake_;
};

// A request that a model translates. Cancelled when it is destroyed before its end.
class SubmittedRequest {
 public:
  SubmittedRequest(TranslationService& service, std::shared_ptr<RequestResults> results)
      : service_(service), results_(std::move(results)) {}
  ~SubmittedRequest();
  SubmittedRequest(const SubmittedRequest&) = delete;
  SubmittedRequest& operator=(const SubmittedRequest&) = delete;

  // Calls `admit` with the number of sentences before work begins. Throws HttpError, as
  // TranslationService::submit() and `admit`.
  void submit(const TranslateRequest& request,
              const std::function<void(std::size_t sentences)>& admit);

  bool has_ended = false;

 private:
  TranslationService& service_;
  std::shared_ptr<RequestResults> results_;
  std::optional<std::uint64_t> number_;
};

}  // namespace regard
