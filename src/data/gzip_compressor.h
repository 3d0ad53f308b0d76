// Compresses bytes as gzip (RFC 1952). ByteStream decompresses them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace regard {

class GzipCompressor {
 public:
  GzipCompressor();
  ~GzipCompressor();
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  // Returns the compressed bytes that are ready, possibly none.
  std::string compress(std::string_view bytes);
  // Returns the remaining compressed bytes. No call may follow.
  std::string finish();

 private:
  std::string deflate(std::string_view bytes, int flush);

  std::unique_ptr<z_stream_s> stream_;
  std::vector<char> buffer_;  // compressed bytes
};

}  // namespace regard
