#include "serve/translation_api.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/version.h"
#include "config/docs.h"
#include "serve/request_results.h"
#include "text/unicode.h"

namespace regard {
namespace {

using std::chrono::milliseconds;

// Upper ends of the buckets of the histogram, in seconds.
constexpr std::array<double, 12> bucket_ends = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                1,    2.5,   5,    10,  30,   60};

constexpr const char* page_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void check_queue(std::size_t waiting, std::size_t sentences, std::size_t max_sentences) {
  if (waiting == 0 || waiting + sentences <= max_sentences) return;
  throw HttpError(
      429, "busy",
      fmt::format("{} {} waiting, and {} would be more than the {} that the server takes; try "
                  "again in a second",
                  counted(waiting, "sentence"), waiting == 1 ? "is" : "are", sentences,
                  max_sentences),
      1);
}

// Counts the sentences of a request from its admission until its model counts them.
class Admission {
 public:
  Admission(ArrivingSentences& arriving, const TranslationService& service)
      : arriving_(arriving), service_(service) {}
  ~Admission() {
    const std::lock_guard lock(arriving_.mutex);
    const auto count = arriving_.counts.find(&service_);
    if (count == arriving_.counts.end()) return;
    count->second -= sentences_;
    if (count->second == 0) arriving_.counts.erase(count);
  }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Called once. Throws HttpError if too many sentences wait.
  void admit(std::size_t sentences, std::size_t max_sentences) {
    const std::lock_guard lock(arriving_.mutex);
    auto& count = arriving_.counts[&service_];
    check_queue(service_.statistics().unfinished_sentences + count, sentences, max_sentences);
    count += sentences;
    sentences_ = sentences;
  }

 private:
  ArrivingSentences& arriving_;
  const TranslationService& service_;
  std::size_t sentences_ = 0;
};

// Throws the HttpError for a wait that did not end with a result.
void check_wakeup(HttpExchange::Wakeup wakeup, milliseconds timeout) {
  switch (wakeup) {
    case HttpExchange::Wakeup::woken:
      return;
    case HttpExchange::Wakeup::client_gone:
      throw HttpError(499, "closed", "the client is gone");
    case HttpExchange::Wakeup::stopping:
      throw HttpError(503, "stopping", "the server stopped before the translation was finished", 5);
    case HttpExchange::Wakeup::deadline:
      throw HttpError(
          504, "timeout",
          fmt::format("the translation took more than {:.0f} s; send fewer or shorter lines",
                      std::chrono::duration<double>(timeout).count()));
  }
}

void respond(HttpExchange& exchange, std::string json) {
  exchange.respond({.body = std::move(json), .fields = {{"Cache-Control", "no-store"}}});
}

// Returns a handler that needs no waiting.
template <typename Function>
HttpServer::Handler at_once(Function function) {
  return [call = std::move(function)](HttpExchange& exchange) -> asio::awaitable<void> {
    call(exchange);
    co_return;
  };
}

// Returns the memory that this process has now; 0 if it is not known.
std::uint64_t resident_memory() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Replaces each response that is only a text by the description of an error with this text.
void complete_errors(Json& operation) {
  const auto content =
      Json::parse(R"({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}})");
  const auto headers =
      Json::parse(R"({"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}})");
  for (const auto& [status, response] : operation["responses"].items()) {
    if (!response.is_string()) continue;
    response = {{"description", response}, {"content", content}};
    if (operation["operationId"] == "translate" && (status == "429" || status == "503")) {
      response["headers"] = headers;
    }
  }
}

// Returns the OpenAPI description, with what depends on the program.
std::string openapi() {
  auto json = Json::parse(openapi_template);
  json["info"]["version"] = version();
  const auto schema = Json::parse(options_schema());
  const auto& keys = schema["properties"]["search"]["properties"];
  auto& search = json["components"]["schemas"]["Search"]["properties"];
  for (const auto& key : search_keys()) search[key] = keys.at(key);
  for (auto& methods : json["paths"]) {
    for (auto& operation : methods) complete_errors(operation);
  }
  return to_text(json, 2) + "\n";
}

// Returns the text with a question mark for each byte that is not printable ASCII.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// Returns a label's value for Prometheus.
std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

