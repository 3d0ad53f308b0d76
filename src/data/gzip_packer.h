// Bytes packed as gzip (RFC 1952), for a ByteStream to unpack.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace regard {

class GzipPacker {
 public:
  GzipPacker();
  ~GzipPacker();
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;

  // What is ready of the packed text, perhaps nothing yet.
  std::string pack(std::string_view bytes);
  // The rest of it; nothing may follow.
  std::string finish();

 private:
  std::string deflate(std::string_view bytes, int flush);

  std::unique_ptr<z_stream_s> stream_;
  std::vector<char> buffer_;  // of packed bytes
};

}  // namespace regard
