// A port for processes that train together in a test.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace regard {

// Returns a port of this machine that nobody uses.
inline std::uint16_t free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const pointer = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound =
      bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0;
  close(descriptor);
  if (!is_bound) throw std::runtime_error("cannot bind a port");
  return ntohs(address.sin_port);
}

}  // namespace regard
