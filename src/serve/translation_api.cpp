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

// A request that is being translated. Shared by its handler and the threads of the model.
class Pending {
 public:
  using Events = std::vector<std::string>;

  // `wake` is called when there is something to take. `memory` must outlive the calls of finish(),
  // as long as close() was not called.
  Pending(const TranslateRequest& request, ServerMemory::Lease& memory, std::function<void()> wake)
      : is_stream_(request.stream != TranslateRequest::Stream::none),
        results_(is_stream_ ? 0 : request.lines.size()),
        unfinished_(request.lines.size()),
        memory_(&memory),
        wake_(std::move(wake)) {}

  void reserve(std::size_t bytes) {
    memory_->add(bytes);
    reserved_ = bytes;
  }
  void finish(std::size_t line, Json translation) {
    std::optional<Json> error;
    if (translation.contains("error")) error = translation["error"];
    if (is_stream_) {
      Json data = {{"line", line}};
      data.update(translation);
      translation = std::move(data);
    }
    auto text = is_stream_ ? event_text("translation", translation) : to_text(translation);
    const std::lock_guard lock(mutex_);
    if (memory_ != nullptr) {
      add(text.size());
      if (is_stream_) {
        events_.push_back(std::move(text));
        partial_.erase(line);
      } else {
        results_[line] = std::move(text);
      }
      if (!first_error_) first_error_ = std::move(error);
    }
    --unfinished_;  // last: the line is finished again, with an error, if something above throws
    if (memory_ != nullptr && (unfinished_ == 0 || is_stream_ || failure_)) wake_();
  }
  // A slow client gets only the last of several.
  void set_partial(std::size_t line, std::string text) {
    const std::lock_guard lock(mutex_);
    if (memory_ == nullptr) return;
    partial_[line] = std::move(text);
    wake_();
  }
  // Ignores what comes later.
  void close() {
    const std::lock_guard lock(mutex_);
    memory_ = nullptr;
  }

  // Returns the events since the last call. Throws HttpError if the answer needs too much memory.
  Events take_events() {
    const std::lock_guard lock(mutex_);
    if (failure_) throw HttpError(*failure_);
    Events events;
    for (const auto& [line, text] : partial_) {
      events.push_back(event_text("partial", {{"line", line}, {"text", text}}));
    }
    partial_.clear();
    std::ranges::move(events_, std::back_inserter(events));
    events_.clear();
    return events;
  }
  // True if all lines are finished and all events taken. Throws as take_events().
  bool is_finished() const {
    const std::lock_guard lock(mutex_);
    if (failure_) throw HttpError(*failure_);
    return unfinished_ == 0 && events_.empty();
  }
  // The translations in the order of the lines, as JSON. Call them when all lines are finished.
  const std::vector<std::string>& results() const { return results_; }
  const std::optional<Json>& first_error() const { return first_error_; }

  static std::string event_text(const std::string& event, const Json& data) {
    return fmt::format("event: {}\ndata: {}\n\n", event, to_text(data));
  }

