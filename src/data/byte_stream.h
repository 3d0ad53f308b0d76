// Reads the bytes of a file or a pipe, decompressing gzip, and compresses bytes as gzip (RFC 1952).
// Reading never waits if some bytes are available.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace regard {

class Sha256;

// Returns the name of an input for messages: the path, or "standard input" for "-".
std::string input_name(const std::string& path);

// Decompresses any input that starts with gzip's magic bytes, whatever its name. Concatenated
// members form one text; zeros after a member (a tape's padding) are skipped. All errors are
// InputErrors whose message begins with the name: the file does not exist, is a folder, is not
// readable, ends in .gz without being gzip, has invalid or truncated gzip data, or has changed when
// its end is reached.
class ByteStream {
 public:
  // Opens a file; "-" is standard input. If the file `may_grow`, a change is an error only if the
  // file is shorter than before.
  explicit ByteStream(const std::string& path, bool may_grow = false);
  // Reads from an open descriptor and does not close it.
  ByteStream(int descriptor, std::string name);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Adds the bytes of the file as stored, before decompression, to `hash`, which must outlive this.
  // Call it before the first read(). The hash is complete when read() has returned 0.
  void hash_into(Sha256& hash) { hash_ = &hash; }
  // Stores up to `size` bytes in `to` and returns their number; 0 means the end. Waits only if no
  // byte is available.
  std::size_t read(char* to, std::size_t size);
  const std::string& name() const { return name_; }
  // True if the size or the modification time of a regular file differs from when it was opened.
  bool changed() const { return state() != opened_; }

 private:
  struct State {
    std::int64_t size = -1;  // bytes; -1 if not a regular file
    std::int64_t time = 0;   // of the last modification, ns
    auto operator<=>(const State&) const = default;
  };

  State state() const;
  void detect_format();
  bool refill();  // appends bytes of the file to the buffer; false at the end of the file
  void check_state() const;
  [[noreturn]] void throw_gzip_error(const std::string& what) const;
  bool skip_padding();
  std::size_t decompress(char* to, std::size_t size);

  std::string name_;
  int descriptor_;
  bool owned_;
  bool may_grow_;
  State opened_;
  std::vector<unsigned char> buffer_;  // unread bytes of the file: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<z_stream_s> inflater_;  // null if the input is not gzip
  bool started_ = false;
  bool inside_member_ = false;
  bool after_member_ = false;
  Sha256* hash_ = nullptr;
};

// Compresses bytes as one gzip member.
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
