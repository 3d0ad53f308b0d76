#include "serve/http_connection.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/strings.h"

namespace regard {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t max_head_bytes = std::size_t{32} << 10;  // request line and fields
// Received bytes that are not parsed: a head and what follows it, or a chunk's extension.
constexpr std::size_t max_received = std::size_t{64} << 10;
constexpr std::size_t idle_buffer = 256;
constexpr std::size_t bytes_per_second = std::size_t{64} << 10;  // of a client that reads
constexpr std::size_t max_skipped = std::size_t{64} << 10;
constexpr std::size_t body_piece = std::size_t{16} << 10;
// A body is held as text, and for a while as the values in it.
constexpr std::size_t copies_of_body = 4;
constexpr int send_buffer = 256 << 10;
constexpr std::chrono::milliseconds finish_timeout{500};

auto to(error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

// Returns the error of a request that the parser rejects.
HttpError parser_error(const error_code& error) {
  if (error == http::error::body_limit) {
    return {413, "too_large", "the body is larger than the server takes"};
  }
  return {400, "bad_request",
          fmt::format("the request is not valid HTTP/1.1: {}", error.message())};
}

bool is_of_parser(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_field).category();
}

// Returns the path of a request target: "/path", "/path?query" or "http://host/path". The host of
// the last form replaces the field Host (RFC 9112, section 3.2.2).
std::string path_of(std::string target, HttpFields& fields) {
  if (!target.starts_with('/') && target != "*") {
    const auto scheme = target.find("://");
    if (scheme == std::string::npos) {
      throw HttpError(400, "bad_request", "the request target has no path");
    }
    const auto authority = scheme + 3;
    const auto path = std::min(target.find_first_of("/?", authority), target.size());
    for (auto& [key, value] : fields) {
      if (equal_ignoring_case(key, "Host")) value = target.substr(authority, path - authority);
    }
    target = target.substr(path);
    if (!target.starts_with('/')) target.insert(0, "/");
  }
  return target.substr(0, target.find('?'));
}

}  // namespace

// The body is read piece by piece, so that it takes memory only as it arrives.
class HttpConnection::Parser : public http::request_parser<http::buffer_body> {};

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, const HttpOptions& options)
    : stream_(std::move(socket)), options_(options), received_(max_received) {
  error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  // Bounds what a client that reads nothing keeps in the system's memory.
  stream_.socket().set_option(asio::socket_base::send_buffer_size(send_buffer), ignored);
  const auto peer = stream_.socket().remote_endpoint(ignored);
  remote_address_ = ignored ? "unknown" : peer.address().to_string();
}

HttpConnection::~HttpConnection() = default;

asio::awaitable<bool> HttpConnection::wait_for_request() {
  if (received_.size() > 0) co_return true;
  received_ = beast::flat_buffer(max_received);
  stream_.expires_after(options_.keep_alive_timeout);
  error_code error;
  const auto count = co_await stream_.async_read_some(received_.prepare(idle_buffer), to(error));
  received_.commit(count);
  co_return !error && count > 0;
}

// Receives until the empty line that ends a head. Returns the size of the head, 0 if it does not
// arrive. Throws HttpError if a line does not end with CRLF, or continues on the next one: Beast
// would accept the latter, and proxies differ about it.
asio::awaitable<std::size_t> HttpConnection::receive_head() {
  for (std::size_t seen = 0;;) {
    const std::string_view text(static_cast<const char*>(received_.data().data()),
                                received_.size());
    for (auto end = text.find('\n', seen); end != std::string_view::npos;
         end = text.find('\n', end + 1)) {
      seen = end + 1;
      if (end == 0 || text[end - 1] != '\r') {
        throw HttpError(400, "bad_request", "found a line that does not end with CRLF");
      }
      if (end >= 3 && text[end - 2] == '\n') {
        if (seen > max_head_bytes) break;
        co_return seen;
      }
      if (seen < text.size() && (text[seen] == ' ' || text[seen] == '\t')) {
        throw HttpError(400, "bad_request", "found a field that continues on the next line");
      }
    }
    if (text.size() > max_head_bytes) {
      throw HttpError(431, "too_large", "the request line and the fields have more than 32 KB");
    }
    // The first byte of the next line is looked at with its line end.
    if (seen > 0 && seen == text.size()) --seen;
    error_code error;
    const auto count = co_await stream_.async_read_some(
        received_.prepare(
            std::min(std::max(text.size(), std::size_t{1024}), max_received - text.size())),
        to(error));
    received_.commit(count);
    if (error == asio::error::eof && count == 0) {
      throw HttpError(400, "bad_request", "the request ends before its empty line");
    }
    if (error) co_return 0;
  }
}

