// An HTTP/1.1 server for a few paths, over Boost.Beast and Asio. One thread serves all connections
// with coroutines, so that an idle connection costs about 4 KB and no thread. Requests are bounded
// in size, in memory and in the time to receive them. A new client takes the place of the oldest
// idle connection if there are too many.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "serve/asio.h"
#include "serve/http_message.h"
#include "serve/server_memory.h"

namespace regard {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  AllowedHosts allowed;
  std::size_t max_connections = 1024;
  std::size_t max_body_bytes = std::size_t{1} << 20;
  MemoryLimits memory;
  std::chrono::milliseconds receive_timeout{10000};     // for a whole request
  std::chrono::milliseconds send_timeout{10000};        // for 64 KB
  std::chrono::milliseconds keep_alive_timeout{60000};  // between two requests
  std::chrono::milliseconds stop_timeout{30000};        // for the requests in progress at stop()
  std::string token;                                    // empty: no authorization
};

class HttpConnection;
class HttpServer;

// Calls a function on a thread of the pool and returns its result to the coroutine. Rethrows its
// exception.
template <typename Function>
boost::asio::awaitable<std::invoke_result_t<Function>> call_on(boost::asio::thread_pool& pool,
                                                               Function function) {
  return boost::asio::co_spawn(
      pool,
      [call = std::move(function)]() mutable
      -> boost::asio::awaitable<std::invoke_result_t<Function>> { co_return call(); },
      boost::asio::use_awaitable);
}

// A request that is being answered. Used by its handler, on the thread of the server.
class HttpExchange {
 public:
  using Clock = std::chrono::steady_clock;

  const HttpRequest& request() const { return request_; }
  // Memory of the request, of its body so far.
  ServerMemory::Lease& memory() { return memory_; }

  // Threads for work that would hold up the other connections.
  boost::asio::thread_pool& workers() { return workers_; }

  enum class Wakeup { woken, deadline, client_gone, stopping };
  // Returns a function that ends wait_until(), now or when it is called next. It is thread-safe,
  // and may be called until the server is destroyed, also after the request.
  std::function<void()> waker();
  // Waits for the waker, the deadline, the end of the client or of the server's stop timeout.
  boost::asio::awaitable<Wakeup> wait_until(Clock::time_point deadline);

  // Sets the response. It is sent when the handler returns.
  void respond(HttpResponse response) { response_ = std::move(response); }
  // Sends the head of a response whose body is written piece by piece; its `body` is not used. The
  // body ends when the handler returns; after an exception it is left unfinished. Throws HttpError
  // 499 if the client is gone, as write().
  boost::asio::awaitable<void> begin(HttpResponse response);
  boost::asio::awaitable<void> write(std::string bytes);

 private:
  friend class HttpServer;
  struct Waking;

  HttpExchange(HttpConnection& connection, boost::asio::thread_pool& workers,
               const HttpServer& server, ServerMemory& memory);

  HttpConnection& connection_;
  boost::asio::thread_pool& workers_;
  const HttpServer& server_;
  ServerMemory::Lease memory_;
  const Clock::time_point start_ = Clock::now();
  HttpRequest request_;
  HttpResponse response_;
  HttpFields cross_origin_;
  bool has_begun_ = false;
  std::shared_ptr<Waking> waking_;
};

class HttpServer {
 public:
  using Handler = std::function<boost::asio::awaitable<void>(HttpExchange&)>;

  // How the server treats the requests of a path.
  struct Route {
    bool is_protected = false;  // needs the bearer token, if there is one
    bool needs_token = false;   // refused if the server has no token
    bool has_body = false;      // a POST with a JSON body
    // Answered while the server stops; others are refused then.
    bool always = false;
  };

  // The access log: called after each response. `route` is the path of the route, "" for a request
  // of no route.
  using AccessLog =
      std::function<void(const HttpRequest&, const std::string& route, int status, double seconds)>;

  explicit HttpServer(HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Adds a path before run(). A `*` stands for one part of it. Handlers run on the thread of run(),
  // many at once, and must not block. They may throw HttpError; any other exception is an error
  // 500.
  void add(const std::string& method, const std::string& path, Route route, Handler handler);
  void set_access_log(AccessLog log);

  // Binds the address. Returns the port. Throws EnvironmentError if it cannot.
  int bind();
  // Serves until stop(), and until the requests in progress are answered or the stop timeout is
  // over.
  void run();
  // Refuses new requests, and ends run(). Thread-safe, also before run().
  void stop();
  bool is_stopping() const;
  std::size_t connections() const;
  const ServerMemory& memory() const;
  bool has_token() const;

 private:
  friend class HttpExchange;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regard
