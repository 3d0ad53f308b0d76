// The server with a made-up translator, which needs no model.
#include "serve/translation_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "tests/serve/raw_client.h"

namespace regard::translation_api_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Translates to upper case. A line with "wait" is translated when release() is called, one with
// "bad" is an error, and one with "long" gets a long translation. A line has a sentence more than
// full stops.
class UpperCase : public TranslationService {
 public:
  explicit UpperCase(std::string suffix = "") : suffix_(std::move(suffix)) {}
  ~UpperCase() override { release(); }

  Json description() const override { return {{"description", "upper case"}}; }

  std::uint64_t submit(const TranslateRequest& request, Listener listener) override {
    if (request.prefix == "refuse") throw HttpError(400, "bad_request", "prefix: refused");
    std::size_t sentences = 0;
    for (const auto& line : request.lines) sentences += sentences_of(line);
    listener.reserve(sentences, 100 * request.lines.size());
    const std::lock_guard lock(mutex_);
    const auto number = ++last_;
    unfinished_ += sentences;
    threads_.emplace_back([this, number, lines = request.lines, own = std::move(listener)] {
      for (std::size_t i = 0; i < lines.size(); ++i) translate(number, i, lines[i], own);
    });
    return number;
  }
  void cancel(std::uint64_t request) override {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(request);
    changed_.notify_all();
  }
  Statistics statistics() const override {
    const std::lock_guard lock(mutex_);
    return {.finished_lines = finished_, .unfinished_sentences = unfinished_};
  }

  void release() {
    std::vector<std::thread> threads;
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
      changed_.notify_all();
      threads = std::move(threads_);
    }
    for (auto& thread : threads) thread.join();
  }
  bool was_cancelled(std::uint64_t request) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return cancelled_.contains(request); });
  }
  std::uint64_t requests() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  static std::size_t sentences_of(const std::string& line) {
    return 1 + static_cast<std::size_t>(std::ranges::count(line, '.'));
  }
  void translate(std::uint64_t request, std::size_t line, const std::string& text,
                 const Listener& listener) {
    std::string upper = text;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    upper += suffix_;
    if (text.find("long") != std::string::npos) upper.append(2000, '!');
    if (listener.partial) listener.partial(line, upper.substr(0, upper.size() / 2));
    Json result = {{"text", upper}, {"hypotheses", Json::array()}};
    {
      std::unique_lock lock(mutex_);
      if (text.find("wait") != std::string::npos) {
        changed_.wait(lock, [&] { return released_ || cancelled_.contains(request); });
      }
      if (cancelled_.contains(request)) result = error_json("cancelled", "cancelled");
      unfinished_ -= sentences_of(text);
      ++finished_;
    }
    if (text.find("bad") != std::string::npos) result = error_json("input", "line: it is bad");
    listener.finished(line, std::move(result));
  }

  std::string suffix_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::set<std::uint64_t> cancelled_;
  std::uint64_t last_ = 0;
  std::uint64_t unfinished_ = 0;
  std::uint64_t finished_ = 0;
  bool released_ = false;
};

std::string many_values(int count) {
  std::string text = "1";
  for (int i = 1; i < count; ++i) text += ",1";
  return text;
}

class TranslationApiTest : public testing::Test {
 protected:
  TranslationApiTest() {
    log::set_quiet();
    for (const auto* name : {"first", "second"}) {
      models_.add(name, [this] {
        if (loads_ < 0) throw InputError("model.yaml: it is damaged");
        auto service =
            std::make_unique<UpperCase>(std::string(static_cast<std::size_t>(loads_), '+'));
        translators_.push_back(service.get());
        return service;
      });
    }
    http_.port = 0;
    http_.receive_timeout = 2s;
    api_.timeout = 20s;
  }
  ~TranslationApiTest() override { stop(); }

