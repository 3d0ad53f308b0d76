// An HTTP/1.1 server for a few paths, over Boost.Beast and Asio. One thread serves all connections
// with coroutines, so that an idle connection costs about 4 KB and no thread. Requests are bounded
// in size, in memory and in the time to receive them. A new client takes the place of the oldest
// idle connection if there are too many.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
    bool needs_token = false;   // refused if the server has no token; not in the list of paths
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

  // Adds a path before run(). Handlers run on the thread of run(), many at once, and must not
  // block. They may throw HttpError; any other exception is an error 500.
  void add(const std::string& method, const std::string& path, Route route, Handler handler);
  void set_access_log(AccessLog log) { access_log_ = std::move(log); }

  // Binds the address. Returns the port. Throws EnvironmentError if it cannot.
  int bind();
  // Serves until stop(), and until the requests in progress are answered or the stop timeout is
  // over.
  void run();
  // Refuses new requests, and ends run(). Thread-safe, also before run().
  void stop();
  bool is_stopping() const { return stopping_; }
  std::size_t connections() const { return connections_; }
  const ServerMemory& memory() const { return parts_.memory; }

 private:
  struct Entry {
    Route route;
    Handler handler;
  };
  // The state of a connection. Those that wait or receive give way to new clients, the oldest
  // first.
  enum State : std::size_t { idle, receiving, answering };
  struct Client;

  asio::awaitable<void> accept_clients();
  asio::awaitable<void> pause();
  bool recover_from(const boost::system::error_code& error);
  bool make_room();
  asio::awaitable<void> serve(std::unique_ptr<Client> client);
  asio::awaitable<bool> answer(Client& client);
  asio::awaitable<void> handle(HttpExchange& exchange, Client& client, std::string& route);
  void check(const HttpRequest& request, const std::string& path, const Route& route) const;
  const Entry* find(const HttpRequest& request, std::string& path, HttpFields& allow) const;
  void close_at_deadline();
  void return_memory();

  std::map<std::string, std::map<std::string, Entry>> routes_;  // by path and method
  AccessLog access_log_;

  const HttpOptions options_;
  ServerContext parts_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> connections_ = 0;
  MemoryReserve reserve_;
  asio::ip::tcp::acceptor acceptor_{parts_.context};
  asio::steady_timer accept_timer_{parts_.context};
  std::optional<asio::steady_timer> stop_timer_;
  std::array<std::list<Client*>, 3> clients_;  // by state, the longest in it first
  int spare_descriptor_ = -1;
  HttpExchange::Clock::time_point last_accept_error_;
};

}  // namespace regard
