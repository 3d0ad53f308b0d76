#include "serve/translation_api.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/version.h"
#include "config/docs.h"
#include "text/unicode.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Upper ends of the buckets of the histogram, in seconds.
constexpr std::array<double, 12> bucket_ends = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                1,    2.5,   5,    10,  30,   60};
// How often a request that waits looks whether its client is gone.
constexpr milliseconds client_interval{100};

constexpr const char* page_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The results of a request that is being translated. Shared by its handler and the engine.
class Pending {
 public:
  struct Event {
    std::size_t line;
    bool is_partial;
    Json data;  // the text if it is partial, else the element of `translations`
  };

  Pending(std::size_t lines, bool ordered) : results_(ordered ? lines : 0), unfinished_(lines) {}

  // With `ordered`, results are collected in the order of the lines; else they become events.
  void finish(std::size_t line, Json translation) {
    const std::lock_guard lock(mutex_);
    if (!results_.empty()) {
      results_[line] = std::move(translation);
    } else {
      partial_.erase(line);
      events_.push_back({line, false, std::move(translation)});
    }
    --unfinished_;
    if (unfinished_ == 0 || results_.empty()) changed_.notify_all();
  }
  // A slow client gets only the last of several.
  void set_partial(std::size_t line, std::string text) {
    const std::lock_guard lock(mutex_);
    partial_[line] = std::move(text);
    changed_.notify_all();
  }

  // Waits until all lines are finished. Returns false at `until`.
  bool wait_for_all(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [this] { return unfinished_ == 0; });
  }
  // Waits for events. Returns none at `until`.
  std::vector<Event> wait_for_events(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return !events_.empty() || !partial_.empty(); });
    std::vector<Event> events;
    for (auto& [line, text] : partial_) events.push_back({line, true, std::move(text)});
    partial_.clear();
    std::ranges::move(events_, std::back_inserter(events));
    events_.clear();
    return events;
  }
  bool is_finished() {
    const std::lock_guard lock(mutex_);
    return unfinished_ == 0 && events_.empty();
  }
  std::vector<Json> take_results() {
    const std::lock_guard lock(mutex_);
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Json> results_;
  std::deque<Event> events_;
  std::map<std::size_t, std::string> partial_;
  std::size_t unfinished_;
};

