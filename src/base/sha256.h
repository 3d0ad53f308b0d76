// SHA-256 as FIPS 180-4 defines it: the fingerprint of files in manifests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

// Takes bytes piece by piece; cutting them elsewhere changes nothing.
class Sha256 {
 public:
  void update(std::string_view bytes);
  // The 64 hexadecimal digits. Ends the message: no update() after it.
  std::string hex_digest();

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  // the start of a block that is not full yet
  std::size_t held_ = 0;                   // how many bytes of block_ are taken
  std::uint64_t length_ = 0;               // of the whole message, in bytes
};

// The digest of one string.
std::string sha256(std::string_view bytes);

}  // namespace regard