  void start() {
    server_ = std::make_unique<HttpServer>(http_);
    port_ = server_->bind();
    api_object_ = std::make_unique<TranslationApi>(*server_, models_, api_);
    thread_ = std::thread([this] { server_->run(); });
    ASSERT_EQ(client().Get("/health")->status, 200);
    wait_for_no_connections();
  }
  void wait_for_no_connections() const {
    while (server_->connections() > 0) std::this_thread::sleep_for(1ms);
  }
  void stop() {
    if (!thread_.joinable()) return;
    // Those that were loaded last; the others are destroyed already.
    for (const auto& name : models_.names()) {
      static_cast<UpperCase&>(*models_.find(name)).release();
    }
    server_->stop();
    thread_.join();
  }

  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(20s);
    return client;
  }
  httplib::Result post(const std::string& body, const httplib::Headers& headers = {}) const {
    return client().Post("/translate", headers, body, "application/json");
  }
  // Returns "STATUS KIND: MESSAGE", or "STATUS" and the body.
  std::string answer(const std::string& body) const { return text_of(post(body)); }
  static std::string text_of(const httplib::Result& result) {
    if (!result) return "no answer";
    const auto json = Json::parse(result->body, nullptr, false);
    if (json.is_discarded() || !json.contains("error")) {
      return std::to_string(result->status) + " " + result->body;
    }
    return fmt::format("{} {}: {}", result->status, json["error"]["kind"].get<std::string>(),
                       json["error"]["message"].get<std::string>());
  }
  void wait_for_requests(std::uint64_t count) const {
    while (translators_[0]->requests() < count) std::this_thread::sleep_for(1ms);
  }
  static std::string request(const std::string& body, const std::string& headers = "") {
    return fmt::format(
        "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}"
        "Content-Length: {}\r\n\r\n{}",
        headers, body.size(), body);
  }

  HttpOptions http_;
  ApiOptions api_;
  std::vector<UpperCase*> translators_;
  int loads_ = 0;  // added to each line by models that are loaded from now on; -1: cannot be loaded
  ModelRegistry models_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<TranslationApi> api_object_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(TranslationApiTest, TranslatesALineOrAList) {
  start();
  EXPECT_EQ(answer(R"({"text": "ab"})"),
            R"(200 {"model":"first","translations":[{"text":"AB","hypotheses":[]}]})");
  EXPECT_EQ(answer(R"({"text": ["b", "a", ""], "model": "second"})"),
            R"(200 {"model":"second","translations":[{"text":"B","hypotheses":[]},)"
            R"({"text":"A","hypotheses":[]},{"text":"","hypotheses":[]}]})");
  EXPECT_EQ(answer(R"({"text": []})"), R"(200 {"model":"first","translations":[]})");
}

TEST_F(TranslationApiTest, ABadLineDoesNotFailItsNeighbours) {
  start();
  EXPECT_EQ(answer(R"({"text": ["a", "bad", "c"]})"),
            R"(200 {"model":"first","translations":[{"text":"A","hypotheses":[]},)"
            R"({"error":{"kind":"input","message":"line: it is bad"}},)"
            R"({"text":"C","hypotheses":[]}]})");
  EXPECT_EQ(answer(R"({"text": "bad"})"), "422 input: line: it is bad");
}

