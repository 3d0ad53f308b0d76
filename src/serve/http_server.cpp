#include "serve/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t max_head_bytes = std::size_t{32} << 10;  // request line and headers
constexpr int backlog = 512;
// How often a connection that waits for its next request looks whether the server stops.
constexpr milliseconds stop_interval{200};

// Waits until the socket has one of the events. Returns false at the deadline.
bool wait_for(int socket, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
    pollfd state{.fd = socket, .events = events, .revents = 0};
    const auto ready = ::poll(&state, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// The bytes of one connection. A request has a deadline and a largest number of bytes.
class Connection : public httplib::Stream {
 public:
  Connection(int socket, const HttpOptions& options) : socket_(socket), options_(options) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() override { close_gently(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for the first byte of the next request. Returns false if there is none.
  bool wait_for_request(const std::atomic<bool>& stopping) {
    if (first_ < last_) return true;
    const auto deadline = Clock::now() + options_.keep_alive_timeout;
    for (;;) {
      // A request that has arrived already is answered, also while the server stops.
      const bool is_last = stopping || Clock::now() >= deadline;
      const auto until = is_last ? Clock::now() : Clock::now() + stop_interval;
      if (wait_for(socket_, POLLIN, until)) return true;
      if (is_last) return false;
    }
  }
  void begin_request() {
    deadline_ = Clock::now() + options_.receive_timeout;
    head_bytes_ = 0;
    line_ends_ = 0;
    body_bytes_ = 0;
  }
  // The rest of the request is not read.
  void close_after_response() { closes_ = true; }
  bool closes() const { return closes_; }

  bool is_gone() const {
    char byte = 0;
    const auto count = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }

  bool is_readable() const override {
    return first_ < last_ || wait_for(socket_, POLLIN, deadline_);
  }
  bool is_writable() const override { return !is_gone(); }
  ssize_t read(char* data, std::size_t size) override {
    if (first_ == last_ && !receive()) return -1;
    size = std::min(size, last_ - first_);
    if (!count(size)) return -1;
    std::memcpy(data, buffer_.data() + first_, size);
    first_ += size;
    return static_cast<ssize_t>(size);
  }
  ssize_t write(const char* data, std::size_t size) override {
    std::size_t sent = 0;
    while (sent < size) {
      const auto count = ::send(socket_, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) {
        sent += static_cast<std::size_t>(count);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_for(socket_, POLLOUT, Clock::now() + options_.send_timeout)) return -1;
      } else if (errno != EINTR) {
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0) return;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    if (::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, host.data(), host.size(),
                      service.data(), service.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
      return;
    }
    ip = host.data();
    port = std::atoi(service.data());
  }
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool receive() {
    for (;;) {
      if (!wait_for(socket_, POLLIN, deadline_)) return false;
      const auto count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (count > 0) {
        first_ = 0;
        last_ = static_cast<std::size_t>(count);
        return true;
      }
      if (count == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
    }
  }
  // Counts bytes of the head, which ends with an empty line, and of the body. Returns false if they
  // are too many. httplib limits neither the head nor a body without a length.
  bool count(std::size_t size) {
    for (auto i = first_; i < first_ + size; ++i) {
      if (line_ends_ == 2) {
        body_bytes_ += first_ + size - i;
        break;
      }
      ++head_bytes_;
      if (buffer_[i] == '\n') {
        ++line_ends_;
      } else if (buffer_[i] != '\r') {
        line_ends_ = 0;
      }
    }
    // A chunked body is longer than its contents.
    return head_bytes_ <= max_head_bytes &&
           body_bytes_ <= 2 * options_.max_body_bytes + max_head_bytes;
  }
  // Reads what is on its way before the socket is closed. Otherwise the system would reset the
  // connection, and the client could lose the response.
  void close_gently() {
    ::shutdown(socket_, SHUT_WR);
    const auto deadline = Clock::now() + milliseconds(500);
    std::size_t bytes = 0;
    while (bytes < 2 * options_.max_body_bytes && wait_for(socket_, POLLIN, deadline)) {
      const auto count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (count <= 0) break;
      bytes += static_cast<std::size_t>(count);
    }
    ::close(socket_);
  }

  int socket_;
  const HttpOptions& options_;
  Clock::time_point deadline_;
  std::array<char, 16384> buffer_;
  std::size_t first_ = 0;  // received and not read: [first_, last_)
  std::size_t last_ = 0;
  std::size_t head_bytes_ = 0;
  int line_ends_ = 0;  // in a row
  std::size_t body_bytes_ = 0;
  bool closes_ = false;
};

// The connection that this thread serves, and the start of its request.
thread_local Connection* current_connection = nullptr;
thread_local Clock::time_point current_start;
// True while the accepting thread refuses a connection.
thread_local bool refuses = false;

// Starts a thread for each connection, up to a number.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  ConnectionThreads(std::size_t max_connections, std::atomic<std::size_t>& connections)
      : max_connections_(max_connections), connections_(connections) {}

  void enqueue(std::function<void()> serve) override {
    if (connections_ >= max_connections_) return refuse(serve);
    ++connections_;
    try {
      std::thread([this, serve] {
        serve();
        const std::lock_guard lock(mutex_);
        --connections_;
        ended_.notify_all();
      }).detach();
    } catch (const std::system_error&) {  // the system has no thread
      --connections_;
      refuse(serve);
    }
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return connections_ == 0; });
  }

 private:
  static void refuse(const std::function<void()>& serve) {
    refuses = true;
    serve();
    refuses = false;
  }

  std::size_t max_connections_;
  std::atomic<std::size_t>& connections_;
  std::mutex mutex_;
  std::condition_variable ended_;
};

// Sends an error without reading the request, and without waiting for the client.
void refuse_connection(int socket) {
  const auto body = to_text(
      error_json("overloaded", "the server has too many connections; try again in a second"));
  const auto response = fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
  std::array<char, 16384> received;
  ::recv(socket, received.data(), received.size(), MSG_DONTWAIT);
  ::send(socket, response.data(), response.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
  ::recv(socket, received.data(), received.size(), MSG_DONTWAIT);
  ::close(socket);
}

void set_error(httplib::Response& response, const HttpError& error) {
  response.status = error.status;
  if (error.retry_after > 0) {
    response.set_header("Retry-After", std::to_string(error.retry_after));
  }
  response.set_content(to_text(error_json(error.kind, error.message)), "application/json");
}

// Compares in a time that does not depend on where the texts differ.
bool is_equal_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]);
  }
  return difference == 0;
}

