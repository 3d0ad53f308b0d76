// The requests on a connection: serve/http_connection.h.
#include "serve/http_connection.h"

#include <sys/socket.h>

#include "tests/fuzz/target.h"

namespace {

using namespace regard;

// Reads requests until the client has sent all, or one is not valid.
asio::awaitable<void> read_requests(HttpConnection& connection, const HttpOptions& options) {
  ServerMemory memory(options.memory);
  for (bool goes_on = true; goes_on;) {
    goes_on = co_await connection.wait_for_request();
    if (!goes_on) break;
    HttpRequest request;
    ServerMemory::Lease lease(memory);
    goes_on = co_await connection.read_head(request);
    if (!goes_on) break;
    fuzz::check(request.path.starts_with('/') || request.path == "*", "a path");
    fuzz::check(request.path.find('?') == std::string::npos, "no query");
    fuzz::check(request.count("Content-Length") + request.count("Transfer-Encoding") <= 1,
                "one length");
    check_host(request, options.allowed);
    cross_origin_fields(request, options.allowed);
    goes_on = co_await connection.read_body(request, lease);
    if (!goes_on) break;
    fuzz::check(request.body.size() <= options.max_body_bytes, "the body is within the limit");
    fuzz::check(memory.used() >= request.body.size(), "the body is counted");
    goes_on = connection.can_continue();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::disable_warnings();
  HttpOptions options;
  options.max_body_bytes = 1000;
  options.allowed = {.names = {"example.org"}, .origins = {"https://friend.example"}};
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 0;
  asio::io_context context;
  asio::ip::tcp::socket client(context, asio::ip::tcp::v4(), sockets[0]);
  HttpConnection connection(asio::ip::tcp::socket(context, asio::ip::tcp::v4(), sockets[1]),
                            options);
  // The socket takes some 200 KB, more than an input has.
  ::send(sockets[0], data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  client.shutdown(asio::ip::tcp::socket::shutdown_send);
  asio::co_spawn(context, read_requests(connection, options), [](const std::exception_ptr& thrown) {
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const HttpError& error) {
      fuzz::check(error.status >= 400 && error.status < 500, "an error has its status");
      fuzz::check(!error.message.empty(), "an error has a message");
      head_of(error_response(error), {});
    }
  });
  context.run();
  return 0;
}