asio::awaitable<bool> HttpConnection::read_head(HttpRequest& request) {
  stream_.expires_after(options_.receive_timeout);
  parser_ = std::make_unique<Parser>();
  parser_->header_limit(max_head_bytes + 1);
  parser_->body_limit(options_.max_body_bytes);
  request.remote_address = remote_address_;
  const auto size = co_await receive_head();
  if (size == 0) co_return false;
  error_code error;
  const auto used = parser_->put(asio::buffer(received_.data(), size), error);
  if (!error && used != size) error = http::error::bad_line_ending;
  const auto& message = parser_->get();
  request.method = std::string(message.method_string());
  if (error) throw parser_error(error);
  received_.consume(size);
  request.is_http_1_0 = message.version() != 11;
  for (const auto& field : message) {
    request.fields.emplace_back(field.name_string(), field.value());
  }
  request.path = path_of(std::string(message.target()), request.fields);
  check_framing(request);
  co_return true;
}

// Receives bytes of the body. Returns their number; 0 if the body is complete or does not arrive.
asio::awaitable<std::size_t> HttpConnection::read_piece(char* bytes, std::size_t size) {
  while (!parser_->is_done()) {
    auto& body = parser_->get().body();
    body.data = bytes;
    body.size = size;
    received_.reserve(body_piece);  // here, where an exception can be caught
    error_code error;
    co_await http::async_read_some(stream_, received_, *parser_, to(error));
    if (error == http::error::need_buffer) error = {};
    if (error == http::error::buffer_overflow) error = http::error::bad_chunk_extension;
    if (error && !is_of_parser(error)) co_return 0;
    if (error) throw parser_error(error);
    if (body.size < size) co_return size - body.size;
  }
  co_return 0;
}

asio::awaitable<bool> HttpConnection::read_body(HttpRequest& request, ServerMemory::Lease& memory) {
  const auto length = parser_->content_length();
  if (length) memory.check(copies_of_body * *length);
  if (!parser_->is_done() && !request.is_http_1_0 && request.count("Expect") > 0) {
    const bool is_sent = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!is_sent) co_return false;
    stream_.expires_after(options_.receive_timeout);
  }
  const auto bytes = std::make_unique<char[]>(body_piece);
  for (;;) {
    const auto count = co_await read_piece(bytes.get(), body_piece);
    if (count == 0) break;
    memory.add(copies_of_body * count);
    request.body.append(bytes.get(), count);
  }
  co_return parser_->is_done();
}

asio::awaitable<void> HttpConnection::skip_body() {
  const auto bytes = std::make_unique<char[]>(body_piece);
  for (std::size_t read = 0; read < max_skipped;) {
    const auto count = co_await read_piece(bytes.get(), body_piece);
    if (count == 0) break;
    read += count;
  }
}

bool HttpConnection::can_continue() const {
  return parser_ && parser_->is_done() && parser_->get().version() == 11 && parser_->keep_alive();
}

asio::awaitable<bool> HttpConnection::write(std::string_view first, std::string_view second) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + options_.send_timeout +
                        std::chrono::seconds((first.size() + second.size()) / bytes_per_second);
  while (!first.empty() || !second.empty()) {
    const std::array buffers = {asio::buffer(first.data(), first.size()),
                                asio::buffer(second.data(), second.size())};
    stream_.expires_at(std::min(Clock::now() + options_.send_timeout, deadline));
    error_code error;
    const auto count = co_await stream_.async_write_some(buffers, to(error));
    if (error) {
      close();
      co_return false;
    }
    const auto of_first = std::min(count, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(count - of_first);
  }
  stream_.expires_never();
  co_return true;
}

asio::awaitable<void> HttpConnection::finish() {
  error_code error;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
  stream_.expires_after(finish_timeout);
  received_ = beast::flat_buffer(max_received);
  for (std::size_t bytes = 0; !error && bytes < 2 * options_.max_body_bytes;) {
    bytes += co_await stream_.async_read_some(received_.prepare(body_piece), to(error));
  }
  close();
}

void HttpConnection::close() {
  stream_.close();
}

bool HttpConnection::has_bytes() {
  error_code ignored;
  return received_.size() > 0 || (is_open() && stream_.socket().available(ignored) > 0);
}

HttpConnection::Peer HttpConnection::peer() {
  if (!is_open()) return Peer::gone;
  pollfd state{.fd = stream_.socket().native_handle(), .events = POLLRDHUP, .revents = 0};
  if (::poll(&state, 1, 0) <= 0) return Peer::open;
  return (state.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? Peer::gone : Peer::half_closed;
}

}  // namespace regard