TEST_F(TranslationApiTest, SaysWhatIsWrongWithARequest) {
  api_.limits = {.max_lines = 2, .max_characters = 5, .max_beam_size = 8};
  start();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "400 bad_request: the body is not JSON"},
      {"{\"text\": \"\xff\"}", "400 bad_request: the body is not JSON"},
      {"[1]", "400 bad_request: the body: found [1], expected an object"},
      {R"({"text": "a", "text": "b"})", "400 bad_request: text: found twice"},
      {R"({"text": "a", "search": {}, "text": "b"})", "400 bad_request: text: found twice"},
      {R"({"text": ["a"], "n_best": 1, "text": ["b"]})", "400 bad_request: text: found twice"},
      {R"({"text": "a"})" + std::string("\0{", 2),
       "400 bad_request: the body is not JSON: found a"},
      {R"({"text": "a", "n_best": 1)" + std::string(500000, '9') + "}", "400 bad_request: "},
      {R"({"text": ")" + std::string(500000, 'a'), "400 bad_request: the body is not JSON"},
      {R"({"text": "a", "search": {"beam_size": 1, "beam_size": 2}})",
       "400 bad_request: beam_size: found twice"},
      {R"({"text": [[["a"]]]})", "400 bad_request: the body: found a list in a list"},
      {R"({"text": ")" + std::string(5000, 'a') + "\", \"ban\": [" + many_values(5000) + "]}",
       "413 too_large: the body: found more than 1002 values"},
      {"{\"" + std::string(500000, 'k') + "\": 1}", "400 bad_request: unknown key 'kkk"},
      {R"({"text": ["a b c d e", "a"], "split_length": 2})",
       "413 too_large: text[0]: found 9 bytes"},
      {R"({"text": ["a b c"], "split_length": 1})",
       "413 too_large: split_length: found up to 3 parts of lines, expected at most 2"},
      {R"({"text": ["a\tb\tc"], "split_length": 1})",
       "413 too_large: split_length: found up to 3 parts of lines, expected at most 2"},
      {"{}", "400 bad_request: text is missing"},
      {R"({"text": 3})", "400 bad_request: text: found 3, expected a string or a list of strings"},
      {R"({"text": ["a", 3]})", "400 bad_request: text[1]: found 3, expected a string"},
      {R"({"text": "a\nb"})", "400 bad_request: text: found a line break; give a list of lines"},
      {R"({"text": "abcdef"})", "413 too_large: text: found 6 bytes, expected at most 5"},
      {R"({"text": ["a", "b", "c"]})", "413 too_large: text: found 3 lines, expected at most 2"},
      {R"({"text": "a", "modell": "x"})", "400 bad_request: unknown key 'modell'"},
      {R"({"text": "a", "model": "frist"})", "404 not_found: unknown model 'frist'"},
      {R"({"text": "a", "src_tag": 3})", "400 bad_request: src_tag: found 3, expected a string"},
      {R"({"text": "a", "trg_tag": "<2many>"})", "413 too_large: trg_tag: found 7 bytes"},
      {R"({"text": "a", "n_best": 0})", "400 bad_request: n_best: found 0, expected a whole"},
      {R"({"text": "a", "n_best": 1e99})",
       "400 bad_request: n_best: found 1e+99, expected a whole"},
      {R"({"text": "a", "n_best": 18446744073709551615})", "400 bad_request: n_best: found 184467"},
      {R"({"text": "a", "tokens": 1})", "400 bad_request: tokens: found 1, expected true or false"},
      {R"({"text": "a", "stream": "all"})", "400 bad_request: stream: found"},
      {R"({"text": "a", "search": {"beam_sise": 3}})",
       "400 bad_request: unknown key of search 'beam_sise'"},
      {R"({"text": "a", "search": {"batch_size": 3}})",
       "400 bad_request: unknown key of search 'batch_size'"},
      {R"({"text": "a", "search": {"beam_size": [3]}})",
       "400 bad_request: search.beam_size: found"},
      {R"({"text": "a", "prefix": "refuse"})", "413 too_large: prefix"},
      {R"({"text": "a", "format": "pdf"})", "400 bad_request: format: found"},
      {R"({"text": "a\nb", "markup": true})", "400 bad_request: text: found a line break"},
      {R"({"text": "a", "keep": ["dates"]})", "400 bad_request: keep: found"},
      {R"({"text": "a", "format": "html", "prefix": "b"})",
       "400 bad_request: format html cannot be combined with prefix, require and ban"},
      {R"({"text": "a", "markup": true, "n_best": 2})",
       "400 bad_request: markup cannot be combined with n_best"},
      {R"({"text": "a", "keep": ["urls"], "stream": "tokens"})",
       "400 bad_request: keep cannot be combined with stream tokens"},
      {R"({"text": "a", "split_length": 3, "n_best": 2})",
       "400 bad_request: split_length cannot be combined with n_best"},
  };
  for (const auto& [body, expected] : cases) {
    const auto text = answer(body);
    EXPECT_THAT(text, StartsWith(expected));
    EXPECT_LT(text.size(), 1100);
  }
  EXPECT_EQ(answer(R"({"text": "abcde"})"),
            R"(200 {"model":"first","translations":[{"text":"ABCDE","hypotheses":[]}]})");
  EXPECT_EQ(answer(R"({"format": "html", "text": "a\nb"})"),
            R"(200 {"model":"first","translations":[{"text":"A\nB","hypotheses":[]}]})");
}

