// The server at the level of HTTP, with handlers of the test.
#include "serve/http_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "tests/serve/raw_client.h"

namespace {

// The errors that the next calls of accept() return; 0 for none.
std::atomic<int> accept_error = 0;
std::atomic<int> failed_accepts = 0;

}  // namespace

// Stands for the system's accept() in this program.
extern "C" int accept(int socket, sockaddr* address, socklen_t* length) {
  using Accept = int (*)(int, sockaddr*, socklen_t*);
  static const auto system_accept = reinterpret_cast<Accept>(::dlsym(RTLD_NEXT, "accept"));
  if (const int error = accept_error.exchange(0); error != 0) {
    ++failed_accepts;
    errno = error;
    return -1;
  }
  return system_accept(socket, address, length);
}

namespace regard::http_server_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Returns how often `part` occurs in `text`.
std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    log::set_quiet();
    options_.port = 0;
    options_.receive_timeout = 2s;
  }
  ~HttpServerTest() override { stop(); }

  void start() {
    server_ = std::make_unique<HttpServer>(options_);
    server_->add("POST", "/echo", {.has_body = true},
                 [](HttpExchange& exchange) -> asio::awaitable<void> {
                   exchange.respond({.type = "text/plain", .body = exchange.request().body});
                   co_return;
                 });
    server_->add("GET", "/hidden", {}, [this](HttpExchange& exchange) -> asio::awaitable<void> {
      ++hidden_;
      exchange.respond({.type = "text/plain", .body = "HIDDEN"});
      co_return;
    });
    server_->add("GET", "/large", {}, [this](HttpExchange& exchange) -> asio::awaitable<void> {
      exchange.respond({.type = "text/plain", .body = std::string(large_, 'a')});
      co_return;
    });
    server_->add("GET", "/fails", {}, [](HttpExchange&) -> asio::awaitable<void> {
      throw std::runtime_error("it failed");
      co_return;
    });
    // Waits until the client is gone or the server is told to stop.
    server_->add("GET", "/wait", {}, [this](HttpExchange& exchange) -> asio::awaitable<void> {
      ++waiting_;
      const auto wakeup = co_await exchange.wait_until(HttpExchange::Clock::now() + 20s);
      last_wakeup_ = wakeup;
      exchange.respond({.type = "text/plain", .body = "waited"});
    });
    server_->add("GET", "/events", {}, [](HttpExchange& exchange) -> asio::awaitable<void> {
      HttpResponse head{.type = "text/event-stream", .body = ""};
      co_await exchange.begin(std::move(head));
      for (const auto* event : {"one\n", "two\n"}) co_await exchange.write(event);
    });
    port_ = server_->bind();
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  // Returns what the server sends for these bytes until it closes the connection. The client ends
  // its sending side.
  std::string answer(const std::string& bytes) const {
    RawClient client(port_);
    client.send(bytes);
    client.end_sending();
    return client.receive();
  }
  // The first call of accept() is made before there is a client, and would take its error.
  void wait_until_it_accepts() const {
    EXPECT_THAT(answer("GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
  }
  void wait_for(const std::atomic<int>& count, int value) const {
    while (count < value) std::this_thread::sleep_for(1ms);
  }

  HttpOptions options_;
  std::size_t large_ = 0;
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<int> hidden_ = 0;
  std::atomic<int> waiting_ = 0;
  std::atomic<HttpExchange::Wakeup> last_wakeup_ = HttpExchange::Wakeup::woken;
};

constexpr const char* hidden_request = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";

// A POST with these fields, whose body is a request of its own if it is not understood as a body.
std::string post(const std::string& fields, const std::string& body = hidden_request) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + fields +
         "\r\n" + body;
}

TEST_F(HttpServerTest, NeverTakesABodyForARequest) {
  start();
  const auto length = "Content-Length: " + std::to_string(std::string(hidden_request).size());
  const std::string chunked =
      "Transfer-Encoding: chunked\r\n\r\n2a\r\n" + std::string(hidden_request) + "\r\n0\r\n\r\n";
  for (const std::string method : {"GET", "HEAD", "OPTIONS", "DELETE", "POST"}) {
    const auto start_line = method + " /large HTTP/1.1\r\nHost: localhost\r\n";
    EXPECT_EQ(occurrences(answer(start_line + length + "\r\n\r\n" + hidden_request), "HTTP/1.1 "),
              1)
        << method;
    EXPECT_EQ(occurrences(answer(start_line + chunked), "HTTP/1.1 "), 1) << method;
  }
  EXPECT_EQ(hidden_, 0);
  // After such a body, the next request is understood.
  EXPECT_EQ(occurrences(answer("GET /large HTTP/1.1\r\nHost: localhost\r\n" + length + "\r\n\r\n" +
                               hidden_request + hidden_request),
                        "HIDDEN"),
            1);
}

TEST_F(HttpServerTest, AnswersMalformedFramingWith400AndCloses) {
  start();
  const std::vector<std::string> cases = {
      post("Content-Length: abc\r\n"),
      post("Content-Length: +42\r\n"),
      post("Content-Length: -1\r\n"),
      post("Content-Length: 42abc\r\n"),
      post("Content-Length: 42, 42\r\n"),
      post("Content-Length: 4 2\r\n"),
      post("Content-Length: 0x2a\r\n"),
      post("Content-Length:\r\n"),
      post("Content-Length: 99999999999999999999999\r\n"),
      post("Content-Length: 0\r\nContent-Length: 0\r\n"),
      post("Content-Length: 42\r\nContent-Length: 0\r\n"),
      post("Content-Length: 0\r\ncontent-length: 42\r\n"),
      post("Content-Length: 42\r\nTransfer-Encoding: chunked\r\n"),
      post("Transfer-Encoding: chunked\r\nContent-Length: 42\r\n"),
      post("Transfer-Encoding: gzip, chunked\r\nContent-Length: 42\r\n"),
      post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n" + std::string(hidden_request)),
      post("Transfer-Encoding: chunked, gzip\r\n"),
      post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: identity\r\nContent-Length: 42\r\n"),
      post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: chunke%64\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
      post("Transfer-Encoding: \x0b"
           "chunked\r\n",
           "0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "2a" + std::string(hidden_request)),
      post("Transfer-Encoding: chunked\r\n", "3\r\nabcX0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "3\nabc\n0\n\n"),
      post("Transfer-Encoding: chunked\r\n", "0x3\r\nabc\r\n0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "-3\r\nabc\r\n0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
      post("Transfer-Encoding: chunked\r\n", "\r\nabc\r\n0\r\n\r\n"),
      post("Bad Name: 1\r\nContent-Length: 42\r\n"),
      post("No colon\r\nContent-Length: 42\r\n"),
      post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
      post("X: a\r\n\tTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      post("Content-Length: 0\n"),
      post(std::string("Nul: a\0b\r\n", 10) + "Content-Length: 42\r\n"),
      post("Carriage: a\rContent-Length: 42\r\n"),
      "POST /echo HTTP/1.1\nHost: localhost\nContent-Length: 42\n\n" + std::string(hidden_request),
      "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
          std::string(hidden_request),
      "POST  /echo HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /echo  HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /ec ho HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /echo http/1.1\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /echo HTTP/1.1 \r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /echo HTTP/2.0\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "POST /echo\r\nHost: localhost\r\n\r\n" + std::string(hidden_request),
      "GET /large HTTP/1.1\r\n\r\n" + std::string(hidden_request),
      "GET /large HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n" +
          std::string(hidden_request),
      "GET /large HTTP/1.1\r\nHost: local host\r\n\r\n" + std::string(hidden_request),
      "GET /large HTTP/1.1\r\nHost: localhost:80:80\r\n\r\n" + std::string(hidden_request),
  };
  for (const auto& bytes : cases) {
    const auto response = answer(bytes);
    EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("Connection: close")))
        << bytes;
    EXPECT_EQ(occurrences(response, "HTTP/1.1 "), 1) << bytes;
  }
  EXPECT_EQ(hidden_, 0);
}

TEST_F(HttpServerTest, UnderstandsWhatTheStandardAllows) {
  start();
  const std::string end = "Connection: close\r\n";
  EXPECT_THAT(answer(post(end + "transfer-ENCODING:  Chunked \r\n",
                          "3;name=\"value\"\r\nabc\r\n02\r\nde\r\n0\r\nTrailer: x\r\n\r\n")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\nabcde")));
  EXPECT_THAT(answer(post("Content-Length: 0003\r\n" + end, "abc")), HasSubstr("\r\n\r\nabc"));
  EXPECT_THAT(answer(post(end + "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc")),
              AllOf(StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
                    HasSubstr("\r\n\r\nabc")));
  EXPECT_THAT(answer(post("Expect: cake\r\nContent-Length: 3\r\n", "abc")),
              StartsWith("HTTP/1.1 417 "));
  EXPECT_THAT(answer("GET http://localhost:1/hidden?x=1 HTTP/1.1\r\nHost: x\r\n" + end + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("HIDDEN")));
  EXPECT_THAT(
      answer("HEAD /hidden HTTP/1.1\r\nHost: localhost\r\n" + end + "\r\n"),
      AllOf(HasSubstr("Content-Length: 6\r\n"), HasSubstr("Date: "), Not(HasSubstr("HIDDEN"))));
  EXPECT_THAT(answer("OPTIONS /hidden HTTP/1.1\r\nHost: localhost\r\n" + end + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 204 "), HasSubstr("Allow: GET, HEAD, OPTIONS\r\n"),
                    Not(HasSubstr("Access-Control-Allow-Origin"))));
  // Requests that arrive together are answered in turn.
  const auto both =
      answer(std::string(hidden_request) + post("Content-Length: 3\r\n" + end, "abc"));
  EXPECT_LT(both.find("HIDDEN"), both.find("\r\n\r\nabc"));
}

TEST_F(HttpServerTest, AnswersHttp10WithoutChunks) {
  start();
  const auto text = answer("GET /events HTTP/1.0\r\n\r\n");
  EXPECT_THAT(text, AllOf(HasSubstr("Connection: close\r\n"), HasSubstr("\r\n\r\none\ntwo\n"),
                          Not(HasSubstr("chunked"))));
  EXPECT_THAT(answer("GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              HasSubstr("\r\n\r\n4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, IgnoresRanges) {
  large_ = 1000;
  start();
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 2700; ++i) ranges += ",0-";
  const auto text =
      answer("GET /large HTTP/1.1\r\nHost: localhost\r\nRange: " + ranges + "\r\n\r\n");
  EXPECT_THAT(text, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 1000\r\n")));
  EXPECT_LT(text.size(), 2000);
}

TEST_F(HttpServerTest, AnExceptionEndsNeitherTheServerNorTheConnection) {
  start();
  const auto text =
      answer("GET /fails HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(hidden_request));
  EXPECT_THAT(
      text, AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("its log says why"), HasSubstr("HIDDEN")));
}

TEST_F(HttpServerTest, AnswersAddressesAndNamesThatAreItsOwn) {
  options_.allowed = {.names = {"translate.example.org"}, .origins = {"https://friend.example"}};
  start();
  const auto status = [&](const std::string& host, const std::string& origin = "") {
    const auto fields = origin.empty() ? "" : "Origin: " + origin + "\r\n";
    return answer("GET /hidden HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n").substr(9, 3);
  };
  for (const auto* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "192.168.1.5", "[::1]:80",
                           "translate.example.org", "Translate.Example.org:443"}) {
    EXPECT_EQ(status(host), "200") << host;
  }
  for (const auto* host : {"evil.example", "evil.example:8080", "localhost.evil.example", "1.2.3",
                           "translate.example.org.evil.example"}) {
    EXPECT_EQ(status(host), "421") << host;
  }
  EXPECT_EQ(status("localhost:8080", "http://localhost:8080"), "200");
  EXPECT_EQ(status("127.0.0.1:8080", "https://translate.example.org"), "200") << "a proxy";
  EXPECT_EQ(status("localhost:8080", "https://friend.example"), "200");
  for (const auto* origin : {"http://evil.example", "http://localhost:9090", "null",
                             "http://friend.example", "https://friend.example.evil.example"}) {
    EXPECT_EQ(status("localhost:8080", origin), "403") << origin;
  }
  const auto preflight = answer(
      "OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: https://friend.example\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_THAT(
      preflight,
      AllOf(StartsWith("HTTP/1.1 204 "),
            HasSubstr("Access-Control-Allow-Origin: https://friend.example\r\n"),
            HasSubstr("Vary: Origin\r\n"), HasSubstr("Access-Control-Allow-Methods: POST, OPTIONS"),
            HasSubstr("Access-Control-Allow-Headers: Content-Type, Authorization")));
}

TEST_F(HttpServerTest, TheOldestIdleConnectionGivesWay) {
  options_.max_connections = 3;
  start();
  RawClient oldest(port_);
  oldest.send(hidden_request);
  oldest.receive("HIDDEN");
  RawClient receiving(port_);
  receiving.send("GET /hid");
  RawClient waits(port_);
  waits.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wait_for(waiting_, 1);
  while (server_->connections() < 3) std::this_thread::sleep_for(1ms);

  RawClient fourth(port_);
  fourth.send(hidden_request);
  EXPECT_THAT(fourth.receive("HIDDEN"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(oldest.receive(), IsEmpty());
  RawClient fifth(port_);  // takes the place of the fourth, which is idle again
  fifth.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wait_for(waiting_, 2);
  EXPECT_THAT(fourth.receive(), IsEmpty());
  RawClient sixth(port_);  // nobody is idle: the client that sends half a request gives way
  sixth.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wait_for(waiting_, 3);
  EXPECT_THAT(receiving.receive(), IsEmpty());
  RawClient refused(port_);  // all wait for an answer
  EXPECT_THAT(refused.receive(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("overloaded")));
}

TEST_F(HttpServerTest, AClientThatReadsNothingLosesItsConnection) {
  large_ = 20 << 20;
  options_.send_timeout = 300ms;
  start();
  RawClient client(port_, 4096);
  client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.receive("a");
  while (server_->connections() > 0) std::this_thread::sleep_for(10ms);
}

TEST_F(HttpServerTest, AFailedAcceptDoesNotEndTheServer) {
  start();
  wait_until_it_accepts();
  for (const int error : {ECONNABORTED, EPROTO, ENFILE, ENOBUFS, ENOMEM, EPERM}) {
    const int before = failed_accepts;
    accept_error = error;
    const auto text = answer(std::string(hidden_request));
    // At ENFILE the client is refused through the descriptor that is kept for it.
    EXPECT_THAT(text, error == ENFILE ? StartsWith("HTTP/1.1 503 ") : StartsWith("HTTP/1.1 200 "))
        << error;
    EXPECT_EQ(failed_accepts, before + 1) << error;
  }
}

TEST_F(HttpServerTest, WithoutDescriptorsClientsGet503AndLaterTheirAnswer) {
  start();
  wait_until_it_accepts();
  // UndefinedBehaviorSanitizer opens a pipe when it first sees a type with virtual functions, so
  // the refusal runs once while there are descriptors.
  accept_error = ENFILE;
  EXPECT_THAT(answer(std::string(hidden_request)), StartsWith("HTTP/1.1 503 "));
  while (answer(std::string(hidden_request)).find("HIDDEN") == std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
  while (server_->connections() > 0) std::this_thread::sleep_for(1ms);
  // The limit is above every descriptor that is open, that of the server's reserve too.
  int highest = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    highest = std::max(highest, std::stoi(entry.path().filename()));
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit lower = limit;
  lower.rlim_cur = static_cast<rlim_t>(highest) + 2;
  ::setrlimit(RLIMIT_NOFILE, &lower);
  std::vector<int> taken;
  std::string refusal;
  // The server may still close the sockets of earlier clients, whose descriptors are then free.
  for (int tries = 0; tries < 100 && !refusal.starts_with("HTTP/1.1 503 "); ++tries) {
    for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken.push_back(fd);
    ASSERT_FALSE(taken.empty());
    ::close(taken.back());  // for the socket of the client
    taken.pop_back();
    refusal = answer(std::string(hidden_request));
  }
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 "));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  for (const int fd : taken) ::close(fd);
  // Those that come while the server refuses are refused too.
  while (answer(std::string(hidden_request)).find("HIDDEN") == std::string::npos) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST_F(HttpServerTest, AHalfClosedClientGetsItsAnswerAndOneThatIsGoneEndsTheWait) {
  options_.stop_timeout = 1200ms;
  start();
  RawClient half_closed(port_);
  half_closed.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  half_closed.end_sending();
  {
    RawClient gone(port_);
    gone.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
    wait_for(waiting_, 2);
  }
  while (last_wakeup_ != HttpExchange::Wakeup::client_gone) std::this_thread::sleep_for(1ms);
  server_->stop();
  // Interim responses tell whether it is gone.
  EXPECT_THAT(half_closed.receive(), AllOf(StartsWith("HTTP/1.1 100 Continue\r\n\r\n"),
                                           HasSubstr("HTTP/1.1 200 OK"), HasSubstr("waited")));
  EXPECT_EQ(last_wakeup_, HttpExchange::Wakeup::stopping);
}

TEST_F(HttpServerTest, StoppingBeforeItServesEndsItAtOnce) {
  server_ = std::make_unique<HttpServer>(options_);
  server_->bind();
  server_->stop();
  EXPECT_TRUE(server_->is_stopping());
  server_->run();
}

TEST_F(HttpServerTest, BodiesCountAsMemoryOfTheirRequest) {
  options_.max_body_bytes = 10 << 20;
  options_.memory = {.request = 4 << 20, .all = 6 << 20};
  start();
  const auto body = [](std::size_t bytes) {
    return post("Connection: close\r\nContent-Length: " + std::to_string(bytes) + "\r\n",
                std::string(bytes, ' '));
  };
  // A body counts four times: as text, and as the values in it.
  EXPECT_THAT(answer(body(1 << 20)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer(body((1 << 20) + 1)), StartsWith("HTTP/1.1 413 "));
  RawClient half(port_);
  half.send(body(1 << 20).substr(0, 3 << 18));  // and waits
  while (server_->memory().used() < (5u << 19)) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(answer(body(1 << 20)), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(answer(body(1000)), StartsWith("HTTP/1.1 200 ")) << "small requests have a share";
  half.close();
  while (server_->memory().used() > 0) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(answer(body(1 << 20)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, WhatNobodyReadsTakesNoMemory) {
  options_.max_body_bytes = 10 << 20;
  start();
  const std::string get =
      "GET /hidden HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n";
  EXPECT_THAT(answer(get + std::string(9000000, ' ')),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close\r\n")));
  EXPECT_EQ(occurrences(answer(get + std::string(100, ' ')), "HTTP/1.1 "), 1);
  for (const std::string& chunk :
       {"5;" + std::string(200000, 'a'), "0\r\nX: " + std::string(200000, 'a')}) {
    EXPECT_THAT(answer(post("Transfer-Encoding: chunked\r\n", chunk)), StartsWith("HTTP/1.1 400 "));
  }
  const auto head = [](std::size_t size) {
    const std::string start_line = "GET /hidden HTTP/1.1\r\nHost: localhost\r\nX: ";
    return start_line + std::string(size - start_line.size() - 4, 'a') + "\r\n\r\n";
  };
  EXPECT_THAT(answer(head(32 << 10)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer(head((32 << 10) + 1)), StartsWith("HTTP/1.1 431 "));
}

TEST(HttpMessage, TheHostOfAnAuthority) {
  EXPECT_EQ(host_of_authority("Example.org:80"), "example.org");
  EXPECT_EQ(host_of_authority("[::1]:80"), "::1");
  EXPECT_EQ(host_of_authority("[::1]"), "::1");
  EXPECT_EQ(host_of_authority("localhost:"), "localhost");
  for (const auto* wrong :
       {"", ":80", "a:b", "[::1", "[localhost]", "[::1]x", "a b", "user@host", "a:80:80"}) {
    EXPECT_EQ(host_of_authority(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace regard::http_server_test
