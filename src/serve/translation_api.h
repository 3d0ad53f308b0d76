// The paths of the server: POST /translate, GET /models, POST /models/NAME/reload, GET /health,
// /metrics, /openapi.json and the page at / (docs/serving.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/asio.h"
#include "serve/http_server.h"
#include "serve/model_registry.h"
#include "serve/translate_request.h"

namespace regard {

struct ApiOptions {
  RequestLimits limits;
  std::size_t max_waiting_sentences = 2000;  // of each model; more is refused
  std::chrono::milliseconds timeout{60000};  // of a request, from its arrival
  bool log_text = false;                     // the access log has the texts too
};

// Sentences of requests that are admitted but not yet counted by their models.
struct ArrivingSentences {
  std::mutex mutex;
  std::map<const TranslationService*, std::size_t> counts = {};  // guarded by the mutex
};

class TranslationApi {
 public:
  // Adds the paths to the server, also those of the models that were added before. Everything must
  // outlive the server's run().
  TranslationApi(HttpServer& server, ModelRegistry& models, ApiOptions options);

  Json models() const;
  std::string metrics() const;

 private:
  asio::awaitable<void> translate(HttpExchange& exchange);
  asio::awaitable<void> reload(HttpExchange& exchange, std::string name);
  void count(const HttpRequest& request, const std::string& route, int status, double seconds);

  HttpServer& server_;
  ModelRegistry& models_;
  const ApiOptions options_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
  ArrivingSentences arriving_;

  std::map<std::pair<std::string, int>, std::uint64_t> responses_;  // by route and status
  std::vector<std::uint64_t> buckets_;  // of seconds of POST /translate; the last one is +Inf
  double seconds_ = 0;
};

// The texts of the files in src/serve/, stored in the program.
extern const char* const translation_page;
extern const char* const openapi_template;

}  // namespace regard
