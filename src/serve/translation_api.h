// The paths of the server: POST /translate, GET /models, POST /models/NAME/reload, GET /health,
// /metrics, /openapi.json and the page at / (docs/serving.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/asio.h"
#include "serve/http_server.h"
#include "serve/translation_service.h"

namespace regard {

struct ApiOptions {
  RequestLimits limits;
  std::size_t max_waiting_lines = 2000;      // of each model; more is refused
  std::chrono::milliseconds timeout{60000};  // of a request, from its arrival
  bool log_text = false;                     // the access log has the texts too
};

// The models of a server, by name. A model can be loaded again while it is in use: new requests go
// to the new one, running ones end with the old one. Thread-safe.
class ModelRegistry {
 public:
  using Service = std::shared_ptr<TranslationService>;
  using Loader = std::function<std::unique_ptr<TranslationService>()>;

  ~ModelRegistry();

  // Loads a model. Throws what the loader throws, and ConfigError for a name that cannot be used.
  void add(const std::string& name, Loader loader);
  // Loads a model again. If that fails, rethrows the exception and keeps the model. Call it on
  // thread().
  void reload(const std::string& name);
  // Loads all models again on thread(), and logs errors. Returns at once.
  void reload_all();
  // One thread, which loads and destroys models. The last user of an old model may be one of its
  // own threads.
  boost::asio::thread_pool& thread() { return thread_; }

  std::vector<std::string> names() const;  // in the order of add()
  // Returns the model, the first one for an empty name. Throws HttpError 404.
  Service find(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    Loader loader;
    Service service;
  };

  Service load(const Loader& loader);

  mutable std::mutex mutex_;  // guards `service` of the entries
  std::vector<Entry> entries_;
  boost::asio::thread_pool thread_{1};
};

class TranslationApi {
 public:
  // Adds the paths to the server. Everything must outlive the server's run().
  TranslationApi(HttpServer& server, ModelRegistry& models, ApiOptions options);

  Json models() const;
  std::string metrics() const;

 private:
  boost::asio::awaitable<void> translate(HttpExchange& exchange);
  boost::asio::awaitable<void> reload(HttpExchange& exchange);
  void count(const HttpRequest& request, const std::string& route, int status, double seconds);

  HttpServer& server_;
  ModelRegistry& models_;
  const ApiOptions options_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
  // Lines of requests that are checked but not yet submitted, by model. Used on the server's
  // thread.
  std::map<const TranslationService*, std::size_t> arriving_lines_;

  mutable std::mutex mutex_;                                        // guards the members below
  std::map<std::pair<std::string, int>, std::uint64_t> responses_;  // by route and status
  std::vector<std::uint64_t> buckets_;  // of seconds of POST /translate; the last one is +Inf
  double seconds_ = 0;
};

// The texts of the files in src/serve/, stored in the program.
extern const char* const translation_page;
extern const char* const openapi_template;

}  // namespace regard
