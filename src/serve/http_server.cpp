#include "serve/http_server.h"

#include <fcntl.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/strings.h"
#include "serve/http_connection.h"
#include "text/unicode.h"

namespace regard {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
using Clock = HttpExchange::Clock;

constexpr int backlog = 512;
// After the stop timeout, for the error that the requests get.
constexpr milliseconds last_answers{1000};
// Requests that needed more memory together are followed by a malloc_trim().
constexpr std::size_t trimmed_peak = std::size_t{8} << 20;
constexpr milliseconds accept_pause{100};  // after an accept that failed
// Descriptors that the server needs beside those of its connections.
constexpr std::size_t other_descriptors = 128;

bool is_equal_secret(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// Sends an error without reading the request, and without waiting for the client.
void refuse(int socket) {
  auto response = error_response(HttpError(
      503, "overloaded", "the server has too many connections; try again in a second", 1));
  const auto text = head_of(response, {{"Connection", "close"},
                                       {"Content-Length", std::to_string(response.body.size())}}) +
                    response.body;
  std::array<char, 16384> received;
  ::recv(socket, received.data(), received.size(), MSG_DONTWAIT);
  ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
  ::recv(socket, received.data(), received.size(), MSG_DONTWAIT);
  ::close(socket);
}

// Raises the limit of open files to what the connections need, as far as the system allows.
void allow_descriptors(std::size_t connections) {
  rlimit limit{};
  const rlim_t wanted = connections + other_descriptors;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < wanted) {
    log::warning(
        "--max-connections {}: the system allows only {} open files; more connections get "
        "status 503",
        connections, limit.rlim_cur);
  }
}

// Completes the response to OPTIONS, which has the methods in its field Allow. A browser asks so
// before a page of another site sends a request.
void answer_options(HttpResponse& response) {
  response.status = 204;
  response.type = "";
  response.fields.emplace_back("Access-Control-Allow-Methods", response.fields.front().second);
  response.fields.emplace_back("Access-Control-Allow-Headers", "Content-Type, Authorization");
  response.fields.emplace_back("Access-Control-Max-Age", "600");
}

}  // namespace

struct HttpServer::Client {
  Client(HttpServer& http_server, tcp::socket socket);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  void enter(State next);

  HttpConnection connection;
  HttpServer& server;
  State state = idle;
  std::list<Client*>::iterator place;
};

HttpServer::Client::Client(HttpServer& http_server, tcp::socket socket)
    : connection(std::move(socket), http_server.options_), server(http_server) {
  place = server.clients_[state].insert(server.clients_[state].end(), this);
  ++server.connections_;
}

HttpServer::Client::~Client() {
  server.clients_[state].erase(place);
  --server.connections_;
  if (server.stopping_ && server.connections_ == 0 && server.stop_timer_) {
    server.stop_timer_->cancel();
  }
}

void HttpServer::Client::enter(State next) {
  auto& list = server.clients_[next];
  list.splice(list.end(), server.clients_[state], place);
  state = next;
}

HttpServer::HttpServer(HttpOptions options)
    : options_(std::move(options)), parts_(options_.memory) {}

HttpServer::~HttpServer() {
  parts_.workers.join();
  if (spare_descriptor_ >= 0) ::close(spare_descriptor_);
}

void HttpServer::add(const std::string& method, const std::string& path, Route route,
                     Handler handler) {
  routes_[path][method] = {route, std::move(handler)};
}

