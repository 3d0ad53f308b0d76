// One connection of the HTTP server: receives requests with Boost.Beast's parser and sends
// responses, each with a deadline. Not thread-safe: used by coroutines of one thread.
#pragma once

#include "serve/asio.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http_message.h"
#include "serve/http_server.h"
#include "serve/server_memory.h"

namespace regard {

class HttpConnection {
 public:
  // `options` must outlive the connection.
  HttpConnection(asio::ip::tcp::socket socket, const HttpOptions& options);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Waits for the first bytes of a request. Returns false if the client has closed the connection,
  // or sends none for the keep-alive timeout. Holds no buffer meanwhile.
  asio::awaitable<bool> wait_for_request();
  // Receives the head of a request. Returns false if it does not arrive in time. Throws HttpError
  // if it is not valid.
  asio::awaitable<bool> read_head(HttpRequest& request);
  // Receives the body, and counts what it and its values need in `memory`. Returns and throws as
  // read_head().
  asio::awaitable<bool> read_body(HttpRequest& request, ServerMemory::Lease& memory);
  // Receives a body that nobody reads, up to 64 KB of it.
  asio::awaitable<void> skip_body();
  // True if nothing of the request is left to read, and its client will send another one.
  bool can_continue() const;

  // Sends the bytes of `first`, then those of `second`. Returns false if the client takes none of
  // them for the send timeout, or not all of them in that time and a second for each 64 KB.
  asio::awaitable<bool> write(std::string_view first, std::string_view second = {});
  // Ends the connection. Reads what is on its way before: otherwise the system would reset the
  // connection, and the client could lose the response.
  asio::awaitable<void> finish();
  // Closes the socket. Operations in progress end.
  void close();
  bool is_open() const { return stream_.socket().is_open(); }
  // True if bytes of a request have arrived.
  bool has_bytes();

  enum class Peer {
    open,
    half_closed,  // sends no more: it has closed the connection, or only its sending side
    gone
  };
  Peer peer();

 private:
  class Parser;

  asio::awaitable<std::size_t> receive_head();
  asio::awaitable<std::size_t> read_piece(char* bytes, std::size_t size);

  boost::beast::tcp_stream stream_;
  const HttpOptions& options_;
  std::string remote_address_;
  boost::beast::flat_buffer received_;  // bytes that are not parsed yet
  std::unique_ptr<Parser> parser_;      // of the current request
};

}  // namespace regard
