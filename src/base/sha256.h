// SHA-256 (FIPS 180-4), OpenSSL's: the fingerprint of files in manifests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace regard {

// Takes bytes piece by piece; cutting them elsewhere changes nothing.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // The 64 hexadecimal digits. Ends the message: no update() after it.
  std::string hex_digest();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// The digest of one string.
std::string sha256(std::string_view bytes);

}  // namespace regard