TEST_F(TranslationApiTest, PassesOnWhatTheModelRefuses) {
  start();
  EXPECT_EQ(answer(R"({"text": "a", "prefix": "refuse"})"), "400 bad_request: prefix: refused");
}

TEST_F(TranslationApiTest, ChecksPathMethodAndTypeBeforeItReadsABody) {
  http_.max_body_bytes = 1000;
  start();
  EXPECT_THAT(text_of(client().Get("/translat")),
              StartsWith("404 not_found: path: found `/translat`, expected one of /, /health"));
  const auto wrong_method = client().Get("/translate");
  EXPECT_EQ(text_of(wrong_method),
            "405 method_not_allowed: /translate: found method GET, expected POST");
  EXPECT_EQ(wrong_method->get_header_value("Allow"), "POST, OPTIONS");
  EXPECT_EQ(text_of(client().Post("/translate", "text=a", "application/x-www-form-urlencoded")),
            "415 bad_request: Content-Type: found `application/x-www-form-urlencoded`, expected "
            "application/json");
  EXPECT_THAT(text_of(post(R"({"text": "a"})", {{"Content-Encoding", "gzip"}})),
              StartsWith("415 bad_request: Content-Encoding"));
  EXPECT_EQ(answer(R"({"text": ")" + std::string(2000, 'a') + "\"}"),
            "413 too_large: the body is larger than the server takes");
  EXPECT_EQ(client().Head("/health")->status, 200);
  RawClient no_length(port_);
  no_length.send(
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n");
  EXPECT_THAT(no_length.receive("is missing"), StartsWith("HTTP/1.1 411 "));
}

TEST_F(TranslationApiTest, AsksForTheToken) {
  http_.token = "secret";
  start();
  const auto missing = post(R"({"text": "a"})");
  EXPECT_THAT(text_of(missing), StartsWith("401 unauthorized: this server needs a token"));
  EXPECT_EQ(missing->get_header_value("WWW-Authenticate"), "Bearer");
  for (const auto* wrong :
       {"Bearer secre", "Bearer secret1", "Bearer ", "Basic secret", "secret"}) {
    EXPECT_EQ(text_of(post(R"({"text": "a"})", {{"Authorization", wrong}})),
              "401 unauthorized: the token is wrong");
  }
  EXPECT_EQ(client().Get("/models")->status, 401);
  EXPECT_EQ(post(R"({"text": "a"})", {{"Authorization", "Bearer secret"}})->status, 200);
  for (const auto* open : {"/health", "/metrics", "/openapi.json", "/"}) {
    EXPECT_EQ(client().Get(open)->status, 200) << open;
  }
}

TEST_F(TranslationApiTest, RefusesSentencesBeyondTheQueueAndSaysWhenToComeBack) {
  api_.max_waiting_sentences = 3;
  start();
  std::thread waiting(
      [&] { EXPECT_THAT(answer(R"({"text": ["wait", "a", "b"]})"), StartsWith("200 ")); });
  wait_for_requests(1);
  const auto refused = post(R"({"text": ["a", "b", "c"]})");
  EXPECT_THAT(text_of(refused), AllOf(StartsWith("429 busy: "),
                                      HasSubstr(" sentences are waiting, and 3 would be more")));
  EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  EXPECT_THAT(answer(R"({"text": "a. b.", "format": "html"})"), HasSubstr("and 3 would be more"));
  translators_[0]->release();
  waiting.join();
  EXPECT_EQ(post(R"({"text": ["a", "b", "c", "d"]})")->status, 200);  // nothing waits
}

TEST_F(TranslationApiTest, TheQueueCountsTheSentencesOfALineWhenARequestArrivesAndWhileItWaits) {
  api_.max_waiting_sentences = 4;
  start();
  std::thread waiting([&] { EXPECT_EQ(post(R"({"text": "wait. a"})")->status, 200); });
  wait_for_requests(1);
  EXPECT_THAT(answer(R"({"text": "a. b. c"})"),
              AllOf(StartsWith("429 busy: "), HasSubstr("and 3 would be more than the 4 that")));
  EXPECT_EQ(post(R"({"text": "a. b"})")->status, 200);
  translators_[0]->release();
  waiting.join();
  EXPECT_EQ(post(R"({"text": "a. b. c. d. e. f"})")->status, 200);  // nothing waits
}