TranslationApi::TranslationApi(HttpServer& server, ModelRegistry& models, ApiOptions options)
    : server_(server), models_(models), options_(options), buckets_(bucket_ends.size() + 1) {
  server.add("POST", "/translate", {.is_protected = true, .has_body = true},
             [this](HttpExchange& exchange) { return translate(exchange); });
  for (const auto& name : models.names()) {
    server.add("POST", "/models/" + name + "/reload", {.is_protected = true, .needs_token = true},
               [this, name](HttpExchange& exchange) { return reload(exchange, name); });
  }
  server.add("GET", "/models", {.is_protected = true}, at_once([this](HttpExchange& exchange) {
               respond(exchange, to_text(this->models()));
             }));
  server.add("GET", "/health", {}, at_once([](HttpExchange& exchange) {
               respond(exchange, to_text({{"status", "ok"}}));
             }));
  server.add(
      "GET", "/metrics", {}, at_once([this](HttpExchange& exchange) {
        exchange.respond({.type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics()});
      }));
  server.add("GET", "/openapi.json", {}, at_once([text = openapi()](HttpExchange& exchange) {
               exchange.respond({.body = text});
             }));
  server.add("GET", "/", {}, at_once([](HttpExchange& exchange) {
               exchange.respond({.type = "text/html; charset=utf-8",
                                 .body = translation_page,
                                 .fields = {{"Content-Security-Policy", page_policy},
                                            {"X-Content-Type-Options", "nosniff"},
                                            {"Referrer-Policy", "no-referrer"}}});
             }));
  server.set_access_log([this](const HttpRequest& request, const std::string& route, int status,
                               double seconds) { count(request, route, status, seconds); });
}

Json TranslationApi::models() const {
  Json list = Json::array();
  for (const auto& name : models_.names()) {
    Json element = {{"name", name}};
    element.update(models_.find(name)->description());
    element["limits"] = {{"max_beam_size", options_.limits.max_beam_size},
                         {"max_lines", options_.limits.max_lines},
                         {"max_characters", options_.limits.max_characters}};
    list.push_back(std::move(element));
  }
  return {{"models", std::move(list)}};
}

asio::awaitable<void> TranslationApi::reload(HttpExchange& exchange, std::string name) {
  std::string fault;
  if (!models_.begin_reload(name)) {
    throw HttpError(429, "busy", fmt::format("{}: it is being loaded; try again later", name), 5);
  }
  co_await call_on(models_.thread(), [&] {
    try {
      models_.reload(name);
    } catch (const std::exception& error) {
      fault = error.what();
    }
  });
  if (!fault.empty()) {
    log::error("{}: could not be loaded again, so the old model stays: {}", name, fault);
    throw HttpError(409, "unloadable",
                    fmt::format("{}: the old model stays, because the new one cannot be loaded: {}",
                                name, fault));
  }
  respond(exchange, to_text({{"model", name}, {"status", "reloaded"}}));
}

asio::awaitable<void> TranslationApi::translate(HttpExchange& exchange) {
  const auto deadline = HttpExchange::Clock::now() + options_.timeout;
  const auto request = co_await call_on(exchange.workers(), [&] {
    return parse_translate_request(exchange.request().body, options_.limits);
  });
  // Keeps the model until the request ends, also if it is loaded again meanwhile.
  const auto service = models_.find(request.model);
  const auto model = request.model.empty() ? models_.names().front() : request.model;
  const auto results =
      std::make_shared<RequestResults>(request, exchange.memory(), exchange.waker());
  SubmittedRequest submitted(*service, results);
  {
    Admission admission(arriving_, *service);
    co_await call_on(exchange.workers(), [&] {
      submitted.submit(request, [&](std::size_t sentences) {
        admission.admit(sentences, options_.max_waiting_sentences);
      });
    });
  }
  if (request.stream != TranslateRequest::Stream::none) {
    HttpResponse head{.type = "text/event-stream", .body = ""};
    head.fields.emplace_back("Cache-Control", "no-store");
    head.fields.emplace_back("X-Accel-Buffering", "no");  // a proxy passes events on at once
    co_await exchange.begin(std::move(head));
    std::optional<HttpError> failure;
    try {
      for (bool finished = request.lines.empty(); !finished;) {
        const auto wakeup = co_await exchange.wait_until(deadline);
        check_wakeup(wakeup, options_.timeout);
        std::string text;
        for (const auto& event : results->take_events()) text += event;
        co_await exchange.write(std::move(text));
        finished = results->is_finished();
      }
      submitted.has_ended = true;
    } catch (const HttpError& error) {
      failure = error;
    }
    if (failure && failure->status == 499) throw HttpError(*failure);
    auto last = failure ? event_text("error", error_json(failure->kind, failure->message))
                        : event_text("done", {{"model", model}});
    co_await exchange.write(std::move(last));
    co_return;
  }
  while (!results->is_finished()) {
    const auto wakeup = co_await exchange.wait_until(deadline);
    check_wakeup(wakeup, options_.timeout);
  }
  submitted.has_ended = true;
  if (request.is_single && results->first_error()) {
    const auto& error = *results->first_error();
    const auto kind = error["kind"].get<std::string>();
    throw HttpError(kind == "input" ? 422 : 500, kind, error["message"].get<std::string>());
  }
  respond(exchange, fmt::format(R"({{"model":{},"translations":[)", to_text(model)) +
                        results->take_results() + "]}");
}