int HttpServer::bind() {
  const auto fail = [&](const std::string& reason) {
    throw EnvironmentError(
        "--host {} --port {}: cannot listen there ({}); choose another port, or an address of this "
        "machine",
        options_.host, options_.port, reason);
  };
  error_code error;
  tcp::resolver resolver(parts_.context);
  const auto found =
      resolver.resolve(options_.host, std::to_string(options_.port), tcp::resolver::passive, error);
  if (error) fail(error.message());
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  // Otherwise Asio waits for the next client after a connection that was aborted, and leaves those
  // that wait already.
  if (!error) acceptor_.set_option(tcp::acceptor::enable_connection_aborted(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(backlog, error);
  if (error) fail(error.message());
  allow_descriptors(options_.max_connections);
  spare_descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return acceptor_.local_endpoint().port();
}

void HttpServer::run() {
  asio::co_spawn(parts_.context, accept_clients(), asio::detached);
  for (;;) {
    try {
      parts_.context.run();
      return;
    } catch (const std::exception& error) {  // such as std::bad_alloc
      log::error("The server goes on after an error: {}", error.what());
    }
  }
}

void HttpServer::stop() {
  if (stopping_) return;
  parts_.deadline = Clock::now() + options_.stop_timeout;
  stopping_ = true;
  asio::post(parts_.context, [this] {
    error_code ignored;
    acceptor_.close(ignored);
    accept_timer_.cancel();
    for (auto* client : clients_[idle]) {
      if (!client->connection.has_bytes()) client->connection.close();
    }
    close_at_deadline();
  });
}

// Closes the connections that are left a while after the deadline: those that read too slowly.
void HttpServer::close_at_deadline() {
  if (connections_ == 0) return;
  stop_timer_.emplace(parts_.context, parts_.deadline.load() + last_answers);
  stop_timer_->async_wait([this](const error_code& cancelled) {
    if (cancelled) return;
    for (auto& list : clients_) {
      for (auto* client : list) client->connection.close();
    }
  });
}

asio::awaitable<void> HttpServer::accept_clients() {
  while (!stopping_) {
    bool pauses = false;
    try {
      error_code error;
      auto socket =
          co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (stopping_) co_return;
      if (error) {
        pauses = !recover_from(error);
      } else if (connections_ >= options_.max_connections && !make_room()) {
        refuse(socket.release());
      } else {
        asio::co_spawn(parts_.context, serve(std::make_unique<Client>(*this, std::move(socket))),
                       asio::detached);
      }
    } catch (const std::exception& failure) {
      log::error("A connection was lost: {}", failure.what());
      pauses = true;
    }
    if (pauses) co_await pause();
  }
}

asio::awaitable<void> HttpServer::pause() {
  try {
    accept_timer_.expires_after(accept_pause);
    error_code ignored;
    co_await accept_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  } catch (const std::bad_alloc&) {
  }
}

// Called if a client was not accepted: the system has no descriptor or no memory, or the client is
// gone already. Returns true if the next client can be accepted at once.
bool HttpServer::recover_from(const error_code& error) {
  if (Clock::now() - last_accept_error_ > std::chrono::seconds(10)) {
    log::warning("A connection could not be accepted ({}); the server goes on", error.message());
    last_accept_error_ = Clock::now();
  }
  if (error.value() != EMFILE && error.value() != ENFILE) return false;
  if (make_room()) return true;
  // All clients that wait get an answer through the descriptor that is kept for this.
  for (int socket = 0, count = 0; socket >= 0 && count < backlog; ++count) {
    if (spare_descriptor_ >= 0) ::close(spare_descriptor_);
    socket = ::accept(acceptor_.native_handle(), nullptr, nullptr);
    if (socket >= 0) refuse(socket);
    spare_descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  return false;
}

// Closes the oldest connection that waits for a request, or the oldest that sends one. Returns
// false if there is none.
bool HttpServer::make_room() {
  for (const auto state : {idle, receiving}) {
    for (auto* client : clients_[state]) {
      if (!client->connection.is_open()) continue;  // it ends already
      client->connection.close();
      return true;
    }
  }
  return false;
}

asio::awaitable<void> HttpServer::serve(std::unique_ptr<Client> client) {
  try {
    for (bool goes_on = true; goes_on && !stopping_;) {
      client->enter(idle);
      goes_on = co_await client->connection.wait_for_request();
      if (!goes_on) break;
      client->enter(receiving);
      goes_on = co_await answer(*client);
    }
    client->enter(idle);
    co_await client->connection.finish();
  } catch (const std::exception& error) {
    log::error("A connection ended with an error: {}", error.what());
  }
}

// Answers one request. Returns false if the connection ends.
asio::awaitable<bool> HttpServer::answer(Client& client) {
  reserve_.fill();
  return_memory();
  HttpExchange exchange(client.connection, parts_);
  std::string route;
  std::optional<HttpError> failure;
  auto& request = exchange.request_;
  auto& response = exchange.response_;
  bool is_valid = false;
  try {
    is_valid = co_await client.connection.read_head(request);
    if (!is_valid) co_return false;
    co_await handle(exchange, client, route);
  } catch (const HttpError& error) {
    failure = error;
  } catch (const std::bad_alloc&) {
    failure = HttpError(503, "overloaded", "the server has not enough memory; try again later", 5);
  } catch (const std::exception& error) {
    log::error("{} {}: {}", request.method, excerpt(request.path), error.what());
    failure = HttpError(500, "unexpected", "the server failed; its log says why");
  }
  if (failure && !exchange.has_begun_) {
    auto fields = std::move(response.fields);  // such as Allow
    response = error_response(*failure);
    std::ranges::move(fields, std::back_inserter(response.fields));
  }
  // Bytes after an invalid head are not parsed as a request.
  const bool is_bad = !is_valid || (failure && failure->status == 400 && client.state != answering);
  bool goes_on = !is_bad && client.connection.can_continue() && !stopping_;
  if (exchange.has_begun_) {
    if (!failure && !request.is_http_1_0) {
      goes_on = co_await client.connection.write("0\r\n\r\n") && goes_on;
    } else {
      goes_on = false;
    }
    if (failure && failure->status != 499) client.connection.close();  // the body is not complete
  } else if (!failure || failure->status != 499) {
    HttpFields fields = exchange.cross_origin_;
    if (response.status != 204) {
      fields.emplace_back("Content-Length", std::to_string(response.body.size()));
    }
    if (!goes_on) fields.emplace_back("Connection", "close");
    const auto head = head_of(response, fields);
    const std::string_view body = request.method == "HEAD" ? "" : std::string_view(response.body);
    const bool is_sent = co_await client.connection.write(head, body);
    goes_on = is_sent && goes_on;
  } else {
    goes_on = false;
  }
  if (access_log_) {
    const std::chrono::duration<double> seconds = Clock::now() - exchange.start_;
    access_log_(request, route, failure ? failure->status : response.status, seconds.count());
  }
  co_return goes_on;
}

// Gives freed memory back to the system after requests that needed much of it.
void HttpServer::return_memory() {
#ifdef __GLIBC__
  if (parts_.memory.used() > 0 || parts_.memory.take_peak() < trimmed_peak) return;
  asio::post(parts_.workers, [] { ::malloc_trim(0); });
#endif
}

// Checks a request, receives its body and calls its handler.
asio::awaitable<void> HttpServer::handle(HttpExchange& exchange, Client& client,
                                         std::string& route) {
  auto& request = exchange.request_;
  check_host(request, options_.allowed);
  exchange.cross_origin_ = cross_origin_fields(request, options_.allowed);
  const auto* entry = find(request, route, exchange.response_.fields);
  if (entry != nullptr) check(request, route, entry->route);
  if (entry != nullptr && entry->route.has_body) {
    const bool has_body = co_await client.connection.read_body(request, exchange.memory_);
    if (!has_body) throw HttpError(499, "closed", "the body did not arrive");
  } else {
    // The connection ends after the answer if the body is long.
    co_await client.connection.skip_body();
  }
  client.enter(answering);
  if (entry != nullptr) {
    co_await entry->handler(exchange);
  } else {
    answer_options(exchange.response_);
  }
}

// Returns the route of a request, and stores its path. Returns nullptr for OPTIONS, with `allow`
// set. Throws HttpError if there is no route.
const HttpServer::Entry* HttpServer::find(const HttpRequest& request, std::string& path,
                                          HttpFields& allow) const {
  const auto found = routes_.find(request.path);
  if (found == routes_.end()) {
    const auto is_open = [](const auto& method) { return !method.second.route.needs_token; };
    std::string known;
    for (const auto& [name, methods] : routes_) {
      if (std::ranges::any_of(methods, is_open)) known += (known.empty() ? "" : ", ") + name;
    }
    throw HttpError(
        404, "not_found",
        fmt::format("path: found `{}`, expected one of {}", excerpt(request.path), known));
  }
  path = found->first;
  const auto method = found->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (method != found->second.end()) return &method->second;
  std::string allowed;
  for (const auto& [name, entry] : found->second) allowed += (allowed.empty() ? "" : ", ") + name;
  const bool can_get = found->second.contains("GET");
  allow.emplace_back("Allow", allowed + (can_get ? ", HEAD, OPTIONS" : ", OPTIONS"));
  if (request.method == "OPTIONS") return nullptr;
  throw HttpError(405, "method_not_allowed",
                  fmt::format("{}: found method {}, expected {}", excerpt(request.path),
                              excerpt(request.method), allowed));
}

// Called before the body is read. Throws HttpError.
void HttpServer::check(const HttpRequest& request, const std::string& path,
                       const Route& route) const {
  if (stopping_) {
    throw HttpError(503, "stopping", "the server is stopping; try again later", 5);
  }
  if (route.needs_token && options_.token.empty()) {
    throw HttpError(403, "forbidden",
                    fmt::format("{}: the server has no --token-file, so nobody may do this", path));
  }
  if (route.is_protected && !options_.token.empty() &&
      !is_equal_secret(request.field("Authorization"), "Bearer " + options_.token)) {
    throw HttpError(401, "unauthorized",
                    request.count("Authorization") > 0
                        ? "the token is wrong"
                        : "this server needs a token; send `Authorization: Bearer TOKEN`");
  }
  const auto expectation = request.field("Expect");
  if (request.count("Expect") > 1 ||
      (!expectation.empty() && !equal_ignoring_case(expectation, "100-continue"))) {
    throw HttpError(417, "bad_request",
                    fmt::format("Expect: found `{}`, expected 100-continue", excerpt(expectation)));
  }
  if (!route.has_body) return;
  // A page of another site can send a form without asking, but not JSON.
  const auto type = request.field("Content-Type");
  const auto media_type = std::string_view(type).substr(0, type.find(';'));
  if (!equal_ignoring_case(media_type.substr(0, media_type.find_last_not_of(' ') + 1),
                           "application/json")) {
    throw HttpError(
        415, "bad_request",
        fmt::format("Content-Type: found `{}`, expected application/json", excerpt(type)));
  }
  if (request.count("Content-Encoding") > 0) {
    throw HttpError(415, "bad_request", "Content-Encoding: found one; send the body as it is");
  }
  if (request.count("Content-Length") == 0 && request.count("Transfer-Encoding") == 0) {
    throw HttpError(411, "bad_request", "Content-Length is missing");
  }
}

}  // namespace regard
