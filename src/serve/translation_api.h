// The paths of the server: POST /translate, GET /models, /health, /metrics, /openapi.json and the
// page at / (docs/serving.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/http_server.h"
#include "serve/translation_service.h"

namespace regard {

struct ApiOptions {
  RequestLimits limits;
  std::size_t max_waiting_lines = 2000;      // of each model; more is refused
  std::chrono::milliseconds timeout{60000};  // of a request, from its arrival
  bool log_text = false;                     // the access log has the texts too
};

class TranslationApi {
 public:
  // Adds the paths to the server. The first service is the default. Everything must outlive the
  // server's run().
  TranslationApi(HttpServer& server, std::vector<std::unique_ptr<TranslationService>>& services,
                 ApiOptions options);

  Json models() const;
  std::string metrics() const;

 private:
  void translate(const httplib::Request& http_request, httplib::Response& response);
  TranslationService& service_named(const std::string& name) const;
  void check_queue(const TranslationService& service, std::size_t lines) const;
  void count(const httplib::Request& request, const httplib::Response& response, double seconds);

  HttpServer& server_;
  std::vector<std::unique_ptr<TranslationService>>& services_;
  const ApiOptions options_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();

  mutable std::mutex mutex_;                                        // guards the members below
  std::map<std::pair<std::string, int>, std::uint64_t> responses_;  // by path and status
  std::vector<std::uint64_t> buckets_;  // of seconds of POST /translate; the last one is +Inf
  double seconds_ = 0;
};

// The texts of the files in src/serve/, stored in the program.
extern const char* const translation_page;
extern const char* const openapi_template;

}  // namespace regard