 private:
  // Counts bytes of the answer: those beyond the estimate need more memory.
  void add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= reserved_ || failure_) return;
    try {
      memory_->add(bytes_ - reserved_);
      reserved_ = bytes_;
    } catch (const HttpError& error) {
      failure_ = error;
    }
  }

  const bool is_stream_;
  mutable std::mutex mutex_;
  std::vector<std::string> results_;
  Events events_;
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
class Running {
 public:
  Running(TranslationService& service, std::shared_ptr<Pending> pending)
      : service_(service), pending_(std::move(pending)) {}
  ~Running() {
    pending_->close();
    if (number_ && !has_ended) service_.cancel(*number_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void submit(const TranslateRequest& request) {
    TranslationService::Listener listener{
        .reserve = [this](std::size_t bytes) { pending_->reserve(bytes); },
        .finished = [pending = pending_](
                        std::size_t line,
                        Json translation) { pending->finish(line, std::move(translation)); },
        .partial = {}};
    if (request.stream == TranslateRequest::Stream::tokens) {
      listener.partial = [pending = pending_](std::size_t line, std::string text) {
        pending->set_partial(line, std::move(text));
      };
    }
    number_ = service_.submit(request, std::move(listener));
  }

  bool has_ended = false;

 private:
  TranslationService& service_;
  std::shared_ptr<Pending> pending_;
  std::optional<std::uint64_t> number_;
};

// Counts the lines of a request until they are submitted.
class ArrivingLines {
 public:
  ArrivingLines(std::map<const TranslationService*, std::size_t>& counts,
                const TranslationService& service, std::size_t lines)
      : counts_(counts), service_(&service), lines_(lines) {
    counts_[service_] += lines_;
  }
  ~ArrivingLines() {
    const auto count = counts_.find(service_);
    count->second -= lines_;
    if (count->second == 0) counts_.erase(count);
  }
  ArrivingLines(const ArrivingLines&) = delete;
  ArrivingLines& operator=(const ArrivingLines&) = delete;

 private:
  std::map<const TranslationService*, std::size_t>& counts_;
  const TranslationService* service_;
  std::size_t lines_;
};

void check_queue(std::size_t waiting, std::size_t lines, std::size_t max_lines) {
  if (waiting == 0 || waiting + lines <= max_lines) return;
  throw HttpError(
      429, "busy",
      fmt::format("{} {} waiting, and {} would be more than the {} that the server takes; try "
                  "again in a second",
                  counted(waiting, "line"), waiting == 1 ? "is" : "are", lines, max_lines),
      1);
}

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

void respond(HttpExchange& exchange, std::string json, int status = 200) {
  exchange.respond(
      {.status = status, .body = std::move(json), .fields = {{"Cache-Control", "no-store"}}});
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

// Returns the OpenAPI description, with what depends on the program.
std::string openapi() {
  auto json = Json::parse(openapi_template);
  json["info"]["version"] = version();
  const auto schema = Json::parse(options_schema());
  const auto& keys = schema["properties"]["search"]["properties"];
  auto& search = json["components"]["schemas"]["Search"]["properties"];
  for (const auto& key : search_keys()) search[key] = keys.at(key);
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
  server.add("POST", "/models/*/reload", {.is_protected = true, .needs_token = true},
             [this](HttpExchange& exchange) { return reload(exchange); });
  server.add("GET", "/models", {.is_protected = true}, at_once([this](HttpExchange& exchange) {
               respond(exchange, to_text(this->models()));
             }));
  server.add("GET", "/health", {.always = true}, at_once([this](HttpExchange& exchange) {
               const bool stopping = server_.is_stopping();
               respond(exchange, to_text({{"status", stopping ? "stopping" : "ok"}}),
                       stopping ? 503 : 200);
             }));
  server.add(
      "GET", "/metrics", {.always = true}, at_once([this](HttpExchange& exchange) {
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

asio::awaitable<void> TranslationApi::reload(HttpExchange& exchange) {
  const auto name = decode_percent(exchange.request().name);
  models_.find(name);
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
    throw HttpError(409, "unloadable",
                    fmt::format("{}: the old model stays, because the new one cannot be loaded: {}",
                                name, fault));
  }
  log::info("{}: loaded again", name);
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
  const auto lines = request.part_count();
  const auto arriving = arriving_lines_.find(service.get());
  check_queue(service->statistics().unfinished_lines +
                  (arriving == arriving_lines_.end() ? 0 : arriving->second),
              lines, options_.max_waiting_lines);

  const auto pending = std::make_shared<Pending>(request, exchange.memory(), exchange.waker());
  Running running(*service, pending);
  {
    const ArrivingLines counted_lines(arriving_lines_, *service, lines);
    co_await call_on(exchange.workers(), [&] { running.submit(request); });
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
        for (const auto& event : pending->take_events()) text += event;
        co_await exchange.write(std::move(text));
        finished = pending->is_finished();
      }
      running.has_ended = true;
    } catch (const HttpError& error) {
      failure = error;
    }
    if (failure && failure->status == 499) throw HttpError(*failure);
    auto last = failure ? Pending::event_text("error", error_json(failure->kind, failure->message))
                        : Pending::event_text("done", {{"model", model}});
    co_await exchange.write(std::move(last));
    co_return;
  }
  while (!pending->is_finished()) {
    const auto wakeup = co_await exchange.wait_until(deadline);
    check_wakeup(wakeup, options_.timeout);
  }
  running.has_ended = true;
  if (request.is_single && pending->first_error()) {
    const auto& error = *pending->first_error();
    const auto kind = error["kind"].get<std::string>();
    throw HttpError(kind == "input" ? 422 : 500, kind, error["message"].get<std::string>());
  }
  auto text = fmt::format(R"({{"model":{},"translations":[)", to_text(model));
  for (const auto& result : pending->results()) {
    if (&result != pending->results().data()) text += ',';
    text += result;
  }
  respond(exchange, std::move(text) + "]}");
}

void TranslationApi::count(const HttpRequest& request, const std::string& route, int status,
                           double seconds) {
  {
    const std::lock_guard lock(mutex_);
    ++responses_[{route.empty() ? "other" : route, status}];
    if (route == "/translate") {
      const auto bucket = std::ranges::lower_bound(bucket_ends, seconds) - bucket_ends.begin();
      ++buckets_[static_cast<std::size_t>(bucket)];
      seconds_ += seconds;
    }
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
  {
    const std::lock_guard lock(mutex_);
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
  }
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
  begin("regard_unfinished_lines", "gauge", "Lines that wait or are being translated.");
  add("regard_unfinished_lines", "", &Statistics::unfinished_lines);
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
