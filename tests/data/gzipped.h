// gzip data.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace regard {

inline std::string gzipped(std::string_view bytes) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<unsigned>(bytes.size());
  z.next_out = reinterpret_cast<unsigned char*>(packed.data());
  z.avail_out = static_cast<unsigned>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

}  // namespace regard