// The errors that httplib finds itself.
HttpError httplib_error(int status) {
  switch (status) {
    case 413:
      return {413, "too_large", "the body is larger than the server takes"};
    case 414:
      return {414, "too_large", "the path is too long"};
    default:
      return {status, "bad_request",
              fmt::format("the request is not valid HTTP/1.1 (status {})", status)};
  }
}

}  // namespace

Json error_json(const std::string& kind, const std::string& message) {
  return {{"error", {{"kind", kind}, {"message", message}}}};
}

class HttpServer::Listener : public httplib::Server {
 public:
  explicit Listener(HttpOptions options) : options_(std::move(options)) {
    new_task_queue = [this] {
      return new ConnectionThreads(options_.max_connections, connections_);
    };
    // httplib's own options let several programs listen on one port.
    set_socket_options([](socket_t socket) {
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_payload_max_length(options_.max_body_bytes);
    set_pre_routing_handler(
        [this](const auto& request, auto& response) { return before(request, response); });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      set_error(response, httplib_error(response.status));
      current_connection->close_after_response();
      response.set_header("Connection", "close");
    });
    set_exception_handler([](const httplib::Request& request, httplib::Response& response,
                             const std::exception_ptr& thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const HttpError& error) {
        set_error(response, error);
      } catch (const std::exception& error) {
        log::error("{} {}: {}", request.method, request.path, error.what());
        set_error(response, {500, "unexpected", "the server failed; its log says why"});
      }
    });
    set_logger([this](const httplib::Request& request, const httplib::Response& response) {
      const std::chrono::duration<double> seconds = Clock::now() - current_start;
      if (access_log) access_log(request, response, seconds.count());
    });
  }

  // httplib closes the socket only if the server has run.
  ~Listener() override {
    const auto socket = svr_sock_.exchange(INVALID_SOCKET);
    if (socket != INVALID_SOCKET) ::close(socket);
  }

  int bind() {
    const auto port = options_.port == 0                           ? bind_to_any_port(options_.host)
                      : bind_to_port(options_.host, options_.port) ? options_.port
                                                                   : -1;
    if (port < 0) {
      throw EnvironmentError(
          "--host {} --port {}: cannot listen there ({}); choose another port, or an address of "
          "this machine",
          options_.host, options_.port, std::strerror(errno));
    }
    ::listen(svr_sock_, backlog);  // httplib's own backlog is 5
    return port;
  }
  void end() {
    stopping_ = true;
    stop();
  }
  bool is_stopping() const { return stopping_; }
  std::size_t connections() const { return connections_; }
  std::map<std::string, std::map<std::string, Route>>& routes() { return routes_; }

  AccessLog access_log;

 private:
  bool process_and_close_socket(socket_t socket) override {
    if (refuses) {
      refuse_connection(socket);
      return false;
    }
    Connection connection(socket, options_);
    current_connection = &connection;
    bool is_closed = false;
    while (!is_closed && !connection.closes() && connection.wait_for_request(stopping_)) {
      connection.begin_request();
      current_start = Clock::now();
      if (!process_request(connection, stopping_, is_closed, {})) break;
    }
    current_connection = nullptr;
    return true;
  }

  // Called before the body is read. Throws HttpError.
  HandlerResponse before(const httplib::Request& request, httplib::Response& response) {
    current_start = Clock::now();
    try {
      check(request, response);
      return HandlerResponse::Unhandled;
    } catch (const HttpError& error) {
      set_error(response, error);
      current_connection->close_after_response();  // the body is not read
      response.set_header("Connection", "close");
      return HandlerResponse::Handled;
    }
  }
  void check(const httplib::Request& request, httplib::Response& response) const;

  const HttpOptions options_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> connections_ = 0;
  std::map<std::string, std::map<std::string, Route>> routes_;  // by path and method
};