void TranslationApi::count(const HttpRequest& request, const std::string& route, int status,
                           double seconds) {
  ++responses_[{route.empty() ? "other" : route, status}];
  if (route == "/translate") {
    const auto bucket = std::ranges::lower_bound(bucket_ends, seconds) - bucket_ends.begin();
    ++buckets_[static_cast<std::size_t>(bucket)];
    seconds_ += seconds;
  }
  auto line = fmt::format("{} {} {} {} {:.1f} ms", request.remote_address,
                          excerpt(printable(request.method)), excerpt(printable(request.path)),
                          status, 1000 * seconds);
  // As a JSON string, so that a text cannot forge a line of the log.
  if (options_.log_text && !request.body.empty()) line += " " + to_text(request.body);
  log::info("{}", line);
}

std::string TranslationApi::metrics() const {
  std::string text;
  const auto begin = [&](const std::string& name, const char* type, const char* help) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  };
  begin("regard_responses_total", "counter", "Responses by path and status.");
  for (const auto& [key, number] : responses_) {
    text += fmt::format("regard_responses_total{{path={},status=\"{}\"}} {}\n", quoted(key.first),
                        key.second, number);
  }
  begin("regard_translate_seconds", "histogram", "Time of a request to /translate.");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    total += buckets_[i];
    const auto end = i < bucket_ends.size() ? fmt::format("{}", bucket_ends[i]) : "+Inf";
    text += fmt::format("regard_translate_seconds_bucket{{le=\"{}\"}} {}\n", end, total);
  }
  text += fmt::format("regard_translate_seconds_sum {}\nregard_translate_seconds_count {}\n",
                      seconds_, total);
  using Statistics = TranslationService::Statistics;
  std::vector<std::pair<std::string, Statistics>> all;
  for (const auto& name : models_.names()) {
    all.emplace_back("model=" + quoted(name), models_.find(name)->statistics());
  }
  // Adds a value of each model, with further labels.
  const auto add = [&](const char* name, const char* labels, std::uint64_t Statistics::*value) {
    for (const auto& [model, numbers] : all) {
      text += fmt::format("{}{{{}{}}} {}\n", name, model, labels, numbers.*value);
    }
  };
  begin("regard_lines_total", "counter", "Lines that were translated, or had an error.");
  add("regard_lines_total", ",result=\"translated\"", &Statistics::finished_lines);
  add("regard_lines_total", ",result=\"error\"", &Statistics::failed_lines);
  begin("regard_tokens_total", "counter", "Tokens of translated lines, without </s>.");
  add("regard_tokens_total", ",side=\"source\"", &Statistics::source_tokens);
  add("regard_tokens_total", ",side=\"target\"", &Statistics::target_tokens);
  begin("regard_unfinished_sentences", "gauge", "Sentences that wait or are being translated.");
  add("regard_unfinished_sentences", "", &Statistics::unfinished_sentences);
  begin("regard_connections", "gauge", "Open connections.");
  text += fmt::format("regard_connections {}\n", server_.connections());
  begin("regard_request_memory_bytes", "gauge", "Memory counted for the requests in progress.");
  text += fmt::format("regard_request_memory_bytes {}\n", server_.memory().used());
  begin("process_resident_memory_bytes", "gauge", "Resident memory.");
  text += fmt::format("process_resident_memory_bytes {}\n", resident_memory());
  begin("process_start_time_seconds", "gauge", "Start of the server, in seconds since 1970.");
  text += fmt::format("process_start_time_seconds {:.3f}\n",
                      std::chrono::duration<double>(start_.time_since_epoch()).count());
  return text;
}

}  // namespace regard