// A request in progress. Cancelled when it is destroyed before its end.
class Running {
 public:
  Running(TranslationService& service, const TranslateRequest& request, milliseconds timeout)
      : service_(service),
        pending_(std::make_shared<Pending>(request.lines.size(),
                                           request.stream == TranslateRequest::Stream::none)),
        timeout_(timeout),
        deadline_(Clock::now() + timeout) {
    TranslationService::Listener listener{
        .finished = [pending = pending_](
                        std::size_t line,
                        Json translation) { pending->finish(line, std::move(translation)); },
        .partial = {}};
    if (request.stream == TranslateRequest::Stream::tokens) {
      listener.partial = [pending = pending_](std::size_t line, std::string text) {
        pending->set_partial(line, std::move(text));
      };
    }
    number_ = service.submit(request, std::move(listener));
  }
  ~Running() {
    if (!has_ended_) service_.cancel(number_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Returns the translations of all lines.
  Json translations() {
    while (!pending_->wait_for_all(std::min(deadline_, Clock::now() + client_interval))) {
      if (HttpServer::client_is_gone()) throw HttpError(499, "closed", "the client is gone");
      if (Clock::now() >= deadline_) throw late();
    }
    has_ended_ = true;
    return pending_->take_results();
  }

  // Writes the next events. Returns false if the client is gone.
  bool write_events(httplib::DataSink& sink) {
    const auto write = [&](const std::string& event, const Json& data) {
      const auto text = fmt::format("event: {}\ndata: {}\n\n", event, to_text(data));
      return sink.write(text.data(), text.size());
    };
    const auto until = std::min(deadline_, Clock::now() + client_interval);
    for (auto& [line, is_partial, contents] : pending_->wait_for_events(until)) {
      Json data = {{"line", line}};
      is_partial ? void(data["text"] = std::move(contents)) : data.update(contents);
      if (!write(is_partial ? "partial" : "translation", data)) return false;
    }
    if (pending_->is_finished()) {
      has_ended_ = true;
      write("done", {{"model", service_.name()}});
      sink.done();
      return true;
    }
    if (Clock::now() >= deadline_) {
      const auto error = late();
      write("error", error_json(error.kind, error.message));
      sink.done();
      return true;
    }
    return !HttpServer::client_is_gone();
  }

 private:
  HttpError late() const {
    return {504, "timeout",
            fmt::format("the translation took more than {:.0f} s; send fewer or shorter lines",
                        std::chrono::duration<double>(timeout_).count())};
  }

  TranslationService& service_;
  std::shared_ptr<Pending> pending_;
  milliseconds timeout_;
  Clock::time_point deadline_;
  std::uint64_t number_ = 0;
  bool has_ended_ = false;
};

void set_json(httplib::Response& response, const Json& json) {
  response.set_header("Cache-Control", "no-store");
  response.set_content(to_text(json), "application/json");
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

TranslationApi::TranslationApi(HttpServer& server,
                               std::vector<std::unique_ptr<TranslationService>>& services,
                               ApiOptions options)
    : server_(server), services_(services), options_(options), buckets_(bucket_ends.size() + 1) {
  server.post("/translate", {.is_protected = true},
              [this](const auto& request, auto& response) { translate(request, response); });
  server.get("/models", {.is_protected = true},
             [this](const auto&, auto& response) { set_json(response, models()); });
  server.get("/health", {.always = true}, [this](const auto&, auto& response) {
    const bool stopping = server_.is_stopping();
    if (stopping) response.status = 503;
    set_json(response, {{"status", stopping ? "stopping" : "ok"}});
  });
  server.get("/metrics", {.always = true}, [this](const auto&, auto& response) {
    response.set_content(metrics(), "text/plain; version=0.0.4; charset=utf-8");
  });
  server.get("/openapi.json", {}, [text = openapi()](const auto&, auto& response) {
    response.set_content(text, "application/json");
  });
  server.get("/", {}, [](const auto&, auto& response) {
    response.set_header("Content-Security-Policy", page_policy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_content(translation_page, "text/html; charset=utf-8");
  });
  server.set_access_log([this](const auto& request, const auto& response, double seconds) {
    count(request, response, seconds);
  });
}

Json TranslationApi::models() const {
  Json list = Json::array();
  for (const auto& service : services_) {
    auto description = service->description();
    description["limits"] = {{"max_beam_size", options_.limits.max_beam_size},
                             {"max_lines", options_.limits.max_lines},
                             {"max_characters", options_.limits.max_characters}};
    list.push_back(std::move(description));
  }
  return {{"models", std::move(list)}};
}

TranslationService& TranslationApi::service_named(const std::string& name) const {
  if (name.empty()) return *services_.front();
  std::vector<std::string> known;
  for (const auto& service : services_) {
    if (service->name() == name) return *service;
    known.push_back(service->name());
  }
  throw HttpError(404, "not_found", unknown_name("model", name, known).what());
}

void TranslationApi::check_queue(const TranslationService& service, std::size_t lines) const {
  const auto waiting = service.statistics().unfinished_lines;
  if (waiting == 0 || waiting + lines <= options_.max_waiting_lines) return;
  throw HttpError(429, "busy",
                  fmt::format("{} {} waiting, and {} would be more than the {} that the server "
                              "takes; try again in a second",
                              counted(waiting, "line"), waiting == 1 ? "is" : "are", lines,
                              options_.max_waiting_lines),
                  1);
}

void TranslationApi::translate(const httplib::Request& http_request, httplib::Response& response) {
  const auto request = parse_translate_request(http_request.body, options_.limits);
  auto& service = service_named(request.model);
  check_queue(service, request.lines.size());
  const auto running = std::make_shared<Running>(service, request, options_.timeout);
  if (request.stream != TranslateRequest::Stream::none) {
    response.set_header("Cache-Control", "no-store");
    response.set_header("X-Accel-Buffering", "no");  // a proxy passes events on at once
    response.set_chunked_content_provider(
        "text/event-stream",
        [running](std::size_t, httplib::DataSink& sink) { return running->write_events(sink); });
    return;
  }
  auto translations = running->translations();
  if (request.is_single && translations[0].contains("error")) {
    const auto& error = translations[0]["error"];
    const auto kind = error["kind"].get<std::string>();
    throw HttpError(kind == "input" ? 422 : 500, kind, error["message"].get<std::string>());
  }
  set_json(response, {{"model", service.name()}, {"translations", std::move(translations)}});
}

void TranslationApi::count(const httplib::Request& request, const httplib::Response& response,
                           double seconds) {
  static constexpr std::array known = {"/",       "/translate", "/models",
                                       "/health", "/metrics",   "/openapi.json"};
  const bool is_known = std::ranges::count(known, request.path) > 0;
  {
    const std::lock_guard lock(mutex_);
    ++responses_[{is_known ? request.path : "other", response.status}];
    if (request.path == "/translate") {
      const auto bucket = std::ranges::lower_bound(bucket_ends, seconds) - bucket_ends.begin();
      ++buckets_[static_cast<std::size_t>(bucket)];
      seconds_ += seconds;
    }
  }
  auto line = fmt::format("{} {} {} {} {:.1f} ms", request.remote_addr, request.method,
                          excerpt(printable(request.path)), response.status, 1000 * seconds);
  if (options_.log_text && !request.body.empty()) line += " " + request.body;
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
  for (const auto& service : services_) {
    all.emplace_back("model=" + quoted(service->name()), service->statistics());
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
  begin("process_resident_memory_bytes", "gauge", "Resident memory.");
  text += fmt::format("process_resident_memory_bytes {}\n", resident_memory());
  begin("process_start_time_seconds", "gauge", "Start of the server, in seconds since 1970.");
  text += fmt::format("process_start_time_seconds {:.3f}\n",
                      std::chrono::duration<double>(start_.time_since_epoch()).count());
  return text;
}

}  // namespace regard
