#include "data/gzip_compressor.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace regard {
namespace {

constexpr std::size_t buffer_size = 1 << 16;
constexpr int as_gzip = 16 + MAX_WBITS;
constexpr int memory_level = 8;  // zlib's default

}  // namespace

GzipCompressor::GzipCompressor() : stream_(new z_stream_s{}), buffer_(buffer_size) {
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, as_gzip, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipCompressor::~GzipCompressor() {
  deflateEnd(stream_.get());
}

std::string GzipCompressor::compress(std::string_view bytes) {
  std::string compressed;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), buffer_size))) {
    compressed += deflate(bytes.substr(0, buffer_size), Z_NO_FLUSH);
  }
  return compressed;
}

std::string GzipCompressor::finish() {
  return deflate({}, Z_FINISH);
}

std::string GzipCompressor::deflate(std::string_view bytes, int flush) {
  z_stream& z = *stream_;
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<unsigned>(bytes.size());
  std::string compressed;
  do {
    z.next_out = reinterpret_cast<unsigned char*>(buffer_.data());
    z.avail_out = buffer_size;
    ::deflate(&z, flush);
    compressed.append(buffer_.data(), buffer_size - z.avail_out);
  } while (z.avail_out == 0);
  return compressed;
}

}  // namespace regard
