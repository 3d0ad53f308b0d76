// A request that is being answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "serve/asio.h"
#include "serve/http_message.h"
#include "serve/server_memory.h"

namespace regard {

class HttpConnection;

// Holds the state that all requests of a server share.
struct ServerContext {
  explicit ServerContext(MemoryLimits limits) : memory(limits) {}

  asio::io_context context{1};
  // Threads for work that would hold up the other connections.
  asio::thread_pool workers{2};
  ServerMemory memory;
  // Requests that run at this time end with an error. Set when the server stops.
  std::atomic<std::chrono::steady_clock::time_point> deadline =
      std::chrono::steady_clock::time_point::max();
};

// Calls a function on a thread of the pool and returns its result to the coroutine. Rethrows its
// exception.
template <typename Function>
asio::awaitable<std::invoke_result_t<Function>> call_on(asio::thread_pool& pool,
                                                        Function function) {
  return asio::co_spawn(
      pool,
      [call = std::move(function)]() mutable -> asio::awaitable<std::invoke_result_t<Function>> {
        co_return call();
      },
      asio::use_awaitable);
}

// Used by the handler of the request, on the thread of the server.
class HttpExchange {
 public:
  using Clock = std::chrono::steady_clock;

  const HttpRequest& request() const { return request_; }
  // Memory that counts for the request. It has that of the body already.
  ServerMemory::Lease& memory() { return memory_; }

  // Threads for work that would hold up the other connections.
  asio::thread_pool& workers() { return server_.workers; }

  enum class Wakeup { woken, deadline, client_gone, stopping };
  // Returns a function that ends wait_until(), now or when it is called next. It is thread-safe,
  // and may be called until the server is destroyed, also after the request.
  std::function<void()> waker();
  // Waits for the waker, the deadline, the end of the client or of the server's stop timeout.
  asio::awaitable<Wakeup> wait_until(Clock::time_point deadline);

  // Sets the response. It is sent when the handler returns.
  void respond(HttpResponse response) { response_ = std::move(response); }
  // Sends the head of a response whose body is written piece by piece; its `body` is not used. The
  // body ends when the handler returns; after an exception it is left unfinished. Throws HttpError
  // 499 if the client is gone, as write().
  asio::awaitable<void> begin(HttpResponse response);
  asio::awaitable<void> write(std::string bytes);

 private:
  friend class HttpServer;
  struct Waking;

  HttpExchange(HttpConnection& connection, ServerContext& server);

  HttpConnection& connection_;
  ServerContext& server_;
  ServerMemory::Lease memory_;
  const Clock::time_point start_ = Clock::now();
  HttpRequest request_;
  HttpResponse response_;
  HttpFields cross_origin_;
  bool has_begun_ = false;
  std::shared_ptr<Waking> waking_;
};

}  // namespace regard
