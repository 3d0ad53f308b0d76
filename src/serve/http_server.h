// An HTTP/1.1 server for a few paths, over httplib. Each connection has its own thread. Connections
// are bounded in number, and each request in size and in the time to receive it, so that slow or
// hostile clients cannot hold up the others.
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"

namespace regard {

// An error response: {"error": {"kind": …, "message": …}}.
class HttpError : public std::exception {
 public:
  // `retry_after` seconds are sent as Retry-After if they are not 0.
  HttpError(int error_status, std::string error_kind, std::string error_message,
            std::int64_t retry_after_seconds = 0)
      : status(error_status),
        kind(std::move(error_kind)),
        message(std::move(error_message)),
        retry_after(retry_after_seconds) {}
  const char* what() const noexcept override { return message.c_str(); }

  int status;
  std::string kind;
  std::string message;
  std::int64_t retry_after;
};

// Returns {"error": {"kind": …, "message": …}}.
Json error_json(const std::string& kind, const std::string& message);

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  std::size_t max_connections = 256;
  std::size_t max_body_bytes = std::size_t{1} << 20;
  std::chrono::milliseconds receive_timeout{10000};     // for a whole request
  std::chrono::milliseconds send_timeout{10000};        // without progress
  std::chrono::milliseconds keep_alive_timeout{60000};  // between two requests
  std::string token;                                    // empty: no authorization
};

class HttpServer {
 public:
  using Handler = std::function<void(const httplib::Request&, httplib::Response&)>;

  // How the server treats the requests of a path.
  struct Route {
    bool is_protected = false;  // needs the bearer token, if there is one
    // Answered while the server stops; others are refused then.
    bool always = false;
  };

  // The access log: called after each response, from any thread.
  using AccessLog =
      std::function<void(const httplib::Request&, const httplib::Response&, double seconds)>;

  explicit HttpServer(HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Add a path, without parameters. Handlers are called from any thread, several at once. They may
  // throw HttpError; any other exception is an error 500. A POST must have a JSON body.
  void get(const std::string& path, Route route, Handler handler);
  void post(const std::string& path, Route route, Handler handler);
  void set_access_log(AccessLog log);

  // Binds the address. Returns the port. Throws EnvironmentError if it cannot.
  int bind();
  // Serves until stop(), and until the requests in progress are answered.
  void run();
  // Refuses new requests, and ends run(). Thread-safe.
  void stop();
  bool is_stopping() const;
  std::size_t connections() const;

  // True if the client of the request that this thread handles has closed its connection.
  static bool client_is_gone();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace regard