TEST_F(TranslationApiTest, ALateRequestIsCancelled) {
  api_.timeout = 300ms;
  start();
  EXPECT_THAT(answer(R"({"text": ["a", "wait"]})"),
              StartsWith("504 timeout: the translation took more than"));
  EXPECT_TRUE(translators_[0]->was_cancelled(1));
  const auto stream = post(R"({"text": ["a", "wait"], "stream": "lines"})");
  EXPECT_THAT(stream->body, AllOf(HasSubstr("event: translation\ndata: {\"line\":0,\"text\":\"A\""),
                                  HasSubstr("event: error\ndata: {\"error\":{\"kind\":\"timeout\""),
                                  Not(HasSubstr("done"))));
  EXPECT_TRUE(translators_[0]->was_cancelled(2));
}

TEST_F(TranslationApiTest, ARequestIsCancelledWhenItsClientIsGone) {
  start();
  for (const auto* body : {R"({"text": "wait"})", R"({"text": "wait", "stream": "lines"})"}) {
    RawClient client(port_);
    ASSERT_TRUE(client.send(request(body)));
    const auto before = translators_[0]->requests();
    wait_for_requests(before == 0 ? 1 : before);
    std::this_thread::sleep_for(50ms);
    client.close();
    EXPECT_TRUE(translators_[0]->was_cancelled(translators_[0]->requests())) << body;
  }
}

TEST_F(TranslationApiTest, StreamsLinesAsTheyAreFinished) {
  start();
  RawClient client(port_);
  client.send(request(R"({"text": ["a", "wait"], "stream": "lines"})"));
  const auto first = client.receive("\"A\"");
  EXPECT_THAT(first, AllOf(HasSubstr("Content-Type: text/event-stream"),
                           HasSubstr("event: translation\ndata: {\"line\":0,\"text\":\"A\""),
                           Not(HasSubstr("WAIT"))));
  translators_[0]->release();
  EXPECT_THAT(client.receive("event: done"),
              AllOf(HasSubstr("event: translation\ndata: {\"line\":1,\"text\":\"WAIT\""),
                    Not(HasSubstr("partial"))));
}

TEST_F(TranslationApiTest, StreamsTheBestHypothesisSoFar) {
  start();
  RawClient client(port_);
  client.send(request(R"({"text": "wait", "stream": "tokens"})"));
  client.receive("event: partial\ndata: {\"line\":0,\"text\":\"WA\"}");
  translators_[0]->release();
  EXPECT_THAT(client.receive("event: done\ndata: {\"model\":\"first\"}"), HasSubstr("\"WAIT\""));
}

TEST_F(TranslationApiTest, RefusesConnectionsBeyondTheMaximum) {
  http_.max_connections = 2;
  start();
  RawClient a(port_);
  RawClient b(port_);
  a.send(request(R"({"text": "wait"})"));
  b.send(request(R"({"text": "wait"})"));
  wait_for_requests(2);
  RawClient c(port_);
  EXPECT_THAT(c.receive(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 1"),
                                 HasSubstr("too many connections")));
  translators_[0]->release();
  EXPECT_THAT(a.receive("WAIT"), StartsWith("HTTP/1.1 200 "));
  a.close();
  b.close();
  wait_for_no_connections();
  EXPECT_EQ(post(R"({"text": "a"})")->status, 200);
}

