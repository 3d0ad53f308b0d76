// SHA-256 (FIPS 180-4, by OpenSSL), for the digests of files in manifests. All functions throw
// std::runtime_error if OpenSSL fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace regard {

// Computes a digest incrementally.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // Returns 64 hexadecimal digits. update() must not be called afterwards.
  std::string hex_digest();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// Returns the digest of a string as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace regard
