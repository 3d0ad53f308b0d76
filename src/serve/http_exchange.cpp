#include "serve/http_exchange.h"

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/strings.h"
#include "serve/http_connection.h"

namespace regard {
namespace {

using boost::system::error_code;

// How often a request that waits looks whether its client is gone or the server's time is over.
constexpr std::chrono::milliseconds client_interval{500};

}  // namespace

struct HttpExchange::Waking {
  explicit Waking(asio::io_context& server_context) : context(server_context), timer(context) {}

  asio::io_context& context;
  asio::steady_timer timer;
  std::atomic<bool> is_woken = false;
};

HttpExchange::HttpExchange(HttpConnection& connection, ServerContext& server)
    : connection_(connection),
      server_(server),
      memory_(server.memory),
      waking_(std::make_shared<Waking>(server.context)) {}

std::function<void()> HttpExchange::waker() {
  return [waking = waking_] {
    if (waking->is_woken.exchange(true)) return;
    try {
      asio::post(waking->context, [waking] { waking->timer.cancel(); });
    } catch (const std::bad_alloc&) {  // it wakes at the end of its interval
    }
  };
}

asio::awaitable<HttpExchange::Wakeup> HttpExchange::wait_until(Clock::time_point deadline) {
  for (bool has_waited = false;; has_waited = true) {
    if (has_waited && connection_.peer() == HttpConnection::Peer::half_closed &&
        !request_.is_http_1_0) {
      // A client that has closed only its sending side still wants its answer, and ignores these
      // bytes. The system of one that is gone answers with a reset.
      const char* probe = has_begun_ ? "3\r\n:\n\n\r\n" : "HTTP/1.1 100 Continue\r\n\r\n";
      co_await connection_.write(probe);
    }
    if (waking_->is_woken.exchange(false)) co_return Wakeup::woken;
    if (connection_.peer() == HttpConnection::Peer::gone) co_return Wakeup::client_gone;
    if (Clock::now() >= server_.deadline.load()) co_return Wakeup::stopping;
    if (Clock::now() >= deadline) co_return Wakeup::deadline;
    waking_->timer.expires_at(std::min(deadline, Clock::now() + client_interval));
    error_code ignored;
    co_await waking_->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<void> HttpExchange::begin(HttpResponse response) {
  response_ = std::move(response);
  HttpFields fields = cross_origin_;
  if (request_.is_http_1_0) {
    fields.emplace_back("Connection", "close");
  } else {
    fields.emplace_back("Transfer-Encoding", "chunked");
    if (!connection_.can_continue()) fields.emplace_back("Connection", "close");
  }
  has_begun_ = true;
  const auto head = head_of(response_, fields);
  const bool is_sent = co_await connection_.write(head);
  if (!is_sent) throw HttpError(499, "closed", "the client is gone");
}

asio::awaitable<void> HttpExchange::write(std::string bytes) {
  if (bytes.empty()) co_return;
  if (!request_.is_http_1_0) bytes = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
  const bool is_sent = co_await connection_.write(bytes);
  if (!is_sent) throw HttpError(499, "closed", "the client is gone");
}

}  // namespace regard
