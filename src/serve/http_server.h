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

#include "serve/asio.h"
#include "serve/http_exchange.h"
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

class HttpServer {
 public:
  using Handler = std::function<asio::awaitable<void>(HttpExchange&)>;

  // How the server treats the requests of a path.
  struct Route {
    bool is_protected = false;  // needs the bearer token, if there is one
    bool needs_token = false;   // refused if the server has no token
    bool has_body = false;      // a POST with a JSON body
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

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regard