void HttpServer::Listener::check(const httplib::Request& request,
                                 httplib::Response& response) const {
  const auto path = routes_.find(request.path);
  if (path == routes_.end()) {
    std::string known;
    for (const auto& [name, methods] : routes_) known += (known.empty() ? "" : ", ") + name;
    throw HttpError(
        404, "not_found",
        fmt::format("path: found `{}`, expected one of {}", excerpt(request.path), known));
  }
  const auto method = path->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (method == path->second.end()) {
    std::string allowed;
    for (const auto& [name, route] : path->second) allowed += (allowed.empty() ? "" : ", ") + name;
    response.set_header("Allow", allowed);
    throw HttpError(
        405, "method_not_allowed",
        fmt::format("{}: found method {}, expected {}", request.path, request.method, allowed));
  }
  const auto& route = method->second;
  if (stopping_ && !route.always) {
    throw HttpError(503, "stopping", "the server is stopping; try again later", 5);
  }
  if (route.is_protected && !options_.token.empty() &&
      !is_equal_secret(request.get_header_value("Authorization"), "Bearer " + options_.token)) {
    response.set_header("WWW-Authenticate", "Bearer");
    throw HttpError(401, "unauthorized",
                    request.has_header("Authorization")
                        ? "the token is wrong"
                        : "this server needs a token; send `Authorization: Bearer TOKEN`");
  }
  if (request.method != "POST") return;
  // A page of another site can send a form without asking, but not JSON. httplib would also take
  // apart a form, and inflate a compressed body beyond the limit.
  const auto type = request.get_header_value("Content-Type");
  if (!type.starts_with("application/json")) {
    throw HttpError(
        415, "bad_request",
        fmt::format("Content-Type: found `{}`, expected application/json", excerpt(type)));
  }
  if (request.has_header("Content-Encoding")) {
    throw HttpError(415, "bad_request", "Content-Encoding: found one; send the body as it is");
  }
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
    throw HttpError(411, "bad_request", "Content-Length is missing");
  }
}

HttpServer::HttpServer(HttpOptions options)
    : listener_(std::make_unique<Listener>(std::move(options))) {}
HttpServer::~HttpServer() = default;

void HttpServer::get(const std::string& path, Route route, Handler handler) {
  listener_->routes()[path]["GET"] = route;
  listener_->Get(path, std::move(handler));
}
void HttpServer::post(const std::string& path, Route route, Handler handler) {
  listener_->routes()[path]["POST"] = route;
  listener_->Post(path, std::move(handler));
}
void HttpServer::set_access_log(AccessLog log) {
  listener_->access_log = std::move(log);
}
int HttpServer::bind() {
  return listener_->bind();
}
void HttpServer::run() {
  listener_->listen_after_bind();
}
void HttpServer::stop() {
  listener_->end();
}
bool HttpServer::is_stopping() const {
  return listener_->is_stopping();
}
std::size_t HttpServer::connections() const {
  return listener_->connections();
}
bool HttpServer::client_is_gone() {
  return current_connection != nullptr && current_connection->is_gone();
}

}  // namespace regard