TEST_F(TranslationApiTest, ClosesConnectionsThatSendTooSlowlyOrTooMuch) {
  http_.receive_timeout = 300ms;
  http_.max_body_bytes = 1000;
  start();
  RawClient half(port_);
  half.send("POST /translate HTTP/1.1\r\nHos");
  RawClient no_body(port_);
  no_body.send(
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 10\r\n\r\n{");
  RawClient drops(port_);  // a byte now and then
  std::thread dropping([&] {
    for (int i = 0; i < 100 && drops.send("G"); ++i) std::this_thread::sleep_for(50ms);
  });
  RawClient endless_line(port_);
  endless_line.send("GET /" + std::string(100000, 'a'));
  RawClient endless_chunks(port_);
  endless_chunks.send(
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 100; ++i) {
    if (!endless_chunks.send("400\r\n" + std::string(0x400, ' ') + "\r\n")) break;
  }
  dropping.join();
  for (auto* client : {&half, &no_body, &endless_line, &endless_chunks}) {
    EXPECT_THAT(client->receive(), Not(HasSubstr("200 OK")));
  }
  wait_for_no_connections();
  EXPECT_EQ(post(R"({"text": "a"})")->status, 200);
}

TEST_F(TranslationApiTest, GarbageGetsAnErrorOrNothing) {
  http_.receive_timeout = 300ms;
  start();
  std::uint32_t random = 1;
  for (int i = 0; i < 60; ++i) {
    std::string bytes;
    for (int k = 0; k < 300; ++k) {
      random = random * 1664525 + 1013904223;
      bytes += static_cast<char>(random >> 24);
    }
    RawClient client(port_);
    client.send(i % 2 == 0 ? bytes : request(bytes).substr(0, 400) + "\r\n\r\n");
    client.send("\r\n\r\n");
    ::usleep(1000);
    EXPECT_THAT(client.receive("\r\n\r\n"), Not(HasSubstr("200 OK")));
  }
  EXPECT_EQ(post(R"({"text": "a"})")->status, 200);
}

TEST_F(TranslationApiTest, AConnectionServesManyRequests) {
  start();
  RawClient client(port_);
  for (int i = 0; i < 20; ++i) {
    client.send(request(fmt::format(R"({{"text": "line {}"}})", i)));
    EXPECT_THAT(client.receive(fmt::format("LINE {}\"", i)), HasSubstr("200 OK"));
  }
  client.send(request(R"({"text": 3})"));  // an error whose body was read
  EXPECT_THAT(client.receive("expected"), HasSubstr("400 "));
  client.send(request(R"({"text": "last"})"));
  EXPECT_THAT(client.receive("LAST"), HasSubstr("200 OK"));
}

TEST_F(TranslationApiTest, StoppingFinishesWhatRunsAndRefusesTheRest) {
  start();
  RawClient idle(port_);
  RawClient running(port_);
  RawClient late(port_);
  late.send("POST /translate HTTP/1.1\r\n");
  running.send(request(R"({"text": "wait"})"));
  wait_for_requests(1);
  server_->stop();
  late.send(
      "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
      R"({"text": "a"})");
  EXPECT_THAT(late.receive(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("stopping"),
                                    HasSubstr("Retry-After: 5")));
  EXPECT_THAT(idle.receive(), IsEmpty());
  translators_[0]->release();
  EXPECT_THAT(running.receive(), HasSubstr("WAIT"));
  thread_.join();
}

TEST_F(TranslationApiTest, RequestsThatRunWhenTheStopTimeoutEndsGetAnError) {
  http_.stop_timeout = 300ms;
  start();
  RawClient stream(port_);
  RawClient plain(port_);
  stream.send(request(R"({"text": ["a", "wait"], "stream": "lines"})"));
  plain.send(request(R"({"text": "wait"})"));
  wait_for_requests(2);
  server_->stop();
  EXPECT_THAT(stream.receive(),
              AllOf(HasSubstr("event: translation\ndata: {\"line\":0,\"text\":\"A\""),
                    HasSubstr("event: error\ndata: {\"error\":{\"kind\":\"stopping\""),
                    EndsWith("\r\n0\r\n\r\n")));
  EXPECT_THAT(plain.receive(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("\"stopping\"")));
  thread_.join();
  EXPECT_TRUE(translators_[0]->was_cancelled(1));
  EXPECT_TRUE(translators_[0]->was_cancelled(2));
}

TEST_F(TranslationApiTest, AnAnswerThatNeedsMoreMemoryThanAllowedIsRefusedOrEnded) {
  http_.memory = {.request = 2000, .all = 3000};
  start();
  // The model estimates 100 bytes for each line.
  const auto lines = [](int count, const std::string& line) {
    Json body;
    body["text"] = std::vector<std::string>(static_cast<std::size_t>(count), line);
    return body;
  };
  EXPECT_THAT(answer(to_text(lines(20, "a"))), StartsWith("413 too_large: the request and its"));
  EXPECT_EQ(translators_[0]->requests(), 0) << "no work has begun";
  EXPECT_THAT(answer(to_text(lines(10, "a"))), StartsWith("200 "));
  // This answer is larger than estimated.
  EXPECT_THAT(answer(R"({"text": "long"})"), StartsWith("413 too_large: "));
  EXPECT_THAT(post(R"({"text": "long", "stream": "lines"})")->body,
              HasSubstr("event: error\ndata: {\"error\":{\"kind\":\"too_large\""));
  std::thread waiting([&] { EXPECT_THAT(answer(to_text(lines(12, "wait"))), StartsWith("200 ")); });
  wait_for_requests(4);
  EXPECT_THAT(answer(to_text(lines(12, "wait"))), StartsWith("429 busy: the requests of all"));
  translators_[0]->release();
  waiting.join();
  while (server_->memory().used() > 0) std::this_thread::sleep_for(1ms);
}

TEST_F(TranslationApiTest, AModelIsLoadedAgainWhileItIsInUse) {
  http_.token = "secret";
  start();
  const httplib::Headers token = {{"Authorization", "Bearer secret"}};
  const auto reload = [&](const std::string& path, const httplib::Headers& headers) {
    return text_of(client().Post(path, headers, "", ""));
  };
  RawClient running(port_);
  running.send(request(R"({"text": "wait"})", "Authorization: Bearer secret\r\n"));
  wait_for_requests(1);
  loads_ = 1;
  EXPECT_THAT(reload("/models/first/reload", {}), StartsWith("401 "));
  EXPECT_THAT(reload("/models/third/reload", token), StartsWith("404 not_found: path: found `"));
  EXPECT_THAT(reload("/models/%66irst/reload", token), StartsWith("404 not_found: path: found `"));
  EXPECT_EQ(reload("/models/first/reload", token), R"(200 {"model":"first","status":"reloaded"})");
  EXPECT_THAT(text_of(post(R"({"text": "a"})", token)), HasSubstr(R"("text":"A+")"));
  EXPECT_THAT(text_of(post(R"({"text": "a", "model": "second"})", token)),
              HasSubstr(R"("text":"A")"));
  translators_[0]->release();
  EXPECT_THAT(running.receive("WAIT"), Not(HasSubstr("WAIT+"))) << "it ends with the old model";

  EXPECT_TRUE(models_.begin_reload("first"));
  EXPECT_THAT(reload("/models/first/reload", token), StartsWith("429 busy: first: it is being"));
  models_.reload("first");
  loads_ = -1;
  EXPECT_EQ(reload("/models/first/reload", token),
            "409 unloadable: first: the old model stays, because the new one cannot be loaded: "
            "model.yaml: it is damaged");
  EXPECT_THAT(text_of(post(R"({"text": "a"})", token)), HasSubstr(R"("text":"A+")"));
  loads_ = 2;
  models_.reload_all();
  while (text_of(post(R"({"text": "a", "model": "second"})", token)).find("A++") ==
         std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST(ModelRegistry, EndsWhileAModelIsLoadedAgain) {
  std::atomic<int> loads = 0;
  ModelRegistry models;
  models.add("a", [&] {
    if (++loads > 1) std::this_thread::sleep_for(200ms);
    return std::make_unique<UpperCase>();
  });
  models.add("b", [] { return std::make_unique<UpperCase>(); });
  models.reload_all();
  while (loads < 2) std::this_thread::sleep_for(1ms);
}

TEST_F(TranslationApiTest, WithoutATokenNobodyReloadsAModel) {
  start();
  EXPECT_THAT(text_of(client().Post("/models/first/reload", "", "")),
              StartsWith("403 forbidden: /models/first/reload: the server has no --token-file"));
}

TEST_F(TranslationApiTest, TheListOfPathsHasNoNamesOfModels) {
  http_.token = "secret";
  start();
  EXPECT_EQ(text_of(client().Get("/translat")),
            "404 not_found: path: found `/translat`, expected one of /, /health, /metrics, "
            "/models, /openapi.json, /translate");
}

TEST_F(TranslationApiTest, AModelNameNeedsNoEscapeInAPath) {
  const auto add = [&](const std::string& name) {
    models_.add(name, [] { return std::make_unique<UpperCase>(); });
  };
  for (const auto* name : {"", "a b", "a/b", "a%20", "a+b", "a?", "\xc3\xa9"}) {
    EXPECT_THAT([&] { add(name); },
                testing::ThrowsMessage<ConfigError>(
                    AllOf(StartsWith("-m: found the model name `"), EndsWith("-m NAME=MODEL"))));
  }
  add("En-fr_2.0~b");
}

TEST_F(TranslationApiTest, CountsResponsesAndLines) {
  start();
  post(R"({"text": ["a", "b"]})");
  post("{}");
  client().Get("/nowhere");
  std::string metrics;
  for (int i = 0; i < 1000 && metrics.find("other") == std::string::npos; ++i) {
    metrics = client().Get("/metrics")->body;  // a response is counted after it is sent
  }
  EXPECT_THAT(metrics,
              AllOf(HasSubstr("regard_responses_total{path=\"/translate\",status=\"200\"} 1\n"),
                    HasSubstr("regard_responses_total{path=\"/translate\",status=\"400\"} 1\n"),
                    HasSubstr("regard_responses_total{path=\"other\",status=\"404\"} 1\n"),
                    HasSubstr("regard_translate_seconds_count 2\n"),
                    HasSubstr("regard_translate_seconds_bucket{le=\"+Inf\"} 2\n"),
                    HasSubstr("regard_lines_total{model=\"first\",result=\"translated\"} 2\n"),
                    HasSubstr("regard_unfinished_sentences{model=\"second\"} 0\n")));
}

TEST_F(TranslationApiTest, DescribesItsModelsAndItself) {
  start();
  const auto models = Json::parse(client().Get("/models")->body)["models"];
  EXPECT_EQ(models[1]["name"], "second");
  EXPECT_EQ(models[0]["limits"]["max_beam_size"], api_.limits.max_beam_size);
  const auto openapi = Json::parse(client().Get("/openapi.json")->body);
  for (const auto* path : {"/", "/translate", "/models", "/health", "/metrics", "/openapi.json"}) {
    EXPECT_TRUE(openapi["paths"].contains(path)) << path;
  }
  const auto& search = openapi["components"]["schemas"]["Search"]["properties"];
  for (const auto& key : search_keys()) EXPECT_TRUE(search.contains(key)) << key;
  // Each key that the description names is one that the parser takes.
  const auto& properties = openapi["components"]["schemas"]["TranslateRequest"]["properties"];
  for (const auto& [key, schema] : properties.items()) {
    EXPECT_THAT(answer(fmt::format(R"({{"text": "a", "{}": null}})", key)),
                Not(HasSubstr("unknown")))
        << key;
  }
}

TEST_F(TranslationApiTest, ServesThePageWithItsPolicy) {
  start();
  const auto page = client().Get("/");
  EXPECT_THAT(page->body, HasSubstr("<!doctype html>"));
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"),
              AllOf(StartsWith("default-src 'none'"), HasSubstr("connect-src 'self'")));
  // Nothing is loaded from elsewhere.
  for (const auto* loads : {"src=\"http", "href=\"http", "url(http", "@import"}) {
    EXPECT_THAT(page->body, Not(HasSubstr(loads)));
  }
}

TEST_F(TranslationApiTest, ManyClientsAtOnceGetTheirOwnAnswers) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 16; ++c) {
    clients.emplace_back([&, c] {
      auto own = client();
      own.set_keep_alive(true);
      for (int i = 0; i < 50; ++i) {
        const auto result = own.Post("/translate", fmt::format(R"({{"text": "c{} i{}"}})", c, i),
                                     "application/json");
        if (!result || result->body.find(fmt::format("\"C{} I{}\"", c, i)) == std::string::npos) {
          ++wrong;
        }
      }
    });
  }
  for (auto& each : clients) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HttpServer, ABusyPortIsAnErrorThatNamesIt) {
  HttpOptions options;
  options.port = 0;
  HttpServer first(options);
  options.port = first.bind();
  HttpServer second(options);
  EXPECT_THAT([&] { second.bind(); }, testing::ThrowsMessage<EnvironmentError>(HasSubstr(
                                          fmt::format("--port {}: cannot listen", options.port))));
}

}  // namespace
}  // namespace regard::translation_api_test
