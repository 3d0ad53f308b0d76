// A connection to 127.0.0.1 without a library, for clients that misbehave.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace regard {

class RawClient {
 public:
  explicit RawClient(int port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  // Closes the sending side only.
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }
  bool send(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Returns what the server sends until it closes the connection or sends `until`.
  std::string receive(const std::string& until = "") {
    std::string all;
    for (;;) {
      if (!until.empty() && all.find(until) != std::string::npos) return all;
      pollfd state{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&state, 1, 10000) <= 0) return all + "[no answer]";
      char buffer[4096];
      const auto count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
};

}  // namespace regard
